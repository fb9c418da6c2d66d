// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Normalizations, forward and backward, and the operations of a batch normalization that is split
// into several graphs.

#ifndef CONVOY_CUDNN_NORM_OPS
#define CONVOY_CUDNN_NORM_OPS

include "dialect/cudnn/CudnnNamedTensors.td"

def Cudnn_NormMode : Cudnn_Enum<"NormMode", "cudnnBackendNormMode_t", [
  I32EnumAttrCase<"LayerNorm", 0, "layer_norm">, I32EnumAttrCase<"InstanceNorm", 1, "instance_norm">,
  I32EnumAttrCase<"BatchNorm", 2, "batch_norm">, I32EnumAttrCase<"GroupNorm", 3, "group_norm">, I32EnumAttrCase<"RmsNorm", 4, "rms_norm">,
  I32EnumAttrCase<"AdaLayerNorm", 5, "ada_layer_norm">]>;
def Cudnn_NormModeAttr : Cudnn_EnumAttr<Cudnn_NormMode, "norm_mode">;

def Cudnn_NormForwardPhase : Cudnn_Enum<"NormForwardPhase", "cudnnBackendNormFwdPhase_t", [
  I32EnumAttrCase<"Inference", 0, "inference">, I32EnumAttrCase<"Training", 1, "training">]>;
def Cudnn_NormForwardPhaseAttr : Cudnn_EnumAttr<Cudnn_NormForwardPhase, "norm_forward_phase">;

def Cudnn_GenStatsMode : Cudnn_Enum<"GenStatsMode", "cudnnGenStatsMode_t", [I32EnumAttrCase<"SumSqsum", 0, "sum_sqsum">]>;
def Cudnn_GenStatsModeAttr : Cudnn_EnumAttr<Cudnn_GenStatsMode, "gen_stats_mode">;

def Cudnn_BnFinalizeMode : Cudnn_Enum<"BnFinalizeMode", "cudnnBnFinalizeStatsMode_t", [
  I32EnumAttrCase<"Training", 0, "training">, I32EnumAttrCase<"Inference", 1, "inference">]>;
def Cudnn_BnFinalizeModeAttr : Cudnn_EnumAttr<Cudnn_BnFinalizeMode, "bn_finalize_mode">;

