// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/ConvGradients.h"
#include "dialect/tcp/TcpShapes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

namespace {

using Dims = SmallVector<int64_t>;

/// The most products that one sum adds. Longer sums are split.
constexpr int64_t kLongestSum = 1 << 13;

/// Creates ops that move elements.
struct Mover {
  OpBuilder &builder;
  Location loc;

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType());
    return ReshapeOp::create(builder, loc, type.clone(shape), value);
  }
  Value transpose(Value value, ArrayRef<int64_t> perm) {
    auto type = cast<RankedTensorType>(value.getType());
    Dims shape = llvm::map_to_vector(perm, [&](int64_t dim) { return type.getDimSize(dim); });
    return TransposeOp::create(builder, loc, type.clone(shape), value, perm);
  }
  Value channelsFirst(Value value, bool channelsLast) {
    if (!channelsLast)
      return value;
    int64_t rank = shapeOf(value).size();
    Dims perm = {0, rank - 1};
    llvm::append_range(perm, llvm::seq<int64_t>(1, rank - 1));
    return transpose(value, perm);
  }
  /// The result in the layout of the op.
  Value finish(Value value, bool channelsLast) {
    if (!channelsLast)
      return value;
    int64_t rank = shapeOf(value).size();
    Dims perm = {0};
    llvm::append_range(perm, llvm::seq<int64_t>(2, rank));
    perm.push_back(1);
    return transpose(value, perm);
  }
  Value castTo(Value value, Type elementType) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == elementType)
      return value;
    return CastOp::create(builder, loc, type.clone(elementType), value);
  }
};

/// `front` followed by `spatial`.
Dims join(ArrayRef<int64_t> front, ArrayRef<int64_t> spatial) {
  Dims dims(front);
  llvm::append_range(dims, spatial);
  return dims;
}

/// The permutation that orders the first dims by `front` and keeps the others.
Dims leading(ArrayRef<int64_t> front, int64_t rank) {
  Dims perm(front);
  llvm::append_range(perm, llvm::seq<int64_t>(front.size(), rank));
  return perm;
}

/// The smallest number of equal parts of `images` for which a part has sums that are short enough.
int64_t partsOf(int64_t images, int64_t places) {
  for (int64_t parts = 1; parts < images; ++parts)
    if (images % parts == 0 && images / parts * places <= kLongestSum)
      return parts;
  return images;
}

Value createConv(OpBuilder &builder, Location loc, Type type, Value input, Value weights,
                 ArrayRef<int64_t> stride, ArrayRef<int64_t> pad, ArrayRef<int64_t> dilation,
                 int64_t groups) {
  auto create = [&](auto tag) -> Value {
    return decltype(tag)::create(builder, loc, type, input, weights, stride, pad, dilation, groups,
                                 /*channels_last=*/false);
  };
  return stride.size() == 1   ? create(Conv1dOp())
         : stride.size() == 2 ? create(Conv2dOp())
                              : create(Conv3dOp());
}

} // namespace

Value decomposeGradient(OpBuilder &builder, ConvBackwardDataOp op, Value gradient, Value weights) {
  Mover move = {builder, op.getLoc()};
  gradient = move.channelsFirst(gradient, op.getChannelsLast());
  weights = move.channelsFirst(weights, op.getChannelsLast());
  int64_t rank = op.getStride().size(), first = firstSpatialDim(op.getChannelsLast()),
          channel = channelDim(rank, op.getChannelsLast());
  ArrayRef<int64_t> result = shapeOf(op.getOutput());
  Dims shape = join({result[0], result[channel]}, result.slice(first, rank)), outputPad;
  for (int64_t i = 0; i < rank; ++i)
    outputPad.push_back(shape[i + 2] - ((shapeOf(gradient)[i + 2] - 1) * op.getStride()[i] -
                                        op.getPad()[2 * i] - op.getPad()[2 * i + 1] +
                                        op.getDilation()[i] * (shapeOf(weights)[i + 2] - 1) + 1));
  Value input = ConvTransposeOp::create(builder, op.getLoc(), op.getType().clone(shape), gradient,
                                        weights, op.getStride(), op.getPad(), outputPad,
                                        op.getDilation(), op.getGroups());
  return move.finish(input, op.getChannelsLast());
}

Value decomposeGradient(OpBuilder &builder, ConvBackwardFilterOp op, Value input, Value gradient) {
  Mover move = {builder, op.getLoc()};
  Type element = op.getType().getElementType();
  // Partial sums are not rounded to a narrower type.
  Type wide = element.getIntOrFloatBitWidth() < 32 ? builder.getF32Type() : element;
  input = move.castTo(move.channelsFirst(input, op.getChannelsLast()), wide);
  gradient = move.castTo(move.channelsFirst(gradient, op.getChannelsLast()), wide);
  int64_t rank = op.getStride().size(), groups = op.getGroups();
  ArrayRef<int64_t> places = shapeOf(gradient).drop_front(2);
  Dims window(shapeOf(op.getOutput()).slice(firstSpatialDim(op.getChannelsLast()), rank));
  int64_t images = shapeOf(input)[0], channels = shapeOf(input)[1] / groups,
          outputs = shapeOf(gradient)[1] / groups;

  // The input up to the last element that a window reads.
  Dims pad, starts(rank + 2, 0), ones(rank + 2, 1), used(shapeOf(input));
  for (int64_t i = 0; i < rank; ++i) {
    int64_t low = op.getPad()[2 * i], high = op.getDilation()[i] * (window[i] - 1) +
                                             op.getStride()[i] * (places[i] - 1) + 1 - used[i + 2] -
                                             low;
    used[i + 2] += std::min<int64_t>(high, 0);
    pad.append({low, std::max<int64_t>(high, 0)});
  }
  if (ArrayRef(used) != shapeOf(input))
    input = SliceOp::create(builder, op.getLoc(), op.getType().clone(used, wide), input, starts,
                            used, ones);

  ArrayRef<int64_t> spatial = ArrayRef(used).drop_front(2);
  int64_t count = 1;
  for (int64_t place : places)
    count *= place;
  int64_t parts = partsOf(images, count), each = images / parts;
  input = move.reshape(input, join({parts, each, groups, channels}, spatial));
  input = move.transpose(input, leading({3, 0, 2, 1}, rank + 4));
  input = move.reshape(input, join({channels, parts * groups * each}, spatial));
  Dims where(places);
  gradient = move.reshape(gradient, join({parts, each, groups, outputs}, where));
  gradient = move.transpose(gradient, leading({0, 2, 3, 1}, rank + 4));
  gradient = move.reshape(gradient, join({parts * groups * outputs, each}, where));
  Dims shape = join({channels, parts * groups * outputs}, window);
  Value sums = createConv(builder, op.getLoc(), RankedTensorType::get(shape, wide), input, gradient,
                          op.getDilation(), pad, op.getStride(), parts * groups);
  if (parts > 1) {
    sums = move.reshape(sums, join({channels, parts, groups * outputs}, window));
    Dims total = join({channels, 1, groups * outputs}, window);
    sums = ReduceSumOp::create(builder, op.getLoc(), RankedTensorType::get(total, wide), sums,
                               ArrayRef<int64_t>{1});
    sums = move.reshape(sums, join({channels, groups * outputs}, window));
  }
  Value weights = move.castTo(move.transpose(sums, leading({1, 0}, rank + 2)), element);
  return move.finish(weights, op.getChannelsLast());
}

} // namespace convoy
