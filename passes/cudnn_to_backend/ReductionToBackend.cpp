// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers reductions to descriptors.

#include "passes/cudnn_to_backend/GraphWriter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::ReductionOp op) {
  StringRef name = cudnn::stringifyReductionMode(op.getMode());
  if (!lookupEnumerator(AttributeType::reduction_operator_type, name))
    return op.emitOpError("expects a mode that cuDNN graphs support, but got ") << name;
  GraphWriter::Values values = {
      {AttributeName::reduction_operator, writer.enumerator(name)},
      {AttributeName::reduction_comp_type, writer.dataType(op.getComputeType())}};
  if (op.getIsDeterministicAttr())
    values.emplace_back(AttributeName::reduction_is_deterministic, op.getIsDeterministicAttr());
  Value reduction = writer.shared(DescriptorKind::reduction, values);
  return writer.operation(DescriptorKind::operation_reduction,
                          {{AttributeName::operation_reduction_desc, reduction},
                           {AttributeName::operation_reduction_xdesc, writer.tensor(op.getX())},
                           {AttributeName::operation_reduction_ydesc, writer.tensor(op.getY())}});
}
