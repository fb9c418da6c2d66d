// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers convolutions to descriptors.

#include "passes/cudnn_to_backend/GraphWriter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::ConvolutionOp op) {
  Value convolution = writer.shared(
      DescriptorKind::convolution,
      {{AttributeName::convolution_comp_type, writer.dataType(op.getComputeType())},
       {AttributeName::convolution_conv_mode,
        writer.enumerator(cudnn::stringifyConvolutionKind(op.getKind()))},
       {AttributeName::convolution_spatial_dims, writer.numbers(op.getSpatialRank())},
       {AttributeName::convolution_pre_paddings, writer.numbers(op.getPrePadding())},
       {AttributeName::convolution_post_paddings, writer.numbers(op.getPostPadding())},
       {AttributeName::convolution_filter_strides, writer.numbers(op.getSpatialStride())},
       {AttributeName::convolution_dilations, writer.numbers(op.getDilation())}});
  Value x = writer.tensor(op.getX()), w = writer.tensor(op.getW()), y = writer.tensor(op.getY());
  Attribute alpha = writer.scale(op.getAlpha(), op.getComputeType()),
            beta = writer.scale(op.getBeta(), op.getComputeType());
  switch (op.getMode()) {
  case cudnn::ConvolutionMode::Fprop:
    return writer.operation(DescriptorKind::operation_convolution_forward,
                            {{AttributeName::operation_convolution_forward_conv_desc, convolution},
                             {AttributeName::operation_convolution_forward_x, x},
                             {AttributeName::operation_convolution_forward_w, w},
                             {AttributeName::operation_convolution_forward_y, y}},
                            {{AttributeName::operation_convolution_forward_alpha, alpha},
                             {AttributeName::operation_convolution_forward_beta, beta}});
  case cudnn::ConvolutionMode::Dgrad: // x is the gradient of the output, y that of the input
    return writer.operation(DescriptorKind::operation_convolution_backward_data,
                            {{AttributeName::operation_convolution_bwd_data_conv_desc, convolution},
                             {AttributeName::operation_convolution_bwd_data_dy, x},
                             {AttributeName::operation_convolution_bwd_data_w, w},
                             {AttributeName::operation_convolution_bwd_data_dx, y}},
                            {{AttributeName::operation_convolution_bwd_data_alpha, alpha},
                             {AttributeName::operation_convolution_bwd_data_beta, beta}});
  case cudnn::ConvolutionMode::Wgrad: // w is the gradient of the output, y that of the filter
    return writer.operation(
        DescriptorKind::operation_convolution_backward_filter,
        {{AttributeName::operation_convolution_bwd_filter_conv_desc, convolution},
         {AttributeName::operation_convolution_bwd_filter_x, x},
         {AttributeName::operation_convolution_bwd_filter_dy, w},
         {AttributeName::operation_convolution_bwd_filter_dw, y}},
        {{AttributeName::operation_convolution_bwd_filter_alpha, alpha},
         {AttributeName::operation_convolution_bwd_filter_beta, beta}});
  }
  llvm_unreachable("a convolution has one of three modes");
}
