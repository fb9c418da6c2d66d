// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The phases as pass pipelines. All tools use these functions.

#ifndef CONVOY_PASSES_PIPELINE_PIPELINE_H
#define CONVOY_PASSES_PIPELINE_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace convoy {

/// Options of a compilation and of `--convoy-pipeline`.
struct PipelineOptions : public mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> from{*this, "from", llvm::cl::desc("phase of the input"),
                           llvm::cl::init("tcp")};
  Option<std::string> to{*this, "to", llvm::cl::desc("last phase to run"), llvm::cl::init("llvm")};
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("cpu or cuda; empty for the target of the module"),
                             llvm::cl::init("")};
  ListOption<std::string> symbols{
      *this, "symbols", llvm::cl::desc("NAME=NUMBER for each symbol of shapes in the input")};
  Option<std::string> dtype{
      *this, "dtype",
      llvm::cl::desc("f32, f16 or bf16: compute in this type; empty keeps the model's types"),
      llvm::cl::init("")};
  ListOption<std::string> keepFloat32{
      *this, "keep-float32",
      llvm::cl::desc("ops that compute in f32 whatever the dtype: types, lines and modules")};
  Option<std::string> cpu{*this, "cpu", llvm::cl::desc("LLVM CPU name of the host, or native"),
                          llvm::cl::init("native")};
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("GPU architecture of the generated kernels"),
                           llvm::cl::init("sm_80")};
  Option<std::string> supportTable{
      *this, "support-table", llvm::cl::desc("file to read instead of the built-in support table"),
      llvm::cl::init("")};
  Option<bool> alternatives{*this, "alternatives",
                            llvm::cl::desc("add alternatives to graphs, for tuning"),
                            llvm::cl::init(true)};
  Option<bool> allowWinograd{
      *this, "allow-winograd",
      llvm::cl::desc("whether convolutions on the CPU may use Winograd's algorithm"),
      llvm::cl::init(true)};
  Option<bool> allowTf32{*this, "allow-tf32",
                         llvm::cl::desc("whether products of f32 may be rounded to TF32"),
                         llvm::cl::init(true)};
};

/// Names of all phases in order.
llvm::ArrayRef<llvm::StringRef> phaseNames();

/// Fails, with the reason in `error`, when an option is invalid: phases, target, dtype, CPU, chip.
/// The target may be empty.
mlir::LogicalResult verifyOptions(const PipelineOptions &options, std::string &error);

/// Adds the passes that complete a module that is written by hand, before its first phase. The
/// target is not empty, here and below.
void populateEntry(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Adds the passes of one phase and convoy-verify-phase. Returns false for an unknown phase.
bool populatePhase(llvm::StringRef phase, mlir::OpPassManager &pm, const PipelineOptions &options);

/// The phases after `from` up to `to`, or that phase if both are equal.
llvm::ArrayRef<llvm::StringRef> selectedPhases(const PipelineOptions &options);

/// Adds the passes of populateEntry and of all selected phases.
void populatePhases(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Registers `--convoy-pipeline`.
void registerPipelines();

} // namespace convoy

#endif // CONVOY_PASSES_PIPELINE_PIPELINE_H
