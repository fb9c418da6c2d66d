// The operations of a graph, one a cuDNN operation descriptor.

#ifndef CONVOY_CUDNN_COMPUTE_OPS
#define CONVOY_CUDNN_COMPUTE_OPS

include "dialect/cudnn/CudnnDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Cudnn_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Op<Cudnn_Dialect, mnemonic, !listconcat([Pure, ParentOneOf<["GraphOp", "BuildAndExecGraphOp"]>], traits)> {
  let results = (outs Cudnn_TensorDescType:$y);
  let hasVerifier = 1;
}

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

def Cudnn_MatmulOp : Cudnn_ComputeOp<"matmul"> {
  let summary = "batched matrix product";
  let description = [{
    `B... x M x K` times `B... x K x N` gives `B... x M x N`; batch dims of size 1 broadcast.

    **Constraints**

    * (c1) all three tensors have one rank of at least 3.
    * (c2) the last dim of `a` is the second last of `b`.
    * (c3) batch dims are equal or 1, and the result's shape is the one that the operands give.
    * (c4) the compute type is f64, f32, f16, bf16 or i32.

    ```mlir
    %c = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x8x64xf16>, !cudnn.tensor_desc<1x64x32xf16> -> !cudnn.tensor_desc<1x8x32xf16>
    ```

    Maps to `CUDNN_BACKEND_MATMUL_DESCRIPTOR` (`CUDNN_ATTR_MATMUL_COMP_TYPE`) and `CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR`.
  }];
  let arguments = (ins Cudnn_TensorDescType:$a, Cudnn_TensorDescType:$b, TypeAttr:$compute_type);
  let assemblyFormat = [{
    `(` $a `,` $b `)` `type` `=` $compute_type attr-dict `:` qualified(type($a)) `,` qualified(type($b)) `->` qualified(type($y))
  }];
}

def Cudnn_PointwiseOp : Cudnn_ComputeOp<"pointwise"> {
  let summary = "an operation element by element";
  let description = [{
    One to three operands, as many as the mode takes; dims of size 1 broadcast. Backward modes take the output's gradient, then the forward
    pass's input; `binary_select` takes the two values, then the condition.

    The attributes of a mode that are absent have cuDNN's defaults: `lower_clip` 0, no `upper_clip`, `lower_clip_slope` 0, `elu_alpha`,
    `softplus_beta` and `swish_beta` 1. `alpha1` and `alpha2` multiply the first and the second operand.

    **Constraints**

    * (c1) there are as many operands as the mode takes.
    * (c2) the result's shape is the broadcast of the operands' shapes.
    * (c3) attributes of other modes are absent, and `gen_index` has its `axis`, below the rank.
    * (c4) `lower_clip` is at most `upper_clip`.
    * (c5) the compute type is f64, f32, f16, bf16, i32 or i1.

    ```mlir
    %y = cudnn.pointwise add(%x, %b) type = f32
        : !cudnn.tensor_desc<1x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
    %z = cudnn.pointwise relu_fwd(%y) type = f32 lower_clip = 0.0
        : !cudnn.tensor_desc<1x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
    ```

    Maps to `CUDNN_BACKEND_POINTWISE_DESCRIPTOR` (`CUDNN_ATTR_POINTWISE_MODE`, `_MATH_PREC`, `_RELU_LOWER_CLIP`, `_RELU_UPPER_CLIP`,
    `_RELU_LOWER_CLIP_SLOPE`, `_ELU_ALPHA`, `_SOFTPLUS_BETA`, `_SWISH_BETA`, `_AXIS`) and `CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR`
    (`CUDNN_ATTR_OPERATION_POINTWISE_XDESC`, `_BDESC`, `_TDESC`, `_YDESC`, and `_DYDESC`, `_XDESC`, `_DXDESC` for backward modes).
  }];
  let arguments = (ins Variadic<Cudnn_TensorDescType>:$inputs, Cudnn_PointwiseModeAttr:$mode, TypeAttr:$compute_type,
                       OptionalAttr<F64Attr>:$lower_clip, OptionalAttr<F64Attr>:$upper_clip, OptionalAttr<F64Attr>:$lower_clip_slope,
                       OptionalAttr<F64Attr>:$elu_alpha, OptionalAttr<F64Attr>:$softplus_beta, OptionalAttr<F64Attr>:$swish_beta,
                       OptionalAttr<I64Attr>:$axis, DefaultValuedAttr<F32Attr, "1.0">:$alpha1, DefaultValuedAttr<F32Attr, "1.0">:$alpha2);
  let assemblyFormat = [{
    `` $mode `(` $inputs `)` `type` `=` $compute_type (`lower_clip` `=` $lower_clip^)? (`upper_clip` `=` $upper_clip^)?
    (`lower_clip_slope` `=` $lower_clip_slope^)? (`elu_alpha` `=` $elu_alpha^)? (`softplus_beta` `=` $softplus_beta^)?
    (`swish_beta` `=` $swish_beta^)? (`axis` `=` $axis^)? (`alpha1` `=` $alpha1^)? (`alpha2` `=` $alpha2^)? attr-dict
    `:` qualified(type($inputs)) `->` qualified(type($y))
  }];
  let hasFolder = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Type":$type, "::convoy::cudnn::PointwiseMode":$mode, "::mlir::ValueRange":$inputs,
                   "::mlir::Type":$computeType)>,
  ];
}

