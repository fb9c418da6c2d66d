// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/tcp/TcpShapes.h"

using namespace mlir;

namespace convoy::tcp {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

int64_t windowPlaces(int64_t size, int64_t window, int64_t stride, int64_t padLow, int64_t padHigh,
                     int64_t dilation) {
  int64_t slack = size + padLow + padHigh - dilation * (window - 1) - 1;
  return slack < 0 ? 0 : slack / stride + 1;
}

int64_t channelDim(int64_t spatialRank, bool channelsLast) {
  return channelsLast ? spatialRank + 1 : 1;
}

int64_t firstSpatialDim(bool channelsLast) { return channelsLast ? 1 : 2; }

/// The shape of `input` with its spatial dims replaced by the numbers of window positions.
static SmallVector<int64_t> windowShape(ArrayRef<int64_t> input, ArrayRef<int64_t> kernel,
                                        ArrayRef<int64_t> stride, ArrayRef<int64_t> pad,
                                        ArrayRef<int64_t> dilation, bool channelsLast) {
  SmallVector<int64_t> shape(input);
  for (size_t i = 0, first = firstSpatialDim(channelsLast); i < stride.size(); ++i)
    shape[first + i] = windowPlaces(input[first + i], kernel[i], stride[i], pad[2 * i],
                                    pad[2 * i + 1], dilation[i]);
  return shape;
}

SmallVector<int64_t> convShape(ArrayRef<int64_t> input, ArrayRef<int64_t> weights,
                               ArrayRef<int64_t> stride, ArrayRef<int64_t> pad,
                               ArrayRef<int64_t> dilation, bool channelsLast) {
  ArrayRef<int64_t> kernel = weights.slice(firstSpatialDim(channelsLast), stride.size());
  SmallVector<int64_t> shape = windowShape(input, kernel, stride, pad, dilation, channelsLast);
  shape[channelDim(stride.size(), channelsLast)] = weights[0];
  return shape;
}

SmallVector<int64_t> poolShape(ArrayRef<int64_t> input, ArrayRef<int64_t> kernel,
                               ArrayRef<int64_t> stride, ArrayRef<int64_t> pad,
                               ArrayRef<int64_t> dilation, bool channelsLast) {
  return windowShape(input, kernel, stride, pad, dilation, channelsLast);
}

SmallVector<int64_t> withCeilPad(ArrayRef<int64_t> pad, ArrayRef<int64_t> ceilPad) {
  SmallVector<int64_t> result(pad);
  for (auto [i, extra] : llvm::enumerate(ceilPad))
    result[2 * i + 1] += extra;
  return result;
}

RankedTensorType stackedType(Type type, int64_t trips) {
  auto element = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape = {trips};
  llvm::append_range(shape, element.getShape());
  return element.clone(shape);
}

} // namespace convoy::tcp
