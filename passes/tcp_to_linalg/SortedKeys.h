// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sorts keys: i64 numbers that all differ, as those of positions in their lower half.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_SORTEDKEYS_H
#define CONVOY_PASSES_TCP_TO_LINALG_SORTEDKEYS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace convoy {

/// Builds arithmetic on indices and on integers of one type.
struct Integers {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Value index(int64_t value) const {
    return mlir::arith::ConstantIndexOp::create(builder, loc, value);
  }
  mlir::Value number(mlir::Type type, int64_t value) const {
    return mlir::arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  }
  template <typename Op> mlir::Value make(mlir::Value a, mlir::Value b) const {
    return Op::create(builder, loc, a, b);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) const {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const {
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }
  mlir::Value cast(mlir::Type type, mlir::Value value) const {
    return mlir::arith::IndexCastOp::create(builder, loc, type, value);
  }
  /// A position that was read from memory as an index below `size`: no value makes a kernel read
  /// elsewhere, even if the kernel before it has not run, as when the program is profiled.
  mlir::Value place(mlir::Value position, int64_t size) const {
    return make<mlir::arith::MinUIOp>(cast(builder.getIndexType(), position), index(size - 1));
  }
};

/// The first index from `low` to `high` that is not before a place, by bisection: those that are
/// `isBefore` come first. It is `high` if all are.
mlir::Value countBefore(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value low,
                        mlir::Value high,
                        llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> isBefore);

/// Sorts each row of `keys`, a matrix, in ascending order by merging: on the CPU by loops, on the
/// GPU by one generic for each width.
mlir::Value sortedKeys(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value keys, bool isCuda);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_SORTEDKEYS_H
