#include "passes/host/GpuKernelPlan.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace convoy::host {

/// Adds `scale * expr` to `steps`, one an index, and `start`. False when `expr` is not linear.
static bool addLinear(AffineExpr expr, int64_t scale, MutableArrayRef<int64_t> steps, int64_t &start) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    start += scale * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    steps[dim.getPosition()] += scale;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), scale, steps, start) && addLinear(binary.getRHS(), scale, steps, start);
  if (expr.getKind() != AffineExprKind::Mul)
    return false;
  if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
    return addLinear(binary.getLHS(), scale * factor.getValue(), steps, start);
  if (auto factor = dyn_cast<AffineConstantExpr>(binary.getLHS()))
    return addLinear(binary.getRHS(), scale * factor.getValue(), steps, start);
  return false;
}

/// A word for what `op` computes, for names of kernels; empty for casts of indices, constants and the like.
static StringRef wordFor(Operation &op) {
  StringRef name = op.getName().stripDialect();
  // Looking up where an element stands is one thing, however many ops it takes.
  auto isIndex = [](Value value) { return value.getType().isIndex(); };
  if (isa<arith::ConstantOp>(op) || op.getNumResults() == 0 || llvm::any_of(op.getResults(), isIndex) ||
      op.getResult(0).getType().isInteger(1))
    return "";
  if (isa<memref::LoadOp>(op))
    return "gather";
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp>(op))
    return "cast";
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op))
    return "max";
  if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(op))
    return "min";
  return isa<arith::ArithDialect>(op.getDialect()) ? name.rtrim("fi") : name;
}

static unsigned elementBits(linalg::LinalgOp op) { return getElementTypeOrSelf(op.getDpsInits()[0]).getIntOrFloatBitWidth(); }

static std::string describe(linalg::LinalgOp op) {
  if (!isa<linalg::GenericOp>(op.getOperation()))
    return op->getName().stripDialect().str();
  SmallVector<std::string> words;
  bool transposes = llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    return map.isPermutation() && !map.isIdentity();
  });
  if (transposes)
    words.push_back("transpose");
  if (op.getNumReductionLoops() != 0)
    words.push_back("reduce");
  for (Operation &inner : *op.getBlock()) {
    std::string word = inner.hasTrait<OpTrait::IsTerminator>() ? "" : wordFor(inner).str();
    if (!word.empty() && !llvm::is_contained(words, word))
      words.push_back(word);
  }
  if (words.empty())
    words.push_back(op.getNumDpsInputs() == 0 ? "fill" : elementBits(op) == 1 ? "compare" : "copy");
  constexpr size_t kMostWords = 4;
  words.resize(std::min(words.size(), kMostWords));
  return llvm::join(words, "_");
}

/// Two loops are one when every address moves over the outer as over the continued inner one.
static bool areOne(const KernelLoop &outer, const KernelLoop &inner) {
  if (outer.isPadded() || inner.isPadded())
    return false;
  return llvm::all_of(llvm::zip_equal(outer.steps, inner.steps),
                      [&](auto steps) { return std::get<0>(steps) == std::get<1>(steps) * inner.size; });
}

static void merge(SmallVectorImpl<KernelLoop> &loops) {
  SmallVector<KernelLoop> merged;
  for (KernelLoop &loop : loops) {
    if (!merged.empty() && areOne(merged.back(), loop)) {
      loop.size *= merged.back().size;
      loop.inner = loop.size;
      merged.pop_back();
    }
    merged.push_back(loop);
  }
  loops = std::move(merged);
}

int64_t KernelPlan::threads() const {
  int64_t count = tile ? kBlockThreads : reducers;
  for (auto [i, loop] : llvm::enumerate(parallel)) {
    bool tiled = tile != 0 && (i == tileLoop || i + 1 == parallel.size());
    count *= tiled ? llvm::divideCeil(loop.size, tile) : loop.size;
  }
  return count / lanes;
}

