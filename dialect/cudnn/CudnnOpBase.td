// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Base class and traits of graph operations.

#ifndef CONVOY_CUDNN_OP_BASE
#define CONVOY_CUDNN_OP_BASE

include "dialect/cudnn/CudnnEnums.td"
include "dialect/cudnn/CudnnTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Marks ops that are allowed in a graph.
def Cudnn_GraphOperation : NativeOpTrait<"GraphOperation"> {
  let cppNamespace = "::convoy::cudnn";
}

/// For ops whose operands determine the shapes of their results. Each op defines `inferReturnTypes`
/// of an adaptor in CudnnInferTypes.cpp, which returns null for an absent optional result, and omits
/// trailing results that only the caller can choose. Element types and strides are the caller's
/// choice too, so `refineReturnTypes` keeps explicit types; the op's verifier checks them.
def Cudnn_InferTypes : TraitList<[
  DeclareOpInterfaceMethods<InferTypeOpInterface, ["refineReturnTypes"]>,
  NativeOpTrait<"InferTypeOpAdaptor", [], [{
    static ::llvm::LogicalResult inferReturnTypes(::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location, Adaptor adaptor,
                                                  ::llvm::SmallVectorImpl<::mlir::Type> &results);
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange types);
  }], [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
                                                      ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
                                                      ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
                                                      ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      ::llvm::SmallVector<::mlir::Type> results;
      if (failed(inferReturnTypes(context, location, Adaptor(operands, attributes, properties, regions), results)))
        return ::llvm::failure();
      ::convoy::cudnn::setResultSegments<$cppClass>(properties, results);
      ::llvm::copy_if(results, ::std::back_inserter(types), [](::mlir::Type type) { return type != nullptr; });
      return ::llvm::success();
    }
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange types) {
      return ::convoy::cudnn::haveInferredShapes(inferred, types);
    }
    ::llvm::LogicalResult $cppClass::refineReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location>, ::mlir::ValueRange,
                                                       ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
                                                       ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::llvm::success();
    }
  }]>
]>;

class Cudnn_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Op<Cudnn_Dialect, mnemonic, !listconcat([Pure, Cudnn_GraphOperation, ParentOneOf<["GraphOp", "BuildAndExecGraphOp"]>], traits)> {
  let hasVerifier = 1;
}

#endif // CONVOY_CUDNN_OP_BASE
