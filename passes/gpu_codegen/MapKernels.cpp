// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts computation that cuDNN does not support to kernels: each linalg op of a cuda function,
// and each region of plan-group-epilogues or plan-group-rows, becomes one launch, which the ops of
// a region of plan-group-siblings share. Fills that the next op overwrites or completes become part
// of its kernel, so that padding needs no separate pass over memory.

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"
#include "passes/common/EpilogueRegion.h"
#include "passes/common/GpuChip.h"
#include "passes/common/Manifest.h"
#include "passes/common/RowRegion.h"
#include "passes/common/SiblingRegion.h"
#include "passes/common/Sizes.h"
#include "passes/gpu_codegen/Folds.h"
#include "passes/gpu_codegen/KernelEmit.h"
#include "passes/gpu_codegen/KernelEntry.h"
#include "passes/gpu_codegen/StepTables.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace convoy {
#define GEN_PASS_DEF_MAPKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::gpu_codegen;

namespace {

struct MapKernelsPass : public convoy::impl::MapKernelsPassBase<MapKernelsPass> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override {
    return convoy::verifyChipOption(chip, context);
  }
  void runOnOperation() override;

private:
  LogicalResult runOnFunction(func::FuncOp func);
  LogicalResult mapOp(linalg::LinalgOp op, Value runtime, StringRef prefix);
  LogicalResult mapRegion(scf::ExecuteRegionOp region, Value runtime, StringRef prefix);
  LogicalResult launch(ArrayRef<KernelMapping> plans, OpBuilder &host, Value runtime,
                       StringRef prefix);
  LogicalResult launchAll(MutableArrayRef<KernelMapping> plans, OpBuilder &host, Value runtime,
                          StringRef prefix);
  gpu::GPUModuleOp module();

  gpu::GPUModuleOp kernels;
  SmallVector<Attribute> entries;  ///< of the manifest, one per kernel
  llvm::StringMap<int64_t> byText; ///< number of the kernel with this code
  llvm::StringMap<int64_t> byName;
  bool fitsIn32Bits = true;
};

/// Whether a copy is a single copy of the runtime: between two whole buffers of identity layout.
bool isPlainCopy(memref::CopyOp op) {
  auto source = dyn_cast<MemRefType>(op.getSource().getType()),
       target = dyn_cast<MemRefType>(op.getTarget().getType());
  // Constants are on the host; kernels have copies.
  FailureOr<Buffer> from = traceBuffer(op.getSource());
  bool onDevice = succeeded(from) && !from->root.getDefiningOp<memref::GetGlobalOp>();
  return onDevice && source && target && source.getLayout().isIdentity() &&
         target.getLayout().isIdentity();
}

} // namespace

gpu::GPUModuleOp MapKernelsPass::module() {
  if (kernels)
    return kernels;
  ModuleOp top = getOperation();
  OpBuilder builder = OpBuilder::atBlockEnd(top.getBody());
  Attribute target =
      NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/3, convoy::kNvptxTriple, chip);
  kernels = gpu::GPUModuleOp::create(builder, top.getLoc(), "kernels", ArrayRef<Attribute>(target));
  return kernels;
}

/// Makes the kernel of `plans`, which have blocks of equal size, unless there is an equal one, and
/// its launch at `host`.
LogicalResult MapKernelsPass::launch(ArrayRef<KernelMapping> plans, OpBuilder &host, Value runtime,
                                     StringRef prefix) {
  OpBuilder builder = OpBuilder::atBlockEnd(module().getBody());
  FailureOr<Kernel> kernel = emitKernel(plans, builder, "kernel");
  if (failed(kernel))
    return failure();

  Location loc = kernel->func.getLoc();
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel->func->print(os, OpPrintingFlags().enableDebugInfo(false).useLocalScope());
  auto [known, isNew] = byText.try_emplace(text, entries.size());
  int64_t number = known->second;
  if (isNew) {
    std::string name = (prefix + "_" + nameOf(plans)).str();
    kernel->func.setName((name + "_" + llvm::Twine(byName[name]++)).str());
    entries.push_back(manifestEntry(plans, *kernel));
  } else {
    kernel->func.erase();
  }
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
  for (Value argument : kernel->arguments)
    fitsIn32Bits &= cast<MemRefType>(argument.getType()).getNumElements() < kLimit;
  int32_t blockThreads = plans.front().blockThreads(), blocks = 0;
  for (const KernelMapping &plan : plans) {
    fitsIn32Bits &= plan.threads() + blockThreads < kLimit;
    blocks += plan.blocks();
  }
  convoy::cudnn_backend::LaunchKernelOp::create(
      host, loc, runtime, number, ArrayRef<int32_t>{blocks, 1, 1},
      ArrayRef<int32_t>{blockThreads, 1, 1}, /*shared=*/0, kernel->arguments);
  return success();
}

