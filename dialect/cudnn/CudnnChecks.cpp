// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace convoy::cudnn {

ArrayRef<int64_t> shapeOf(Value value) { return cast<TensorDescType>(value.getType()).getShape(); }

bool holds(Type to, Type from) {
  auto wide = dyn_cast<FloatType>(to), narrow = dyn_cast<FloatType>(from);
  return wide && narrow &&
         APFloat::isRepresentableBy(narrow.getFloatSemantics(), wide.getFloatSemantics());
}

LogicalResult expectShape(Operation *op, StringRef what, ArrayRef<int64_t> actual,
                          ArrayRef<int64_t> expected) {
  if (actual == expected)
    return success();
  return op->emitOpError() << "expects " << what << " of shape " << str(expected) << ", but got "
                           << str(actual);
}

LogicalResult expectRank(Operation *op, int64_t low, int64_t high) {
  SmallVector<Value> tensors(op->getOperands());
  tensors.push_back(op->getResult(0));
  return expectRank(op, tensors, low, high);
}

LogicalResult expectRank(Operation *op, ValueRange tensors, int64_t low, int64_t high) {
  int64_t rank = shapeOf(tensors.back()).size();
  for (Value tensor : tensors)
    if (static_cast<int64_t>(shapeOf(tensor).size()) != rank)
      return op->emitOpError() << "expects tensors of equal rank, but got "
                               << shapeOf(tensor).size() << " and " << rank;
  if (rank < low || rank > high) {
    InFlightDiagnostic diag = op->emitOpError() << "expects tensors of rank " << low;
    if (high != low)
      diag << " to " << high;
    return diag << ", but got " << rank;
  }
  return success();
}

LogicalResult expectByValue(Operation *op, StringRef name, Value value) {
  if (!value || value.getDefiningOp<ConstantOp>())
    return success();
  auto argument = dyn_cast<BlockArgument>(value);
  auto graph = argument ? dyn_cast<GraphOp>(argument.getOwner()->getParentOp()) : GraphOp();
  if (graph && graph.getArgAttr(argument.getArgNumber(), kByValueAttr))
    return success();
  return op->emitOpError()
         << "expects '" << name
         << "' by value: the result of 'cudnn.constant', or an argument with 'cudnn.by_value'";
}

LogicalResult expectComputeType(Operation *op, Type type, ComputeTypes others) {
  if (isa<Float64Type, Float32Type, Float16Type, BFloat16Type>(type) ||
      (others.integer && type.isSignlessInteger(32)) ||
      (others.boolean && type.isSignlessInteger(1)) ||
      (others.fp8 && isa<FastFloatForFp8Type>(type)))
    return success();
  SmallVector<StringRef> names = {"f64", "f32", "f16", "bf16"};
  if (others.integer)
    names.push_back("i32");
  if (others.boolean)
    names.push_back("i1");
  if (others.fp8)
    names.push_back("'!cudnn.fast_float_for_fp8'");
  StringRef last = names.pop_back_val();
  return op->emitOpError() << "expects compute type " << llvm::join(names, ", ") << " or " << last
                           << ", but got " << type;
}

} // namespace convoy::cudnn
