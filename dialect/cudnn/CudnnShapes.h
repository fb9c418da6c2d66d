// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shape functions on plain values, shared by the verifiers and the passes that build graphs. Shapes
// are logical.

#ifndef CONVOY_DIALECT_CUDNN_CUDNNSHAPES_H
#define CONVOY_DIALECT_CUDNN_CUDNNSHAPES_H

#include "dialect/common/Shapes.h"
#include "mlir/Support/LLVM.h"

namespace convoy::cudnn {

/// Strides of a tensor packed in the order of its dims.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Strides of a packed tensor whose dim 1, the channels, varies fastest; row-major below rank 3.
llvm::SmallVector<int64_t> channelsLastStrides(llvm::ArrayRef<int64_t> shape);

/// Output shape of a resample operation, whose window, stride and paddings are in units of
/// 1 / `denominator` of an element. Failure when the window does not fit.
mlir::FailureOr<llvm::SmallVector<int64_t>>
resampleShape(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> window,
              llvm::ArrayRef<int64_t> stride, llvm::ArrayRef<int64_t> prePadding,
              llvm::ArrayRef<int64_t> postPadding, int64_t denominator);

/// Output shape of a forward convolution. Input and filter are N x C x spatial and K x C/groups x
/// window, or with the groups as a dim N x G x C x spatial and G x K x C x window. Failure when the
/// filter does not fit.
mlir::FailureOr<llvm::SmallVector<int64_t>>
convolutionShape(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> filter,
                 llvm::ArrayRef<int64_t> stride, llvm::ArrayRef<int64_t> prePadding,
                 llvm::ArrayRef<int64_t> postPadding, llvm::ArrayRef<int64_t> dilation);

/// Shape of a matrix product, B... x M x K times B... x K x N. Failure when the K dims differ, or
/// when neither of two batch dims divides the other.
mlir::FailureOr<llvm::SmallVector<int64_t>> matmulShape(llvm::ArrayRef<int64_t> a,
                                                        llvm::ArrayRef<int64_t> b);

/// Result shape of attention: that of q, with the depth of v.
llvm::SmallVector<int64_t> attentionShape(llvm::ArrayRef<int64_t> q, llvm::ArrayRef<int64_t> v);

/// Result shape of a grouped product: the rows are those of `tokenIndex`, or of `token` if
/// `tokenIndex` is empty (tokens are not gathered).
llvm::SmallVector<int64_t> moeShape(llvm::ArrayRef<int64_t> token, llvm::ArrayRef<int64_t> weight,
                                    llvm::ArrayRef<int64_t> tokenIndex);

/// Shape of a matrix's band, whose elements are along `axis`.
llvm::SmallVector<int64_t> bandShape(llvm::ArrayRef<int64_t> matrix, int64_t axis,
                                     int64_t lowerBandwidth, int64_t upperBandwidth);

/// Shape of a tensor with one number per channel, 1 x C x 1...; with `eachImage` N x C x 1... .
llvm::SmallVector<int64_t> channelShape(llvm::ArrayRef<int64_t> input, bool eachImage = false);

/// Shapes of the parameters (scale and bias) and of the statistics when `input` is normalized over
/// the dims from `axis` on. The parameters of an `adaptive` normalization differ for each image.
std::pair<llvm::SmallVector<int64_t>, llvm::SmallVector<int64_t>>
layerNormShapes(llvm::ArrayRef<int64_t> input, int64_t axis, bool adaptive);

/// Shape of the concatenation of `inputs`, of equal rank, along `axis`; failure when another dim
/// differs.
mlir::FailureOr<llvm::SmallVector<int64_t>>
concatShape(llvm::ArrayRef<llvm::ArrayRef<int64_t>> inputs, int64_t axis);

} // namespace convoy::cudnn

#endif // CONVOY_DIALECT_CUDNN_CUDNNSHAPES_H
