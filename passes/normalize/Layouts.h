// Values that are kept in another order of dims than the ops around them say, and the arithmetic of
// permutations that this takes.

#ifndef CONVOY_PASSES_NORMALIZE_LAYOUTS_H
#define CONVOY_PASSES_NORMALIZE_LAYOUTS_H

#include "passes/normalize/Weights.h"
#include "llvm/ADT/DenseMap.h"

namespace convoy {

using Permutation = llvm::SmallVector<int64_t, 5>;

/// The permutation that changes nothing, and the one that moves dim 1 (channels) behind the others:
/// for `perm`s of this folder, dim i of the value is dim perm[i] of what is stored.
Permutation identity(int64_t rank);
Permutation channelsLast(int64_t rank);
bool isIdentity(llvm::ArrayRef<int64_t> perm);

/// `array`, one entry a dim of the value, in the order of what is stored.
llvm::SmallVector<int64_t> toStored(llvm::ArrayRef<int64_t> array, llvm::ArrayRef<int64_t> perm);

/// Values and what stands for them: value = transpose(stored, perm). A transpose is made only when
/// somebody asks for an order that is not there, and once a value and order.
class Layouts {
public:
  Layouts(mlir::OpBuilder &builder) : builder(builder) {}

  /// From now on `value` is transpose(stored, perm); without a permutation `value` is replaced.
  void set(mlir::Value value, mlir::Value stored, llvm::ArrayRef<int64_t> perm);

  /// Whether `value` is kept in another order.
  bool has(mlir::Value value) const { return stored.contains(value); }
  /// How `value` is stored; the identity when as it is.
  Permutation perm(mlir::Value value) const;
  mlir::Value get(mlir::Value value) const;

  /// The x with value = transpose(x, perm), made at the builder's insertion point if it is not
  /// there yet.
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

/// How a reshape is done on what is stored: stored -> transpose(transposed) -> reshape(shape), and
/// the result is kept with `perm`.
struct StoredReshape {
  llvm::SmallVector<int64_t>
      transposed; ///< tcp.transpose's perm for the stored input; empty when none is needed
  llvm::SmallVector<int64_t> shape;
  Permutation perm;
};

/// Follows a reshape from shape `from` to shape `to` of a value stored with `perm`. Dims that are
/// split or merged stay together; the others may stand in any order, so the only transpose is one
/// that brings the dims of a merge together.
StoredReshape followReshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                            llvm::ArrayRef<int64_t> perm);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_LAYOUTS_H
