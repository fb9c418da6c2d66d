// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/Epilogue.h"
#include "passes/fusion/HardSwish.h"

using namespace mlir;
using convoy::cudnn::PointwiseMode;
using convoy::cudnn::TensorDescType;

namespace convoy {

namespace {

class Matcher {
public:
  Matcher(const AnchorResult &anchor, Epilogue &epilogue, std::string &reason)
      : anchor(anchor), epilogue(epilogue), reason(reason), running(anchor.value) {}

  /// Matches the operation that follows, or several that are one activation.
  bool matchStep(Operation &op);
  /// Whether `op` has already been matched, together with an operation before it.
  bool isMatched(Operation &op) const { return matched.contains(&op); }
  Value result() const { return running; }

private:
  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }
  bool matchOperand(cudnn::PointwiseOp op);
  bool matchClip(cudnn::PointwiseOp op);
  bool matchActivation(cudnn::PointwiseOp op);
  bool matchHardSwish(cudnn::PointwiseOp add);
  bool canActivate() const {
    return epilogue.activation == device::kIdentity && !epilogue.isClipped();
  }

  AnchorResult anchor;
  Epilogue &epilogue;
  std::string &reason;
  Value running;
  llvm::SmallPtrSet<Operation *, 4> matched;
};

} // namespace

bool Matcher::matchOperand(cudnn::PointwiseOp op) {
  bool isFactor = op.getMode() == PointwiseMode::Mul;
  auto other = dyn_cast<BlockArgument>(op.getInputs()[op.getInputs()[0] == running ? 1 : 0]);
  auto type = other ? cast<TensorDescType>(other.getType()) : TensorDescType();
  ArrayRef<int64_t> shape = type ? type.getShape() : ArrayRef<int64_t>(),
                    whole = cast<TensorDescType>(anchor.value.getType()).getShape();
  bool isVector = type && shape == ArrayRef<int64_t>(anchor.vector);
  bool isScale = isFactor && isVector, gates = isFactor && !isVector;
  std::optional<unsigned> &place = isScale    ? epilogue.scale
                                   : isVector ? epilogue.bias
                                              : epilogue.residual;
  if (place || !type || !anchor.isOperand(type) || (!isVector && shape != whole))
    return refuse("operands are not one bias, one scale and one residual of the result's shape, in "
                  "the input's element type");
  bool isActivated = epilogue.activation != device::kIdentity;
  // The order of EpilogueArguments; a bias may follow a residual without a scale.
  bool inOrder = isScale    ? !epilogue.residual
                 : isVector ? !epilogue.scale && !epilogue.gates && !isActivated
                            : true;
  bool isLate = isActivated && !epilogue.early && (epilogue.scale || epilogue.residual);
  if (!inOrder || isLate || epilogue.isClipped())
    return refuse("a bias, a scale, a residual and an activation are not in a kernel's order");
  if (isActivated)
    epilogue.early = true;
  epilogue.gates |= gates;
  place = other.getArgNumber();
  return true;
}

bool Matcher::matchClip(cudnn::PointwiseOp op) {
  auto number = [](std::optional<APFloat> value, double otherwise) {
    return value ? value->convertToDouble() : otherwise;
  };
  auto nans = op.getNanPropagation();
  if (nans && *nans != cudnn::NanPropagation::PropagateNan)
    return refuse("relu does not propagate NaN");
  if (double slope = number(op.getLowerClipSlope(), 0.0); slope != 0.0) {
    if (!canActivate() || number(op.getLowerClip(), 0.0) != 0.0 || op.getUpperClip())
      return refuse("a relu with a slope has other bounds than 0, or follows an activation");
    epilogue.activation = device::kLeakyRelu;
    epilogue.slope = slope;
    return true;
  }
  epilogue.lower = number(op.getLowerClip(), 0.0);
  epilogue.upper = number(op.getUpperClip(), epilogue.upper);
  return true;
}

bool Matcher::matchActivation(cudnn::PointwiseOp op) {
  auto activation = device::kIdentity;
  switch (op.getMode()) {
  case PointwiseMode::SwishFwd:
    if (op.getSwishBeta() && !op.getSwishBeta()->isExactlyValue(1.0))
      return refuse("swish has a factor");
    activation = device::kSwish;
    break;
  case PointwiseMode::GeluFwd:
    activation = device::kGelu;
    break;
  case PointwiseMode::SigmoidFwd:
    activation = device::kSigmoid;
    break;
  case PointwiseMode::TanhFwd:
    activation = device::kTanh;
    break;
  case PointwiseMode::GeluApproxTanhFwd:
    activation = device::kGeluTanh;
    break;
  default:
    break;
  }
  if (activation == device::kIdentity || !canActivate())
    return refuse("it computes " + cudnn::stringifyPointwiseMode(op.getMode()) +
                  ", which is not a sum before one relu, swish, gelu, sigmoid or tanh");
  if (anchor.isWide && (activation == device::kGelu || activation == device::kTanh))
    return refuse("the kernels' GELU and tanh are for 16-bit floats");
  epilogue.activation = activation;
  return true;
}

bool Matcher::matchHardSwish(cudnn::PointwiseOp add) {
  SmallVector<cudnn::PointwiseOp, 4> ops = convoy::matchHardSwish(add);
  if (ops.empty() || add.getInputs()[0] != running || !canActivate())
    return false;
  epilogue.activation = device::kHardSwish;
  matched.insert_range(ArrayRef<cudnn::PointwiseOp>(ops));
  running = ops.back().getY();
  return true;
}

bool Matcher::matchStep(Operation &op) {
  auto step = dyn_cast<cudnn::PointwiseOp>(op);
  if (step && matchHardSwish(step))
    return true;
  if (!step || !running.hasOneUse() || !llvm::is_contained(step.getInputs(), running))
    return refuse("its first operation is not followed by a chain of pointwise operations");
  if (!step.getAlpha1().isExactlyValue(1.0) || !step.getAlpha2().isExactlyValue(1.0) ||
      !step.getComputeType().isF32())
    return refuse("a pointwise operation scales its operands or does not compute in f32");
  if (!cast<TensorDescType>(running.getType()).getElementType().isF32())
    return refuse("an intermediate value is rounded");
  bool isKnown = true;
  switch (step.getMode()) {
  case PointwiseMode::Identity:
    break;
  case PointwiseMode::Add:
  case PointwiseMode::Mul:
    isKnown = matchOperand(step);
    break;
  case PointwiseMode::ReluFwd:
    isKnown = epilogue.isClipped() ? refuse("there are two activations") : matchClip(step);
    break;
  default:
    isKnown = matchActivation(step);
  }
  running = step.getY();
  return isKnown;
}

bool matchEpilogue(cudnn::GraphOp graph, const AnchorResult &anchor, Epilogue &epilogue,
                   Value &result, std::string &reason) {
  Matcher matcher(anchor, epilogue, reason);
  for (Operation &op : llvm::drop_begin(graph.getBody().front().without_terminator()))
    if (!isa<cudnn::ConstantOp>(op) && !matcher.isMatched(op) && !matcher.matchStep(op))
      return false;
  result = matcher.result();
  return true;
}

} // namespace convoy
