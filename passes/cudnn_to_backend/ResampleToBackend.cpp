// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers pooling, interpolation and their gradients to descriptors.

#include "passes/cudnn_to_backend/GraphWriter.h"
#include <numeric>

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

/// `values` divided by `denominator`: integers if it is 1, otherwise fractions in lowest terms.
static Attribute parts(GraphWriter &writer, ArrayRef<int64_t> values, int64_t denominator) {
  if (denominator == 1)
    return writer.numbers(values);
  SmallVector<int64_t> pairs;
  for (int64_t value : values) {
    int64_t divisor = std::gcd(value, denominator);
    pairs.append({value / divisor, denominator / divisor});
  }
  return FractionsAttr::get(writer.getBuilder().getContext(), pairs);
}

/// The resample descriptor, shared by forward and backward operations.
template <typename OpType> static Value resampleOf(GraphWriter &writer, OpType op) {
  auto each = [&](ArrayRef<int64_t> values) { return parts(writer, values, op.getDenominator()); };
  auto spatialRank = static_cast<int64_t>(op.getWindow().size());
  return writer.shared(DescriptorKind::resample,
                       {{AttributeName::resample_mode,
                         writer.enumerator(cudnn::stringifyResampleMode(op.getMode()))},
                        {AttributeName::resample_comp_type, writer.dataType(op.getComputeType())},
                        {AttributeName::resample_nan_propagation,
                         writer.enumerator(cudnn::stringifyNanPropagation(op.getNanPropagation()))},
                        {AttributeName::resample_padding_mode,
                         writer.enumerator(cudnn::stringifyPaddingMode(op.getPaddingMode()))},
                        {AttributeName::resample_spatial_dims, writer.numbers(spatialRank)},
                        {AttributeName::resample_window_dims, each(op.getWindow())},
                        {AttributeName::resample_pre_paddings, each(op.getPrePadding())},
                        {AttributeName::resample_post_paddings, each(op.getPostPadding())},
                        {AttributeName::resample_strides, each(op.getStride())}});
}

/// The present ones of `alpha` and `beta`.
template <typename OpType>
static GraphWriter::Values scalesOf(OpType op, AttributeName alpha, AttributeName beta) {
  GraphWriter::Values scales;
  if (op.getAlphaAttr())
    scales.emplace_back(alpha, op.getAlphaAttr());
  if (op.getBetaAttr())
    scales.emplace_back(beta, op.getBetaAttr());
  return scales;
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::ResampleOp op) {
  Value resample = resampleOf(writer, op);
  return writer.operation(
      DescriptorKind::operation_resample_fwd,
      {{AttributeName::operation_resample_fwd_desc, resample},
       {AttributeName::operation_resample_fwd_xdesc, writer.tensor(op.getX())},
       {AttributeName::operation_resample_fwd_ydesc, writer.tensor(op.getY())},
       {AttributeName::operation_resample_fwd_idxdesc, writer.tensor(op.getIndex())}},
      scalesOf(op, AttributeName::operation_resample_fwd_alpha,
               AttributeName::operation_resample_fwd_beta));
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::ResampleBackwardOp op) {
  Value resample = resampleOf(writer, op);
  return writer.operation(
      DescriptorKind::operation_resample_bwd,
      {{AttributeName::operation_resample_bwd_desc, resample},
       {AttributeName::operation_resample_bwd_dxdesc, writer.tensor(op.getDx())},
       {AttributeName::operation_resample_bwd_dydesc, writer.tensor(op.getDy())},
       {AttributeName::operation_resample_bwd_idxdesc, writer.tensor(op.getIndex())},
       {AttributeName::operation_resample_bwd_xdesc, writer.tensor(op.getX())},
       {AttributeName::operation_resample_bwd_ydesc, writer.tensor(op.getY())}},
      scalesOf(op, AttributeName::operation_resample_bwd_alpha,
               AttributeName::operation_resample_bwd_beta));
}
