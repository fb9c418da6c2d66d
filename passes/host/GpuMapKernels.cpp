// Computation on the GPU that cuDNN does not take becomes kernels here: each linalg op of a function for cuda is one launch. Fills that the
// next op overwrites or completes go into its kernel, so that padding an input costs no pass over memory.

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
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/common/Locations.h"
#include "passes/common/Manifest.h"
#include "passes/host/GpuKernelEmit.h"
#include "llvm/ADT/StringMap.h"

namespace convoy {
#define GEN_PASS_DEF_MAPKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy::host;

namespace {

struct MapKernelsPass : public convoy::impl::MapKernelsPassBase<MapKernelsPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult runOnFunction(func::FuncOp func);
  LogicalResult mapOp(linalg::LinalgOp op, Value runtime, StringRef prefix);
  gpu::GPUModuleOp module();

  gpu::GPUModuleOp kernels;
  SmallVector<gpu::GPUFuncOp> inOrder; ///< as the manifest numbers them
  llvm::StringMap<int64_t> byText;     ///< number of the kernel with this code
  llvm::StringMap<int64_t> byName;
  DenseSet<Operation *> done; ///< epilogues whose kernels exist already
  bool fitsIn32Bits = true;
};

/// What a linalg op takes over from fills before it.
struct Absorbed {
  SmallVector<Value> inits;
  std::optional<Padding> padding;
  SmallVector<linalg::FillOp> fills;
};

/// The memrefs that `op` may read or write, payload included.
SmallVector<Value> memrefsOf(Operation *op) {
  SmallVector<Value> result;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<BaseMemRefType>(operand.getType()) && !op->isProperAncestor(operand.getParentRegion()->getParentOp()))
        result.push_back(operand);
  });
  return result;
}

/// Whether `op` may touch the bytes of `range`.
bool touches(Operation *op, const ByteRange &range) {
  if (isMemoryEffectFree(op) || isa<ViewLikeOpInterface>(op))
    return false;
  return llvm::any_of(memrefsOf(op), [&](Value memref) {
    FailureOr<Buffer> buffer = traceBuffer(memref);
    return failed(buffer) || bytesOf(*buffer).overlaps(range);
  });
}

/// The last fill before `op` that writes `range`, when nothing between them touches it.
linalg::FillOp findFill(Operation *op, const ByteRange &range) {
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
    if (touches(before, range))
      return dyn_cast<linalg::FillOp>(before);
  return nullptr;
}

bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

/// Whether anything but output `number` of `op` touches `range`.
bool usesElsewhere(linalg::LinalgOp op, unsigned number, const ByteRange &range) {
  Value output = op.getDpsInits()[number];
  int64_t seen = 0;
  return llvm::any_of(memrefsOf(op), [&](Value memref) {
    if (memref == output)
      return ++seen > 1;
    FailureOr<Buffer> buffer = traceBuffer(memref);
    return failed(buffer) || bytesOf(*buffer).overlaps(range);
  });
}

/// The box that `fill` makes around the result of `op`, which writes a part of the filled memref.
std::optional<Padding> matchPadding(linalg::LinalgOp op, linalg::FillOp fill) {
  auto part = op.getDpsInits()[0].getDefiningOp<memref::SubViewOp>();
  auto whole = dyn_cast<MemRefType>(fill.getOutputs()[0].getType());
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!part || part.getSource() != fill.getOutputs()[0] || part.getSourceType().getRank() != part.getType().getRank() ||
      !map.isPermutation() || !whole.getLayout().isIdentity() || op.getNumReductionLoops() != 0 ||
      !llvm::all_of(part.getStaticStrides(), [](int64_t stride) { return stride == 1; }))
    return std::nullopt;
  Padding padding;
  padding.value = fill.getInputs()[0];
  padding.sizes.resize(map.getNumDims());
  padding.lows.resize(map.getNumDims());
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    padding.sizes[dim] = whole.getDimSize(i);
    padding.lows[dim] = part.getStaticOffsets()[i];
  }
  return padding;
}

/// The one op other than `op` and fills that uses `result`, also as a view without its unit dims; null when there are others.
linalg::LinalgOp onlyReader(Value result, linalg::LinalgOp op) {
  linalg::LinalgOp reader;
  SmallVector<Value> views = {result};
  while (!views.empty()) {
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (user == op || user == reader || isa<linalg::FillOp>(user))
        continue;
      if (user->getNumResults() == 1 && withoutUnitReshapes(user->getResult(0)) == result) {
        views.push_back(user->getResult(0));
        continue;
      }
      if (reader || !isa<linalg::LinalgOp>(user))
        return nullptr;
      reader = cast<linalg::LinalgOp>(user);
    }
  }
  return reader;
}

