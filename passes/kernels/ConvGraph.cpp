#include "passes/kernels/ConvGraph.h"

using namespace mlir;
using convoy::cudnn::PointwiseMode;
using convoy::cudnn::TensorDescType;

namespace convoy {

int64_t ConvGraph::rows() const {
  ArrayRef<int64_t> y = cudnn::ConvolutionOp(conv).getY().getType().getShape();
  return y[0] * y[2] * y[3];
}

int64_t ConvGraph::columns() const { return cudnn::ConvolutionOp(conv).getY().getType().getShape()[1]; }

int64_t ConvGraph::depth() const {
  ArrayRef<int64_t> w = cudnn::ConvolutionOp(conv).getW().getType().getShape();
  return w[1] * w[2] * w[3];
}

namespace {

class Matcher {
public:
  Matcher(cudnn::GraphOp graph, std::string &reason) : graph(graph), reason(reason) {}

  std::optional<ConvGraph> match();

private:
  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }
  bool matchConv(Operation &op);
  bool matchStep(Operation &op);
  bool matchSum(cudnn::PointwiseOp op);
  bool matchClip(cudnn::PointwiseOp op);
  /// Whether `type` is packed channels-last memory of the elements that the graph computes with.
  bool isImage(TensorDescType type) { return type.getElementType() == element && type.isChannelsLast() && !type.isVectorized(); }

  cudnn::GraphOp graph;
  std::string &reason;
  ConvGraph form;
  Type element;
  Value running;
};

} // namespace

bool Matcher::matchConv(Operation &op) {
  form.conv = dyn_cast<cudnn::ConvolutionOp>(op);
  if (!form.conv || form.conv.getMode() != cudnn::ConvolutionMode::Fprop || form.conv.getSpatialRank() != 2 || form.conv.hasGroupDim())
    return refuse("it does not begin with a convolution over two spatial dims");
  if (form.conv.getKind() != cudnn::ConvolutionKind::CrossCorrelation || !form.conv.getAlpha().isExactlyValue(1.0) ||
      !form.conv.getBeta().isExactlyValue(0.0) || !form.conv.getComputeType().isF32())
    return refuse("the convolution is turned around, scaled, or does not add in f32");
  TensorDescType x = form.conv.getX().getType(), w = form.conv.getW().getType();
  element = x.getElementType();
  if (!element.isF16() && !element.isBF16())
    return refuse("elements are neither f16 nor bf16");
  if (!isImage(x) || !isImage(w) || !isa<BlockArgument>(form.conv.getX()) || !isa<BlockArgument>(form.conv.getW()))
    return refuse("input and filter are not two arguments of one type in packed channels-last memory");
  if (x.getShape()[1] != w.getShape()[1])
    return refuse("the convolution has groups");
  // Sixteen bytes are copied at a time.
  if (x.getShape()[1] % 8 != 0 || w.getShape()[0] % 8 != 0)
    return refuse("channels are no multiple of 8");
  return true;
}

bool Matcher::matchSum(cudnn::PointwiseOp op) {
  auto other = dyn_cast<BlockArgument>(op.getInputs()[op.getInputs()[0] == running ? 1 : 0]);
  auto type = other ? cast<TensorDescType>(other.getType()) : TensorDescType();
  ArrayRef<int64_t> shape = type ? type.getShape() : ArrayRef<int64_t>(), whole = form.conv.getY().getType().getShape();
  bool isVector = type && shape == ArrayRef<int64_t>{1, whole[1], 1, 1};
  std::optional<unsigned> &place = isVector ? form.bias : form.residual;
  if (place || !type || !isImage(type) || (!isVector && shape != whole))
    return refuse("sums are not with one vector over channels and one tensor like the result, of the elements of the input");
  place = other.getArgNumber();
  return true;
}

bool Matcher::matchClip(cudnn::PointwiseOp op) {
  auto number = [](std::optional<APFloat> value, double otherwise) { return value ? value->convertToDouble() : otherwise; };
  auto nans = op.getNanPropagation();
  if (number(op.getLowerClipSlope(), 0.0) != 0.0 || (nans && *nans != cudnn::NanPropagation::PropagateNan))
    return refuse("relu has a slope, or does not propagate NaN");
  form.lower = number(op.getLowerClip(), 0.0);
  form.upper = number(op.getUpperClip(), form.upper);
  return true;
}

bool Matcher::matchStep(Operation &op) {
  auto step = dyn_cast<cudnn::PointwiseOp>(op);
  if (!step || !running.hasOneUse() || !llvm::is_contained(step.getInputs(), running))
    return refuse("what follows the convolution is not a chain of pointwise operations");
  if (!step.getAlpha1().isExactlyValue(1.0) || !step.getAlpha2().isExactlyValue(1.0) || !step.getComputeType().isF32())
    return refuse("a pointwise operation scales its operands or does not compute in f32");
  if (!cast<TensorDescType>(running.getType()).getElementType().isF32())
    return refuse("a value in between is rounded");
  bool isClipped = form.upper != std::numeric_limits<double>::infinity() || form.lower != -std::numeric_limits<double>::infinity();
  bool matched = false;
  if (step.getMode() == PointwiseMode::Identity)
    matched = true;
  else if (step.getMode() == PointwiseMode::Add && !isClipped)
    matched = matchSum(step);
  else if (step.getMode() == PointwiseMode::ReluFwd && !isClipped)
    matched = matchClip(step);
  else
    refuse("it computes " + cudnn::stringifyPointwiseMode(step.getMode()) + ", which is not a sum before one relu");
  running = step.getY();
  return matched;
}

std::optional<ConvGraph> Matcher::match() {
  Block &body = graph.getBody().front();
  if (!matchConv(body.front()))
    return std::nullopt;
  running = form.conv.getY();
  for (Operation &op : llvm::drop_begin(body.without_terminator()))
    if (!matchStep(op))
      return std::nullopt;
  Operation *end = body.getTerminator();
  if (end->getNumOperands() != 1 || end->getOperand(0) != running || !isImage(cast<TensorDescType>(running.getType()))) {
    refuse("its one result is not what the last operation computes, in packed channels-last memory");
    return std::nullopt;
  }
  return form;
}

std::optional<ConvGraph> matchConvGraph(cudnn::GraphOp graph, std::string &reason) { return Matcher(graph, reason).match(); }

} // namespace convoy
