// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_linalg/ReductionUtils.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"

using namespace mlir;
using namespace convoy;

SmallVector<int64_t> convoy::keptShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> result(shape);
  for (int64_t dim : dims)
    result[dim] = 1;
  return result;
}

Value convoy::reduce(OpBuilder &builder, Location loc, ValueRange inputs, ArrayRef<int64_t> dims,
                     Value start, ScalarBody combine) {
  ArrayRef<int64_t> shape = shapeOf(inputs[0]);
  SmallVector<int64_t> keptSizes;
  SmallVector<AffineExpr> kept;
  SmallVector<utils::IteratorType> iterators;
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool isReduced = llvm::is_contained(dims, i);
    iterators.push_back(isReduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
    if (isReduced)
      continue;
    keptSizes.push_back(size);
    kept.push_back(builder.getAffineDimExpr(i));
  }
  SmallVector<AffineMap> maps = llvm::map_to_vector(inputs, [&](Value input) {
    return broadcastMap(builder.getContext(), shapeOf(input), shape);
  });
  maps.push_back(AffineMap::get(shape.size(), 0, kept, builder.getContext()));
  Value result = reductionGeneric(builder, loc, filled(builder, loc, keptSizes, start), inputs,
                                  maps, iterators, combine);
  return reshapeTo(builder, loc, result, keptShape(shape, dims));
}

Value convoy::addInAnyOrder(OpBuilder &builder, Location loc, Value soFar, Value next) {
  return arith::AddFOp::create(builder, loc, soFar, next, arith::FastMathFlags::reassoc);
}

Value convoy::sum(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  Type type = computeType(elementTypeOf(input));
  return reduce(builder, loc, input, dims, zeroOf(builder, loc, type),
                [&](OpBuilder &inner, Location innerLoc, ValueRange args) {
                  if (!isa<FloatType>(type))
                    return arith::AddIOp::create(inner, innerLoc, args[1], args[0]).getResult();
                  return addInAnyOrder(inner, innerLoc, args[1],
                                       convertFloat(inner, innerLoc, args[0], type));
                });
}

double convoy::countOver(Value input, ArrayRef<int64_t> dims) {
  double count = 1;
  for (int64_t dim : dims)
    count *= static_cast<double>(shapeOf(input)[dim]);
  return count;
}

Value convoy::sumForEach(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(input.getType());
  unsigned rank = type.getRank(), loops = rank + dims.size();
  SmallVector<AffineExpr> read;
  for (unsigned dim = 0; dim < rank; ++dim)
    read.push_back(builder.getAffineDimExpr(dim));
  for (auto [i, dim] : llvm::enumerate(dims))
    read[dim] = builder.getAffineDimExpr(rank + i);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.resize(loops, utils::IteratorType::reduction);
  Value start = filled(builder, loc, type.getShape(), zeroOf(builder, loc, type.getElementType()));
  return reductionGeneric(
      builder, loc, start, input,
      {AffineMap::get(loops, 0, read, builder.getContext()),
       AffineMap::getMultiDimIdentityMap(loops, builder.getContext()).getMajorSubMap(rank)},
      iterators, [&](OpBuilder &inner, Location innerLoc, ValueRange args) {
        return addInAnyOrder(inner, innerLoc, args[1], args[0]);
      });
}
