// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A model may repeat a weight along the batch of a product: the keys of relative positions, which
// are equal for all sentences (DeBERTa). A prepared weight would have all copies. The matrices that
// are multiplied by the same copy become the rows of one matrix.

#include "passes/normalize/RepeatedFactors.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/normalize/OrderCost.h"
#include "passes/normalize/Weights.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// A part of a dim: its index is the most significant digit of those that follow.
struct Part {
  int64_t size;
  bool isRepeated; ///< whether the elements are equal for all indices
  int64_t stored;  ///< its size in the tensor: 1 if the product broadcasts along it
};

/// The parts of a dim, from outer to inner. Their sizes multiply to that of the dim.
using Parts = SmallVector<Part>;

} // namespace

static SmallVector<Parts> wholeDims(ArrayRef<int64_t> shape) {
  return llvm::map_to_vector(shape, [](int64_t size) -> Parts {
    return size == 1 ? Parts() : Parts{{size, /*isRepeated=*/false, size}};
  });
}

/// The parts of the dims of a reshape, whose input has the dims `from`.
static SmallVector<Parts> reshapedParts(ArrayRef<Parts> from, ArrayRef<int64_t> shape) {
  Parts rest;
  for (const Parts &parts : from)
    llvm::append_range(rest, parts);
  std::reverse(rest.begin(), rest.end());
  SmallVector<Parts> result;
  for (int64_t left : shape) {
    Parts &parts = result.emplace_back();
    while (left > 1) {
      Part part = rest.pop_back_val();
      if (part.size > left && part.size % left == 0) {
        rest.push_back({part.size / left, part.isRepeated, part.size / left});
        part.size = part.stored = left;
      }
      if (left % part.size != 0)
        return wholeDims(shape); // a part reaches into the next dim
      left /= part.size;
      parts.push_back(part);
    }
  }
  return result;
}

/// The parts of the dims of `value`, as far as the ops that compute it show them.
static SmallVector<Parts> partsOf(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (llvm::is_contained(shape, 0))
    return wholeDims(shape);
  if (auto reshape = value.getDefiningOp<ReshapeOp>())
    return reshapedParts(partsOf(reshape.getInput()), shape);
  if (auto transpose = value.getDefiningOp<TransposeOp>())
    return applyPermutation(ArrayRef(partsOf(transpose.getInput())), transpose.getPerm());
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    SmallVector<Parts> result = partsOf(broadcast.getInput());
    for (auto [parts, from, to] : llvm::zip_equal(result, shapeOf(broadcast.getInput()), shape))
      if (from != to)
        parts = {{to, /*isRepeated=*/true, to}};
    return result;
  }
  if (auto cast = value.getDefiningOp<CastOp>())
    return partsOf(cast.getInput());
  return wholeDims(shape);
}

/// The parts of the batch of a product's right factor, which may broadcast.
static Parts batchParts(MatmulOp op) {
  SmallVector<Parts> dims = partsOf(op.getRhs());
  ArrayRef<int64_t> rhs = shapeOf(op.getRhs()), result = shapeOf(op.getOutput());
  Parts batch;
  for (size_t dim = 0; dim + 2 < rhs.size(); ++dim)
    if (rhs[dim] == result[dim])
      llvm::append_range(batch, dims[dim]);
    else
      batch.push_back({result[dim], /*isRepeated=*/true, 1});
  return batch;
}

/// Whether ops that move elements read `value`, by its index: they can read another order as well.
static bool isReadByIndex(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<ReshapeOp>(user)
               ? isReadByIndex(user->getResult(0))
               : isa<GatherOp, IndexSelectOp, SliceOp, TransposeOp, PadOp, ConcatOp>(user);
  });
}

/// `parts`, then the last two dims of `value`.
static SmallVector<int64_t> withMatrix(ArrayRef<int64_t> parts, Value value) {
  SmallVector<int64_t> shape(parts);
  llvm::append_range(shape, shapeOf(value).take_back(2));
  return shape;
}

