// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernel of a concat: a generic that finds by index the input that it reads an element of.

#ifndef CONVOY_PASSES_PLAN_CONCAT_H
#define CONVOY_PASSES_PLAN_CONCAT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace convoy {

/// What the result has at indices `begin` to `end` of the concat's dim.
struct ConcatPart {
  int64_t begin = 0, end = 0;
  mlir::Value value;                          ///< an element, computed from its indices
  llvm::SmallVector<mlir::Block *> enclosing; ///< the blocks around `value`, outermost first

  int64_t size() const { return end - begin; }
};

struct Concat {
  mlir::linalg::GenericOp op;
  unsigned dim = 0;
  llvm::SmallVector<ConcatPart> parts; ///< in order, without gaps

  /// Describes `op`, or returns nullopt if it is no concat.
  static std::optional<Concat> match(mlir::linalg::GenericOp op);

  mlir::Value result() const;
  mlir::MemRefType type() const { return llvm::cast<mlir::MemRefType>(result().getType()); }

  /// Bytes of the elements with one index in the concat's dim: all of them, and those that are
  /// contiguous.
  int64_t bytesPerIndex() const;
  int64_t innerBytes() const;

  /// The load of `part` if it is a whole memref, whose elements are in the result unchanged.
  mlir::memref::LoadOp loadOf(const ConcatPart &part) const;

  /// The part of the result at indices `begin` to `end`.
  mlir::Value slice(mlir::OpBuilder &builder, int64_t begin, int64_t end) const;
  mlir::MemRefType sliceType(int64_t begin, int64_t end) const;

  /// Makes one op that computes neighboring `parts`, at the position of the concat.
  void copy(llvm::ArrayRef<ConcatPart> parts);
};

} // namespace convoy

#endif // CONVOY_PASSES_PLAN_CONCAT_H
