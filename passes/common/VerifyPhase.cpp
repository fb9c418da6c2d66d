// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks the legal dialects at the end of each phase, and reports every illegal op.

#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace convoy {
#define GEN_PASS_DEF_VERIFYPHASEPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct Phase {
  StringRef name;
  StringRef dialects;
};

constexpr Phase kPhases[] = {
#define CONVOY_PHASE(name, summary, dialects) {#name, dialects},
#include "passes/Phases.def"
};

struct VerifyPhasePass : public convoy::impl::VerifyPhasePassBase<VerifyPhasePass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

void VerifyPhasePass::runOnStaticShapes() {
  const Phase *found =
      llvm::find_if(kPhases, [&](const Phase &candidate) { return candidate.name == phase; });
  if (found == std::end(kPhases)) {
    getOperation().emitError("unknown phase '") << phase.getValue() << "'";
    return signalPassFailure();
  }
  SmallVector<StringRef> legal;
  found->dialects.split(legal, ' ');

  llvm::MapVector<StringRef, int64_t> counts;
  getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!llvm::is_contained(legal, op->getName().getDialectNamespace())) {
      if (counts[op->getName().getStringRef()]++ == 0)
        op->emitError("'") << op->getName() << "' is not legal after phase '" << phase.getValue()
                           << "'";
    }
    // Device code has separate rules.
    return op->getName().getStringRef() == "gpu.module" ? WalkResult::skip()
                                                        : WalkResult::advance();
  });
  if (counts.empty())
    return;
  InFlightDiagnostic diag = getOperation().emitError("phase '")
                            << phase.getValue() << "' ended with illegal ops:";
  for (auto [name, count] : counts)
    diag << " " << count << "x " << name;
  signalPassFailure();
}
