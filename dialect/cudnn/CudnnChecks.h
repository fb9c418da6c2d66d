// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks shared by the verifiers of the cudnn dialect.

#ifndef CONVOY_DIALECT_CUDNN_CUDNNCHECKS_H
#define CONVOY_DIALECT_CUDNN_CUDNNCHECKS_H

#include "dialect/common/Shapes.h"
#include "mlir/IR/Operation.h"

namespace convoy::cudnn {

/// The shape of a tensor descriptor.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

/// Whether the float type `to` can represent every value of `from`.
bool holds(mlir::Type to, mlir::Type from);

/// Checks that the shape `actual` of `what` is `expected`.
llvm::LogicalResult expectShape(mlir::Operation *op, llvm::StringRef what,
                                llvm::ArrayRef<int64_t> actual, llvm::ArrayRef<int64_t> expected);

/// Checks that operands and result have the same rank, in [low, high].
llvm::LogicalResult expectRank(mlir::Operation *op, int64_t low, int64_t high);

/// Overload for a subset of an op's tensors.
llvm::LogicalResult expectRank(mlir::Operation *op, mlir::ValueRange tensors, int64_t low,
                               int64_t high);

/// Checks that the tensor `name`, if present, is passed by value.
llvm::LogicalResult expectByValue(mlir::Operation *op, llvm::StringRef name, mlir::Value value);

/// Allowed compute types besides f64, f32, f16 and bf16: i32, i1 and fast_float_for_fp8.
struct ComputeTypes {
  bool integer = false;
  bool boolean = false;
  bool fp8 = false;
};
llvm::LogicalResult expectComputeType(mlir::Operation *op, mlir::Type type, ComputeTypes others);

} // namespace convoy::cudnn

#endif // CONVOY_DIALECT_CUDNN_CUDNNCHECKS_H
