#include "passes/tcp_to_cudnn/ConvSums.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

SmallVector<ConvSum> convoy::sumsAfter(ConvolutionOp conv) {
  SmallVector<ConvSum> sums;
  if (conv.getMode() != ConvolutionMode::Fprop || conv.hasGroupDim())
    return sums;
  ArrayRef<int64_t> shape = conv.getY().getType().getShape();
  SmallVector<int64_t> bias(shape.size(), 1);
  bias[1] = shape[1];
  Value running = conv.getY();
  while (running.hasOneUse()) {
    auto op = dyn_cast<PointwiseOp>(*running.user_begin());
    if (!op || op.getMode() != PointwiseMode::Add)
      break;
    bool isFirst = op.getInputs()[0] == running;
    Value other = op.getInputs()[isFirst ? 1 : 0];
    ArrayRef<int64_t> otherShape = cast<TensorDescType>(other.getType()).getShape();
    bool isBias = otherShape == ArrayRef(bias), isResidual = otherShape == shape;
    if (!isBias && !isResidual)
      break;
    sums.push_back(
        {op, other, isBias && !isResidual, isFirst ? op.getAlpha1() : op.getAlpha2(), isFirst ? op.getAlpha2() : op.getAlpha1()});
    running = op.getY();
  }
  return sums;
}