bool isVectorAccess(const KernelPlan &plan, unsigned operand, int64_t lanes) {
  const KernelOperand &access = plan.operands[operand];
  if (lanes == 1 || !access.buffer || !access.isLinear || !llvm::isPowerOf2_64(lanes))
    return false;
  Type type = access.buffer->type.getElementType();
  if (type.isInteger(1) || plan.parallel.empty() || plan.parallel.back().steps[operand] != 1 || access.start % lanes != 0)
    return false;
  for (ArrayRef<KernelLoop> loops : {ArrayRef(plan.parallel).drop_back(), ArrayRef(plan.reduction)})
    for (const KernelLoop &loop : loops)
      if (loop.steps[operand] % lanes != 0)
        return false;
  return isRootAligned(*access.buffer, std::min(vectorAlignment(type, lanes), int64_t(16)));
}

int64_t vectorAlignment(Type elementType, int64_t lanes) { return std::min<int64_t>(16, lanes * elementBytes(elementType)); }

/// How many elements of the innermost loop one thread takes: 16 bytes of the output where it is contiguous, all of a short innermost dim.
static int64_t chooseLanes(const KernelPlan &plan) {
  if (plan.parallel.empty() || llvm::any_of(plan.operands, [](const KernelOperand &operand) { return !operand.isLinear; }))
    return 1;
  const KernelLoop &last = plan.parallel.back();
  int64_t widest = 1, lanes = 16, end = plan.operands.size();
  for (int64_t output = plan.firstOutput; output < end; ++output) {
    if (last.steps[output] != 1)
      return 1;
    widest = std::max(widest, elementBytes(plan.operands[output].buffer->type.getElementType()));
  }
  constexpr int64_t kShort = 8;
  if (last.size <= kShort && (last.isPadded() || plan.reduction.empty()))
    return last.size;
  if (last.isPadded())
    return 1;
  // Fewer elements a thread where that leaves too few threads to fill a large GPU.
  constexpr int64_t kEnoughThreads = 1 << 15;
  for (lanes = std::min<int64_t>(kShort, 16 / widest); lanes > 1; lanes /= 2) {
    bool fits = last.size % lanes == 0 && plan.threads() / lanes >= kEnoughThreads;
    for (int64_t output = plan.firstOutput; fits && output < end; ++output)
      fits = isVectorAccess(plan, output, lanes);
    if (fits)
      return lanes;
  }
  return 1;
}

/// How many neighbouring outputs a block makes that reduces down columns: few enough for a block on each multiprocessor of a large GPU and
/// for all reads of a thread to be under way at once, but a sector of memory at least, two where there are blocks enough, and two elements
/// of the reduction for each thread.
static int64_t chooseColumns(int64_t outputs, int64_t length, int64_t bytes) {
  constexpr int64_t kManyBlocks = 128, kMostColumns = 128, kLeastColumns = 8, kSectorBytes = 32, kMostReads = 8;
  int64_t columns = kMostColumns, least = std::max(kLeastColumns, kSectorBytes / bytes);
  auto isLarge = [&] {
    bool leavesIdle = llvm::divideCeil(outputs, columns)<kManyBlocks, takesTurns = length> kMostReads * (kBlockThreads / columns);
    return columns > least && (leavesIdle || (columns > 2 * least && takesTurns));
  };
  while (isLarge() && 2 * kBlockThreads / (columns / 2) <= length)
    columns /= 2;
  return columns;
}

/// Sets the op that combines two partial results, when threads can share the reduction and gain by it.
static void shareReduction(KernelPlan &plan) {
  linalg::LinalgOp op = plan.op;
  int64_t length = 1;
  for (const KernelLoop &loop : plan.reduction)
    length *= loop.size;
  constexpr int64_t kLong = 2 * kWarpThreads, kPart = 8, kManyThreads = 1 << 14, kManyColumns = 1 << 16;
  if (op.getNumDpsInits() != 1 || length < 2 * kPart)
    return;
  bool contiguous = false;
  for (int64_t input = 0; input < plan.numInputs; ++input)
    contiguous |= plan.reduction.back().steps[input] == 1;
  // Threads that share a row read along it. Where neighbouring outputs read along a row anyway, sharing only helps to fill the GPU.
  int64_t bytesAlongOutput = 0;
  for (int64_t input = 0; input < plan.numInputs && !plan.parallel.empty(); ++input)
    if (plan.parallel.back().steps[input] == 1 && plan.operands[input].buffer)
      bytesAlongOutput = elementBytes(plan.operands[input].buffer->type.getElementType());
  bool sharesRows = contiguous && bytesAlongOutput == 0, sharesColumns = !sharesRows && bytesAlongOutput != 0;
  if (!sharesRows && (plan.threads() >= (sharesColumns ? kManyColumns : kManyThreads) || (!sharesColumns && length < kLong)))
    return;
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), 0, combiners) || combiners.size() != 1 || !arith::getNeutralElement(combiners.front()))
    return;
  plan.combiner = combiners.front();
  if (sharesColumns)
    plan.columns = chooseColumns(plan.threads(), length, bytesAlongOutput);
  plan.reducers = sharesColumns ? kBlockThreads / plan.columns : length < kLong ? kPart : kWarpThreads;
}

