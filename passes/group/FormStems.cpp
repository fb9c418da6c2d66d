// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Forms the groups of stems, which a kernel of the artifact computes. Runs before the groups for
// cuDNN are formed, which would contain the convolution of a stem.

#include "passes/Passes.h"
#include "passes/common/Groups.h"
#include "passes/common/Stem.h"

namespace convoy {
#define GEN_PASS_DEF_TCPFORMSTEMSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct FormStemsPass : public convoy::impl::TcpFormStemsPassBase<FormStemsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

void FormStemsPass::runOnStaticShapes() {
  if (tcp::getTarget(getOperation()) == tcp::Target::Cpu)
    return;
  for (auto pool : llvm::make_early_inc_range(getOperation().getOps<tcp::MaxPoolOp>())) {
    std::string reason;
    std::optional<Stem> stem = matchStem(pool, allowTf32, reason);
    if (stem)
      outlineGroup(stem->ops(), stem->conv.getLoc(), kStemAnchor, stem->pattern());
    else if (remarks)
      pool.emitRemark(reason);
  }
}
