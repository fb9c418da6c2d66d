// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Records the reasons why ops are outside of groups in the manifest, before the ops are lowered.

#include "passes/Passes.h"
#include "passes/common/Groups.h"
#include "passes/common/Locations.h"
#include "passes/common/Manifest.h"

namespace convoy {
#define GEN_PASS_DEF_TCPCOLLECTOUTSIDEPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct CollectOutsidePass : public convoy::impl::TcpCollectOutsidePassBase<CollectOutsidePass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

void CollectOutsidePass::runOnStaticShapes() {
  Builder builder(&getContext());
  SmallVector<Attribute> entries;
  getOperation().walk([&](Operation *op) {
    auto reason = op->getAttrOfType<StringAttr>(kOutsideAttr);
    if (!reason)
      return;
    entries.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("op", builder.getStringAttr(op->getName().getStringRef())),
         builder.getNamedAttr("location", builder.getStringAttr(placeText(op->getLoc()))),
         builder.getNamedAttr("reason", reason)}));
    op->removeAttr(kOutsideAttr);
  });
  setManifest(getOperation(), "outside", builder.getArrayAttr(entries));
}
