// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Recurrent networks. Each check has the label of its constraint in the op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

int64_t RecurrentOp::getGates(RecurrentMode mode) {
  switch (mode) {
  case RecurrentMode::Lstm:
    return 4;
  case RecurrentMode::Gru:
    return 3;
  case RecurrentMode::RnnRelu:
  case RecurrentMode::RnnTanh:
    return 1;
  }
  llvm_unreachable("all modes have a case");
}

LogicalResult RecurrentOp::verify() {
  StringRef mode = stringifyRecurrentMode(getMode());
  // recurrent_c1
  ArrayRef<int64_t> given = shapeOf(getGiven());
  int64_t gates = getGates(getMode());
  if (given.size() != 3 || given[2] % gates != 0)
    return emitOpError("expects given of T x B x ")
           << gates << "*H for " << mode << ", but got " << str(given);
  int64_t hidden = given[2] / gates;
  if (failed(expectShape(*this, "y", shapeOf(getY()), {given[0], given[1], hidden})))
    return failure();
  // recurrent_c2
  if (failed(expectShape(*this, "weights", shapeOf(getWeights()), {hidden, given[2]})))
    return failure();
  // recurrent_c3
  for (auto [name, value] : {std::pair(StringRef("hidden"), Value(getHidden())),
                             std::pair(StringRef("cell"), Value(getCell())),
                             std::pair(StringRef("last_cell"), Value(getLastCell()))})
    if (value && failed(expectShape(*this, name, shapeOf(value), {given[1], hidden})))
      return failure();
  bool isLstm = getMode() == RecurrentMode::Lstm;
  if (isLstm != bool(getLastCell()) || (getCell() && !isLstm))
    return emitOpError("expects last_cell for lstm, and neither it nor cell for another mode, but "
                       "got ")
           << mode << (getLastCell() ? " with" : " without") << " last_cell and"
           << (getCell() ? " with" : " without") << " cell";
  // recurrent_c4
  if (getBias() && getMode() != RecurrentMode::Gru)
    return emitOpError("expects bias only for gru, but got ") << mode;
  if (getBias() && failed(expectShape(*this, "bias", shapeOf(getBias()), {1, hidden})))
    return failure();
  // recurrent_c5
  Type type = getGiven().getType().getElementType();
  if (!type.isF32() && !type.isF16() && !type.isBF16())
    return emitOpError("expects elements of f32, f16 or bf16, but got ") << type;
  for (Value value : llvm::concat<Value>(getOperands(), getResults()))
    if (Type other = cast<TensorDescType>(value.getType()).getElementType(); other != type)
      return emitOpError("expects one element type, but got ") << type << " and " << other;
  return success();
}
