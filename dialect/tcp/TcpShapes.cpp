// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/tcp/TcpShapes.h"

using namespace mlir;

namespace convoy::tcp {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

Dim windowPlaces(Dim size, Dim window, int64_t stride, int64_t padLow, int64_t padHigh,
                 int64_t dilation) {
  Dim slack = size + padLow + padHigh - (window - 1) * dilation - 1;
  return slack.isNumber() && slack.size() < 0 ? Dim(0) : floorDiv(slack, stride) + 1;
}

int64_t channelDim(int64_t spatialRank, bool channelsLast) {
  return channelsLast ? spatialRank + 1 : 1;
}

int64_t firstSpatialDim(bool channelsLast) { return channelsLast ? 1 : 2; }

/// The shape of `input` with its spatial dims replaced by the numbers of window positions.
static Dims windowShape(ArrayRef<Dim> input, ArrayRef<Dim> kernel, ArrayRef<int64_t> stride,
                        ArrayRef<int64_t> pad, ArrayRef<int64_t> dilation, bool channelsLast) {
  Dims shape(input);
  for (size_t i = 0, first = firstSpatialDim(channelsLast); i < stride.size(); ++i)
    shape[first + i] = windowPlaces(input[first + i], kernel[i], stride[i], pad[2 * i],
                                    pad[2 * i + 1], dilation[i]);
  return shape;
}

Dims convShape(ArrayRef<Dim> input, ArrayRef<Dim> weights, ArrayRef<int64_t> stride,
               ArrayRef<int64_t> pad, ArrayRef<int64_t> dilation, bool channelsLast) {
  ArrayRef<Dim> kernel = weights.slice(firstSpatialDim(channelsLast), stride.size());
  Dims shape = windowShape(input, kernel, stride, pad, dilation, channelsLast);
  shape[channelDim(stride.size(), channelsLast)] = weights[0];
  return shape;
}

Dims poolShape(ArrayRef<Dim> input, ArrayRef<int64_t> kernel, ArrayRef<int64_t> stride,
               ArrayRef<int64_t> pad, ArrayRef<int64_t> dilation, bool channelsLast) {
  return windowShape(input, Dims(kernel.begin(), kernel.end()), stride, pad, dilation,
                     channelsLast);
}

bool isMultipleOf(Dim dim, int64_t divisor) { return !dim.isNumber() || dim.size() % divisor == 0; }

Dim elementsOf(ArrayRef<Dim> dims) {
  return std::accumulate(dims.begin(), dims.end(), Dim(1), std::multiplies<>());
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
