// Sums commute, and which of them comes first decides which kernels cuDNN has.

#include "passes/Passes.h"
#include "passes/tcp_to_cudnn/ConvSums.h"

namespace convoy {
#define GEN_PASS_DEF_CUDNNREORDERBIASRESIDUALPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

namespace {

struct ReorderBiasResidualPass : public convoy::impl::CudnnReorderBiasResidualPassBase<ReorderBiasResidualPass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

void ReorderBiasResidualPass::runOnOperation() {
  SmallVector<ConvolutionOp> convs;
  getOperation().walk([&](ConvolutionOp conv) { convs.push_back(conv); });
  for (ConvolutionOp conv : convs)
    reorderSums(conv, biasFirst);
}
