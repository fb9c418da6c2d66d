// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The public header of the tcp dialect.

#ifndef CONVOY_DIALECT_TCP_TCPOPS_H
#define CONVOY_DIALECT_TCP_TCPOPS_H

#include "dialect/tcp/TcpDims.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

namespace convoy::tcp {

namespace detail {
/// The broadcast of the operands' shapes, of equal rank. A dim repeats if its type has size 1.
llvm::FailureOr<Dims> inferBroadcast(mlir::Operation *op, llvm::ArrayRef<Dims> operands,
                                     const Symbols &symbols);
/// Checks that the shape of the result is that inferred by `ShapeOpInterface`.
llvm::LogicalResult verifyShape(mlir::Operation *op);
} // namespace detail

/// Marks ops whose result shape is the broadcast of the operands' shapes and whose elements depend
/// only on the operands' elements at the same index.
template <typename ConcreteType>
class Elementwise : public mlir::OpTrait::TraitBase<ConcreteType, Elementwise> {};

/// The maximum number of elements of a tensor.
inline constexpr int64_t kMaxElements = int64_t(1) << 40;

/// Whether `type` has at most `kMaxElements`, where dims of size 0 and `?` count as 1.
bool hasTensorSize(mlir::ShapedType type);

/// Names of the discardable attributes of a module, its functions and their arguments
/// (docs/architecture.md).
inline constexpr llvm::StringLiteral kTargetAttr = "tcp.target";
inline constexpr llvm::StringLiteral kInputAttr = "tcp.input";
inline constexpr llvm::StringLiteral kWeightAttr = "tcp.weight";
inline constexpr llvm::StringLiteral kPreparedAttr = "tcp.prepared";
inline constexpr llvm::StringLiteral kOutputAttr = "tcp.output";
/// How a prepared weight is computed: a hash.
inline constexpr llvm::StringLiteral kOriginAttr = "tcp.origin";
inline constexpr llvm::StringLiteral kArenaAttr = "tcp.arena";
/// Of an arena: the largest number of bytes that live at the same time.
inline constexpr llvm::StringLiteral kLiveBytesAttr = "tcp.live_bytes";
/// Of an output: where the caller places it in the arena, in bytes. It may have other buffers
/// before the first op that writes it.
inline constexpr llvm::StringLiteral kArenaOffsetAttr = "tcp.arena_offset";
/// Of a view of an arena: the number, the offset and the bytes of the buffer that it is a part of.
/// Views of two buffers stay apart although they may be equal otherwise.
inline constexpr llvm::StringLiteral kBufferAttr = "tcp.buffer";
/// The dims of an input or result from the outermost to the innermost in memory, like
/// `torch.Tensor.dim_order`. Until phase `normalize` the type has the model's dims, from then on
/// those in memory.
inline constexpr llvm::StringLiteral kDimOrderAttr = "tcp.dim_order";
inline constexpr llvm::StringLiteral kUnsignedAttr = "tcp.unsigned";

} // namespace convoy::tcp

#include "dialect/tcp/TcpDialect.h.inc"
#include "dialect/tcp/TcpEnums.h.inc"

namespace convoy::tcp {

/// The `tcp.target` of a function or module, or nullopt if it is absent or unknown.
std::optional<Target> getTarget(mlir::Operation *op);
void setTarget(mlir::Operation *op, Target target);

/// The size of `tcp.slice` in a dim that is `?`: that of all elements from the start on.
inline constexpr int64_t kRestOfDim = -1;

} // namespace convoy::tcp

#include "dialect/tcp/TcpInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialect/tcp/TcpOps.h.inc"

#endif // CONVOY_DIALECT_TCP_TCPOPS_H
