// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pointwise operations.

#ifndef CONVOY_CUDNN_POINTWISE_OPS
#define CONVOY_CUDNN_POINTWISE_OPS

include "dialect/cudnn/CudnnOpBase.td"

def Cudnn_PointwiseOp : Cudnn_ComputeOp<"pointwise", [Cudnn_InferTypes]> {
  let summary = "pointwise operation";
  let description = [{
    The mode determines the number of operands, one to three. Dims of size 1 broadcast; the dims of
    vectorized tensors count numbers, not vectors. The operands of backward modes are the output's
    gradient and the forward pass's input, those of `binary_select` the two values and the
    condition.

    Absent attributes of a mode have cuDNN's defaults: `lower_clip` 0, no `upper_clip`,
    `lower_clip_slope` 0, `elu_alpha`, `softplus_beta` and `swish_beta` 1. `nan_propagation` applies
    to `relu_fwd`, `relu_bwd`, `min` and `max`. By default the relus propagate NaN, as in PyTorch,
    and `min` and `max` have cuDNN's default. `alpha1` and `alpha2` multiply the first and the
    second operand; cuDNN gets them as floats, or as doubles with compute type f64.

    Canonicalization merges two bounds by finite constants, such as `min` of `max`, `max` of `min`
    or `min` of `relu_fwd`, into one `relu_fwd` with clips. Both bounds must propagate NaN, and the
    tensor between them must represent every value exactly. At the end of a convolution graph an
    identity follows the relu, because cuDNN 9.19 has fewer engines for the relu alone.

    **Constraints**

    * (c1) the number of operands is that of the mode.
    * (c2) the result's shape is the broadcast of the operands' shapes.
    * (c3) attributes of other modes are absent, and `gen_index` has an `axis` below the rank.
    * (c4) `lower_clip` is at most `upper_clip`.
    * (c5) the compute type is f64, f32, f16, bf16, i32 or i1.
    * (c6) `alpha2` is 1 if there is no second operand.

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
  let summary = "older syntax of pointwise relu_fwd";
  let description = [{
    Canonicalization and `cudnn-outline-graphs` convert it to `cudnn.pointwise relu_fwd`.

    **Constraints**

    * (c1) operand and result have the same shape.
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
