// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/ConvGraph.h"

using namespace mlir;
using convoy::cudnn::TensorDescType;

namespace convoy {

int64_t ConvGraph::rows() const {
  ArrayRef<int64_t> y = cudnn::ConvolutionOp(conv).getY().getType().getShape();
  return y[0] * llvm::product_of(y.drop_front(2));
}

int64_t ConvGraph::columns() const {
  return cudnn::ConvolutionOp(conv).getY().getType().getShape()[1];
}

int64_t ConvGraph::depth() const {
  ArrayRef<int64_t> w = cudnn::ConvolutionOp(conv).getW().getType().getShape();
  return llvm::product_of(w.drop_front());
}

int64_t ConvGraph::spatialRank() const { return cudnn::ConvolutionOp(conv).getSpatialRank(); }

int64_t ConvGraph::groups() const {
  cudnn::ConvolutionOp op = conv;
  return op.getX().getType().getShape()[1] / op.getW().getType().getShape()[1];
}

bool ConvGraph::isDepthwise() const {
  cudnn::ConvolutionOp op = conv;
  ArrayRef<int64_t> x = op.getX().getType().getShape(), w = op.getW().getType().getShape();
  return x[1] > 1 && w[1] == 1 && w[0] == x[1];
}

bool ConvGraph::hasGroups() const { return groups() != 1; }

int64_t ConvGraph::channelsOfPiece() const { return 128 / element().getIntOrFloatBitWidth(); }

bool ConvGraph::hasWholePieces() const {
  cudnn::ConvolutionOp op = conv;
  return op.getX().getType().getShape()[1] % channelsOfPiece() == 0 &&
         columns() % channelsOfPiece() == 0;
}

bool ConvGraph::isNarrow() const {
  cudnn::ConvolutionOp op = conv;
  return !hasGroups() && !element().isF32() &&
         op.getX().getType().getShape()[1] <= kMostNarrowChannels && columns() % 8 == 0;
}

bool ConvGraph::hasFewFilters() const {
  cudnn::ConvolutionOp op = conv;
  ArrayRef<int64_t> x = op.getX().getType().getShape(), y = op.getY().getType().getShape();
  // cuDNN's tensor core kernels have tiles of 16 filters and more, of whole pieces.
  int64_t most = y[1] % channelsOfPiece() == 0 ? 8 : kMostFewFilters;
  return !hasGroups() && !element().isF32() && (spatialRank() == 2 || isProduct()) &&
         x[1] % channelsOfPiece() == 0 && x[1] > kMostNarrowChannels && y[1] <= most &&
         llvm::product_of(y.drop_front(2)) >= kLeastPixels;
}

Type ConvGraph::element() const {
  return cudnn::ConvolutionOp(conv).getX().getType().getElementType();
}

bool ConvGraph::isProduct() const {
  cudnn::ConvolutionOp op = conv;
  auto isOne = [](int64_t each) { return each == 1; };
  auto isZero = [](int64_t each) { return each == 0; };
  return !hasGroups() && llvm::all_of(op.getW().getType().getShape().drop_front(2), isOne) &&
         llvm::all_of(op.getSpatialStride(), isOne) && llvm::all_of(op.getPrePadding(), isZero) &&
         llvm::all_of(op.getPostPadding(), isZero);
}

SmallVector<std::optional<unsigned>> ConvGraph::tensors() const {
  cudnn::ConvolutionOp op = conv;
  return {placeOf(op.getX()),
          placeOf(op.getW()),
          bias,
          scale,
          residual,
          op->getParentOfType<cudnn::GraphOp>().getNumArguments()};
}

Variant ConvGraph::variant() const {
  Variant variant;
  variant.tensors = tensors();
  variant.tf32 = element().isF32() && !isDepthwise();
  return variant;
}

namespace {

class Matcher {
public:
  Matcher(cudnn::GraphOp graph, bool allowTf32, std::string &reason)
      : graph(graph), allowTf32(allowTf32), reason(reason) {}

  std::optional<ConvGraph> match();

private:
  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }
  bool matchConv(Operation &op);
  /// Whether `type` is packed, channels-last, and has the element type of the input.
  bool isImage(TensorDescType type) {
    return type.getElementType() == element && type.isChannelsLast() && !type.isVectorized();
  }

  cudnn::GraphOp graph;
  bool allowTf32;
  std::string &reason;
  ConvGraph form;
  Type element;
};

} // namespace

bool Matcher::matchConv(Operation &op) {
  form.conv = dyn_cast<cudnn::ConvolutionOp>(op);
  if (!form.conv || form.conv.getMode() != cudnn::ConvolutionMode::Fprop ||
      (form.conv.getSpatialRank() != 2 && form.conv.getSpatialRank() != 3) ||
      form.conv.hasGroupDim())
    return refuse("it does not begin with a convolution over two or three spatial dims");
  if (form.conv.getKind() != cudnn::ConvolutionKind::CrossCorrelation ||
      !form.conv.getAlpha().isExactlyValue(1.0) || !form.conv.getBeta().isExactlyValue(0.0) ||
      !form.conv.getComputeType().isF32())
    return refuse("the convolution flips its window, is scaled, or does not accumulate in f32");
  TensorDescType x = form.conv.getX().getType(), w = form.conv.getW().getType();
  element = x.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return refuse("elements are not f16, bf16 or f32");
  if (element.isF32() && !allowTf32 && !form.isDepthwise())
    return refuse("kernels round f32 to TF32, which allow-tf32=false forbids");
  if (!isImage(x) || !isImage(w) || !isa<BlockArgument>(form.conv.getX()) ||
      !isa<BlockArgument>(form.conv.getW()))
    return refuse(
        "input and filter are not two arguments of the same type in packed channels-last memory");
  if (!form.isDepthwise() && !form.isNarrow() && !form.hasFewFilters() && !form.hasWholePieces())
    return refuse("channels are not a multiple of " + Twine(form.channelsOfPiece()));
  return true;
}

std::optional<ConvGraph> Matcher::match() {
  Block &body = graph.getBody().front();
  if (!matchConv(body.front()))
    return std::nullopt;
  Value result;
  auto isOperand = [&](TensorDescType type) { return isImage(type); };
  SmallVector<int64_t> vector(form.spatialRank() + 2, 1);
  vector[1] = form.columns();
  AnchorResult anchor = {form.conv.getY(), vector, isOperand, element.isF32()};
  if (!matchEpilogue(graph, anchor, form, result, reason))
    return std::nullopt;
  Operation *end = body.getTerminator();
  if (end->getNumOperands() != 1 || end->getOperand(0) != result ||
      !isImage(cast<TensorDescType>(result.getType()))) {
    refuse("its only result is not that of the last operation, in packed channels-last memory");
    return std::nullopt;
  }
  return form;
}

std::optional<ConvGraph> matchConvGraph(cudnn::GraphOp graph, bool allowTf32, std::string &reason) {
  return Matcher(graph, allowTf32, reason).match();
}

} // namespace convoy
