// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifies the result of phase `group`: every group becomes one graph that the support table
// accepts.

#include "passes/Passes.h"
#include "passes/common/Groups.h"
#include "passes/common/Recurrent.h"
#include "passes/common/Stem.h"
#include "passes/fusion/GroupGraph.h"
#include "passes/fusion/OpsToCudnn.h"

namespace convoy {
#define GEN_PASS_DEF_TCPVERIFYGROUPSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct VerifyGroupsPass : public convoy::impl::TcpVerifyGroupsPassBase<VerifyGroupsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

void VerifyGroupsPass::runOnStaticShapes() {
  std::string error;
  std::optional<SupportTable> table = SupportTable::load(supportTable, allowTf32, error);
  if (!table) {
    getOperation().emitError(error);
    return signalPassFailure();
  }
  getOperation().walk([&](tcp::IsolatedGroupOp group) {
    auto fail = [&](const Twine &reason) {
      group.emitError("does not form one cuDNN graph: ") << reason;
      signalPassFailure();
    };
    std::string reason;
    auto anchor = group->getAttrOfType<StringAttr>(kAnchorAttr);
    if (anchor && anchor.getValue() == kStemAnchor) {
      if (!matchStemGroup(group, reason))
        fail(reason);
      return;
    }
    if (anchor && anchor.getValue() == kRecurrentAnchor) {
      if (!matchRecurrentGroup(group, reason))
        fail(reason);
      return;
    }
    std::optional<GroupOps> ops = GroupOps::of(group, reason);
    OpBuilder builder(&getContext());
    std::optional<GroupGraph> made;
    if (ops)
      made = buildGroupGraph(builder, "candidate", *ops, reason);
    if (!made)
      return fail(reason);
    bool needsKernel;
    std::optional<std::string> refused = made->form.refuse(*table, needsKernel);
    if (needsKernel != group->hasAttr(kOnlyKernelAttr))
      return fail(needsKernel ? "expects 'only_kernel', because cuDNN has no engine for it"
                              : "is 'only_kernel', but no row of 'kernels' in the support table "
                                "matches it");
    if (refused)
      return fail(*refused);
    auto pattern = group->getAttrOfType<StringAttr>(kPatternAttr);
    if (pattern && pattern.getValue() != made->form.pattern())
      fail("expects pattern \"" + made->form.pattern() + "\", but got \"" + pattern.getValue() +
           "\"");
  });
}