/// Whether `epilogue` is pointwise on `result`, which it reads once and in order: a transposed result would be computed in the output's
/// order, by neighbours that read far apart.
bool isPointwiseOn(Value result, linalg::LinalgOp epilogue) {
  if (epilogue.getNumReductionLoops() != 0 || epilogue.getNumDpsInits() != 1 || epilogue.hasIndexSemantics() ||
      epilogue.payloadUsesValueFromOperand(epilogue.getDpsInitOperand(0)) || withoutUnitReshapes(epilogue.getDpsInits()[0]) == result)
    return false;
  int64_t reads = 0;
  AffineMap output = epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(0));
  for (OpOperand *input : epilogue.getDpsInputOperands()) {
    if (withoutUnitReshapes(input->get()) != result)
      continue;
    if (++reads > 1 || epilogue.getMatchingIndexingMap(input) != output || !output.isPermutation())
      return false;
  }
  bool gathers = false;
  epilogue->walk([&](memref::LoadOp) { gathers = true; });
  return reads == 1 && !gathers;
}

/// The pointwise op after `op` that can take its result from registers: nothing else reads the result, and nothing in between or in the
/// epilogue's output overwrites what `op` reads.
linalg::LinalgOp findEpilogue(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return nullptr;
  Value result = op.getDpsInits()[0];
  if (!isa_and_nonnull<memref::ViewOp, memref::AllocOp>(result.getDefiningOp()))
    return nullptr;
  linalg::LinalgOp epilogue = onlyReader(result, op);
  if (!epilogue || epilogue->getBlock() != op->getBlock() || !op->isBeforeInBlock(epilogue) || !isPointwiseOn(result, epilogue))
    return nullptr;
  FailureOr<Buffer> output = traceBuffer(epilogue.getDpsInits()[0]);
  if (failed(output))
    return nullptr;
  for (Value memref : memrefsOf(op)) {
    if (memref == result)
      continue;
    FailureOr<Buffer> buffer = traceBuffer(memref);
    if (failed(buffer) || bytesOf(*buffer).overlaps(bytesOf(*output)))
      return nullptr;
    for (Operation *between = op->getNextNode(); between != epilogue; between = between->getNextNode())
      if (touches(between, bytesOf(*buffer)))
        return nullptr;
  }
  return epilogue;
}

Absorbed absorbFills(linalg::LinalgOp op) {
  Absorbed result;
  result.inits.resize(op.getNumDpsInits());
  if (isa<linalg::FillOp>(op.getOperation()))
    return result;
  for (auto [number, output] : llvm::enumerate(op.getDpsInits())) {
    FailureOr<Buffer> buffer = traceBuffer(output);
    if (failed(buffer))
      continue;
    linalg::FillOp fill = findFill(op, bytesOf(*buffer));
    if (!fill || !isConstant(fill.getInputs()[0]))
      continue;
    Value filled = fill.getOutputs()[0];
    FailureOr<Buffer> whole = traceBuffer(filled);
    if (failed(whole) || usesElsewhere(op, number, bytesOf(*whole)))
      continue;
    if (filled == output) {
      result.inits[number] = fill.getInputs()[0];
      result.fills.push_back(fill);
      continue;
    }
    // The rest of the filled memref must still be what the fill left there.
    if (op.getNumDpsInits() != 1 || op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) || findFill(op, bytesOf(*whole)) != fill)
      continue;
    if ((result.padding = matchPadding(op, fill)))
      result.fills.push_back(fill);
  }
  return result;
}

/// A copy that the runtime makes at once: between two whole buffers of one layout.
bool isPlainCopy(memref::CopyOp op) {
  auto source = dyn_cast<MemRefType>(op.getSource().getType()), target = dyn_cast<MemRefType>(op.getTarget().getType());
  // A constant is on the host; a kernel has its own.
  FailureOr<Buffer> from = traceBuffer(op.getSource());
  bool onDevice = succeeded(from) && !from->root.getDefiningOp<memref::GetGlobalOp>();
  return onDevice && source && target && source.getLayout().isIdentity() && target.getLayout().isIdentity();
}

} // namespace

gpu::GPUModuleOp MapKernelsPass::module() {
  if (kernels)
    return kernels;
  ModuleOp top = getOperation();
  OpBuilder builder = OpBuilder::atBlockEnd(top.getBody());
  Attribute target = NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", chip);
  kernels = gpu::GPUModuleOp::create(builder, top.getLoc(), "kernels", ArrayRef<Attribute>(target));
  return kernels;
}

