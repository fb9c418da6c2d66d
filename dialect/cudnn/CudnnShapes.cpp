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

SmallVector<int64_t> windowShape(ArrayRef<int64_t> input, ArrayRef<int64_t> window, ArrayRef<int64_t> stride, ArrayRef<int64_t> prePadding,
                                 ArrayRef<int64_t> postPadding, ArrayRef<int64_t> dilation) {
  SmallVector<int64_t> shape(input);
  size_t first = input.size() - stride.size();
  for (size_t i = 0; i < stride.size(); ++i) {
    int64_t slack = input[first + i] + prePadding[i] + postPadding[i] - dilation[i] * (window[i] - 1) - 1;
    shape[first + i] = slack < 0 ? 0 : slack / stride[i] + 1;
  }
  return shape;
}

SmallVector<int64_t> resampleShape(ArrayRef<int64_t> input, ArrayRef<int64_t> window, ArrayRef<int64_t> stride,
                                   ArrayRef<int64_t> prePadding, ArrayRef<int64_t> postPadding, int64_t denominator) {
  SmallVector<int64_t> parts(input), dilation(window.size(), 1);
  for (int64_t &size : llvm::drop_begin(parts, input.size() - window.size()))
    size *= denominator;
  return windowShape(parts, window, stride, prePadding, postPadding, dilation);
}

SmallVector<int64_t> convolutionShape(ArrayRef<int64_t> input, ArrayRef<int64_t> filter, ArrayRef<int64_t> stride,
                                      ArrayRef<int64_t> prePadding, ArrayRef<int64_t> postPadding, ArrayRef<int64_t> dilation) {
  SmallVector<int64_t> shape = windowShape(input, filter.take_back(stride.size()), stride, prePadding, postPadding, dilation);
  size_t channels = input.size() - stride.size() - 1; // behind it the spatial dims, before it the batch and maybe the groups
  shape[channels] = filter[channels - 1];
  return shape;
}

SmallVector<int64_t> channelShape(ArrayRef<int64_t> input) {
  SmallVector<int64_t> shape(input.size(), 1);
  shape[1] = input[1];
  return shape;
}

std::pair<SmallVector<int64_t>, SmallVector<int64_t>> layerNormShapes(ArrayRef<int64_t> input, int64_t axis, bool adaptive) {
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
