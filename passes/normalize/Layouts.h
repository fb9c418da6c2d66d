// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tracks values that are stored with permuted dims, with helpers for permutations.

#ifndef CONVOY_PASSES_NORMALIZE_LAYOUTS_H
#define CONVOY_PASSES_NORMALIZE_LAYOUTS_H

#include "passes/normalize/Weights.h"
#include "llvm/ADT/DenseMap.h"

namespace convoy {

using Permutation = llvm::SmallVector<int64_t, 5>;

/// The identity, and the permutation that moves dim 1 (channels) to the end. For every `perm` in
/// this folder, dim i of the value is dim perm[i] of the stored value.
Permutation identity(int64_t rank);
Permutation channelsLast(int64_t rank);
bool isIdentity(llvm::ArrayRef<int64_t> perm);

/// Whether the transpose `perm` keeps the order of all dims other than 1, so that no element moves.
bool movesUnitDimsOnly(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> perm);

/// Permutes `array`, with one entry per dim of the value, to the order of the stored value.
llvm::SmallVector<int64_t> toStored(llvm::ArrayRef<int64_t> array, llvm::ArrayRef<int64_t> perm);

/// Maps values to stored values: value = transpose(stored, perm). A transpose is created only when
/// an order is requested that does not exist yet, and once per value and order.
class Layouts {
public:
  Layouts(mlir::OpBuilder &builder) : builder(builder) {}

  /// Records that `value` is transpose(stored, perm). If `perm` is the identity, replaces `value`.
  void set(mlir::Value value, mlir::Value stored, llvm::ArrayRef<int64_t> perm);

  /// Whether `value` is stored in another order.
  bool has(mlir::Value value) const { return stored.contains(value); }
  /// The order in which `value` is stored, and the stored value. By default the identity and
  /// `value`.
  Permutation perm(mlir::Value value) const;
  mlir::Value get(mlir::Value value) const;

  /// The x with value = transpose(x, perm), created at the builder's insertion point if necessary.
  mlir::Value in(mlir::Value value, llvm::ArrayRef<int64_t> perm, mlir::Location loc);

private:
  struct Stored {
    mlir::Value value;
    Permutation perm;
  };
  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, Stored> stored;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> made;
};

/// A reshape of a stored value: stored -> transpose(transposed) -> reshape(shape). The result is
/// stored with `perm`.
struct StoredReshape {
  llvm::SmallVector<int64_t>
      transposed; ///< tcp.transpose's perm for the stored input; empty when none is needed
  llvm::SmallVector<int64_t> shape;
  Permutation perm;
};

/// Applies a reshape from shape `from` to shape `to` to a value stored with `perm`. Dims that are
/// split or merged must be adjacent; the others may have any order, so a transpose is needed only
/// to make the dims of a merge adjacent.
StoredReshape followReshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                            llvm::ArrayRef<int64_t> perm);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_LAYOUTS_H
