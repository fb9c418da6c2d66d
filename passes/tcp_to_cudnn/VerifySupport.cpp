// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"
#include "passes/fusion/GraphForm.h"

namespace convoy {
#define GEN_PASS_DEF_CUDNNVERIFYSUPPORTPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct VerifySupportPass : public convoy::impl::CudnnVerifySupportPassBase<VerifySupportPass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

void VerifySupportPass::runOnOperation() {
  std::string error;
  std::optional<SupportTable> table = SupportTable::load(supportTable, allowTf32, error);
  if (!table) {
    getOperation().emitError(error);
    return signalPassFailure();
  }
  for (auto graph : getOperation().getOps<cudnn::GraphOp>()) {
    std::string reason;
    std::optional<GraphForm> form = matchGraph(graph, reason);
    if (form) {
      bool needsKernel, isMarked = getPreference(graph) == cudnn::Preference::OnlyKernel;
      reason = (isMarked ? form->refuse(*table, needsKernel) : form->refuse(*table)).value_or("");
    }
    if (!reason.empty()) {
      graph.emitError("is refused by the support table: ") << reason;
      signalPassFailure();
    }
  }
}
