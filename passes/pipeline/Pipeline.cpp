// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/pipeline/Pipeline.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/common/GpuChip.h"
#include "passes/common/HostCpu.h"
#include "passes/cpu_codegen/VectorUnit.h"

using namespace mlir;

namespace convoy {

static constexpr StringRef kPhaseNames[] = {
#define CONVOY_PHASE(name, summary, dialects) #name,
#include "passes/Phases.def"
};

ArrayRef<StringRef> phaseNames() { return kPhaseNames; }

static bool isFor(const PipelineOptions &options, tcp::Target target) {
  return tcp::symbolizeTarget(StringRef(options.target)) == target;
}

// One function per phase, named populate_<phase>.

static void populate_tcp(OpPassManager &, const PipelineOptions &) {}

static void populate_normalize(OpPassManager &pm, const PipelineOptions &options) {
  auto simplify = [&] {
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
  };
  pm.addNestedPass<func::FuncOp>(createTcpLowerUnsignedPass());
  pm.addNestedPass<func::FuncOp>(createTcpApplyDimOrderPass());
  simplify();
  if (isFor(options, tcp::Target::Cpu))
    pm.addNestedPass<func::FuncOp>(createTcpDecomposeConvGradientsPass());
  pm.addNestedPass<func::FuncOp>(createTcpDecomposeConvTransposePass());
  pm.addNestedPass<func::FuncOp>(createTcpTrimWindowsPass());
  // Before the type changes, so that the numbers of formulas are not rounded.
  pm.addNestedPass<func::FuncOp>(createTcpRaiseActivationsPass());
  // Scales are folded before the type changes, so that they are rounded once.
  pm.addNestedPass<func::FuncOp>(createTcpFoldScaleIntoConvPass());
  pm.addNestedPass<func::FuncOp>(
      createTcpSetDtypePass({options.dtype, SmallVector<std::string>(options.keepFloat32.begin(),
                                                                     options.keepFloat32.end())}));
  pm.addNestedPass<func::FuncOp>(
      createTcpRaiseAttentionPass({options.supportTable, options.allowTf32}));
  if (isFor(options, tcp::Target::Cuda))
    pm.addNestedPass<func::FuncOp>(
        createTcpPadAttentionPass({options.supportTable, options.allowTf32}));
  pm.addNestedPass<func::FuncOp>(
      createTcpDecomposeAttentionPass({options.supportTable, options.allowTf32}));
  pm.addNestedPass<func::FuncOp>(createTcpUnflattenProductsPass());
  if (isFor(options, tcp::Target::Cuda)) {
    pm.addNestedPass<func::FuncOp>(createTcpExpandProductsPass());
    pm.addNestedPass<func::FuncOp>(createTcpSwapProductsPass());
  }
  pm.addNestedPass<func::FuncOp>(createTcpChannelsLastPass());
  pm.addNestedPass<func::FuncOp>(createTcpSinkCastsPass());
  if (isFor(options, tcp::Target::Cuda))
    pm.addNestedPass<func::FuncOp>(createTcpSplitGatesPass());
  pm.addNestedPass<func::FuncOp>(createTcpFlattenProductsPass());
  if (isFor(options, tcp::Target::Cuda)) {
    // Equal reshapes of an input are one value then.
    simplify();
    pm.addNestedPass<func::FuncOp>(createTcpMergeProductsPass());
    pm.addNestedPass<func::FuncOp>(createTcpUndilateConvsPass());
    pm.addNestedPass<func::FuncOp>(createTcpFlattenPatchesPass());
    pm.addNestedPass<func::FuncOp>(createTcpPadChannelsPass({options.allowTf32}));
    pm.addNestedPass<func::FuncOp>(createTcpAlignChannelsPass({options.allowTf32}));
  }
  simplify();
  pm.addPass(createTcpHoistWeightsPass({options.target}));
  simplify();
}

static void populate_group(OpPassManager &pm, const PipelineOptions &options) {
  if (!isFor(options, tcp::Target::Cuda))
    return;
  pm.addNestedPass<func::FuncOp>(createTcpOrderOpsPass());
  pm.addNestedPass<func::FuncOp>(createTcpFormStemsPass({options.allowTf32}));
  pm.addNestedPass<func::FuncOp>(createTcpFormRecurrentPass());
  pm.addNestedPass<func::FuncOp>(
      createTcpFormGroupsPass({options.supportTable, options.allowTf32}));
  pm.addPass(createTcpVerifyGroupsPass({options.supportTable, options.allowTf32}));
}

static void populate_cudnn(OpPassManager &pm, const PipelineOptions &options) {
  if (!isFor(options, tcp::Target::Cuda))
    return;
  pm.addPass(createTcpCollectOutsidePass());
  pm.addPass(createConvertTcpToCudnnPass());
  pm.addPass(createCudnnOutlineGraphsPass());
  if (options.alternatives)
    pm.addPass(createCudnnAddAlternativesPass({options.supportTable, options.allowTf32}));
}

static void populate_linalg(OpPassManager &pm, const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(createTcpSinkReshapesPass());
  pm.addNestedPass<func::FuncOp>(createTcpSplitSoftmaxPass());
  pm.addNestedPass<func::FuncOp>(createTcpShareConcatsPass());
  pm.addNestedPass<func::FuncOp>(createConvertTcpToLinalgPass());
  pm.addPass(createConvertElementwiseToLinalgPass()); // arith and math on tensors, if hand-written
  pm.addPass(createHoistTransposesPass());
  pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
  pm.addNestedPass<func::FuncOp>(createFuseReadsPass());
  pm.addNestedPass<func::FuncOp>(createFuseSharedPass());
  pm.addNestedPass<func::FuncOp>(createSplitReductionsPass());
  pm.addNestedPass<func::FuncOp>(createLowerAffinePass()); // fused index computations
  // No CSE: it would merge two tensors with the same fill into one, which bufferization copies.
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createExpandMathPass());
}