/// Makes kernels of `plans`, which do not depend on each other: one for those with blocks of equal
/// size, as long as a block has enough shared memory.
LogicalResult MapKernelsPass::launchAll(MutableArrayRef<KernelMapping> plans, OpBuilder &host,
                                        Value runtime, StringRef prefix) {
  constexpr int64_t kMostSharedBytes = 32 << 10;
  struct Kernel {
    SmallVector<KernelMapping, 0> plans;
    int64_t sharedBytes;
  };
  std::map<int64_t, SmallVector<Kernel, 0>> bySize;
  for (KernelMapping &plan : plans) {
    if (plan.threads() == 0)
      continue;
    int64_t shared = sharedBytes(plan, host);
    SmallVector<Kernel, 0> &kernels = bySize[plan.blockThreads()];
    if (kernels.empty() || kernels.back().sharedBytes + shared > kMostSharedBytes)
      kernels.push_back({{}, 0});
    kernels.back().plans.push_back(std::move(plan));
    kernels.back().sharedBytes += shared;
  }
  for (auto &[size, kernels] : bySize)
    for (Kernel &kernel : kernels)
      if (failed(launch(kernel.plans, host, runtime, prefix)))
        return failure();
  return success();
}

/// The mapping of a reduction: `plan`, or that of the region of `ops`, if threads that share a row
/// can read several of its elements at once.
static KernelMapping withVectors(KernelMapping plan, ArrayRef<Operation *> ops) {
  if (plan.combiners.empty() || plan.columns != 0)
    return plan;
  std::optional<RowRegion> region = RowRegion::analyze(ops);
  if (!region || !region->isContiguous)
    return plan;
  KernelMapping rows = chooseRowMapping(*region);
  if (rows.rows->width == 1)
    return plan;
  rows.name = plan.name;
  return rows;
}

LogicalResult MapKernelsPass::mapOp(linalg::LinalgOp op, Value runtime, StringRef prefix) {
  Absorbed absorbed = absorbFills(op);
  FailureOr<KernelMapping> plan = chooseMapping(
      op, absorbed.inits, absorbed.padding ? &*absorbed.padding : nullptr, /*epilogue=*/nullptr);
  if (failed(plan))
    return failure();
  if (absorbed.fills.size() == 1)
    *plan = withVectors(std::move(*plan), {absorbed.fills.front(), op});
  OpBuilder host(op);
  if (failed(launchAll(*plan, host, runtime, prefix)))
    return failure();
  for (linalg::FillOp fill : absorbed.fills)
    fill.erase();
  op.erase();
  return success();
}

/// The mapping of a region of `plan-group-epilogues` or `plan-group-rows`.
static FailureOr<KernelMapping> chooseRegionMapping(scf::ExecuteRegionOp region) {
  if (std::optional<convoy::EpilogueRegion> ops = convoy::EpilogueRegion::match(region)) {
    FailureOr<KernelMapping> plan = chooseMapping(ops->reduction, ops->fill.getInputs()[0],
                                                  /*padding=*/nullptr, ops->epilogue);
    if (failed(plan))
      return failure();
    return withVectors(std::move(*plan), {ops->fill, ops->reduction, ops->epilogue});
  }
  if (std::optional<convoy::RowRegion> rows = convoy::RowRegion::match(region))
    return chooseRowMapping(*rows);
  return region.emitOpError(
      "expects a fill, a reduction and its epilogue, reductions and "
      "elementwise ops over the same rows, or several elementwise ops and such "
      "regions, to become a kernel");
}

