// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers grouped products and band matrices to descriptors.

#include "passes/cudnn_to_backend/GraphWriter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;
using Name = AttributeName;

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::MoeGroupedMatmulOp op) {
  GraphWriter::Values values{
      {Name::operation_moe_grouped_matmul_mode,
       writer.enumerator(cudnn::stringifyMoeMode(op.getMode()))},
      {Name::operation_moe_grouped_matmul_math_prec, writer.dataType(op.getComputeType())}};
  if (std::optional<uint64_t> topK = op.getTopK())
    values.emplace_back(Name::operation_moe_grouped_matmul_top_k, writer.numbers(*topK));
  return writer.tensorOperation(
      DescriptorKind::operation_moe_grouped_matmul,
      {{Name::operation_moe_grouped_matmul_token_desc, op.getToken()},
       {Name::operation_moe_grouped_matmul_weight_desc, op.getWeight()},
       {Name::operation_moe_grouped_matmul_first_token_offset_desc, op.getFirstTokenOffset()},
       {Name::operation_moe_grouped_matmul_output_desc, op.getY()},
       {Name::operation_moe_grouped_matmul_token_index_desc, op.getTokenIndex()},
       {Name::operation_moe_grouped_matmul_token_ks_desc, op.getTokenKs()}},
      values);
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::ExpandBandMatrixOp op) {
  int64_t added = cudnnShape(op.getX()).added;
  return writer.tensorOperation(
      DescriptorKind::operation_expand_band_matrix,
      {{Name::operation_expand_band_matrix_xdesc, op.getX()},
       {Name::operation_expand_band_matrix_ydesc, op.getY()},
       {Name::operation_expand_band_matrix_kv_token_offset_desc, op.getKvTokenOffset()},
       {Name::operation_expand_band_matrix_speculative_mask_desc, op.getSpeculativeMask()}},
      {{Name::operation_expand_band_matrix_lower_bandwidth, writer.numbers(op.getLowerBandwidth())},
       {Name::operation_expand_band_matrix_upper_bandwidth, writer.numbers(op.getUpperBandwidth())},
       {Name::operation_expand_band_matrix_axis, writer.numbers(op.getAxis() + added)},
       {Name::operation_expand_band_matrix_pad_value, op.getPadValueAttr()}});
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::ContractBandMatrixOp op) {
  int64_t added = cudnnShape(op.getX()).added;
  GraphWriter::Values values{
      {Name::operation_contract_band_matrix_lower_bandwidth,
       writer.numbers(op.getLowerBandwidth())},
      {Name::operation_contract_band_matrix_upper_bandwidth,
       writer.numbers(op.getUpperBandwidth())},
      {Name::operation_contract_band_matrix_axis, writer.numbers(op.getAxis() + added)},
      {Name::operation_contract_band_matrix_pad_value, op.getPadValueAttr()}};
  if (std::optional<uint64_t> most = op.getMaxTokenValue())
    values.emplace_back(Name::operation_contract_band_max_token_value, writer.numbers(*most));
  return writer.tensorOperation(DescriptorKind::operation_contract_band_matrix,
                                {{Name::operation_contract_band_matrix_xdesc, op.getX()},
                                 {Name::operation_contract_band_matrix_ydesc, op.getY()}},
                                values);
}