/// The CPU that programs are compiled for, whose name verifyOptions has checked.
static HostCpu hostCpu(const PipelineOptions &options) {
  std::string error;
  return *describeHostCpu(options.cpu.getValue(), error);
}

static void populate_plan(OpPassManager &pm, const PipelineOptions &options) {
  if (isFor(options, tcp::Target::Cpu))
    pm.addPass(createPackCpuWeightsPass({packedBlock(hostCpu(options).vectorBits() / 32)}));
  pm.addPass(createWeightOriginsPass());
  pm.addNestedPass<func::FuncOp>(createPlanLoopStatePass());
  // Values inserted into a larger tensor (concat, pad) are computed in place.
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  pm.addPass(createPlanBufferizePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferLoopHoistingPass());
  pm.addNestedPass<func::FuncOp>(createPlanStackedStatePass());
  pm.addNestedPass<func::FuncOp>(createPlanLoopBuffersPass());
  pm.addPass(createPlanOutParamsPass());
  pm.addNestedPass<func::FuncOp>(createConcatInPlacePass());
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createGroupRowsPass());
  pm.addNestedPass<func::FuncOp>(createGroupEpiloguesPass());
  if (isFor(options, tcp::Target::Cpu) && options.allowWinograd)
    pm.addNestedPass<func::FuncOp>(createWinogradFiltersPass());
  pm.addNestedPass<func::FuncOp>(createPlanInPlacePass());
  pm.addNestedPass<func::FuncOp>(createGroupSiblingsPass());
  pm.addPass(createPlanArenaPass());
  pm.addPass(createCollectManifestPass());
}

/// Functions with tcp.target = "cpu": all of a cpu program, and @prepare_weights of every program.
static void populateCpuCodegen(OpPassManager &pm, const PipelineOptions &options) {
  HostCpu cpu = hostCpu(options);
  pm.addNestedPass<func::FuncOp>(
      createCpuContractionsPass({cpu.vectorBits() / 32, cpu.vectorRegisters()}));
  pm.addNestedPass<func::FuncOp>(createCpuLoopsPass());
  pm.addPass(createCpuParallelPass());
  pm.addPass(createCpuOutlineLoopsPass());
}

static void populate_host(OpPassManager &pm, const PipelineOptions &options) {
  if (isFor(options, tcp::Target::Cuda)) {
    pm.addPass(createAttachKernelsPass({options.chip, options.allowTf32}));
    pm.addPass(createDescribeMatmulsPass());
    pm.addPass(createAddRuntimeArgumentPass());
    pm.addPass(createConvertCudnnExecuteToBackendPass());
    pm.addPass(createConvertCudnnGraphsToBackendPass());
    pm.addPass(createMapKernelsPass({options.chip}));
    pm.addPass(createCollectStepsPass());
  }
  populateCpuCodegen(pm, options);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void populate_llvm(OpPassManager &pm, const PipelineOptions &options) {
  if (isFor(options, tcp::Target::Cuda)) {
    pm.addNestedPass<gpu::GPUModuleOp>(createGpuToNvvmPass());
    pm.addNestedPass<gpu::GPUModuleOp>(createVerifyKernelsPass());
    pm.addPass(createKernelsToPtxPass());
  }
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  // bf16 and f16 arithmetic in f32; LowerToLLVM expands the conversions.
  pm.addPass(arith::createArithEmulateUnsupportedFloats({{"bf16", "f16"}, "f32"}));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass()); // ops without an LLVM intrinsic
  pm.addPass(createLowerToLLVMPass());
  pm.addPass(createParallelCallsPass());
  pm.addPass(createEntryPointsPass());
}

