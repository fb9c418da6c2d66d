// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/gpu_codegen/WindowRuns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <numeric>
#include <set>

using namespace mlir;

namespace convoy::gpu_codegen {

/// Copies of the payload in a thread at most, so that the code stays short.
static constexpr int64_t kMostCopies = 128;
/// Bytes from the run of a thread to that of the next one at most. Loads of a warp are apart by as
/// much, and the cache must keep the lines until the last of them.
static constexpr int64_t kMostBytes = 64;

namespace {

/// An index of a load: a linear expression of the loops, clamped to [low, high).
struct Index {
  SmallVector<int64_t> steps;
  int64_t start = 0, low, high;
};

} // namespace

/// `index` as an expression of the loops of its op, or null.
static AffineExpr toAffine(Value index) {
  MLIRContext *context = index.getContext();
  IntegerAttr number;
  if (matchPattern(index, m_Constant(&number)))
    return getAffineConstantExpr(number.getInt(), context);
  Operation *from = index.getDefiningOp();
  if (!from)
    return {};
  if (auto loop = dyn_cast<linalg::IndexOp>(from))
    return getAffineDimExpr(loop.getDim(), context);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(from))
    return {};
  AffineExpr a = toAffine(from->getOperand(0)), b = toAffine(from->getOperand(1));
  if (!a || !b)
    return {};
  if (isa<arith::AddIOp>(from))
    return a + b;
  if (isa<arith::SubIOp>(from))
    return a - b;
  return isa<AffineConstantExpr>(a) || isa<AffineConstantExpr>(b) ? a * b : AffineExpr();
}

/// Describes an index of a load from a dim of `size` elements.
static std::optional<Index> describeIndex(Value value, int64_t size, unsigned loops) {
  Index index{SmallVector<int64_t>(loops, 0), 0, 0, size};
  IntegerAttr bound;
  for (Operation *from = value.getDefiningOp();
       isa_and_present<arith::MaxSIOp, arith::MinSIOp>(from) &&
       matchPattern(from->getOperand(1), m_Constant(&bound));
       from = value.getDefiningOp()) {
    if (isa<arith::MaxSIOp>(from))
      index.low = std::max(index.low, bound.getInt());
    else
      index.high = std::min(index.high, bound.getInt() + 1);
    value = from->getOperand(0);
  }
  AffineExpr expr = toAffine(value);
  if (!expr || !addLinear(expr, 1, index.steps, index.start))
    return std::nullopt;
  return index;
}

/// The widest groups of two or more of the `needed` offsets that can be loaded at once, if all
/// offsets of a group that begins at a multiple of its width are `allowed`.
static SmallVector<RunLoad::Group>
groupOffsets(const std::set<int64_t> &needed, int64_t width,
             llvm::function_ref<bool(int64_t begin, int64_t width)> allowed) {
  SmallVector<RunLoad::Group> groups;
  std::set<int64_t> left = needed;
  for (; width > 1; width /= 2) {
    auto has = [&](int64_t begin, int64_t end) {
      auto first = left.lower_bound(begin);
      return first != left.end() && *first < end;
    };
    for (int64_t offset : needed) {
      int64_t begin = llvm::divideFloorSigned(offset, width) * width, half = begin + width / 2;
      // What is in one half is a narrower load.
      if (!has(begin, half) || !has(half, begin + width) || !allowed(begin, width))
        continue;
      groups.push_back({begin, width});
      left.erase(left.lower_bound(begin), left.lower_bound(begin + width));
    }
  }
  return groups;
}

