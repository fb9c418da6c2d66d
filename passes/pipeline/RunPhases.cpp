// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs phases whose passes depend on the module's target, which is unknown when a pipeline is
// built.

#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/common/Program.h"
#include "passes/pipeline/Pipeline.h"

namespace convoy {
#define GEN_PASS_DEF_RUNPHASESPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct RunPhasesPass : public convoy::impl::RunPhasesPassBase<RunPhasesPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    for (tcp::Target target : {tcp::Target::Cpu, tcp::Target::Cuda})
      if (std::optional<OpPassManager> pm = build(target, llvm::nulls()))
        pm->getDependentDialects(registry);
  }

  void runOnOperation() override {
    std::string error;
    llvm::raw_string_ostream os(error);
    std::optional<OpPassManager> pm =
        build(programTarget(getOperation()).value_or(tcp::Target::Cpu), os);
    if (!pm) {
      getOperation().emitError("convoy-run-phases: ") << StringRef(error).trim();
      return signalPassFailure();
    }
    if (failed(runPipeline(*pm, getOperation())))
      signalPassFailure();
  }

private:
  /// The pipeline for `target`; nothing, with the reason in `os`, if the options are invalid.
  std::optional<OpPassManager> build(tcp::Target target, raw_ostream &os) const {
    PipelineOptions options;
    if (failed(options.parseFromString(pipelineOptions, os)))
      return std::nullopt;
    options.target = tcp::stringifyTarget(target).str();
    if (std::string error; failed(verifyOptions(options, error))) {
      os << error;
      return std::nullopt;
    }
    OpPassManager pm(ModuleOp::getOperationName());
    populatePhases(pm, options);
    return pm;
  }
};

} // namespace
