// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu_codegen/VectorBody.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

Value convoy::vectorizeBody(OpBuilder &builder, Block *body, ArrayRef<Value> inputs,
                            int64_t lanes) {
  IRMapping mapping;
  mapping.map(body->getArguments().take_front(inputs.size()), inputs);
  auto vectorOf = [&](Value value) -> Value {
    if (Value inside = mapping.lookupOrNull(value))
      return inside;
    Value wide = vector::BroadcastOp::create(builder, value.getLoc(),
                                             VectorType::get({lanes}, value.getType()), value);
    mapping.map(value, wide);
    return wide;
  };
  for (Operation &op : body->without_terminator()) {
    OperationState state(op.getLoc(), op.getName());
    state.addOperands(llvm::map_to_vector(op.getOperands(), vectorOf));
    state.addTypes(VectorType::get({lanes}, op.getResult(0).getType()));
    state.addAttributes(op.getAttrs());
    mapping.map(op.getResult(0), builder.create(state)->getResult(0));
  }
  return vectorOf(body->getTerminator()->getOperand(0));
}
