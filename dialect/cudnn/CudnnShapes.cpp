// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/cudnn/CudnnShapes.h"

using namespace mlir;

namespace convoy::cudnn {

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

SmallVector<int64_t> channelsLastStrides(ArrayRef<int64_t> shape) {
  if (shape.size() < 3)
    return rowMajorStrides(shape);
  SmallVector<int64_t> strides(shape.size(), 1);
  int64_t step = shape[1];
  for (int64_t i = static_cast<int64_t>(shape.size()) - 1; i >= 0; --i) {
    if (i == 1)
      continue;
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

/// The shape of `input` with its trailing spatial dims replaced by the numbers of window positions.
/// Failure when the window does not fit.
static FailureOr<SmallVector<int64_t>>
windowShape(ArrayRef<int64_t> input, ArrayRef<int64_t> window, ArrayRef<int64_t> stride,
            ArrayRef<int64_t> prePadding, ArrayRef<int64_t> postPadding,
            ArrayRef<int64_t> dilation) {
  size_t spatialRank = stride.size();
  auto isOther = [&](ArrayRef<int64_t> numbers) { return numbers.size() != spatialRank; };
  if (input.size() < spatialRank + 2 ||
      llvm::any_of(ArrayRef({window, prePadding, postPadding, dilation}), isOther))
    return failure();
  SmallVector<int64_t> shape(input);
  size_t first = input.size() - spatialRank;
  for (size_t i = 0; i < spatialRank; ++i) {
    int64_t slack =
        input[first + i] + prePadding[i] + postPadding[i] - dilation[i] * (window[i] - 1) - 1;
    if (slack < 0 || stride[i] < 1)
      return failure();
    shape[first + i] = slack / stride[i] + 1;
  }
  return shape;
}

FailureOr<SmallVector<int64_t>> resampleShape(ArrayRef<int64_t> input, ArrayRef<int64_t> window,
                                              ArrayRef<int64_t> stride,
                                              ArrayRef<int64_t> prePadding,
                                              ArrayRef<int64_t> postPadding, int64_t denominator) {
  if (input.size() != window.size() + 2)
    return failure();
  SmallVector<int64_t> parts(input), dilation(window.size(), 1);
  for (int64_t &size : llvm::drop_begin(parts, 2))
    size *= denominator;
  return windowShape(parts, window, stride, prePadding, postPadding, dilation);
}

FailureOr<SmallVector<int64_t>> convolutionShape(ArrayRef<int64_t> input, ArrayRef<int64_t> filter,
                                                 ArrayRef<int64_t> stride,
                                                 ArrayRef<int64_t> prePadding,
                                                 ArrayRef<int64_t> postPadding,
                                                 ArrayRef<int64_t> dilation) {
  if (filter.size() != input.size() || filter.size() < stride.size() + 2)
    return failure();
  FailureOr<SmallVector<int64_t>> shape = windowShape(input, filter.take_back(stride.size()),
                                                      stride, prePadding, postPadding, dilation);
  if (failed(shape))
    return failure();
  // The channel dim is between the batch (and groups, if any) and the spatial dims.
  size_t channels = input.size() - stride.size() - 1;
  (*shape)[channels] = filter[channels - 1];
  return shape;
}

FailureOr<SmallVector<int64_t>> matmulShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() != b.size() || a.size() < 3 || a.back() != b[b.size() - 2])
    return failure();
  SmallVector<int64_t> shape;
  for (auto [m, n] : llvm::zip(a.drop_back(2), b.drop_back(2))) {
    if (m % n != 0 && n % m != 0)
      return failure();
    shape.push_back(std::max(m, n));
  }
  shape.append({a[a.size() - 2], b.back()});
  return shape;
}

SmallVector<int64_t> attentionShape(ArrayRef<int64_t> q, ArrayRef<int64_t> v) {
  return {q[0], q[1], q[2], v[3]};
}

SmallVector<int64_t> moeShape(ArrayRef<int64_t> token, ArrayRef<int64_t> weight,
                              ArrayRef<int64_t> tokenIndex) {
  return {1, (tokenIndex.empty() ? token : tokenIndex)[1], weight[2]};
}

SmallVector<int64_t> bandShape(ArrayRef<int64_t> matrix, int64_t axis, int64_t lowerBandwidth,
                               int64_t upperBandwidth) {
  SmallVector<int64_t> shape(matrix);
  shape[axis] = lowerBandwidth + 1 + upperBandwidth;
  return shape;
}

SmallVector<int64_t> channelShape(ArrayRef<int64_t> input, bool eachImage) {
  SmallVector<int64_t> shape(input.size(), 1);
  shape[1] = input[1];
  if (eachImage)
    shape[0] = input[0];
  return shape;
}

std::pair<SmallVector<int64_t>, SmallVector<int64_t>> layerNormShapes(ArrayRef<int64_t> input,
                                                                      int64_t axis, bool adaptive) {
  SmallVector<int64_t> parameters(input), statistics(input);
  std::fill(parameters.begin() + adaptive, parameters.begin() + axis, 1);
  std::fill(statistics.begin() + axis, statistics.end(), 1);
  return {parameters, statistics};
}

FailureOr<SmallVector<int64_t>> concatShape(ArrayRef<ArrayRef<int64_t>> inputs, int64_t axis) {
  SmallVector<int64_t> result(inputs.front());
  for (ArrayRef<int64_t> input : inputs.drop_front())
    for (auto [i, size] : llvm::enumerate(input)) {
      if (static_cast<int64_t>(i) == axis)
        result[i] += size;
      else if (result[i] != size)
        return failure();
    }
  return result;
}

} // namespace convoy::cudnn
