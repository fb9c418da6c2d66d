// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers pointwise operations to descriptors.

#include "passes/cudnn_to_backend/GraphWriter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::PointwiseOp op) {
  cudnn::PointwiseMode mode = op.getMode();
  GraphWriter::Values values = {
      {AttributeName::pointwise_mode, writer.enumerator(cudnn::stringifyPointwiseMode(mode))},
      {AttributeName::pointwise_math_prec, writer.dataType(op.getComputeType())}};
  auto number = [&](AttributeName attribute, FloatAttr value) {
    if (value)
      values.emplace_back(attribute, value);
  };
  bool isRelu = mode == cudnn::PointwiseMode::ReluFwd || mode == cudnn::PointwiseMode::ReluBwd;
  std::optional<cudnn::NanPropagation> nan = op.getNanPropagation();
  if (isRelu && !nan)
    nan = cudnn::NanPropagation::PropagateNan; // as in PyTorch
  if (nan)
    values.emplace_back(AttributeName::pointwise_nan_propagation,
                        writer.enumerator(cudnn::stringifyNanPropagation(*nan)));
  if (isRelu) {
    FloatAttr lower = op.getLowerClipAttr();
    number(AttributeName::pointwise_relu_lower_clip,
           lower ? lower : writer.getBuilder().getF64FloatAttr(0.0));
  }
  number(AttributeName::pointwise_relu_upper_clip, op.getUpperClipAttr());
  number(AttributeName::pointwise_relu_lower_clip_slope, op.getLowerClipSlopeAttr());
  number(AttributeName::pointwise_elu_alpha, op.getEluAlphaAttr());
  number(AttributeName::pointwise_softplus_beta, op.getSoftplusBetaAttr());
  number(AttributeName::pointwise_swish_beta, op.getSwishBetaAttr());
  if (auto axis = op.getAxis())
    values.emplace_back(AttributeName::pointwise_axis,
                        writer.numbers(*axis + cudnnShape(op.getY()).added));

  using Name = AttributeName;
  bool backward = cudnn::isBackward(mode);
  const Name forward[] = {Name::operation_pointwise_xdesc, Name::operation_pointwise_bdesc,
                          Name::operation_pointwise_tdesc};
  const Name gradient[] = {Name::operation_pointwise_dydesc, Name::operation_pointwise_xdesc};
  GraphWriter::Descriptors descriptors{
      {Name::operation_pointwise_pw_descriptor, writer.shared(DescriptorKind::pointwise, values)}};
  for (auto [index, input] : llvm::enumerate(op.getInputs()))
    descriptors.emplace_back((backward ? ArrayRef<Name>(gradient) : ArrayRef<Name>(forward))[index],
                             writer.tensor(input));
  descriptors.emplace_back(backward ? Name::operation_pointwise_dxdesc
                                    : Name::operation_pointwise_ydesc,
                           writer.tensor(op.getY()));

  GraphWriter::Values scales;
  if (!op.getAlpha1().isExactlyValue(1.0))
    scales.emplace_back(Name::operation_pointwise_alpha1,
                        writer.scale(op.getAlpha1(), op.getComputeType()));
  if (!op.getAlpha2().isExactlyValue(1.0))
    scales.emplace_back(Name::operation_pointwise_alpha2,
                        writer.scale(op.getAlpha2(), op.getComputeType()));
  return writer.operation(DescriptorKind::operation_pointwise, descriptors, scales);
}
