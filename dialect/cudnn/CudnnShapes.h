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

} // namespace convoy::cudnn

#endif // CONVOY_DIALECT_CUDNN_CUDNNSHAPES_H
