// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/MatmulGraph.h"
#include "passes/kernels/Variant.h"

using namespace mlir;
using convoy::cudnn::TensorDescType;

namespace convoy {

int64_t MatmulGraph::batch() const {
  return cudnn::MatmulOp(matmul).getY().getType().getShape()[0];
}
int64_t MatmulGraph::rows() const { return cudnn::MatmulOp(matmul).getA().getType().getShape()[1]; }
int64_t MatmulGraph::depth() const {
  return cudnn::MatmulOp(matmul).getA().getType().getShape()[2];
}
int64_t MatmulGraph::columns() const {
  return cudnn::MatmulOp(matmul).getB().getType().getShape()[2];
}
Type MatmulGraph::element() const {
  return cudnn::MatmulOp(matmul).getA().getType().getElementType();
}

SmallVector<std::optional<unsigned>> MatmulGraph::tensors() const {
  cudnn::MatmulOp op = matmul;
  return {placeOf(op.getA()),
          placeOf(op.getB()),
          bias,
          scale,
          residual,
          op->getParentOfType<cudnn::GraphOp>().getNumArguments()};
}

namespace {

class Matcher {
public:
  Matcher(cudnn::GraphOp graph, std::string &reason) : graph(graph), reason(reason) {}

  std::optional<MatmulGraph> match();

private:
  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }
  bool matchMatmul(Operation &op);
  bool isMatrix(TensorDescType type) {
    return type.isRowMajor() && !type.isVectorized() && type.getAlignment() % 16 == 0;
  }
  bool isOperand(TensorDescType type) { return type.getElementType() == element && isMatrix(type); }

  cudnn::GraphOp graph;
  std::string &reason;
  MatmulGraph form;
  Type element;
};

} // namespace

bool Matcher::matchMatmul(Operation &op) {
  form.matmul = dyn_cast<cudnn::MatmulOp>(op);
  if (!form.matmul || form.matmul.getMOverride() || form.matmul.getNOverride() ||
      form.matmul.getKOverride())
    return refuse("it does not begin with a matrix product without overrides");
  if (!form.matmul.getComputeType().isF32())
    return refuse("the product does not accumulate in f32");
  TensorDescType a = form.matmul.getA().getType(), b = form.matmul.getB().getType();
  element = a.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return refuse("elements are not f16, bf16 or f32");
  if (!isOperand(a) || !isOperand(b) || !isa<BlockArgument>(form.matmul.getA()) ||
      !isa<BlockArgument>(form.matmul.getB()))
    return refuse(
        "the matrices are not two arguments of the same type in row-major memory, aligned to 16 "
        "bytes");
  if (a.getRank() != 3)
    return refuse("the matrices do not have one batch dim");
  return true;
}

std::optional<MatmulGraph> Matcher::match() {
  Block &body = graph.getBody().front();
  if (!matchMatmul(body.front()))
    return std::nullopt;
  Value result;
  auto isSummand = [&](TensorDescType type) { return isOperand(type); };
  AnchorResult anchor = {form.matmul.getY(), {1, 1, form.columns()}, isSummand, element.isF32()};
  if (!matchEpilogue(graph, anchor, form, result, reason))
    return std::nullopt;
  auto type = cast<TensorDescType>(result.getType());
  form.resultType = type.getElementType();
  Operation *end = body.getTerminator();
  if (end->getNumOperands() != 1 || end->getOperand(0) != result || !isMatrix(type) ||
      (form.resultType != element && !form.resultType.isF32())) {
    refuse("its only result is not that of the last operation, in row-major memory, with the "
           "input's element type or f32");
    return std::nullopt;
  }
  return form;
}

bool fitsKernels(const MatmulGraph &form, std::string &reason) {
  // Kernels read 16 bytes and eight rows of b at a time.
  if (form.batch() != 1)
    reason = "there is a batch of matrices";
  else if (form.depth() % 8 != 0 ||
           form.columns() * form.element().getIntOrFloatBitWidth() % 128 != 0)
    reason = "columns of the left matrix are not a multiple of 8, or rows of the right one are not "
             "a multiple of 16 bytes";
  else
    return true;
  return false;
}

std::optional<MatmulGraph> matchMatmulGraph(cudnn::GraphOp graph, std::string &reason) {
  return Matcher(graph, reason).match();
}

} // namespace convoy