/// Sends inputs that are contiguous along another loop than the output through shared memory, a square at a time, so that both the
/// reads and the writes of neighbouring threads are neighbours.
static void transposeThroughTiles(KernelPlan &plan) {
  constexpr int64_t kSmall = 32, kLarge = 64;
  if (plan.parallel.size() < 2 || plan.operands.size() - plan.firstOutput != 1 || plan.parallel.back().steps[plan.firstOutput] != 1)
    return;
  const KernelLoop &last = plan.parallel.back();
  for (auto [i, loop] : llvm::enumerate(ArrayRef(plan.parallel).drop_back())) {
    bool crosses = false;
    for (int64_t input = 0; input < plan.numInputs; ++input)
      crosses |= plan.operands[input].buffer && plan.operands[input].isRead && loop.steps[input] == 1 && last.steps[input] > 1;
    int64_t shorter = std::min(loop.size, last.size);
    if (!crosses || shorter < kSmall / 2)
      continue;
    plan.tileLoop = i;
    plan.tile = shorter < kLarge * 3 / 4 ? kSmall : kLarge;
    return;
  }
}

Value withoutUnitReshapes(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(op))
      break;
    auto withoutUnits = [](Value value) {
      return llvm::filter_to_vector(cast<MemRefType>(value.getType()).getShape(), [](int64_t size) { return size != 1; });
    };
    if (withoutUnits(op->getOperand(0)) != withoutUnits(memref))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

/// Describes one operand whose map is `map`, over the loops of `op`.
static LogicalResult addOperand(KernelPlan &plan, SmallVectorImpl<KernelLoop> &loops, OpOperand &opOperand, AffineMap map) {
  auto op = cast<linalg::LinalgOp>(opOperand.getOwner());
  KernelOperand &operand = plan.operands.emplace_back();
  operand.value = opOperand.get();
  operand.isRead = op.payloadUsesValueFromOperand(&opOperand);
  SmallVector<int64_t> steps(loops.size(), 0);
  if (isa<BaseMemRefType>(operand.value.getType())) {
    FailureOr<Buffer> buffer = traceBuffer(operand.value);
    if (failed(buffer))
      return op.emitOpError("expects operand ")
             << opOperand.getOperandNumber() << " to have a static shape and strided layout to become a kernel, but got "
             << operand.value.getType();
    operand.buffer = *buffer;
    operand.address = getAffineConstantExpr(buffer->offset, op.getContext());
    for (auto [expr, stride] : llvm::zip_equal(map.getResults(), buffer->strides))
      operand.address = operand.address + expr * stride;
    operand.isLinear = addLinear(operand.address, 1, steps, operand.start);
  } else if (isa<TensorType>(operand.value.getType())) {
    return op.emitOpError("expects memrefs to become a kernel, but got operand ")
           << opOperand.getOperandNumber() << " of type " << operand.value.getType();
  }
  for (auto [loop, step] : llvm::zip_equal(loops, steps))
    loop.steps.push_back(step);
  return success();
}

