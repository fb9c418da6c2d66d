// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers normalizations and the statistics of batch normalizations to descriptors.

#include "passes/cudnn_to_backend/GraphWriter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;
using Name = AttributeName;

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::NormForwardOp op) {
  return writer.tensorOperation(
      DescriptorKind::operation_norm_forward,
      {{Name::operation_norm_fwd_xdesc, op.getX()},
       {Name::operation_norm_fwd_mean_desc, op.getMean() ? op.getMean() : op.getSavedMean()},
       {Name::operation_norm_fwd_inv_variance_desc,
        op.getInvVariance() ? op.getInvVariance() : op.getSavedInvVariance()},
       {Name::operation_norm_fwd_scale_desc, op.getScale()},
       {Name::operation_norm_fwd_bias_desc, op.getBias()},
       {Name::operation_norm_fwd_epsilon_desc, op.getEpsilon()},
       {Name::operation_norm_fwd_exp_avg_factor_desc, op.getExpAvgFactor()},
       {Name::operation_norm_fwd_input_running_mean_desc, op.getInputRunningMean()},
       {Name::operation_norm_fwd_input_running_var_desc, op.getInputRunningVar()},
       {Name::operation_norm_fwd_output_running_mean_desc, op.getOutputRunningMean()},
       {Name::operation_norm_fwd_output_running_var_desc, op.getOutputRunningVar()},
       {Name::operation_norm_fwd_ydesc, op.getY()},
       {Name::operation_norm_fwd_peer_stat_descs, op.getPeerStats()}},
      {{Name::operation_norm_fwd_mode, writer.enumerator(cudnn::stringifyNormMode(op.getMode()))},
       {Name::operation_norm_fwd_phase,
        writer.enumerator(cudnn::stringifyNormForwardPhase(op.getPhase()))}});
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::NormBackwardOp op) {
  return writer.tensorOperation(
      DescriptorKind::operation_norm_backward,
      {{Name::operation_norm_bwd_xdesc, op.getX()},
       {Name::operation_norm_bwd_mean_desc, op.getMean()},
       {Name::operation_norm_bwd_inv_variance_desc, op.getInvVariance()},
       {Name::operation_norm_bwd_dydesc, op.getDy()},
       {Name::operation_norm_bwd_scale_desc, op.getScale()},
       {Name::operation_norm_bwd_epsilon_desc, op.getEpsilon()},
       {Name::operation_norm_bwd_dscale_desc, op.getDscale()},
       {Name::operation_norm_bwd_dbias_desc, op.getDbias()},
       {Name::operation_norm_bwd_dxdesc, op.getDx()},
       {Name::operation_norm_bwd_peer_stat_descs, op.getPeerStats()}},
      {{Name::operation_norm_bwd_mode, writer.enumerator(cudnn::stringifyNormMode(op.getMode()))}});
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::GenStatsOp op) {
  return writer.tensorOperation(
      DescriptorKind::operation_gen_stats,
      {{Name::operation_genstats_xdesc, op.getX()},
       {Name::operation_genstats_sumdesc, op.getSum()},
       {Name::operation_genstats_sqsumdesc, op.getSqSum()}},
      {{Name::operation_genstats_mode,
        writer.enumerator(cudnn::stringifyGenStatsMode(op.getMode()))},
       {Name::operation_genstats_math_prec, writer.dataType(op.getComputeType())}});
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::BnFinalizeOp op) {
  return writer.tensorOperation(
      DescriptorKind::operation_bn_finalize_statistics,
      {{Name::operation_bn_finalize_y_sum_desc, op.getYSum()},
       {Name::operation_bn_finalize_y_sq_sum_desc, op.getYSqSum()},
       {Name::operation_bn_finalize_scale_desc, op.getScale()},
       {Name::operation_bn_finalize_bias_desc, op.getBias()},
       {Name::operation_bn_finalize_prev_running_mean_desc, op.getPrevRunningMean()},
       {Name::operation_bn_finalize_prev_running_var_desc, op.getPrevRunningVar()},
       {Name::operation_bn_finalize_updated_running_mean_desc, op.getUpdatedRunningMean()},
       {Name::operation_bn_finalize_updated_running_var_desc, op.getUpdatedRunningVar()},
       {Name::operation_bn_finalize_saved_mean_desc, op.getSavedMean()},
       {Name::operation_bn_finalize_saved_inv_std_desc, op.getSavedInvStd()},
       {Name::operation_bn_finalize_eq_scale_desc, op.getEqScale()},
       {Name::operation_bn_finalize_eq_bias_desc, op.getEqBias()},
       {Name::operation_bn_finalize_accum_count_desc, op.getAccumCount()},
       {Name::operation_bn_finalize_epsilon_desc, op.getEpsilon()},
       {Name::operation_bn_finalize_exp_averate_factor_desc, op.getExpAverageFactor()}},
      {{Name::operation_bn_finalize_stats_mode,
        writer.enumerator(cudnn::stringifyBnFinalizeMode(op.getMode()))},
       {Name::operation_bn_finalize_math_prec, writer.dataType(op.getComputeType())}});
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::BnBwdWeightsOp op) {
  return writer.tensorOperation(
      DescriptorKind::operation_bn_bwd_weights,
      {{Name::operation_bn_bwd_weights_mean_desc, op.getMean()},
       {Name::operation_bn_bwd_weights_invstd_desc, op.getInvStd()},
       {Name::operation_bn_bwd_weights_bn_scale_desc, op.getScale()},
       {Name::operation_bn_bwd_weights_x_desc, op.getX()},
       {Name::operation_bn_bwd_weights_dy_desc, op.getDy()},
       {Name::operation_bn_bwd_weights_dbn_scale_desc, op.getDscale()},
       {Name::operation_bn_bwd_weights_dbn_bias_desc, op.getDbias()},
       {Name::operation_bn_bwd_weights_eq_dy_scale_desc, op.getEqDyScale()},
       {Name::operation_bn_bwd_weights_eq_x_scale_desc, op.getEqXScale()},
       {Name::operation_bn_bwd_weights_eq_bias, op.getEqBias()}},
      {{Name::operation_bn_bwd_weights_math_prec, writer.dataType(op.getComputeType())}});
}