def Cudnn_NormForwardOp : Cudnn_ComputeOp<"norm_forward", [AttrSizedOperandSegments, AttrSizedResultSegments, Cudnn_InferTypes]> {
  let summary = "normalization to mean 0 and variance 1, then scale and bias";
  let description = [{
    `y = scale * (x - mean) * inv_variance + bias`, where `inv_variance` is
    `1 / sqrt(variance + epsilon)`. The mode selects the elements over which mean and variance are
    computed:

    | mode | statistics over | `scale`, `bias` | statistics |
    |---|---|---|---|
    | `batch_norm` | a channel | 1 x C x 1... | 1 x C x 1... |
    | `instance_norm` | a channel of an image | 1 x C x 1... | N x C x 1... |
    | `group_norm` | a group of channels of an image | 1 x C x 1... | N x groups x 1... |
    | `layer_norm`, `rms_norm` | the trailing dims | 1... x trailing dims of x | leading dims of x x 1... |
    | `ada_layer_norm` | the trailing dims | N x 1... x trailing dims of x | leading dims of x x 1... |

    `rms_norm` uses a mean of 0. In the phase `training` the statistics are results. In `inference`
    they are not; `batch_norm inference` has them as operands. A batch normalization in training may
    also update the running statistics to
    `(1 - exp_avg_factor) * input + exp_avg_factor * batch`, and may share statistics with other
    devices through `peer_stats`.

    **Constraints**

    * (c1) all tensors but scalars have the same rank: 3 to 5 for `batch_norm`, `instance_norm` and
      `group_norm`, 2 to 8 for `layer_norm` and `rms_norm`, 3 to 8 for `ada_layer_norm`.
    * (c2) `y` has the shape of `x`.
    * (c3) `scale`, `bias` and the statistics have the shapes of the table, the running statistics
      that of `scale`; the groups of `group_norm` divide the channels.
    * (c4) `bias` requires `scale`.
    * (c5) `epsilon` and `exp_avg_factor` are by value and have one element; `training` requires
      `epsilon`.
    * (c6) `saved_mean` and `saved_inv_variance` are results of `training`; `rms_norm` has only
      `saved_inv_variance`.
    * (c7) `mean` and `inv_variance` are operands of `batch_norm inference` only.
    * (c8) running statistics (`exp_avg_factor`, both inputs, both results) are all present or all
      absent. They and `peer_stats` are allowed only in `batch_norm training`.

    ```mlir
    %epsilon = cudnn.constant 1.000000e-05 : f32 -> !cudnn.tensor_desc<1x1x1xf32>
    %y = cudnn.norm_forward layer_norm inference x(%x : !cudnn.tensor_desc<4x128x1024xf16>)
        scale(%scale : !cudnn.tensor_desc<1x1x1024xf16>) bias(%bias : !cudnn.tensor_desc<1x1x1024xf16>)
        epsilon(%epsilon : !cudnn.tensor_desc<1x1x1xf32>) -> y(!cudnn.tensor_desc<4x128x1024xf16>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR`: `CUDNN_ATTR_OPERATION_NORM_FWD_MODE`,
    `_PHASE`, `_XDESC`, `_MEAN_DESC`, `_INV_VARIANCE_DESC`, `_SCALE_DESC`, `_BIAS_DESC`,
    `_EPSILON_DESC`, `_EXP_AVG_FACTOR_DESC`, `_INPUT_RUNNING_MEAN_DESC`, `_INPUT_RUNNING_VAR_DESC`,
    `_OUTPUT_RUNNING_MEAN_DESC`, `_OUTPUT_RUNNING_VAR_DESC`, `_YDESC`, `_PEER_STAT_DESCS`.
  }];
  let arguments = (ins Cudnn_NormModeAttr:$mode, Cudnn_NormForwardPhaseAttr:$phase, Cudnn_TensorDescType:$x,
                       Optional<Cudnn_TensorDescType>:$mean, Optional<Cudnn_TensorDescType>:$inv_variance,
                       Optional<Cudnn_TensorDescType>:$scale, Optional<Cudnn_TensorDescType>:$bias,
                       Optional<Cudnn_TensorDescType>:$epsilon, Optional<Cudnn_TensorDescType>:$exp_avg_factor,
                       Optional<Cudnn_TensorDescType>:$input_running_mean, Optional<Cudnn_TensorDescType>:$input_running_var,
                       Variadic<Cudnn_TensorDescType>:$peer_stats);
  let results = (outs Cudnn_TensorDescType:$y, Optional<Cudnn_TensorDescType>:$saved_mean,
                      Optional<Cudnn_TensorDescType>:$saved_inv_variance, Optional<Cudnn_TensorDescType>:$output_running_mean,
                      Optional<Cudnn_TensorDescType>:$output_running_var);
  let assemblyFormat = "$mode $phase " # Cudnn_In<"x">.text # Cudnn_OptionalIn<"mean">.text
      # Cudnn_OptionalIn<"inv_variance">.text # Cudnn_OptionalIn<"scale">.text # Cudnn_OptionalIn<"bias">.text
      # Cudnn_OptionalIn<"epsilon">.text # Cudnn_OptionalIn<"exp_avg_factor">.text
      # Cudnn_OptionalIn<"input_running_mean">.text # Cudnn_OptionalIn<"input_running_var">.text
      # Cudnn_OptionalIn<"peer_stats">.text # "attr-dict `->` " # Cudnn_Out<"y">.text # Cudnn_OptionalOut<"saved_mean">.text
      # Cudnn_OptionalOut<"saved_inv_variance">.text # Cudnn_OptionalOut<"output_running_mean">.text
      # Cudnn_OptionalOut<"output_running_var">.text;
}

