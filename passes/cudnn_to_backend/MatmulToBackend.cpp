// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers matrix products to descriptors.

#include "passes/cudnn_to_backend/GraphWriter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::MatmulOp op) {
  GraphWriter::Values values = {
      {AttributeName::matmul_comp_type, writer.dataType(op.getComputeType())}};
  if (op.getPaddingValueAttr())
    values.emplace_back(AttributeName::matmul_padding_value, op.getPaddingValueAttr());
  Value matmul = writer.shared(DescriptorKind::matmul, values);
  return writer.operation(
      DescriptorKind::operation_matmul,
      {{AttributeName::operation_matmul_desc, matmul},
       {AttributeName::operation_matmul_adesc, writer.tensor(op.getA())},
       {AttributeName::operation_matmul_bdesc, writer.tensor(op.getB())},
       {AttributeName::operation_matmul_cdesc, writer.tensor(op.getY())},
       {AttributeName::operation_matmul_gemm_m_override_desc, writer.tensor(op.getMOverride())},
       {AttributeName::operation_matmul_gemm_n_override_desc, writer.tensor(op.getNOverride())},
       {AttributeName::operation_matmul_gemm_k_override_desc, writer.tensor(op.getKOverride())}});
}
