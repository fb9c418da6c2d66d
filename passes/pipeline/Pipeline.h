// The phases as code: one populate function each. Every tool that compiles calls these and nothing
// else.

#ifndef CONVOY_PASSES_PIPELINE_PIPELINE_H
#define CONVOY_PASSES_PIPELINE_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace convoy {

/// What a compilation may choose; also the options of `--convoy-pipeline`.
struct PipelineOptions : public mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> from{*this, "from", llvm::cl::desc("phase whose output is the input"),
                           llvm::cl::init("tcp")};
  Option<std::string> to{*this, "to", llvm::cl::desc("last phase to run"), llvm::cl::init("llvm")};
  Option<std::string> target{*this, "target", llvm::cl::desc("cpu or cuda"), llvm::cl::init("cpu")};
  Option<std::string> dtype{
      *this, "dtype",
      llvm::cl::desc("f32, f16 or bf16: compute in this type; empty keeps the model's"),
      llvm::cl::init("")};
  Option<std::string> cpu{*this, "cpu", llvm::cl::desc("LLVM CPU name of the host, or native"),
                          llvm::cl::init("native")};
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("GPU architecture of the generated kernels"),
                           llvm::cl::init("sm_80")};
  Option<std::string> supportTable{
      *this, "support-table", llvm::cl::desc("file to read instead of the built-in support table"),
      llvm::cl::init("")};
  Option<bool> alternatives{*this, "alternatives",
                            llvm::cl::desc("offer graphs other ways to be computed, for tuning"),
                            llvm::cl::init(true)};
  Option<bool> allowTf32{*this, "allow-tf32",
                         llvm::cl::desc("whether products of f32 may be rounded to TF32"),
                         llvm::cl::init(true)};
};

/// Names of all phases in order.
llvm::ArrayRef<llvm::StringRef> phaseNames();

/// Fails, with what was expected in `error`, when an option has a value that no compilation can
/// have: phases, target, dtype, CPU and chip.
mlir::LogicalResult verifyOptions(const PipelineOptions &options, std::string &error);

/// Adds the passes of one phase and the check of its contract. False when there is no phase of that
/// name.
bool populatePhase(llvm::StringRef phase, mlir::OpPassManager &pm, const PipelineOptions &options);

/// Registers `--convoy-pipeline`.
void registerPipelines();

} // namespace convoy

#endif // CONVOY_PASSES_PIPELINE_PIPELINE_H
