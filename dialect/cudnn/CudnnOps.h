// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The public header of the cudnn dialect.

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
#include <optional>

#include "dialect/cudnn/CudnnDialect.h.inc"
#include "dialect/cudnn/CudnnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/cudnn/CudnnAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/cudnn/CudnnTypes.h.inc"

namespace convoy::cudnn {

/// Marks ops that are allowed in a graph.
template <typename ConcreteType>
class GraphOperation : public mlir::OpTrait::TraitBase<ConcreteType, GraphOperation> {};

/// Whether the leading `types` have the logical shapes of `inferred`. Ignores element types and
/// strides.
bool haveInferredShapes(mlir::TypeRange inferred, mlir::TypeRange types);

/// Sets the result segment sizes in the properties of an op that is being built; null types are
/// absent optional results.
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
/// Attribute of a `cudnn.graph`: the kernels that compute it, each with name, variant, grid, block,
/// shared_bytes and chip, as in the manifest.
inline constexpr llvm::StringLiteral kKernelsAttr = "cudnn.kernels";
/// Attribute of a `cudnn.graph` with kernels: what runs it without tuning, `kernel` or `plan`, or
/// `only_kernel` to never use cuDNN.
inline constexpr llvm::StringLiteral kPreferenceAttr = "cudnn.preference";
/// Attribute of a `cudnn.graph` that cuBLASLt can compute: its matrix product, as in the manifest.
inline constexpr llvm::StringLiteral kMatmulAttr = "cudnn.matmul";
inline constexpr llvm::StringLiteral kByValueAttr = "cudnn.by_value";
inline constexpr llvm::StringLiteral kRaggedOffsetAttr = "cudnn.ragged_offset";

/// The `cudnn.preference` of a graph, or nullopt if it is absent or unknown.
std::optional<Preference> getPreference(GraphOp graph);
void setPreference(GraphOp graph, Preference preference);

/// Whether cuDNN has a data type for `type`.
bool isElementType(mlir::Type type);

/// Number of operands of a pointwise mode, 1 to 3.
int64_t pointwiseArity(PointwiseMode mode);

/// Whether a pointwise mode is a gradient, whose operands are the output's gradient and the forward
/// pass's input.
bool isBackward(PointwiseMode mode);

/// Whether a normalization computes its statistics over trailing dims, not over channels.
bool isOfTrailingDims(NormMode mode);

/// Lets one-shot bufferization turn `cudnn.execute` on tensors into `cudnn.execute` on memrefs.
void registerBufferizableOpInterfaceModels(mlir::DialectRegistry &registry);

} // namespace convoy::cudnn

#endif // CONVOY_DIALECT_CUDNN_CUDNNOPS_H