def Cudnn_NormBackwardOp : Cudnn_ComputeOp<"norm_backward", [AttrSizedOperandSegments, AttrSizedResultSegments, Cudnn_InferTypes]> {
  let summary = "gradients of a normalization";
  let description = [{
    Computes the gradients of `x`, `scale` and `bias` from the gradient of `y`, the input, and the
    statistics that `cudnn.norm_forward` saved. Shapes are those of `cudnn.norm_forward`.

    **Constraints**

    * (c1) all tensors but scalars have the same rank, as in `cudnn.norm_forward`.
    * (c2) `dy` and `dx` have the shape of `x`.
    * (c3) `scale`, `dscale`, `dbias` and the statistics have the shapes of the table of
      `cudnn.norm_forward`.
    * (c4) `scale` and `dscale` require each other; `dbias` requires both.
    * (c5) `epsilon` is by value and has one element.
    * (c6) all modes but `rms_norm` have a `mean`.
    * (c7) only `batch_norm` has `peer_stats`.

    ```mlir
    %dx, %dscale = cudnn.norm_backward rms_norm dy(%dy : !cudnn.tensor_desc<4x128x1024xf16>) x(%x : !cudnn.tensor_desc<4x128x1024xf16>)
        inv_variance(%inv_variance : !cudnn.tensor_desc<4x128x1xf32>) scale(%scale : !cudnn.tensor_desc<1x1x1024xf16>)
        -> dx(!cudnn.tensor_desc<4x128x1024xf16>) dscale(!cudnn.tensor_desc<1x1x1024xf16>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR`:
    `CUDNN_ATTR_OPERATION_NORM_BWD_MODE`, `_XDESC`, `_MEAN_DESC`, `_INV_VARIANCE_DESC`, `_DYDESC`,
    `_SCALE_DESC`, `_EPSILON_DESC`, `_DSCALE_DESC`, `_DBIAS_DESC`, `_DXDESC`, `_PEER_STAT_DESCS`.
  }];
  let arguments = (ins Cudnn_NormModeAttr:$mode, Cudnn_TensorDescType:$dy, Cudnn_TensorDescType:$x,
                       Optional<Cudnn_TensorDescType>:$mean, Cudnn_TensorDescType:$inv_variance, Optional<Cudnn_TensorDescType>:$scale,
                       Optional<Cudnn_TensorDescType>:$epsilon, Variadic<Cudnn_TensorDescType>:$peer_stats);
  let results = (outs Cudnn_TensorDescType:$dx, Optional<Cudnn_TensorDescType>:$dscale, Optional<Cudnn_TensorDescType>:$dbias);
  let assemblyFormat = "$mode " # Cudnn_In<"dy">.text # Cudnn_In<"x">.text # Cudnn_OptionalIn<"mean">.text
      # Cudnn_In<"inv_variance">.text # Cudnn_OptionalIn<"scale">.text # Cudnn_OptionalIn<"epsilon">.text
      # Cudnn_OptionalIn<"peer_stats">.text # "attr-dict `->` " # Cudnn_Out<"dx">.text # Cudnn_OptionalOut<"dscale">.text
      # Cudnn_OptionalOut<"dbias">.text;
}

def Cudnn_GenStatsOp : Cudnn_ComputeOp<"gen_stats", [Cudnn_InferTypes]> {
  let summary = "sum and sum of squares of every channel";
  let description = [{
    `cudnn.bn_finalize` computes the statistics of a batch from these sums. cuDNN has engines for
    this operation only at the end of a convolution graph.

    **Constraints**

    * (c1) all tensors have the same rank, 3 to 5.
    * (c2) the sums have the shape 1 x C x 1... .
    * (c3) the compute type is f64, f32, f16 or bf16.

    ```mlir
    %sum, %sq_sum = cudnn.gen_stats sum_sqsum(%x) type = f32
        : !cudnn.tensor_desc<32x64x56x56xf16, NHWC> -> !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
    ```

    Maps to `CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR`: `CUDNN_ATTR_OPERATION_GENSTATS_MODE`,
    `_MATH_PREC`, `_XDESC`, `_SUMDESC`, `_SQSUMDESC`.
  }];
  let arguments = (ins Cudnn_GenStatsModeAttr:$mode, Cudnn_TensorDescType:$x, TypeAttr:$compute_type);
  let results = (outs Cudnn_TensorDescType:$sum, Cudnn_TensorDescType:$sq_sum);
  let assemblyFormat = [{
    $mode `` `(` $x `)` `type` `=` $compute_type attr-dict `:` qualified(type($x)) `->` qualified(type($sum)) `,` qualified(type($sq_sum))
  }];
}

