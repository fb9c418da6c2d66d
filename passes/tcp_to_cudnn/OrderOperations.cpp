// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_cudnn/OrderOperations.h"
#include "passes/Passes.h"
#include "passes/tcp_to_cudnn/ConvSums.h"

namespace convoy {
#define GEN_PASS_DEF_CUDNNORDEROPERATIONSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

namespace {

struct OrderOperationsPass
    : public convoy::impl::CudnnOrderOperationsPassBase<OrderOperationsPass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

/// Activations for which cuDNN 9.19 has no kernel, or only an old one, at the end of a
/// convolution's graph. With an identity after them it generates a kernel.
static bool needsIdentity(PointwiseOp op) {
  switch (op.getMode()) {
  case PointwiseMode::ReluFwd:
    return op.getUpperClip() && !op.getLowerClipSlope() &&
           (!op.getLowerClip() || op.getLowerClip()->isZero());
  case PointwiseMode::SigmoidFwd:
  case PointwiseMode::TanhFwd:
  case PointwiseMode::EluFwd:
    return true;
  default:
    return false;
  }
}

void convoy::orderOperations(GraphOp graph, const GraphForm &form) {
  auto conv = dyn_cast_if_present<ConvolutionOp>(form.anchor);
  if (!conv || conv.getMode() != ConvolutionMode::Fprop)
    return;
  // Intermediate values are f32, so another order only changes the rounding of sums.
  reorderSums(conv, /*biasFirst=*/false);
  Operation *terminator = graph.getBody().front().getTerminator();
  auto last = terminator->getOperand(0).getDefiningOp<PointwiseOp>();
  if (!last || !needsIdentity(last))
    return;
  TensorDescType type = last.getY().getType();
  Type computeType = last.getComputeType();
  last.getY().setType(TensorDescType::get(type.getShape(), computeType, type.isChannelsLast()));
  OpBuilder builder(terminator);
  auto identity = PointwiseOp::create(builder, last.getLoc(), type, PointwiseMode::Identity,
                                      last.getY(), computeType);
  terminator->setOperand(0, identity.getY());
}

void OrderOperationsPass::runOnOperation() {
  for (auto graph : getOperation().getOps<GraphOp>()) {
    std::string reason;
    if (std::optional<GraphForm> form = matchGraph(graph, reason))
      orderOperations(graph, *form);
    else if (remarks)
      graph.emitRemark("not reordered: " + reason);
  }
}