LogicalResult MapKernelsPass::mapOp(linalg::LinalgOp op, Value runtime, StringRef prefix) {
  Absorbed absorbed = absorbFills(op);
  linalg::LinalgOp epilogue = absorbed.inits[0] ? findEpilogue(op) : nullptr;
  FailureOr<KernelPlan> plan = planKernel(op, absorbed.inits, absorbed.padding ? &*absorbed.padding : nullptr, epilogue);
  if (failed(plan))
    return failure();
  if (plan->threads() != 0) {
    OpBuilder builder = OpBuilder::atBlockEnd(module().getBody());
    FailureOr<Kernel> kernel = emitKernel(*plan, builder, "kernel");
    if (failed(kernel))
      return failure();

    // Equal kernels are one.
    std::string text;
    llvm::raw_string_ostream os(text);
    kernel->func->print(os, OpPrintingFlags().enableDebugInfo(false));
    auto [known, isNew] = byText.try_emplace(text, inOrder.size());
    int64_t number = known->second;
    if (isNew) {
      std::string name = (prefix + "_" + plan->name).str();
      kernel->func.setName((name + "_" + llvm::Twine(byName[name]++)).str());
      inOrder.push_back(kernel->func);
    } else {
      kernel->func.erase();
    }
    for (Value argument : kernel->arguments)
      fitsIn32Bits &= cast<MemRefType>(argument.getType()).getNumElements() < std::numeric_limits<int32_t>::max();
    fitsIn32Bits &= plan->threads() + kBlockThreads < std::numeric_limits<int32_t>::max();

    builder.setInsertionPoint(epilogue ? epilogue : op);
    int32_t blocks = llvm::divideCeil(plan->threads(), kBlockThreads);
    convoy::cudnn_backend::LaunchKernelOp::create(builder, op.getLoc(), runtime, number, ArrayRef<int32_t>{blocks, 1, 1},
                                                  ArrayRef<int32_t>{kBlockThreads, 1, 1}, /*shared=*/0, kernel->arguments);
  }
  for (linalg::FillOp fill : absorbed.fills)
    fill.erase();
  op.erase();
  if (epilogue) {
    done.insert(epilogue);
    epilogue.erase();
  }
  return success();
}

LogicalResult MapKernelsPass::runOnFunction(func::FuncOp func) {
  if (func.getNumArguments() == 0 || !isa<LLVM::LLVMPointerType>(func.getArgument(0).getType()))
    return func.emitOpError("expects the runtime's table as its first argument (add-runtime-argument), because it is compiled for 'cuda'");
  Value runtime = func.getArgument(0);
  for (memref::CopyOp copy : llvm::make_early_inc_range(func.getOps<memref::CopyOp>())) {
    OpBuilder builder(copy);
    if (isPlainCopy(copy))
      convoy::cudnn_backend::CopyOp::create(builder, copy.getLoc(), runtime, copy.getTarget(), copy.getSource());
    else
      linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  }
  // Fills wait for the op that may absorb them, so the others go first; what is left of them becomes kernels in place.
  SmallVector<linalg::LinalgOp> ops;
  for (linalg::LinalgOp op : func.getOps<linalg::LinalgOp>())
    if (!isa<linalg::FillOp>(op.getOperation()))
      ops.push_back(op);
  for (linalg::LinalgOp op : ops)
    if (!done.contains(op) && failed(mapOp(op, runtime, func.getSymName())))
      return failure();
  for (auto fill : llvm::make_early_inc_range(func.getOps<linalg::FillOp>()))
    if (failed(mapOp(cast<linalg::LinalgOp>(fill.getOperation()), runtime, func.getSymName())))
      return failure();
  return success();
}

void MapKernelsPass::runOnOperation() {
  kernels = nullptr;
  inOrder.clear();
  done.clear();
  byText.clear();
  byName.clear();
  fitsIn32Bits = true;
  for (func::FuncOp func : getOperation().getOps<func::FuncOp>()) {
    auto target = func->getAttrOfType<StringAttr>(convoy::tcp::kTargetAttr);
    if (target && target.getValue() == "cuda" && failed(runOnFunction(func)))
      return signalPassFailure();
  }
  if (!kernels)
    return;
  Builder builder(&getContext());
  SmallVector<Attribute> entries;
  for (gpu::GPUFuncOp kernel : inOrder)
    entries.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(kernel.getName())),
                                   builder.getNamedAttr("location", builder.getStringAttr(convoy::placeText(kernel.getLoc())))}));
  convoy::setManifest(getOperation(), "kernels", builder.getArrayAttr(entries));
  if (!fitsIn32Bits)
    return;
  // Indices of 32 bits: divisions, which delinearizing needs, take a third of the time.
  auto width = DataLayoutEntryAttr::get(IndexType::get(&getContext()), IntegerAttr::get(IntegerType::get(&getContext(), 64), 32));
  kernels->setAttr(DLTIDialect::kDataLayoutAttrName, DataLayoutSpecAttr::get(&getContext(), {width}));
}
