// Convolutions and their gradients.

#ifndef CONVOY_CUDNN_CONV_OPS
#define CONVOY_CUDNN_CONV_OPS

include "dialect/cudnn/CudnnOpBase.td"

def Cudnn_ConvolutionOp : Cudnn_ComputeOp<"convolution"> {
  let summary = "convolution over 1 to 3 spatial dims, or one of its gradients";
  let description = [{
    `fprop` takes the input and the filter and gives the output; `dgrad` takes the output's gradient and the filter and gives the input's;
    `wgrad` takes the input and the output's gradient and gives the filter's. The number of groups is the input's channels over the
    filter's. The filter is K x C/groups x window. `alpha` multiplies the result, `beta` what the result's memory holds before.

    `spatial_dim_count` may be written and says nothing new: it is the number of spatial dims, or the rank, as early examples of this
    spelling have it. Canonicalization drops it.

    **Constraints**

    * (c1) all three tensors have one rank, 3 to 5.
    * (c2) `spatial_stride` and `dilation` have one positive number a spatial dim, `pre_padding` and `post_padding` one that is not
      negative.
    * (c3) the filter's channels divide the input's, and the groups that follow divide the filter's K.
    * (c4) the output's shape is the one that input and filter give, and none of its dims is 0.
    * (c5) the compute type is f64, f32, f16, bf16 or i32.
    * (c6) `spatial_dim_count`, if written, is the number of spatial dims or the rank.

    ```mlir
    %y = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
        : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
    ```

    Maps to `CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR` (`CUDNN_ATTR_CONVOLUTION_COMP_TYPE`, `_CONV_MODE`, `_DILATIONS`, `_FILTER_STRIDES`,
    `_PRE_PADDINGS`, `_POST_PADDINGS`, `_SPATIAL_DIMS`) and `CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR`, `_BACKWARD_DATA_` or
    `_BACKWARD_FILTER_`.
  }];
  let arguments = (ins Cudnn_TensorDescType:$x, Cudnn_TensorDescType:$w,
                       DefaultValuedAttr<Cudnn_ConvolutionModeAttr, "::convoy::cudnn::ConvolutionMode::Fprop">:$mode,
                       DefaultValuedAttr<Cudnn_ConvolutionKindAttr, "::convoy::cudnn::ConvolutionKind::CrossCorrelation">:$kind,
                       TypeAttr:$compute_type, DefaultValuedAttr<F32Attr, "1.0">:$alpha, DefaultValuedAttr<F32Attr, "0.0">:$beta,
                       OptionalAttr<I64Attr>:$spatial_dim_count, DenseI64ArrayAttr:$spatial_stride, DenseI64ArrayAttr:$pre_padding,
                       DenseI64ArrayAttr:$post_padding, DenseI64ArrayAttr:$dilation);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    `(` $x `,` $w `)` (`mode` `=` `` $mode^)? (`kind` `=` `` $kind^)? `type` `=` $compute_type (`alpha` `=` $alpha^)? (`beta` `=` $beta^)?
    (`spatial_dim_count` `=` $spatial_dim_count^)? `spatial_stride` `=` $spatial_stride `pre_padding` `=` $pre_padding
    `post_padding` `=` $post_padding `dilation` `=` $dilation attr-dict `:` qualified(type($x)) `,` qualified(type($w)) `->`
    qualified(type($y))
  }];
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    int64_t getSpatialRank() { return getX().getType().getRank() - 2; }
    /// The tensors by their part in the forward convolution, whatever the mode computes.
    TensorDescType getInputType();
    TensorDescType getFilterType();
    TensorDescType getOutputType();
    int64_t getGroups() { return getInputType().getShape()[1] / getFilterType().getShape()[1]; }
  }];
}

#endif // CONVOY_CUDNN_CONV_OPS