/// The different matrices of a product's right factor, as one batch dim: H x K x N.
static Value differentMatrices(OpBuilder &builder, MatmulOp op, const Parts &batch) {
  Value factor = op.getRhs();
  SmallVector<int64_t> stored, sizes;
  for (const Part &part : batch) {
    stored.push_back(part.stored);
    sizes.push_back(part.isRepeated ? 1 : part.size);
  }
  int64_t matrices = ShapedType::getNumElements(sizes);
  stored = withMatrix(stored, factor);
  sizes = withMatrix(sizes, factor);
  Value all = reshaped(builder, op.getLoc(), factor, stored);
  SmallVector<int64_t> starts(sizes.size(), 0), strides(sizes.size(), 1);
  Value first = SliceOp::create(builder, op.getLoc(), withShape(factor.getType(), sizes), all,
                                starts, sizes, strides);
  return reshaped(builder, op.getLoc(), first, withMatrix({matrices}, factor));
}

/// Replaces a product whose right factor is a weight that repeats: the rows of all matrices that
/// are multiplied by the same one are rows of one matrix. Returns whether there is a reason to.
static bool mergeRows(OpBuilder &builder, MatmulOp op) {
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), result = shapeOf(op.getOutput());
  if (lhs.size() < 3 || lhs.drop_back(2) != result.drop_back(2) || llvm::is_contained(result, 0))
    return false;
  Parts batch = batchParts(op);
  SmallVector<int64_t> sizes, perm;
  int64_t copies = 1;
  for (const Part &part : batch) {
    sizes.push_back(part.size);
    copies *= part.isRepeated ? part.size : 1;
  }
  for (bool isRepeated : {false, true})
    for (auto [index, part] : llvm::enumerate(batch))
      if (part.isRepeated == isRepeated)
        perm.push_back(static_cast<int64_t>(index));
  int64_t matrices = ShapedType::getNumElements(sizes) / copies;
  // tcp-flatten-products makes one matrix of a batch with one right factor.
  if (copies == 1 || ShapedType::getNumElements(shapeOf(op.getRhs()).drop_back(2)) == 1)
    return false;
  auto rank = static_cast<int64_t>(sizes.size());
  perm.append({rank, rank + 1});
  // Transposing the left factor takes less time than reading the copies only if it is smaller.
  int64_t bytes = bytesOf(op.getRhs());
  if (!isIdentityPermutation(perm) &&
      (!isReadByIndex(op.getOutput()) || bytes - bytes / copies < 2 * bytesOf(op.getLhs())))
    return false;

  builder.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value rows = reshaped(builder, loc, op.getLhs(), withMatrix(sizes, op.getLhs()));
  rows = permuted(builder, loc, rows, perm);
  int64_t height = copies * lhs[lhs.size() - 2];
  rows = reshaped(builder, loc, rows, {matrices, height, lhs.back()});
  Value product =
      MatmulOp::create(builder, loc, withShape(op.getType(), {matrices, height, result.back()}),
                       rows, differentMatrices(builder, op, batch));
  SmallVector<int64_t> split = applyPermutation(withMatrix(sizes, op.getOutput()), perm);
  product = reshaped(builder, loc, product, split);
  product = permuted(builder, loc, product, invertPermutationVector(perm));
  op.replaceAllUsesWith(reshaped(builder, loc, product, result));
  return true;
}

void convoy::mergeRepeatedFactors(func::FuncOp function) {
  WeightValues weights(function);
  OpBuilder builder(function.getContext());
  SmallVector<MatmulOp> products;
  function.walk([&](MatmulOp op) {
    if (weights.contains(op.getRhs()) && !weights.contains(op.getLhs()))
      products.push_back(op);
  });
  for (MatmulOp op : products)
    if (mergeRows(builder, op))
      op.erase();
}