bool populatePhase(StringRef phase, OpPassManager &pm, const PipelineOptions &options) {
#define CONVOY_PHASE(name, summary, dialects)                                                      \
  if (phase == #name) {                                                                            \
    populate_##name(pm, options);                                                                  \
    pm.addPass(createVerifyPhasePass({#name}));                                                    \
    return true;                                                                                   \
  }
#include "passes/Phases.def"
  return false;
}

void populateEntry(OpPassManager &pm, const PipelineOptions &options) {
  if (!options.symbols.empty())
    pm.addPass(createTcpSpecializeSymbolsPass(
        {SmallVector<std::string>(options.symbols.begin(), options.symbols.end())}));
  pm.addPass(createCompleteProgramPass({options.target}));
  // Phase `cudnn` outlines inline graphs, but a module may also be written at its end.
  ArrayRef<StringRef> phases = phaseNames();
  if (llvm::find(phases, StringRef(options.from)) >= llvm::find(phases, StringRef("cudnn")))
    pm.addPass(createCudnnOutlineGraphsPass());
}

ArrayRef<StringRef> selectedPhases(const PipelineOptions &options) {
  ArrayRef<StringRef> phases = phaseNames();
  const StringRef *first = llvm::find(phases, StringRef(options.from)),
                  *last = llvm::find(phases, StringRef(options.to));
  return {first + (first == last ? 0 : 1), last + 1};
}

void populatePhases(OpPassManager &pm, const PipelineOptions &options) {
  populateEntry(pm, options);
  for (StringRef phase : selectedPhases(options))
    populatePhase(phase, pm, options);
}

/// Fails, with the reason in `error`, when the value of an option is not in `values`.
static LogicalResult verifyOneOf(StringRef option, StringRef value, ArrayRef<StringRef> values,
                                 std::string &error) {
  if (llvm::is_contained(values, value))
    return success();
  llvm::raw_string_ostream(error) << "expected '" << option << "' to be one of "
                                  << llvm::join(values, ", ") << ", but got '" << value << "'";
  return failure();
}

LogicalResult verifyOptions(const PipelineOptions &options, std::string &error) {
  ArrayRef<StringRef> phases = phaseNames();
  if (failed(verifyOneOf("from", options.from, phases, error)) ||
      failed(verifyOneOf("to", options.to, phases, error)))
    return failure();
  if (llvm::find(phases, StringRef(options.to)) < llvm::find(phases, StringRef(options.from))) {
    error = "expected phases in order, but got from=" + options.from + " to=" + options.to;
    return failure();
  }
  if (!options.target.empty() &&
      failed(verifyOneOf("target", options.target,
                         {stringifyTarget(tcp::Target::Cpu), stringifyTarget(tcp::Target::Cuda)},
                         error)))
    return failure();
  if (!options.dtype.empty() &&
      failed(verifyOneOf("dtype", options.dtype, {"f32", "f16", "bf16"}, error)))
    return failure();
  return success(succeeded(describeHostCpu(options.cpu, error)) &&
                 succeeded(verifyChip(options.chip, error)));
}

void registerPipelines() {
  // PassPipelineRegistration cannot be used because its function cannot fail.
  registerPassPipeline(
      "convoy-pipeline", "run the phases after 'from' up to and including 'to'",
      [](OpPassManager &pm, StringRef text,
         function_ref<LogicalResult(const Twine &)> emitError) -> LogicalResult {
        PipelineOptions options;
        std::string error;
        llvm::raw_string_ostream os(error);
        // For a value that is not a boolean LLVM prints the reason to standard error.
        if (failed(options.parseFromString(text, os)))
          return emitError("convoy-pipeline: cannot read the options '" + text +
                           "': " + StringRef(error).trim());
        if (failed(verifyOptions(options, error)))
          return emitError("convoy-pipeline: " + error);
        // Which passes run depends on the target, which the module decides unless the user does.
        if (options.target.empty())
          pm.addPass(createRunPhasesPass({text.str()}));
        else
          populatePhases(pm, options);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(PipelineOptions());
      });
}

} // namespace convoy
