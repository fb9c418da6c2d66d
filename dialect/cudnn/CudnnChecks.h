// Checks that several ops of the cudnn dialect share.

#ifndef CONVOY_DIALECT_CUDNN_CUDNNCHECKS_H
#define CONVOY_DIALECT_CUDNN_CUDNNCHECKS_H

#include "dialect/common/Shapes.h"
#include "mlir/IR/Operation.h"

namespace convoy::cudnn {

/// The shape of a tensor descriptor.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

/// Whether every value of the float type `from` is one of `to`.
bool holds(mlir::Type to, mlir::Type from);

/// Checks that `what` has the shape that it should have.
llvm::LogicalResult expectShape(mlir::Operation *op, llvm::StringRef what,
                                llvm::ArrayRef<int64_t> actual, llvm::ArrayRef<int64_t> expected);

/// Checks that operands and results have one rank, inside [low, high].
llvm::LogicalResult expectRank(mlir::Operation *op, int64_t low, int64_t high);

/// The same for some of an op's tensors.
llvm::LogicalResult expectRank(mlir::Operation *op, mlir::ValueRange tensors, int64_t low,
                               int64_t high);

/// Checks that the tensor `name`, if it is there, is a number in the graph.
llvm::LogicalResult expectByValue(mlir::Operation *op, llvm::StringRef name, mlir::Value value);

/// Compute types beside f64, f32, f16 and bf16: i32, i1, and floats that are fast for fp8.
struct ComputeTypes {
  bool integer = false;
  bool boolean = false;
  bool fp8 = false;
};
llvm::LogicalResult expectComputeType(mlir::Operation *op, mlir::Type type, ComputeTypes others);

} // namespace convoy::cudnn

#endif // CONVOY_DIALECT_CUDNN_CUDNNCHECKS_H
