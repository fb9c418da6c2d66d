// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/normalize/PaddedDim.h"
#include "dialect/tcp/TcpShapes.h"
#include "passes/normalize/Weights.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

SmallVector<int64_t> paddedShape(ArrayRef<int64_t> shape, PaddedDim dim) {
  SmallVector<int64_t> result(shape);
  result[dim.dim] = result[dim.dim] / dim.from * dim.to;
  return result;
}

/// Returns the dim of `to` that corresponds to `dim` of `from`, a reshape of the same elements: the
/// innermost dim with the same stride whose size is a multiple of `dim.from`.
static std::optional<PaddedDim> throughReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                               PaddedDim dim) {
  int64_t inner = ShapedType::getNumElements(from.drop_front(dim.dim + 1)), here = 1;
  for (int64_t i = static_cast<int64_t>(to.size()) - 1; i >= 0 && here <= inner; --i) {
    if (here == inner && to[i] % dim.from == 0)
      return PaddedDim{i, dim.from, dim.to};
    here *= to[i];
  }
  return std::nullopt;
}

std::optional<PaddedDim> through(Operation *view, PaddedDim dim) {
  return llvm::TypeSwitch<Operation *, std::optional<PaddedDim>>(view)
      .Case([&](ReshapeOp op) {
        return throughReshape(shapeOf(op.getInput()), shapeOf(op.getOutput()), dim);
      })
      .Case([&](TransposeOp op) {
        const auto *found = llvm::find(op.getPerm(), dim.dim);
        return PaddedDim{found - op.getPerm().begin(), dim.from, dim.to};
      })
      .Case([&](SliceOp op) {
        int64_t start = op.getStarts()[dim.dim], size = op.getSizes()[dim.dim];
        bool isWhole =
            start % dim.from == 0 && size % dim.from == 0 && op.getStrides()[dim.dim] == 1;
        return isWhole ? std::optional(dim) : std::nullopt;
      });
}

Value cloneView(OpBuilder &builder, Operation *view, Value input, PaddedDim dim) {
  Type type = view->getResult(0).getType();
  Type padded = withShape(type, paddedShape(shapeOf(view->getResult(0)), dim));
  auto slice = dyn_cast<SliceOp>(view);
  if (!slice)
    return cloneWith(builder, view, input, padded)->getResult(0);
  return SliceOp::create(builder, slice.getLoc(), padded, input,
                         paddedShape(slice.getStarts(), dim), paddedShape(slice.getSizes(), dim),
                         slice.getStrides());
}

Value padWithZeros(OpBuilder &builder, Location loc, Value value, PaddedDim dim) {
  if (dim.from == dim.to)
    return value;
  SmallVector<int64_t> shape(shapeOf(value)), result = paddedShape(shape, dim);
  auto reshape = [&](ArrayRef<int64_t> to) {
    return builder.createOrFold<ReshapeOp>(loc, withShape(value.getType(), to), value);
  };
  // Runs are a dim of their own.
  int64_t runs = shape[dim.dim] / dim.from, last = dim.dim + (runs == 1 ? 0 : 1);
  if (runs != 1) {
    shape[dim.dim] = runs;
    shape.insert(shape.begin() + last, dim.from);
    value = reshape(shape);
  }
  SmallVector<int64_t> none(shape.size()), high(shape.size());
  high[last] = dim.to - dim.from;
  shape[last] = dim.to;
  value = PadOp::create(builder, loc, withShape(value.getType(), shape), value, none, high, none,
                        APFloat(0.0));
  return runs == 1 ? value : reshape(result);
}

} // namespace convoy
