// Pooling and interpolation.

#ifndef CONVOY_CUDNN_RESAMPLE_OPS
#define CONVOY_CUDNN_RESAMPLE_OPS

include "dialect/cudnn/CudnnOpBase.td"

def Cudnn_ResampleOp : Cudnn_ComputeOp<"resample"> {
  let summary = "pooling or interpolation over a window";
  let description = [{
    **Constraints**

    * (c1) operand and result have one rank, 3 to 5.
    * (c2) `window` and `stride` have one positive number a spatial dim, `pre_padding` and `post_padding` one that is not negative.
    * (c3) a pooling's result has the shape that the window gives, and none of its dims is 0.
    * (c4) `maxpool` pads with `neg_inf_pad`, the other modes with `zero_pad` or `edge_val_pad`.
    * (c5) the compute type is f64, f32, f16, bf16 or i32.

    ```mlir
    %y = cudnn.resample maxpool(%x) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1]
        padding_mode = neg_inf_pad
        : !cudnn.tensor_desc<1x64x112x112xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
    ```

    Maps to `CUDNN_BACKEND_RESAMPLE_DESCRIPTOR` (`CUDNN_ATTR_RESAMPLE_MODE`, `_COMP_TYPE`, `_SPATIAL_DIMS`, `_WINDOW_DIMS`, `_STRIDES`,
    `_PRE_PADDINGS`, `_POST_PADDINGS`, `_PADDING_MODE`) and `CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR`.
  }];
  let arguments = (ins Cudnn_TensorDescType:$x, Cudnn_ResampleModeAttr:$mode, TypeAttr:$compute_type, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pre_padding, DenseI64ArrayAttr:$post_padding,
                       Cudnn_PaddingModeAttr:$padding_mode);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    `` $mode `(` $x `)` `type` `=` $compute_type `window` `=` $window `stride` `=` $stride `pre_padding` `=` $pre_padding
    `post_padding` `=` $post_padding `padding_mode` `=` `` $padding_mode attr-dict `:` qualified(type($x)) `->` qualified(type($y))
  }];
}

#endif // CONVOY_CUDNN_RESAMPLE_OPS
