// Pooling and interpolation as descriptors.

#include "passes/host/CudnnGraphWriter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::ResampleOp op) {
  int64_t spatialRank = op.getWindow().size();
  Value resample = writer.shared(DescriptorKind::resample,
                                 {{AttributeName::resample_mode, writer.word(cudnn::stringifyResampleMode(op.getMode()))},
                                  {AttributeName::resample_comp_type, writer.dataType(op.getComputeType())},
                                  {AttributeName::resample_nan_propagation, writer.word("propagate_nan")}, // as torch does
                                  {AttributeName::resample_padding_mode, writer.word(cudnn::stringifyPaddingMode(op.getPaddingMode()))},
                                  {AttributeName::resample_spatial_dims, writer.numbers(spatialRank)},
                                  {AttributeName::resample_window_dims, writer.numbers(op.getWindow())},
                                  {AttributeName::resample_pre_paddings, writer.numbers(op.getPrePadding())},
                                  {AttributeName::resample_post_paddings, writer.numbers(op.getPostPadding())},
                                  {AttributeName::resample_strides, writer.numbers(op.getStride())}});
  return writer.operation(DescriptorKind::operation_resample_fwd,
                          {{AttributeName::operation_resample_fwd_desc, resample},
                           {AttributeName::operation_resample_fwd_xdesc, writer.tensor(op.getX())},
                           {AttributeName::operation_resample_fwd_ydesc, writer.tensor(op.getY())}});
}
