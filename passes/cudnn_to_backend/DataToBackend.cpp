// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers random numbers, signals, concatenation and reshape to descriptors.

#include "passes/cudnn_to_backend/GraphWriter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;
using Name = AttributeName;

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::ConcatOp op) {
  int64_t added = cudnnShape(op.getY()).added;
  GraphWriter::Values values{{Name::operation_concat_axis, writer.numbers(op.getAxis() + added)}};
  if (std::optional<uint64_t> index = op.getInplaceIndex())
    values.emplace_back(Name::operation_concat_inplace_index, writer.numbers(*index));
  return writer.tensorOperation(DescriptorKind::operation_concat,
                                {{Name::operation_concat_input_descs, op.getInputs()},
                                 {Name::operation_concat_output_desc, op.getY()}},
                                values);
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::ReshapeOp op) {
  return writer.tensorOperation(
      DescriptorKind::operation_reshape,
      {{Name::operation_reshape_xdesc, op.getX()}, {Name::operation_reshape_ydesc, op.getY()}});
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::RngOp op) {
  GraphWriter::Values parameters{
      {Name::rng_distribution,
       writer.enumerator(cudnn::stringifyRngDistribution(op.getDistribution()))}};
  for (auto [name, number] :
       {std::pair(Name::rng_bernoulli_dist_probability, op.getProbabilityAttr()),
        std::pair(Name::rng_uniform_dist_minimum, op.getMinimumAttr()),
        std::pair(Name::rng_uniform_dist_maximum, op.getMaximumAttr()),
        std::pair(Name::rng_normal_dist_mean, op.getMeanAttr()),
        std::pair(Name::rng_normal_dist_standard_deviation, op.getStandardDeviationAttr())})
    if (number)
      parameters.emplace_back(name, number);
  GraphWriter::Values values;
  if (std::optional<uint64_t> seed = op.getSeedValue())
    values.emplace_back(Name::operation_rng_seed, writer.numbers(*seed));
  return writer.tensorOperation(
      DescriptorKind::operation_rng,
      {{Name::operation_rng_ydesc, op.getY()},
       {Name::operation_rng_seed, op.getSeed()},
       {Name::operation_rng_offset_desc, op.getOffset()}},
      values, {{Name::operation_rng_desc, writer.shared(DescriptorKind::rng, parameters)}});
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::SignalOp op) {
  return writer.tensorOperation(
      DescriptorKind::operation_signal,
      {{Name::operation_signal_flagdesc, op.getFlag()},
       {Name::operation_signal_xdesc, op.getX()},
       {Name::operation_signal_ydesc, op.getY()}},
      {{Name::operation_signal_mode, writer.enumerator(cudnn::stringifySignalMode(op.getMode()))},
       {Name::operation_signal_value, writer.numbers(op.getValue())}});
}
