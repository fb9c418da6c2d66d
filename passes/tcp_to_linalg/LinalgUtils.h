// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Builders shared by the patterns of convert-tcp-to-linalg: generics, fills, padding, reshapes,
// compute types.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_LINALGUTILS_H
#define CONVOY_PASSES_TCP_TO_LINALG_LINALGUTILS_H

#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

namespace convoy {

using ScalarBody =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// Whether the function around `op` runs on the GPU, where every remaining op becomes a kernel.
bool isCuda(mlir::Operation *op);

/// The type to compute and accumulate in: f32 for narrower floats, the type itself otherwise.
mlir::Type computeType(mlir::Type elementType);

/// Converts `value` to another float type. The conversion is marked `contract`, so that a
/// truncation and an extension in the same kernel cancel. Conversions of the model are not marked.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                         mlir::Type type);

/// On an op on f32 whose values come from narrower floats and are rounded to them.
inline constexpr llvm::StringLiteral kNarrowAttr = "tcp.narrow";

/// Marks the divisions and transcendental functions in the body of `op` approximate (`afn`) if the
/// function runs on the GPU and `elementType`, in which the result is stored, is narrower than f32,
/// or if the op has `kNarrowAttr`: their errors of a few units of f32 vanish in the rounding.
void allowApproximation(mlir::Operation *op, mlir::Block *body, mlir::Type elementType);

/// A scalar constant of an integer, index or float type.
mlir::Value scalarConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                           double value);

/// The constants zero and smallest value of an element type.
mlir::Value zeroOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type);
mlir::Value lowestOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type);

/// A tensor of `shape` whose elements are all `value`.
mlir::Value filled(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                   mlir::Value value);

/// `whole` with `part` in it, from index `offset` of `dim` on.
mlir::Value insertAlong(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value part,
                        mlir::Value whole, int64_t dim, int64_t offset);

/// The map that reads an operand of `shape` in loops over `resultShape` of the same rank: dims of
/// size 1 read element 0.
mlir::AffineMap broadcastMap(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> resultShape);

/// A linalg.generic with only parallel loops that writes a new tensor of type `resultType` with an
/// identity map.
mlir::Value parallelGeneric(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::RankedTensorType resultType, mlir::ValueRange inputs,
                            llvm::ArrayRef<mlir::AffineMap> inputMaps, ScalarBody body);

/// Like parallelGeneric, with operands that broadcast to the result.
mlir::Value broadcastGeneric(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::RankedTensorType resultType, mlir::ValueRange inputs,
                             ScalarBody body);

/// A linalg.generic that combines `inputs` into `init`; the last block argument of `body` is the
/// accumulator.
mlir::Value reductionGeneric(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value init,
                             mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                             llvm::ArrayRef<mlir::utils::IteratorType> iterators, ScalarBody body);

/// Converts the elements of `value` with `convertFloat`, if they have another type.
mlir::Value convertElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            mlir::Type elementType);

/// An operand of a product: extended to the compute type on the CPU, whose loops do not support
/// narrower types; unchanged on the GPU.
mlir::Value productOperand(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                           bool cuda);

/// Reshapes `value` to `shape`.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                      llvm::ArrayRef<int64_t> shape);

/// Permutes the dims of `value`: result dim i is dim perm[i].
mlir::Value transposed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       llvm::ArrayRef<int64_t> perm);

/// Pads `value` with `low` and `high` (non-negative) elements of `padding`. On the GPU this is one
/// generic that reads with bounds checks; on the CPU a fill and an insertion, so that the producer
/// can write directly into the padded tensor.
mlir::Value padded(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                   llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high, mlir::Value padding,
                   bool cuda);

using tcp::shapeOf;

/// The element type of a ranked tensor value.
mlir::Type elementTypeOf(mlir::Value value);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_LINALGUTILS_H