def Cudnn_BnFinalizeOp : Cudnn_ComputeOp<"bn_finalize", [AttrSizedOperandSegments, AttrSizedResultSegments, Cudnn_InferTypes]> {
  let summary = "equivalent scale and bias of a batch normalization";
  let description = [{
    The normalized tensor is `eq_scale * x + eq_bias`. In `training` the statistics are computed
    from the sums of `cudnn.gen_stats` over `accum_count` elements and saved for the gradient;
    running statistics, if present, are updated with `exp_average_factor`. `inference` uses the
    running statistics.

    **Constraints**

    * (c1) all tensors but scalars have the same shape, 1 x C x 1..., of rank 3 to 5.
    * (c2) `epsilon`, `exp_average_factor` and `accum_count` are by value and have one element;
      `accum_count` is an i64.
    * (c3) `training` has `y_sum`, `y_sq_sum`, `accum_count`, `exp_average_factor`, `saved_mean` and
      `saved_inv_std`; `inference` has none of them.
    * (c4) `prev_running_mean` and `prev_running_var` require each other; `inference` requires both.
      `training` has `updated_running_mean` and `updated_running_var` if and only if it has them;
      `inference` has no updated statistics.
    * (c5) the compute type is f64, f32, f16 or bf16.

    ```mlir
    %eq_scale, %eq_bias = cudnn.bn_finalize inference type = f32 scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
        bias(%bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) prev_running_mean(%mean : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
        prev_running_var(%var : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) epsilon(%epsilon : !cudnn.tensor_desc<1x1x1x1xf32>)
        -> eq_scale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) eq_bias(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR`:
    `CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE`, `_MATH_PREC`, `_Y_SUM_DESC`, `_Y_SQ_SUM_DESC`,
    `_SCALE_DESC`, `_BIAS_DESC`, `_PREV_RUNNING_MEAN_DESC`, `_PREV_RUNNING_VAR_DESC`,
    `_UPDATED_RUNNING_MEAN_DESC`, `_UPDATED_RUNNING_VAR_DESC`, `_SAVED_MEAN_DESC`,
    `_SAVED_INV_STD_DESC`, `_EQ_SCALE_DESC`, `_EQ_BIAS_DESC`, `_ACCUM_COUNT_DESC`, `_EPSILON_DESC`,
    `_EXP_AVERATE_FACTOR_DESC` (spelled this way in the header).
  }];
  let arguments = (ins Cudnn_BnFinalizeModeAttr:$mode, TypeAttr:$compute_type, Optional<Cudnn_TensorDescType>:$y_sum,
                       Optional<Cudnn_TensorDescType>:$y_sq_sum, Cudnn_TensorDescType:$scale, Cudnn_TensorDescType:$bias,
                       Optional<Cudnn_TensorDescType>:$prev_running_mean, Optional<Cudnn_TensorDescType>:$prev_running_var,
                       Cudnn_TensorDescType:$epsilon, Optional<Cudnn_TensorDescType>:$exp_average_factor,
                       Optional<Cudnn_TensorDescType>:$accum_count);
  let results = (outs Cudnn_TensorDescType:$eq_scale, Cudnn_TensorDescType:$eq_bias, Optional<Cudnn_TensorDescType>:$saved_mean,
                      Optional<Cudnn_TensorDescType>:$saved_inv_std, Optional<Cudnn_TensorDescType>:$updated_running_mean,
                      Optional<Cudnn_TensorDescType>:$updated_running_var);
  let assemblyFormat = "$mode `type` `=` $compute_type " # Cudnn_OptionalIn<"y_sum">.text # Cudnn_OptionalIn<"y_sq_sum">.text
      # Cudnn_In<"scale">.text # Cudnn_In<"bias">.text # Cudnn_OptionalIn<"prev_running_mean">.text
      # Cudnn_OptionalIn<"prev_running_var">.text # Cudnn_In<"epsilon">.text
      # Cudnn_OptionalIn<"exp_average_factor">.text # Cudnn_OptionalIn<"accum_count">.text # "attr-dict `->` "
      # Cudnn_Out<"eq_scale">.text # Cudnn_Out<"eq_bias">.text # Cudnn_OptionalOut<"saved_mean">.text
      # Cudnn_OptionalOut<"saved_inv_std">.text # Cudnn_OptionalOut<"updated_running_mean">.text
      # Cudnn_OptionalOut<"updated_running_var">.text;
}

