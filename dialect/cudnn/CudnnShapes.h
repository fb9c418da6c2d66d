// Shape functions on plain values, so that the verifier and the passes that build graphs agree. Shapes are logical.

#ifndef CONVOY_DIALECT_CUDNN_CUDNNSHAPES_H
#define CONVOY_DIALECT_CUDNN_CUDNNSHAPES_H

#include "dialect/common/Shapes.h"
#include "mlir/Support/LLVM.h"

namespace convoy::cudnn {

/// Strides of a tensor that is packed in the order of its dims.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Strides of a packed tensor whose dim 1, the channels, varies fastest; row-major below rank 3.
llvm::SmallVector<int64_t> channelsLastStrides(llvm::ArrayRef<int64_t> shape);

/// `window` places along each spatial dim of `input`, its last ones; a dim where the window does not fit becomes 0. Other dims stay.
llvm::SmallVector<int64_t> windowShape(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> window, llvm::ArrayRef<int64_t> stride,
                                       llvm::ArrayRef<int64_t> prePadding, llvm::ArrayRef<int64_t> postPadding,
                                       llvm::ArrayRef<int64_t> dilation);

/// Output shape of a resample operation, whose window, stride and paddings are in parts of an element, `denominator` to one.
llvm::SmallVector<int64_t> resampleShape(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> window, llvm::ArrayRef<int64_t> stride,
                                         llvm::ArrayRef<int64_t> prePadding, llvm::ArrayRef<int64_t> postPadding, int64_t denominator);

/// Output shape of a forward convolution. Input and filter are N x C x spatial and K x C/groups x window, or with the groups as a dim
/// N x G x C x spatial and G x K x C x window.
llvm::SmallVector<int64_t> convolutionShape(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> filter, llvm::ArrayRef<int64_t> stride,
                                            llvm::ArrayRef<int64_t> prePadding, llvm::ArrayRef<int64_t> postPadding,
                                            llvm::ArrayRef<int64_t> dilation);

/// 1 x C x 1..., the shape of what a channel has one number of.
llvm::SmallVector<int64_t> channelShape(llvm::ArrayRef<int64_t> input);

/// Shapes of scale and bias, and of the statistics, of a normalization of `input` over the dims from `axis` on. The parameters of an
/// `adaptive` one are different for each image.
std::pair<llvm::SmallVector<int64_t>, llvm::SmallVector<int64_t>> layerNormShapes(llvm::ArrayRef<int64_t> input, int64_t axis, bool adaptive);

/// `inputs` side by side along `axis`; failure when another dim differs.
mlir::FailureOr<llvm::SmallVector<int64_t>> concatShape(llvm::ArrayRef<llvm::ArrayRef<int64_t>> inputs, int64_t axis);

} // namespace convoy::cudnn

#endif // CONVOY_DIALECT_CUDNN_CUDNNSHAPES_H
