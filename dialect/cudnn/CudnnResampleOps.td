// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pooling and interpolation, and their gradients.

#ifndef CONVOY_CUDNN_RESAMPLE_OPS
#define CONVOY_CUDNN_RESAMPLE_OPS

include "dialect/cudnn/CudnnNamedTensors.td"

def Cudnn_ResampleOp : Cudnn_ComputeOp<"resample", [Cudnn_InferTypes]> {
  let summary = "pooling or interpolation over a window";
  let description = [{
    A window slides over each spatial dim. `nearest` and `bilinear` interpolate between the two
    elements of a window of size 2, and may have strides of less than one element: `window`,
    `stride` and the paddings are all divided by `denominator`, which is 1 by default. A dim of size
    n becomes `(n + pre_padding + post_padding - window) / stride + 1`, rounded down.

    `maxpool` may have a second result for its gradient: the index of the maximum in its window. The
    result is multiplied by `alpha`, and `beta` times the previous contents of the result's memory
    is added; both are deprecated in cuDNN. By default NaN is propagated, as in PyTorch.

    **Constraints**

    * (c1) operand and results have the same rank, 3 to 5.
    * (c2) `window` and `stride` have one positive number per spatial dim, `pre_padding` and
      `post_padding` one non-negative number.
    * (c3) the result has the shape that follows from the window, and none of its dims is 0.
    * (c4) `maxpool` pads with `neg_inf_pad`, the other modes with `zero_pad` or `edge_val_pad`.
    * (c5) the compute type is f64, f32, f16, bf16 or i32.
    * (c6) `denominator` is positive, and 1 unless the mode is `nearest` or `bilinear`.
    * (c7) the window of `nearest` and `bilinear` has 2 elements per dim.
    * (c8) only `maxpool` has an `index`, which has the first result's shape and elements of i8,
      i32, i64 or i1.

    ```mlir
    %y = cudnn.resample maxpool(%x) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1]
        padding_mode = neg_inf_pad
        : !cudnn.tensor_desc<1x64x112x112xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
    %z = cudnn.resample bilinear(%y) type = f32 window = [4, 4] stride = [1, 1] pre_padding = [1, 1] post_padding = [2, 2] denominator = 2
        padding_mode = edge_val_pad
        : !cudnn.tensor_desc<1x64x56x56xf16, NHWC> -> !cudnn.tensor_desc<1x64x112x112xf16, NHWC>
    ```

    Maps to `CUDNN_BACKEND_RESAMPLE_DESCRIPTOR` (`CUDNN_ATTR_RESAMPLE_MODE`, `_COMP_TYPE`,
    `_SPATIAL_DIMS`, `_WINDOW_DIMS`, `_STRIDES`, `_PRE_PADDINGS`, `_POST_PADDINGS`, `_PADDING_MODE`,
    `_NAN_PROPAGATION`) and `CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR`
    (`CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC`, `_XDESC`, `_YDESC`, `_IDXDESC`, `_ALPHA`, `_BETA`).
  }];
  let arguments = (ins Cudnn_TensorDescType:$x, Cudnn_ResampleModeAttr:$mode, TypeAttr:$compute_type, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pre_padding, DenseI64ArrayAttr:$post_padding,
                       DefaultValuedAttr<I64Attr, "1">:$denominator, Cudnn_PaddingModeAttr:$padding_mode,
                       DefaultValuedAttr<Cudnn_NanPropagationAttr, "::convoy::cudnn::NanPropagation::PropagateNan">:$nan_propagation,
                       OptionalAttr<F64Attr>:$alpha, OptionalAttr<F64Attr>:$beta);
  let results = (outs Cudnn_TensorDescType:$y, Optional<Cudnn_TensorDescType>:$index);
  let assemblyFormat = [{
    `` $mode `(` $x `)` `type` `=` $compute_type `window` `=` $window `stride` `=` $stride `pre_padding` `=` $pre_padding
    `post_padding` `=` $post_padding (`denominator` `=` $denominator^)? `padding_mode` `=` `` $padding_mode
    (`nan_propagation` `=` `` $nan_propagation^)? (`alpha` `=` $alpha^)? (`beta` `=` $beta^)? attr-dict `:` qualified(type($x)) `->`
    qualified(type($y)) (`,` qualified(type($index))^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$x, "::convoy::cudnn::ResampleMode":$mode, "::mlir::Type":$computeType,
                   "::llvm::ArrayRef<int64_t>":$window, "::llvm::ArrayRef<int64_t>":$stride, "::llvm::ArrayRef<int64_t>":$prePadding,
                   "::llvm::ArrayRef<int64_t>":$postPadding, "::convoy::cudnn::PaddingMode":$paddingMode), [{
      build($_builder, $_state, type, /*index=*/{}, x, mode, computeType, window, stride, prePadding, postPadding, /*denominator=*/1,
            paddingMode, NanPropagation::PropagateNan, /*alpha=*/{}, /*beta=*/{});
    }]>,
  ];
}

def Cudnn_ResampleBackwardOp : Cudnn_ComputeOp<"resample_backward", [AttrSizedOperandSegments]> {
  let summary = "gradient of a pooling or an interpolation";
  let description = [{
    Computes the gradient of the operand of `cudnn.resample` from that of its result. Attributes are
    those of the forward operation. The gradient of `maxpool` needs the positions of the maxima:
    either `index`, the second result of `cudnn.resample`, or `x` and `y`, its operand and result.
    Average pooling and `bilinear` need neither. cuDNN 9.19 has no gradient of `nearest`.

    **Constraints**

    * (c1) all tensors have the same rank, 3 to 5.
    * (c2) `window`, `stride`, the paddings, `denominator`, `padding_mode` and the compute type meet
      the constraints of `cudnn.resample`.
    * (c3) `dy` has the shape that follows from `dx` and the window.
    * (c4) the mode is not `nearest`.
    * (c5) `maxpool` has an `index`, or `x` and `y`; other modes have none of these.
    * (c6) `x` has the result's shape, `y` and `index` have that of `dy`; `index` has elements of
      i8, i32, i64 or i1.

    ```mlir
    %dx = cudnn.resample_backward maxpool type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1]
        padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>) index(%i : !cudnn.tensor_desc<1x64x56x56xi8, NHWC>)
        -> dx(!cudnn.tensor_desc<1x64x112x112xf16, NHWC>)
    ```

    Maps to `CUDNN_BACKEND_RESAMPLE_DESCRIPTOR`, as `cudnn.resample` does, and
    `CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR` (`CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC`,
    `_DXDESC`, `_DYDESC`, `_IDXDESC`, `_XDESC`, `_YDESC`, `_ALPHA`, `_BETA`).
  }];
  let arguments = (ins Cudnn_TensorDescType:$dy, Optional<Cudnn_TensorDescType>:$index, Optional<Cudnn_TensorDescType>:$x,
                       Optional<Cudnn_TensorDescType>:$y, Cudnn_ResampleModeAttr:$mode, TypeAttr:$compute_type, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pre_padding, DenseI64ArrayAttr:$post_padding,
                       DefaultValuedAttr<I64Attr, "1">:$denominator, Cudnn_PaddingModeAttr:$padding_mode,
                       DefaultValuedAttr<Cudnn_NanPropagationAttr, "::convoy::cudnn::NanPropagation::PropagateNan">:$nan_propagation,
                       OptionalAttr<F64Attr>:$alpha, OptionalAttr<F64Attr>:$beta);
  let results = (outs Cudnn_TensorDescType:$dx);
  let assemblyFormat = [{
    $mode `type` `=` $compute_type `window` `=` $window `stride` `=` $stride `pre_padding` `=` $pre_padding `post_padding` `=` $post_padding
    (`denominator` `=` $denominator^)? `padding_mode` `=` `` $padding_mode (`nan_propagation` `=` `` $nan_propagation^)?
    (`alpha` `=` $alpha^)? (`beta` `=` $beta^)?
  }] # Cudnn_In<"dy">.text # Cudnn_OptionalIn<"index">.text # Cudnn_OptionalIn<"x">.text # Cudnn_OptionalIn<"y">.text # "attr-dict `->` "
      # Cudnn_Out<"dx">.text;
}

#endif // CONVOY_CUDNN_RESAMPLE_OPS