def Cudnn_BnBwdWeightsOp : Cudnn_ComputeOp<"bn_bwd_weights", [Cudnn_InferTypes]> {
  let summary = "gradients of a batch normalization's scale and bias";
  let description = [{
    Also computes `eq_dy_scale`, `eq_x_scale` and `eq_bias`; the gradient of `x` is
    `eq_dy_scale * dy + eq_x_scale * x + eq_bias`. cuDNN has engines for this operation only at the
    end of the graph of a convolution's gradient.

    **Constraints**

    * (c1) all tensors have the same rank, 3 to 5.
    * (c2) `dy` has the shape of `x`.
    * (c3) all other tensors have the shape 1 x C x 1... .
    * (c4) the compute type is f64, f32, f16 or bf16.

    ```mlir
    %dscale, %dbias, %eq_dy_scale, %eq_x_scale, %eq_bias = cudnn.bn_bwd_weights type = f32
        x(%x : !cudnn.tensor_desc<32x64x56x56xf16, NHWC>) dy(%dy : !cudnn.tensor_desc<32x64x56x56xf16, NHWC>)
        mean(%mean : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) inv_std(%inv_std : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
        scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> dscale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
        dbias(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) eq_dy_scale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
        eq_x_scale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) eq_bias(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR`:
    `CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC`, `_MEAN_DESC`, `_INVSTD_DESC`, `_BN_SCALE_DESC`,
    `_X_DESC`, `_DY_DESC`, `_DBN_SCALE_DESC`, `_DBN_BIAS_DESC`, `_EQ_DY_SCALE_DESC`,
    `_EQ_X_SCALE_DESC`, `_EQ_BIAS`.
  }];
  let arguments = (ins Cudnn_TensorDescType:$x, Cudnn_TensorDescType:$dy, Cudnn_TensorDescType:$mean, Cudnn_TensorDescType:$inv_std,
                       Cudnn_TensorDescType:$scale, TypeAttr:$compute_type);
  let results = (outs Cudnn_TensorDescType:$dscale, Cudnn_TensorDescType:$dbias, Cudnn_TensorDescType:$eq_dy_scale,
                      Cudnn_TensorDescType:$eq_x_scale, Cudnn_TensorDescType:$eq_bias);
  let assemblyFormat = "`type` `=` $compute_type " # Cudnn_In<"x">.text # Cudnn_In<"dy">.text # Cudnn_In<"mean">.text
      # Cudnn_In<"inv_std">.text # Cudnn_In<"scale">.text # "attr-dict `->` " # Cudnn_Out<"dscale">.text
      # Cudnn_Out<"dbias">.text # Cudnn_Out<"eq_dy_scale">.text # Cudnn_Out<"eq_x_scale">.text # Cudnn_Out<"eq_bias">.text;
}

#endif // CONVOY_CUDNN_NORM_OPS
