// Operations element by element.

#ifndef CONVOY_CUDNN_POINTWISE_OPS
#define CONVOY_CUDNN_POINTWISE_OPS

include "dialect/cudnn/CudnnOpBase.td"

def Cudnn_PointwiseOp : Cudnn_ComputeOp<"pointwise", [Cudnn_InferTypes]> {
  let summary = "an operation element by element";
  let description = [{
    One to three operands, as many as the mode takes; dims of size 1 broadcast, and vectorized
    tensors count by their numbers. Backward modes take the output's gradient, then the forward
    pass's input; `binary_select` takes the two values, then the condition.

    The attributes of a mode that are absent have cuDNN's defaults: `lower_clip` 0, no `upper_clip`,
    `lower_clip_slope` 0, `elu_alpha`, `softplus_beta` and `swish_beta` 1. `nan_propagation` is of
    the modes that compare: `relu_fwd` and `relu_bwd` propagate NaN when it is not written, as torch
    does, `min` and `max` do what cuDNN does of itself. `alpha1` and `alpha2` multiply the first and
    the second operand; cuDNN gets them as floats, and as doubles where it computes in f64.

    Two bounds by finite constants, such as `min` of `max` in either order or `min` of `relu_fwd`,
    become one `relu_fwd` with clips where all of them propagate NaN and the tensor in between holds
    every value; at the end of a convolution with an identity after it, where cuDNN 9.19 has fewer
    engines for the relu alone.

    **Constraints**

    * (c1) there are as many operands as the mode takes.
    * (c2) the result's shape is the broadcast of the operands' shapes.
    * (c3) attributes of other modes are absent, and `gen_index` has its `axis`, below the rank.
    * (c4) `lower_clip` is at most `upper_clip`.
    * (c5) the compute type is f64, f32, f16, bf16, i32 or i1.
    * (c6) `alpha2` is 1 where there is no second operand.

    ```mlir
    %y = cudnn.pointwise add(%x, %b) type = f32
        : !cudnn.tensor_desc<1x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
    %z = cudnn.pointwise relu_fwd(%y) type = f32 lower_clip = 0.0
        : !cudnn.tensor_desc<1x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
    ```

    Maps to `CUDNN_BACKEND_POINTWISE_DESCRIPTOR` (`CUDNN_ATTR_POINTWISE_MODE`, `_MATH_PREC`,
    `_RELU_LOWER_CLIP`, `_RELU_UPPER_CLIP`, `_RELU_LOWER_CLIP_SLOPE`, `_NAN_PROPAGATION`,
    `_ELU_ALPHA`, `_SOFTPLUS_BETA`, `_SWISH_BETA`, `_AXIS`) and
    `CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR` (`CUDNN_ATTR_OPERATION_POINTWISE_XDESC`,
    `_BDESC`, `_TDESC`, `_YDESC`, `_ALPHA1`, `_ALPHA2`, and `_DYDESC`, `_XDESC`, `_DXDESC` for
    backward modes).
  }];
  let arguments = (ins Variadic<Cudnn_TensorDescType>:$inputs, Cudnn_PointwiseModeAttr:$mode, TypeAttr:$compute_type,
                       OptionalAttr<F64Attr>:$lower_clip, OptionalAttr<F64Attr>:$upper_clip, OptionalAttr<F64Attr>:$lower_clip_slope,
                       OptionalAttr<F64Attr>:$elu_alpha, OptionalAttr<F64Attr>:$softplus_beta, OptionalAttr<F64Attr>:$swish_beta,
                       OptionalAttr<I64Attr>:$axis, OptionalAttr<Cudnn_NanPropagationAttr>:$nan_propagation,
                       DefaultValuedAttr<F64Attr, "1.0">:$alpha1, DefaultValuedAttr<F64Attr, "1.0">:$alpha2);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    `` $mode `(` $inputs `)` `type` `=` $compute_type (`lower_clip` `=` $lower_clip^)? (`upper_clip` `=` $upper_clip^)?
    (`lower_clip_slope` `=` $lower_clip_slope^)? (`elu_alpha` `=` $elu_alpha^)? (`softplus_beta` `=` $softplus_beta^)?
    (`swish_beta` `=` $swish_beta^)? (`axis` `=` $axis^)? (`nan_propagation` `=` `` $nan_propagation^)?
    (`alpha1` `=` $alpha1^)? (`alpha2` `=` $alpha2^)? attr-dict
    `:` qualified(type($inputs)) `->` qualified(type($y))
  }];
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Type":$type, "::convoy::cudnn::PointwiseMode":$mode, "::mlir::ValueRange":$inputs,
                   "::mlir::Type":$computeType)>,
  ];
}

def Cudnn_PointwiseReluOp : Cudnn_ComputeOp<"pointwise_relu", [Cudnn_InferTypes]> {
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
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    `(` $x `)` `type` `=` $compute_type (`lower_clip` `=` $lower_clip^)? attr-dict `:` qualified(type($x)) `->` qualified(type($y))
  }];
  let hasCanonicalizeMethod = 1;
}

#endif // CONVOY_CUDNN_POINTWISE_OPS