def Cudnn_PointwiseReluOp : Cudnn_ComputeOp<"pointwise_relu"> {
  let summary = "pointwise relu_fwd in its first spelling";
  let description = [{
    Means `cudnn.pointwise relu_fwd`, to which canonicalization and `cudnn-outline-graphs` turn it.

    **Constraints**

    * (c1) operand and result have one shape.
    * (c2) the compute type is f64, f32, f16 or bf16.

    ```mlir
    %y = cudnn.pointwise_relu(%x) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x64x56x56xf32> -> !cudnn.tensor_desc<1x64x56x56xf32>
    ```
  }];
  let arguments = (ins Cudnn_TensorDescType:$x, TypeAttr:$compute_type, DefaultValuedAttr<F64Attr, "0.0">:$lower_clip);
  let assemblyFormat = [{
    `(` $x `)` `type` `=` $compute_type (`lower_clip` `=` $lower_clip^)? attr-dict `:` qualified(type($x)) `->` qualified(type($y))
  }];
  let hasCanonicalizeMethod = 1;
}

def Cudnn_ReductionOp : Cudnn_ComputeOp<"reduction"> {
  let summary = "reduce dims to 1";
  let description = [{
    The dims that are 1 in the result and more in the operand are reduced.

    **Constraints**

    * (c1) operand and result have one rank.
    * (c2) each result dim is the operand's or 1, and at least one is reduced.
    * (c3) the compute type is f64, f32, f16, bf16 or i32.

    ```mlir
    %y = cudnn.reduction add(%x) type = f32 : !cudnn.tensor_desc<8x64x7x7xf32, NHWC> -> !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
    ```

    Maps to `CUDNN_BACKEND_REDUCTION_DESCRIPTOR` (`CUDNN_ATTR_REDUCTION_OPERATOR`, `_COMP_TYPE`) and
    `CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR`.
  }];
  let arguments = (ins Cudnn_TensorDescType:$x, Cudnn_ReductionModeAttr:$mode, TypeAttr:$compute_type);
  let assemblyFormat = "`` $mode `(` $x `)` `type` `=` $compute_type attr-dict `:` qualified(type($x)) `->` qualified(type($y))";
}

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
  let assemblyFormat = [{
    `` $mode `(` $x `)` `type` `=` $compute_type `window` `=` $window `stride` `=` $stride `pre_padding` `=` $pre_padding
    `post_padding` `=` $post_padding `padding_mode` `=` `` $padding_mode attr-dict `:` qualified(type($x)) `->` qualified(type($y))
  }];
}

#endif // CONVOY_CUDNN_COMPUTE_OPS