/// Describes the epilogue's operands over the loops of the op before it.
static LogicalResult addEpilogue(KernelPlan &plan, SmallVectorImpl<KernelLoop> &loops) {
  linalg::LinalgOp op = plan.op, epilogue = plan.epilogue;
  OpOperand *result = op.getDpsInitOperand(0);
  // The result stays in registers, so its address has no say in which loops are one.
  plan.operands.back().buffer.reset();
  for (KernelLoop &loop : loops)
    loop.steps.back() = 0;
  OpOperand *read =
      *llvm::find_if(epilogue.getDpsInputOperands(), [&](OpOperand *input) { return withoutUnitReshapes(input->get()) == result->get(); });
  AffineMap written = op.getMatchingIndexingMap(result), toResult = epilogue.getMatchingIndexingMap(read);
  // The epilogue's loops over the op's: dims of size 1 aside, its operand has the dims of the result, in order.
  SmallVector<AffineExpr> exprs(epilogue.getNumLoops(), getAffineConstantExpr(0, op.getContext())), results;
  for (auto [expr, size] : llvm::zip_equal(written.getResults(), cast<MemRefType>(result->get().getType()).getShape()))
    if (size != 1)
      results.push_back(expr);
  ArrayRef<AffineExpr> next = results;
  for (auto [expr, size] : llvm::zip_equal(toResult.getResults(), cast<MemRefType>(read->get().getType()).getShape()))
    if (size != 1) {
      exprs[cast<AffineDimExpr>(expr).getPosition()] = next.front();
      next = next.drop_front();
    }
  AffineMap toLoops = AffineMap::get(written.getNumDims(), 0, exprs, op.getContext());
  for (OpOperand &operand : epilogue->getOpOperands())
    if (&operand != read && failed(addOperand(plan, loops, operand, epilogue.getMatchingIndexingMap(&operand).compose(toLoops))))
      return failure();
  plan.firstOutput = plan.operands.size() - 1;
  return success();
}

FailureOr<KernelPlan> planKernel(linalg::LinalgOp op, ArrayRef<Value> inits, const Padding *padding, linalg::LinalgOp epilogue) {
  KernelPlan plan;
  plan.op = op;
  plan.epilogue = epilogue;
  plan.name = epilogue ? describe(op) + "_" + describe(epilogue) : describe(op);
  plan.numInputs = plan.firstOutput = op.getNumDpsInputs();
  plan.inits = llvm::to_vector(inits);
  if (padding)
    plan.padding = padding->value;

  unsigned numLoops = op.getNumLoops();
  SmallVector<KernelLoop> loops(numLoops);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(sizes))
    return op.emitOpError("expects static shapes to become a kernel");
  for (OpOperand &operand : op->getOpOperands())
    if (failed(addOperand(plan, loops, operand, op.getMatchingIndexingMap(&operand))))
      return failure();
  if (epilogue && failed(addEpilogue(plan, loops)))
    return failure();

  for (auto [dim, loop] : llvm::enumerate(loops)) {
    loop.dim = dim;
    loop.inner = loop.size = sizes[dim];
    if (padding) {
      loop.size = padding->sizes[dim];
      loop.low = padding->lows[dim];
    }
    if (op.getIteratorTypesArray()[dim] == utils::IteratorType::parallel)
      plan.parallel.push_back(loop);
    else
      plan.reduction.push_back(loop);
  }
  int64_t output = plan.firstOutput;
  llvm::sort(plan.parallel, [&](const KernelLoop &a, const KernelLoop &b) {
    return std::pair(-a.steps[output], a.dim) < std::pair(-b.steps[output], b.dim);
  });

  // Loops of one iteration need no index, and merged ones no division, unless something asks for the op's own indices.
  bool needsIndices = op.hasIndexSemantics() || llvm::any_of(plan.operands, [](const KernelOperand &operand) { return !operand.isLinear; });
  if (!needsIndices) {
    for (SmallVectorImpl<KernelLoop> *list : {&plan.parallel, &plan.reduction}) {
      llvm::erase_if(*list, [](const KernelLoop &loop) { return loop.size == 1 && !loop.isPadded(); });
      merge(*list);
    }
  }
  if (!plan.reduction.empty() && !padding && !needsIndices)
    shareReduction(plan);
  if (plan.reduction.empty() && !padding && !needsIndices)
    transposeThroughTiles(plan);
  if (!plan.combiner && !plan.tile)
    plan.lanes = chooseLanes(plan);
  return plan;
}

} // namespace convoy::host
