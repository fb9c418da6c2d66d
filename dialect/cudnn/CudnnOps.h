// The cudnn dialect's classes: everything that code outside this folder includes.

#ifndef CONVOY_DIALECT_CUDNN_CUDNNOPS_H
#define CONVOY_DIALECT_CUDNN_CUDNNOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/cudnn/CudnnDialect.h.inc"
#include "dialect/cudnn/CudnnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/cudnn/CudnnAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/cudnn/CudnnTypes.h.inc"

namespace convoy::cudnn {

/// On an op that may stand in a graph.
template <typename ConcreteType>
class GraphOperation : public mlir::OpTrait::TraitBase<ConcreteType, GraphOperation> {};

/// Whether `types` begin with tensors of the shapes of `inferred`, in numbers, whatever their
/// element types and strides.
bool haveInferredShapes(mlir::TypeRange inferred, mlir::TypeRange types);

/// Writes which of an op's optional results are there, null ones being absent, into the properties
/// of an op that is being built.
template <typename OpType>
void setResultSegments(mlir::OpaqueProperties properties, llvm::ArrayRef<mlir::Type> results) {
  if constexpr (OpType::template hasTrait<mlir::OpTrait::AttrSizedResultSegments>()) {
    auto *known = properties.as<typename OpType::Properties *>();
    if (known && llvm::all_of(known->resultSegmentSizes, [](int32_t size) { return size == 0; }))
      llvm::transform(results, known->resultSegmentSizes.begin(),
                      [](mlir::Type type) { return type ? 1 : 0; });
  }
}

} // namespace convoy::cudnn

#define GET_OP_CLASSES
#include "dialect/cudnn/CudnnOps.h.inc"

namespace convoy::cudnn {

/// Attributes of a graph's arguments and results.
inline constexpr llvm::StringLiteral kUidAttr = "cudnn.uid";
/// Of a `cudnn.graph`: the kernels that compute it, each with name, variant, grid, block,
/// shared_bytes and chip, as the manifest has them.
inline constexpr llvm::StringLiteral kKernelsAttr = "cudnn.kernels";
/// Of a `cudnn.graph` with kernels: what runs it where nothing was measured, `kernel` or `plan`; or
/// `only_kernel`: cuDNN is not asked.
inline constexpr llvm::StringLiteral kPreferenceAttr = "cudnn.preference";
inline constexpr llvm::StringLiteral kOnlyKernel = "only_kernel";
inline constexpr llvm::StringLiteral kByValueAttr = "cudnn.by_value";
inline constexpr llvm::StringLiteral kRaggedOffsetAttr = "cudnn.ragged_offset";

/// Whether cuDNN has tensors with elements of `type`.
bool isElementType(mlir::Type type);

/// Number of operands that a pointwise mode takes, 1 to 3.
int64_t pointwiseArity(PointwiseMode mode);

/// Whether a pointwise mode is a gradient, whose operands are the output's gradient and the forward
/// pass's input.
bool isBackward(PointwiseMode mode);

/// Whether a normalization takes the trailing dims together, and not the pixels of channels.
bool isOfTrailingDims(NormMode mode);

/// Lets one-shot bufferization turn `cudnn.execute` on tensors into `cudnn.execute` on memrefs.
void registerBufferizableOpInterfaceModels(mlir::DialectRegistry &registry);

} // namespace convoy::cudnn

#endif // CONVOY_DIALECT_CUDNN_CUDNNOPS_H
