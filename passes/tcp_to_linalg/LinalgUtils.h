// Builders that the families of convert-tcp-to-linalg share: generics, fills, padding, reshapes,
// and the type to compute in.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_LINALGUTILS_H
#define CONVOY_PASSES_TCP_TO_LINALG_LINALGUTILS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

namespace convoy {

using ScalarBody =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// Whether the function around `op` runs on the GPU, where every op left over becomes a kernel.
bool isCuda(mlir::Operation *op);

/// The type to compute and accumulate in: f32 for narrower floats, the type itself otherwise.
mlir::Type computeType(mlir::Type elementType);

/// `value` converted between float types. The conversion is marked `contract`, so that a narrowing
/// and a widening that meet inside one kernel cancel; conversions that the model asks for are not.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                         mlir::Type type);

/// A scalar constant of an integer, index or float type.
mlir::Value scalarConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                           double value);

/// The additive identity's or the smallest value's constant of an element type.
mlir::Value zeroOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type);
mlir::Value lowestOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type);

/// A tensor of `shape` whose elements are all `value`.
mlir::Value filled(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                   mlir::Value value);

/// The map that reads an operand of `shape` in loops over `resultShape` of the same rank: dims of
/// size 1 read element 0.
mlir::AffineMap broadcastMap(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> resultShape);

/// A linalg.generic, parallel in every loop, that writes a new tensor of type `resultType` with an
/// identity map.
mlir::Value parallelGeneric(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::RankedTensorType resultType, mlir::ValueRange inputs,
                            llvm::ArrayRef<mlir::AffineMap> inputMaps, ScalarBody body);

/// The same with operands that broadcast to the result.
mlir::Value broadcastGeneric(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::RankedTensorType resultType, mlir::ValueRange inputs,
                             ScalarBody body);

/// A linalg.generic that combines `inputs` into `init`; the last block argument of `body` is the
/// value so far.
mlir::Value reductionGeneric(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value init,
                             mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                             llvm::ArrayRef<mlir::utils::IteratorType> iterators, ScalarBody body);

/// `value` with its elements converted by `convertFloat`; itself when it has the type already.
mlir::Value convertElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            mlir::Type elementType);

/// An operand of a product: widened to the compute type on the CPU, whose kernels take nothing
/// narrower; as it is on the GPU.
mlir::Value productOperand(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                           bool cuda);

/// `value` in another shape of as many elements.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                      llvm::ArrayRef<int64_t> shape);

/// `value` with its dims permuted: result dim i is dim perm[i].
mlir::Value transposed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       llvm::ArrayRef<int64_t> perm);

/// `value` with `low` and `high` elements of `padding` around it, none of them negative. On the GPU
/// one generic that reads with bounds checks; on the CPU a fill and an insertion, so that the
/// producer can write into the padded tensor itself.
mlir::Value padded(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                   llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high, mlir::Value padding,
                   bool cuda);

/// The shape of a ranked tensor value.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

/// The element type of a ranked tensor value.
mlir::Type elementTypeOf(mlir::Value value);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_LINALGUTILS_H
