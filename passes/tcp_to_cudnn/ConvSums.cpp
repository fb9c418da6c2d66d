// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_cudnn/ConvSums.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

namespace {

/// One addition to the running value of a convolution.
struct ConvSum {
  PointwiseOp op;
  /// The added value: 1 x K x 1... for a bias, the convolution's shape for a residual.
  Value other;
  bool isBias = false;
  /// The factors of the running value and of `other`.
  APFloat runningScale, otherScale;
};

} // namespace

/// The chain of additions after a forward convolution. Each is the only use of the previous value.
static SmallVector<ConvSum> sumsAfter(ConvolutionOp conv) {
  SmallVector<ConvSum> sums;
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
    if ((!isBias && !isResidual) || other.getDefiningOp<ConstantOp>())
      break;
    sums.push_back({op, other, isBias && !isResidual, isFirst ? op.getAlpha1() : op.getAlpha2(),
                    isFirst ? op.getAlpha2() : op.getAlpha1()});
    running = op.getY();
  }
  return sums;
}

/// Whether another order only changes the rounding of sums in the compute type.
static bool commutes(ConvolutionOp conv, ArrayRef<ConvSum> sums) {
  PointwiseOp first = sums.front().op;
  Type type = first.getComputeType();
  auto isWide = [&](Value value) {
    return cast<TensorDescType>(value.getType()).getElementType() == type;
  };
  return isWide(conv.getY()) &&
         llvm::all_of(sums.drop_back(), [&](ConvSum sum) { return isWide(sum.op.getY()); }) &&
         llvm::all_of(sums, [&](ConvSum sum) {
           return sum.op.getComputeType() == type && sum.runningScale.isExactlyValue(1.0);
         });
}

bool convoy::reorderSums(ConvolutionOp conv, bool biasFirst) {
  SmallVector<ConvSum> sums = sumsAfter(conv), ordered;
  auto isFirst = [&](const ConvSum &sum) { return sum.isBias == biasFirst; };
  llvm::copy_if(sums, std::back_inserter(ordered), isFirst);
  llvm::copy_if(sums, std::back_inserter(ordered),
                [&](const ConvSum &sum) { return !isFirst(sum); });
  auto isSame = [](const auto &pair) { return std::get<0>(pair).op == std::get<1>(pair).op; };
  if (llvm::all_of(llvm::zip(sums, ordered), isSame) || !commutes(conv, sums))
    return false;
  Value running = conv.getY();
  OpBuilder builder(sums.back().op);
  for (auto [place, sum] : llvm::zip(sums, ordered)) {
    PointwiseOp old = place.op;
    auto add = PointwiseOp::create(builder, sum.op->getLoc(), old.getY().getType(),
                                   PointwiseMode::Add, {running, sum.other}, old.getComputeType());
    add.setAlpha2(sum.otherScale);
    running = add.getY();
  }
  PointwiseOp last = sums.back().op;
  last.replaceAllUsesWith(running);
  for (const ConvSum &sum : llvm::reverse(sums)) {
    PointwiseOp op = sum.op;
    op.erase();
  }
  return true;
}

bool convoy::lacksBias(ConvolutionOp conv) {
  SmallVector<ConvSum> sums = sumsAfter(conv);
  if (conv.getY().getType().isVectorized() ||
      llvm::any_of(sums, [](const ConvSum &sum) { return sum.isBias; }))
    return false;
  if (!sums.empty())
    return true;
  auto next = conv.getY().hasOneUse() ? dyn_cast<PointwiseOp>(*conv.getY().user_begin()) : nullptr;
  return next && next.getMode() == PointwiseMode::ReluFwd;
}

LogicalResult convoy::insertBias(GraphOp graph, ConvolutionOp conv) {
  TensorDescType type = conv.getY().getType();
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[1] = type.getShape()[1];
  auto biasType =
      TensorDescType::get(shape, conv.getX().getType().getElementType(), type.isChannelsLast());
  unsigned number = graph.getNumArguments();
  if (failed(graph.insertArgument(number, biasType, DictionaryAttr(), conv.getLoc())))
    return failure();
  // The sum with the bias replaces the last sum, which becomes virtual and has the convolution's
  // type.
  SmallVector<ConvSum> sums = sumsAfter(conv);
  Value running = sums.empty() ? Value(conv.getY()) : Value(PointwiseOp(sums.back().op).getY());
  Type resultType = running.getType();
  Type computeType =
      sums.empty() ? conv.getComputeType() : PointwiseOp(sums.back().op).getComputeType();
  running.setType(type);
  OpBuilder builder(graph.getContext());
  builder.setInsertionPointAfterValue(running);
  auto add = PointwiseOp::create(builder, conv.getLoc(), resultType, PointwiseMode::Add,
                                 {running, graph.getArgument(number)}, computeType);
  running.replaceAllUsesExcept(add.getY(), add);
  return success();
}