/// The run of `load`, with the lanes and unrolled loops of `plan`, or nullopt.
static std::optional<RunLoad> matchRun(const KernelMapping &plan, memref::LoadOp load) {
  FailureOr<Buffer> buffer = traceBuffer(load.getMemRef());
  linalg::LinalgOp op = plan.op;
  if (op->isAncestor(load.getMemRef().getParentRegion()->getParentOp()) || failed(buffer) ||
      buffer->strides.empty() || buffer->strides.back() != 1 ||
      buffer->type.getElementType().isInteger(1))
    return std::nullopt;
  const KernelLoop &last = plan.parallel.back();
  unsigned loops = op.getNumLoops();
  ArrayRef<KernelLoop> unrolled = ArrayRef(plan.reduction).take_back(plan.unrolled),
                       rolled = ArrayRef(plan.reduction).drop_back(plan.unrolled);
  RunLoad run;
  run.load = load;
  run.rows.assign(unrolled.size(), false);
  Type type = buffer->type.getElementType();
  int64_t multiple = buffer->offset;
  for (auto [value, size, stride] :
       llvm::zip_equal(load.getIndices().drop_back(), buffer->type.getShape().drop_back(),
                       ArrayRef(buffer->strides).drop_back())) {
    std::optional<Index> row = describeIndex(value, size, loops);
    if (!row || row->steps[last.dim] != 0)
      return std::nullopt;
    for (auto [i, loop] : llvm::enumerate(unrolled))
      run.rows[i] = run.rows[i] || row->steps[loop.dim] != 0;
    if (size != 1)
      multiple = std::gcd(multiple, stride);
  }
  std::optional<Index> inner =
      describeIndex(load.getIndices().back(), buffer->type.getShape().back(), loops);
  if (!inner)
    return std::nullopt;
  // The first element of a run, from `start`, is a multiple of `multiple` in [least, most].
  int64_t least = 0, most = 0;
  run.steps.assign(loops, 0);
  auto addLoop = [&](const KernelLoop &loop, int64_t together) {
    int64_t step = inner->steps[loop.dim] * loop.dimStep, range = step * (loop.size - together);
    run.steps[loop.dim] = inner->steps[loop.dim];
    (range < 0 ? least : most) += range;
    if (range != 0)
      multiple = std::gcd(multiple, step * together);
  };
  for (const KernelLoop &loop : plan.parallel)
    addLoop(loop, &loop == &last ? plan.lanes : 1);
  for (const KernelLoop &loop : rolled)
    addLoop(loop, 1);
  run.start = inner->start;
  run.laneStep = inner->steps[last.dim];
  for (auto [i, loop] : llvm::enumerate(unrolled)) {
    run.turnSteps.push_back(inner->steps[loop.dim]);
    // The offsets of a run are the same in all rows.
    if (run.rows[i] && run.turnSteps[i] != 0)
      return std::nullopt;
  }
  // Windows that do not slide along rows, as of channels-last images, are vectors as they are.
  if (llvm::all_of(run.turnSteps, [](int64_t step) { return step == 0; }))
    return std::nullopt;
  std::set<int64_t> needed;
  int64_t uses = 0;
  for (const SmallVector<int64_t> &turn : plan.turns())
    for (int64_t lane = 0; lane < plan.lanes; ++lane, ++uses)
      needed.insert(run.offset(lane, turn));
  constexpr int64_t kWidest = 16;
  int64_t width = std::max<int64_t>(1, kWidest / elementBytes(type));
  while (width > 1 &&
         (multiple % width != 0 || !isRootAligned(*buffer, vectorAlignment(type, width))))
    width /= 2;
  run.groups = groupOffsets(needed, width, [&](int64_t begin, int64_t size) {
    return least + begin >= inner->low && most + begin + size <= inner->high;
  });
  for (auto [i, loop] : llvm::enumerate(unrolled))
    if (run.rows[i])
      uses /= loop.size;
  run.isShared = int64_t(needed.size()) < uses;
  return run.isShared || !run.groups.empty() ? std::optional(run) : std::nullopt;
}

SmallVector<SmallVector<int64_t>> KernelMapping::turns() const {
  SmallVector<SmallVector<int64_t>> turns = {{}};
  for (const KernelLoop &loop : ArrayRef(reduction).take_back(unrolled)) {
    SmallVector<SmallVector<int64_t>> longer;
    for (const SmallVector<int64_t> &turn : turns)
      for (int64_t i = 0; i < loop.size; ++i) {
        longer.push_back(turn);
        longer.back().push_back(i);
      }
    turns = std::move(longer);
  }
  return turns;
}

int64_t RunLoad::offset(int64_t lane, ArrayRef<int64_t> turn) const {
  int64_t sum = start + laneStep * lane;
  for (auto [step, i] : llvm::zip_equal(turnSteps, turn))
    sum += step * i;
  return sum;
}

/// Unrolls as many of the innermost loops as have few iterations, at least one.
static bool unroll(KernelMapping &plan) {
  int64_t copies = plan.lanes;
  plan.unrolled = 0;
  for (const KernelLoop &loop : llvm::reverse(plan.reduction)) {
    copies *= loop.size;
    if (copies > kMostCopies)
      break;
    ++plan.unrolled;
  }
  return plan.unrolled != 0;
}

static SmallVector<RunLoad, 0> runsOf(KernelMapping &plan) {
  SmallVector<RunLoad, 0> runs;
  linalg::LinalgOp op = plan.op;
  if (unroll(plan))
    for (auto load : op.getBlock()->getOps<memref::LoadOp>())
      if (std::optional<RunLoad> run = matchRun(plan, load))
        runs.push_back(std::move(*run));
  if (runs.empty())
    plan.unrolled = 0;
  return runs;
}

void findRuns(KernelMapping &plan) {
  // With other forms of kernels, lanes are no neighbors of one loop, or loops are shared.
  if (plan.reduction.empty() || plan.parallel.empty() || plan.padding || !plan.repeated.empty() ||
      !plan.combiners.empty() || plan.tile || plan.lanes > plan.parallel.back().size)
    return;
  int64_t lanes = plan.lanes;
  for (; plan.lanes >= 1; plan.lanes /= 2) {
    plan.runs = runsOf(plan);
    bool isClose = llvm::all_of(plan.runs, [&](const RunLoad &run) {
      int64_t bytes = elementBytes(getElementTypeOrSelf(run.load->getResult(0)));
      return std::abs(run.laneStep) * plan.lanes * bytes <= kMostBytes;
    });
    if ((!plan.runs.empty() && isClose) || plan.lanes % 2 != 0)
      break;
  }
  if (plan.runs.empty())
    plan.lanes = lanes;
}

} // namespace convoy::gpu_codegen
