// Matrix products as descriptors.

#include "passes/host/CudnnGraphWriter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::MatmulOp op) {
  Value matmul = writer.shared(DescriptorKind::matmul, {{AttributeName::matmul_comp_type, writer.dataType(op.getComputeType())}});
  return writer.operation(DescriptorKind::operation_matmul, {{AttributeName::operation_matmul_desc, matmul},
                                                             {AttributeName::operation_matmul_adesc, writer.tensor(op.getA())},
                                                             {AttributeName::operation_matmul_bdesc, writer.tensor(op.getB())},
                                                             {AttributeName::operation_matmul_cdesc, writer.tensor(op.getY())}});
}
