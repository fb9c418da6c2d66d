#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"

using namespace mlir;

namespace convoy::cudnn {

ArrayRef<int64_t> shapeOf(Value value) { return cast<TensorDescType>(value.getType()).getShape(); }

LogicalResult expectShape(Operation *op, StringRef what, ArrayRef<int64_t> actual, ArrayRef<int64_t> expected) {
  if (actual == expected)
    return success();
  return op->emitOpError() << "expects " << what << " of shape " << str(expected) << ", but got " << str(actual);
}

LogicalResult expectRank(Operation *op, int64_t low, int64_t high) {
  int64_t rank = shapeOf(op->getResult(0)).size();
  for (Value operand : op->getOperands())
    if (static_cast<int64_t>(shapeOf(operand).size()) != rank)
      return op->emitOpError() << "expects tensors of equal rank, but got " << shapeOf(operand).size() << " and " << rank;
  if (rank < low || rank > high)
    return op->emitOpError() << "expects tensors of rank " << low << " to " << high << ", but got " << rank;
  return success();
}

LogicalResult expectComputeType(Operation *op, Type type, bool integers, bool booleans) {
  if (isa<Float64Type, Float32Type, Float16Type, BFloat16Type>(type) || (integers && type.isSignlessInteger(32)) ||
      (booleans && type.isSignlessInteger(1)))
    return success();
  return op->emitOpError() << "expects compute type f64, f32, f16"
                           << (integers ? (booleans ? ", bf16, i32 or i1" : ", bf16 or i32") : " or bf16") << ", but got " << type;
}

} // namespace convoy::cudnn
