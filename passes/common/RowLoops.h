// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Maps the loops of several linalg ops to common loops. Ops that access the same elements of a
// buffer iterate over the same loops, in any order and with reshapes between them: one op's loop
// may be several of another.

#ifndef CONVOY_PASSES_COMMON_ROWLOOPS_H
#define CONVOY_PASSES_COMMON_ROWLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/common/Buffers.h"

namespace convoy {

/// Rows of norms of more elements are reduced in steps if they are not contiguous, and normalized
/// by another kernel.
inline constexpr int64_t kLongRow = 1 << 15;

/// Rows of at most so many elements are shared by a warp, if there are enough of them.
inline constexpr int64_t kWarpRow = 1024;

/// At least so many rows of at most so many elements are computed together if memory is contiguous
/// across them.
inline constexpr int64_t kManyRows = 1 << 12, kLongAcross = 1 << 10;

/// A loop over rows, or, if reduced, over the elements of a row.
struct RowLoop {
  int64_t size = 1;
  bool isReduced = false;
};

/// An operand of an op of the region.
struct RowAccess {
  mlir::OpOperand *operand = nullptr;
  bool isWritten = false;
  std::optional<Buffer> buffer; ///< if it is a memref
  ByteRange range;              ///< its bytes, if it is a memref
  int64_t start = 0;            ///< the address at index zero, in elements from the buffer's root
  llvm::SmallVector<int64_t> steps; ///< of the address, in elements, one per loop of the region
  std::optional<unsigned> source;   ///< the op of the region whose result it reads

  /// Whether the map has constant terms, as that of one of the rows of which a row is a sum.
  bool isShifted() const { return buffer && start != buffer->offset; }
};

enum class RowKind {
  Full,       ///< elementwise, a value for each element of a row
  Row,        ///< elementwise, a value for each row
  Reduction,  ///< a value for each row, of all its elements
  Cumulative, ///< a value for each element of a row, of all elements up to it
};

/// The loops of ops over the same rows.
class RowLoops {
public:
  /// An op. Steps of its accesses are one per loop of the op.
  struct Member {
    mlir::linalg::LinalgOp op;
    llvm::SmallVector<int64_t> sizes;
    llvm::SmallVector<RowAccess> accesses; ///< one per operand
    /// For each loop of the op the common loops that it consists of, outermost first. Empty for a
    /// loop of one iteration and for an op that is not placed.
    llvm::SmallVector<llvm::SmallVector<unsigned>> pieces;
    bool isPlaced = false;
  };

  /// Describes `op`. Fails if an operand is no static memref or constant, or if the payload uses
  /// other memory or indices.
  mlir::LogicalResult add(mlir::linalg::LinalgOp op);

  /// Maps all loops to common loops, beginning with those of `first`, a reduction.
  mlir::LogicalResult place(unsigned first);

  llvm::ArrayRef<Member> members() const { return all; }
  llvm::ArrayRef<RowLoop> loops() const { return common; }

  /// Steps along the common loops of an access of `member`.
  llvm::SmallVector<int64_t> steps(const Member &member, const RowAccess &access) const;

  /// Whether `member` iterates over all elements of rows, over rows, or neither.
  std::optional<RowKind> kind(const Member &member) const;

private:
  void split(unsigned loop, int64_t inner);
  bool link(Member &member, const RowAccess &access, llvm::ArrayRef<int64_t> target);
  bool place(Member &member);

  llvm::SmallVector<Member, 0> all;
  llvm::SmallVector<RowLoop> common;
};

/// Whether two accesses begin at the same element of the same memory.
bool beginAtSameElement(const RowAccess &a, const RowAccess &b);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_ROWLOOPS_H
