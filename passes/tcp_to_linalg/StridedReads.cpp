// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_linalg/StridedReads.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"

using namespace mlir;
using namespace convoy;

static Value sameElement(OpBuilder &, Location, ValueRange args) { return args[0]; }

Value convoy::stridedRead(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> starts,
                          ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  auto type = cast<RankedTensorType>(input.getType());
  // linalg would infer the size of the input from that of the slice if a map used a dim unchanged.
  bool isPrefix = false;
  for (auto [start, stride, size, whole] : llvm::zip_equal(starts, strides, sizes, type.getShape()))
    isPrefix |= start == 0 && stride == 1 && size != whole;
  if (isPrefix)
    return parallelGeneric(
        builder, loc, type.clone(sizes), {}, {},
        [&](OpBuilder &inner, Location innerLoc, ValueRange) {
          SmallVector<Value> indices;
          for (auto [i, start, stride] : llvm::enumerate(starts, strides)) {
            Value index = linalg::IndexOp::create(inner, innerLoc, i);
            if (stride != 1)
              index = arith::MulIOp::create(
                  inner, innerLoc, index, arith::ConstantIndexOp::create(inner, innerLoc, stride));
            if (start != 0)
              index = arith::AddIOp::create(inner, innerLoc, index,
                                            arith::ConstantIndexOp::create(inner, innerLoc, start));
            indices.push_back(index);
          }
          return Value(tensor::ExtractOp::create(inner, innerLoc, input, indices));
        });
  SmallVector<AffineExpr> results;
  for (auto [i, start, stride] : llvm::enumerate(starts, strides))
    results.push_back(builder.getAffineDimExpr(i) * stride + start);
  return parallelGeneric(builder, loc, type.clone(sizes), input,
                         AffineMap::get(sizes.size(), 0, results, builder.getContext()),
                         sameElement);
}

/// Whether products are all that is computed of `value`, apart from casts and reshapes.
static bool isFactor(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<tcp::MulOp>(user) ||
           (isa<tcp::CastOp, tcp::ReshapeOp>(user) && isFactor(user->getResult(0)));
  });
}

/// Whether a slice has one element of a dim of its input, and is a factor.
static bool isFactorOfOne(tcp::SliceOp slice) {
  auto sizes = llvm::zip_equal(slice.getSizes(), shapeOf(slice.getInput()));
  return llvm::any_of(sizes,
                      [](auto pair) {
                        auto [size, whole] = pair;
                        return size == 1 && whole != 1;
                      }) &&
         isFactor(slice.getOutput());
}

/// Whether a slice is of one of the terms of a sum: others of the same tensor are factors too.
static bool isTerm(tcp::SliceOp slice) {
  return isFactorOfOne(slice) && llvm::any_of(slice.getInput().getUsers(), [&](Operation *user) {
           auto other = dyn_cast<tcp::SliceOp>(user);
           return other && other != slice && isFactorOfOne(other);
         });
}

/// The dims of more than one element.
static SmallVector<int64_t> dimsOfSeveral(ArrayRef<int64_t> shape) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  llvm::erase_if(dims, [&](int64_t dim) { return shape[dim] == 1; });
  return dims;
}

Value convoy::termRead(OpBuilder &builder, tcp::SliceOp slice, Value input,
                       ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> sizes = slice.getSizes(), whole = shapeOf(input);
  SmallVector<int64_t> from = dimsOfSeveral(sizes), to = dimsOfSeveral(shape);
  if (from.size() != to.size() || !isTerm(slice))
    return nullptr;
  SmallVector<AffineExpr> results;
  for (int64_t start : slice.getStarts())
    results.push_back(builder.getAffineConstantExpr(start));
  for (auto [dim, moved] : llvm::zip_equal(from, to)) {
    int64_t start = slice.getStarts()[dim], stride = slice.getStrides()[dim];
    // linalg would infer the size of the input as above.
    if (sizes[dim] != shape[moved] || (start == 0 && stride == 1 && sizes[dim] != whole[dim]))
      return nullptr;
    results[dim] = builder.getAffineDimExpr(moved) * stride + start;
  }
  auto type = cast<RankedTensorType>(input.getType());
  return parallelGeneric(builder, slice.getLoc(), type.clone(shape), input,
                         AffineMap::get(shape.size(), 0, results, builder.getContext()),
                         sameElement);
}
