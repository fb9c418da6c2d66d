// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolutions and their gradients.

#ifndef CONVOY_CUDNN_CONV_OPS
#define CONVOY_CUDNN_CONV_OPS

include "dialect/cudnn/CudnnOpBase.td"

def Cudnn_ConvolutionOp : Cudnn_ComputeOp<"convolution", [Cudnn_InferTypes]> {
  let summary = "convolution over 1 to 3 spatial dims, or one of its gradients";
  let description = [{
    `fprop` computes the output from the input and the filter, `dgrad` the input's gradient from the
    output's gradient and the filter, and `wgrad` the filter's gradient from the input and the
    output's gradient. Their dims are

    | input | filter | output | groups |
    |---|---|---|---|
    | N x C x spatial | K x C/G x window | N x K x spatial | G, the input's channels over the filter's |
    | N x G x C x spatial | G x K x C x window | N x G x K x spatial | G, a dim, whose stride is free |

    The length of `spatial_stride` is the number of spatial dims. The dims of a vectorized tensor
    count numbers, not vectors. `kind` is `convolution`, which flips the window, or
    `cross_correlation`. The result is `alpha` times the convolution plus `beta` times the previous
    contents of the result's memory. cuDNN gets `alpha` and `beta` as floats, or as doubles with
    compute type f64.

    `spatial_dim_count` is optional and redundant: the number of spatial dims, or the rank, as in
    early examples of this syntax, for which the parser emits a remark. cuDNN always gets the number
    of spatial dims. Canonicalization removes the attribute.

    **Constraints**

    * (c1) there are 1 to 3 spatial dims, and all three tensors have the same rank, 2 or 3 more.
    * (c2) `spatial_stride` and `dilation` have one positive number per spatial dim, `pre_padding`
      and `post_padding` one non-negative number.
    * (c3) the filter's channels divide the input's, and the resulting number of groups divides the
      filter's K; where the groups are a dim, input and filter agree in groups and channels.
    * (c4) the output has the shape that follows from input and filter, and none of its dims is 0.
    * (c5) the compute type is f64, f32, f16, bf16, i32 or `!cudnn.fast_float_for_fp8`.
    * (c6) `spatial_dim_count`, if present, is the number of spatial dims or the rank.

    ```mlir
    %y = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
        : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
    ```

    Maps to `CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR` (`CUDNN_ATTR_CONVOLUTION_COMP_TYPE`,
    `_CONV_MODE`, `_DILATIONS`, `_FILTER_STRIDES`, `_PRE_PADDINGS`, `_POST_PADDINGS`,
    `_SPATIAL_DIMS`) and `CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR`
    (`CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X`, `_W`, `_Y`, `_CONV_DESC`, `_ALPHA`, `_BETA`),
    `CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR`
    (`CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY`, `_W`, `_DX`, ...) or
    `CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR`
    (`CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X`, `_DY`, `_DW`, ...).
  }];
  let arguments = (ins Cudnn_TensorDescType:$x, Cudnn_TensorDescType:$w,
                       DefaultValuedAttr<Cudnn_ConvolutionModeAttr, "::convoy::cudnn::ConvolutionMode::Fprop">:$mode,
                       DefaultValuedAttr<Cudnn_ConvolutionKindAttr, "::convoy::cudnn::ConvolutionKind::CrossCorrelation">:$kind,
                       TypeAttr:$compute_type, DefaultValuedAttr<F64Attr, "1.0">:$alpha, DefaultValuedAttr<F64Attr, "0.0">:$beta,
                       OptionalAttr<I64Attr>:$spatial_dim_count, DenseI64ArrayAttr:$spatial_stride, DenseI64ArrayAttr:$pre_padding,
                       DenseI64ArrayAttr:$post_padding, DenseI64ArrayAttr:$dilation);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    `(` $x `,` $w `)` (`mode` `=` `` $mode^)? (`kind` `=` `` $kind^)? `type` `=` $compute_type (`alpha` `=` $alpha^)? (`beta` `=` $beta^)?
    custom<SpatialDims>($spatial_dim_count, $spatial_stride) `pre_padding` `=` $pre_padding
    `post_padding` `=` $post_padding `dilation` `=` $dilation attr-dict `:` qualified(type($x)) `,` qualified(type($w)) `->`
    qualified(type($y))
  }];
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    int64_t getSpatialRank() { return getSpatialStride().size(); }
    /// Whether the groups are a dim of all tensors.
    bool hasGroupDim() { return getX().getType().getRank() == getSpatialRank() + 3; }
    /// The types by role in the forward convolution, independent of the mode.
    TensorDescType getInputType();
    TensorDescType getFilterType();
    TensorDescType getOutputType();
  }];
}

#endif // CONVOY_CUDNN_CONV_OPS
