// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers block-scaled quantization to descriptors.

#include "passes/cudnn_to_backend/GraphWriter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;
using Name = AttributeName;

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::BlockScaleQuantizeOp op) {
  return writer.tensorOperation(
      DescriptorKind::operation_block_scale_quantize,
      {{Name::operation_block_scale_quantize_xdesc, op.getX()},
       {Name::operation_block_scale_quantize_ydesc, op.getY()},
       {Name::operation_block_scale_quantize_scale_desc, op.getScale()}},
      {{Name::operation_block_scale_quantize_math_prec, writer.dataType(op.getComputeType())},
       {Name::operation_block_scale_quantize_block_size, writer.numbers(op.getBlockSize())}});
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::BlockScaleDequantizeOp op) {
  GraphWriter::Values values{
      {Name::operation_block_scale_dequantize_math_prec, writer.dataType(op.getComputeType())},
      {Name::operation_block_scale_dequantize_block_size, writer.numbers(op.getBlockSize())}};
  if (BoolAttr negative = op.getNegScaleAttr())
    values.emplace_back(Name::operation_block_scale_dequantize_neg_scale, negative);
  return writer.tensorOperation(DescriptorKind::operation_block_scale_dequantize,
                                {{Name::operation_block_scale_dequantize_xdesc, op.getX()},
                                 {Name::operation_block_scale_dequantize_scale_desc, op.getScale()},
                                 {Name::operation_block_scale_dequantize_ydesc, op.getY()}},
                                values);
}
