#include "passes/pipeline/Pipeline.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/common/HostCpu.h"
#include "passes/host/cpu/ContractionEmit.h"

using namespace mlir;

namespace convoy {

static constexpr StringRef kPhaseNames[] = {
#define CONVOY_PHASE(name, summary, dialects) #name,
#include "passes/Phases.def"
};

ArrayRef<StringRef> phaseNames() { return kPhaseNames; }

// One function a phase, each named populate_<phase>.

static void populate_tcp(OpPassManager &, const PipelineOptions &) {}

static void populate_normalize(OpPassManager &pm, const PipelineOptions &options) {
  auto simplify = [&] {
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
  };
  simplify();
  pm.addNestedPass<func::FuncOp>(createTcpDecomposeConvTransposePass());
  // Scales are folded before the type changes, so that they are rounded once.
  pm.addNestedPass<func::FuncOp>(createTcpFoldScaleIntoConvPass());
  pm.addNestedPass<func::FuncOp>(createTcpSetDtypePass({options.dtype}));
  pm.addNestedPass<func::FuncOp>(createTcpChannelsLastPass());
  pm.addNestedPass<func::FuncOp>(createTcpFlattenProductsPass());
  if (options.target == "cuda")
    pm.addNestedPass<func::FuncOp>(createTcpPadChannelsPass({options.allowTf32}));
  simplify();
  pm.addPass(createTcpHoistWeightsPass({options.target}));
  simplify();
}

static void populate_group(OpPassManager &pm, const PipelineOptions &options) {
  if (options.target != "cuda")
    return;
  pm.addNestedPass<func::FuncOp>(createTcpFormStemsPass({options.allowTf32}));
  pm.addNestedPass<func::FuncOp>(createTcpFormGroupsPass({options.supportTable, options.allowTf32}));
  pm.addPass(createTcpVerifyGroupsPass({options.supportTable, options.allowTf32}));
}

static void populate_cudnn(OpPassManager &pm, const PipelineOptions &options) {
  if (options.target != "cuda")
    return;
  pm.addPass(createTcpCollectOutsidePass());
  pm.addPass(createConvertTcpToCudnnPass());
  pm.addPass(createCudnnOutlineGraphsPass());
  if (options.alternatives)
    pm.addPass(createCudnnAddAlternativesPass({options.supportTable, options.allowTf32}));
}

static void populate_linalg(OpPassManager &pm, const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(createConvertTcpToLinalgPass());
  pm.addPass(createHoistTransposesPass());
  pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
  pm.addNestedPass<func::FuncOp>(createLowerAffinePass()); // fused index computations
  // No CSE: two tensors with the same fill are two buffers, not one and a copy of it.
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createExpandMathPass());
}

/// The vector unit of the CPU that programs are compiled for. A name that LLVM does not know is an error of emit; until then it has AVX2.
static HostCpu hostCpu(const PipelineOptions &options) {
  std::string error;
  FailureOr<HostCpu> host = describeHostCpu(options.cpu.getValue(), error);
  if (failed(host))
    host = describeHostCpu("x86-64-v3", error);
  return *host;
}

static void populate_plan(OpPassManager &pm, const PipelineOptions &options) {
  if (options.target == "cpu")
    pm.addPass(createPackCpuWeightsPass({packedBlock(hostCpu(options).vectorBits() / 32)}));
  // A slice written into a larger tensor (concat, pad) is computed where it goes.
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  pm.addPass(createPlanBufferizePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createPlanOutParamsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createGroupEpiloguesPass());
  pm.addPass(createPlanArenaPass());
  pm.addPass(createCollectManifestPass());
}

/// Functions with tcp.target = "cpu": all of a cpu program, and @prepare_weights of every program.
static void populateHostCpu(OpPassManager &pm, const PipelineOptions &options) {
  HostCpu cpu = hostCpu(options);
  pm.addNestedPass<func::FuncOp>(createHostCpuContractionsPass({cpu.vectorBits() / 32, cpu.vectorRegisters()}));
  pm.addNestedPass<func::FuncOp>(createHostCpuLoopsPass());
  pm.addPass(createHostCpuParallelPass());
  pm.addPass(createHostCpuOutlineLoopsPass());
}

static void populate_host(OpPassManager &pm, const PipelineOptions &options) {
  if (options.target == "cuda") {
    pm.addPass(createAttachKernelsPass({options.chip, options.allowTf32}));
    pm.addPass(createAddRuntimeArgumentPass());
    pm.addPass(createConvertCudnnExecuteToBackendPass());
    pm.addPass(createConvertCudnnGraphsToBackendPass());
    pm.addPass(createMapKernelsPass({options.chip}));
    pm.addPass(createCollectStepsPass());
  }
  populateHostCpu(pm, options);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void populate_llvm(OpPassManager &pm, const PipelineOptions &options) {
  if (options.target == "cuda") {
    pm.addNestedPass<gpu::GPUModuleOp>(createGpuToNvvmPass());
    pm.addNestedPass<gpu::GPUModuleOp>(createVerifyKernelsPass());
    pm.addPass(createKernelsToPtxPass());
  }
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  // bf16 arithmetic in f32; LowerToLLVM writes out the conversions.
  pm.addPass(arith::createArithEmulateUnsupportedFloats({{"bf16", "f16"}, "f32"}));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass()); // what LLVM has no intrinsic for
  pm.addPass(createLowerToLLVMPass());
  pm.addPass(createParallelCallsPass());
  pm.addPass(createEntryPointsPass());
}

bool populatePhase(StringRef phase, OpPassManager &pm, const PipelineOptions &options) {
#define CONVOY_PHASE(name, summary, dialects)                                                                                              \
  if (phase == #name) {                                                                                                                    \
    populate_##name(pm, options);                                                                                                          \
    pm.addPass(createVerifyPhasePass({#name}));                                                                                            \
    return true;                                                                                                                           \
  }
#include "passes/Phases.def"
  return false;
}

void registerPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "convoy-pipeline", "run the phases after 'from' up to and including 'to'", [](OpPassManager &pm, const PipelineOptions &options) {
        auto find = [](StringRef name) { return llvm::find(phaseNames(), name) - phaseNames().begin(); };
        size_t from = find(options.from), to = find(options.to);
        if (from >= phaseNames().size() || to >= phaseNames().size() || to < from)
          llvm::report_fatal_error(llvm::Twine("convoy-pipeline: expected phases in order out of ") + llvm::join(phaseNames(), ", ") +
                                       ", but got from=" + options.from + " to=" + options.to,
                                   /*gen_crash_diag=*/false);
        if (from == to)
          populatePhase(phaseNames()[from], pm, options);
        for (size_t i = from + 1; i <= to; ++i)
          populatePhase(phaseNames()[i], pm, options);
      });
}

} // namespace convoy