LogicalResult MapKernelsPass::mapRegion(scf::ExecuteRegionOp region, Value runtime,
                                        StringRef prefix) {
  SmallVector<Operation *> members = {region};
  if (std::optional<convoy::SiblingRegion> siblings = convoy::SiblingRegion::match(region))
    members = siblings->members;
  SmallVector<KernelMapping, 0> plans;
  for (Operation *member : members) {
    auto op = dyn_cast<linalg::LinalgOp>(member);
    FailureOr<KernelMapping> plan =
        op ? chooseMapping(op, SmallVector<Value>(op.getNumDpsInits()), /*padding=*/nullptr,
                           /*epilogue=*/nullptr)
           : chooseRegionMapping(cast<scf::ExecuteRegionOp>(member));
    if (failed(plan))
      return failure();
    plans.push_back(std::move(*plan));
  }
  OpBuilder host(region);
  if (failed(launchAll(plans, host, runtime, prefix)))
    return failure();
  region.erase();
  return success();
}

/// Reports uses of constants that remain: they are in host memory, which the GPU cannot read.
static LogicalResult verifyConstants(func::FuncOp func) {
  WalkResult result = func.walk([](Operation *op) {
    if (isa<ViewLikeOpInterface>(op))
      return WalkResult::advance();
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      FailureOr<Buffer> buffer = failure();
      if (isa<MemRefType>(operand.getType()))
        buffer = traceBuffer(operand);
      if (failed(buffer) || !buffer->root.getDefiningOp<memref::GetGlobalOp>())
        continue;
      op->emitOpError("expects GPU memory, but operand ") << number << " is a constant on the host";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult MapKernelsPass::runOnFunction(func::FuncOp func) {
  if (func.getNumArguments() == 0 || !isa<LLVM::LLVMPointerType>(func.getArgument(0).getType()))
    return func.emitOpError("expects the runtime's table as its first argument "
                            "(add-runtime-argument), because it is compiled for 'cuda'");
  if (failed(convoy::verifySizes(func)))
    return failure();
  Value runtime = func.getArgument(0);
  computeSteps(func);
  func.walk([&](memref::CopyOp copy) {
    OpBuilder builder(copy);
    if (isPlainCopy(copy))
      convoy::cudnn_backend::CopyOp::create(builder, copy.getLoc(), runtime, copy.getTarget(),
                                            copy.getSource());
    else
      linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  });
  // Other ops may absorb fills, so they are converted first; the remaining fills become kernels.
  SmallVector<Operation *> ops;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<linalg::LinalgOp, scf::ExecuteRegionOp>(op))
      return WalkResult::advance();
    if (!isa<linalg::FillOp>(op))
      ops.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : ops) {
    auto region = dyn_cast<scf::ExecuteRegionOp>(op);
    if (failed(region ? mapRegion(region, runtime, func.getSymName())
                      : mapOp(cast<linalg::LinalgOp>(op), runtime, func.getSymName())))
      return failure();
  }
  SmallVector<linalg::FillOp> fills;
  func.walk([&](linalg::FillOp fill) { fills.push_back(fill); });
  for (linalg::FillOp fill : fills)
    if (failed(mapOp(cast<linalg::LinalgOp>(fill.getOperation()), runtime, func.getSymName())))
      return failure();
  return verifyConstants(func);
}

void MapKernelsPass::runOnOperation() {
  kernels = nullptr;
  entries.clear();
  byText.clear();
  byName.clear();
  fitsIn32Bits = true;
  for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
    if (convoy::tcp::getTarget(func) == convoy::tcp::Target::Cuda && failed(runOnFunction(func)))
      return signalPassFailure();
  if (!kernels)
    return;
  Builder builder(&getContext());
  convoy::setManifest(getOperation(), "kernels", builder.getArrayAttr(entries));
  if (!fitsIn32Bits)
    return;
  // 32-bit indices: the divisions of delinearization take a third of the time.
  auto width = DataLayoutEntryAttr::get(IndexType::get(&getContext()),
                                        IntegerAttr::get(IntegerType::get(&getContext(), 64), 32));
  kernels->setAttr(DLTIDialect::kDataLayoutAttrName,
                   DataLayoutSpecAttr::get(&getContext(), {width}));
}
