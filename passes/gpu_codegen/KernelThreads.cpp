// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Chooses the work of a thread of a kernel, and the cooperation of threads of a warp or a block.

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/common/ReductionShares.h"
#include "passes/gpu_codegen/KernelMapping.h"
#include "passes/gpu_codegen/WindowRuns.h"

using namespace mlir;

namespace convoy::gpu_codegen {

int64_t KernelMapping::threads() const {
  int64_t count = rows ? rows->sharers : tile ? kBlockThreads : reducers;
  for (auto [i, loop] : llvm::enumerate(parallel)) {
    if (llvm::is_contained(repeated, i))
      continue;
    bool tiled = tile != 0 && (i == tileLoop || i + 1 == parallel.size());
    count *= tiled ? llvm::divideCeil(loop.size, tile) : loop.size;
  }
  return tile ? count : count / lanes;
}

int64_t KernelMapping::iterations(size_t loop, int64_t lanes) const {
  size_t loopsInside = parallel.size() - 1 - loop;
  int64_t ofLast = std::min(lanes, parallel.back().size);
  return loopsInside == 0 ? ofLast : loopsInside == 1 ? lanes / ofLast : 1;
}

int64_t KernelMapping::iterationOf(size_t loop, int64_t lane) const {
  size_t loopsInside = parallel.size() - 1 - loop;
  int64_t ofLast = parallel.back().size;
  return loopsInside == 0 ? lane % ofLast : loopsInside == 1 ? lane / ofLast : 0;
}

int64_t KernelMapping::laneOffset(unsigned operand, int64_t lane) const {
  int64_t offset = 0;
  for (auto [i, loop] : llvm::enumerate(parallel))
    offset += iterationOf(i, lane) * loop.steps[operand];
  return offset;
}

/// Whether `lanes` elements of an operand that are contiguous along the parallel loops from `first`
/// to `last` are aligned.
static bool isVector(const KernelMapping &plan, unsigned first, unsigned last, unsigned operand,
                     int64_t lanes) {
  const KernelOperand &access = plan.operands[operand];
  if (lanes == 1 || !access.buffer || !access.isLinear || !llvm::isPowerOf2_64(lanes))
    return false;
  Type type = access.buffer->type.getElementType();
  if (type.isInteger(1) || plan.parallel[last].steps[operand] != 1 || access.start % lanes != 0)
    return false;
  auto isAligned = [&](const KernelLoop &loop) { return loop.steps[operand] % lanes == 0; };
  ArrayRef<KernelLoop> parallel = plan.parallel;
  return llvm::all_of(parallel.take_front(first), isAligned) &&
         llvm::all_of(parallel.drop_front(last + 1), isAligned) &&
         llvm::all_of(plan.reduction, isAligned) &&
         isRootAligned(*access.buffer, vectorAlignment(type, lanes));
}

bool isVectorAlong(const KernelMapping &plan, unsigned loop, unsigned operand, int64_t lanes) {
  return isVector(plan, loop, loop, operand, lanes);
}

bool isVectorAccess(const KernelMapping &plan, unsigned operand, int64_t lanes) {
  if (plan.parallel.empty())
    return false;
  unsigned last = plan.parallel.size() - 1;
  if (lanes <= plan.parallel[last].size)
    return isVectorAlong(plan, last, operand, lanes);
  return plan.parallel[last - 1].steps[operand] == plan.parallel[last].size &&
         isVector(plan, last - 1, last, operand, lanes);
}

int64_t vectorAlignment(Type elementType, int64_t lanes) {
  return std::min<int64_t>(16, lanes * elementBytes(elementType));
}

/// Whether each thread can have `lanes` elements: of the last loop, or if the iterations of loops
/// `mayMove` to other threads, of all of a short one and of the loop before it.
static bool canHave(const KernelMapping &plan, int64_t lanes, bool mayMove) {
  const KernelLoop &last = plan.parallel.back();
  if (last.size % lanes == 0)
    return true;
  if (!mayMove || !plan.reduction.empty() || plan.parallel.size() == 1 || lanes % last.size != 0)
    return false;
  unsigned before = plan.parallel.size() - 2;
  return !llvm::is_contained(plan.repeated, before) &&
         plan.parallel[before].size % (lanes / last.size) == 0;
}

int64_t widestOutput(const KernelMapping &plan) {
  int64_t widest = 1;
  for (const KernelOperand &output : ArrayRef(plan.operands).drop_front(plan.firstOutput))
    widest = std::max(widest, elementBytes(output.buffer->type.getElementType()));
  return widest;
}

/// Number of neighboring results per thread: up to 16 bytes of a contiguous output, or a whole
/// short innermost dim.
static int64_t chooseLanes(const KernelMapping &plan, bool mayMove) {
  if (plan.parallel.empty() ||
      llvm::any_of(plan.operands, [](const KernelOperand &operand) { return !operand.isLinear; }))
    return 1;
  const KernelLoop &last = plan.parallel.back();
  int64_t end = plan.operands.size();
  for (int64_t output = plan.firstOutput; output < end; ++output)
    if (last.steps[output] != 1)
      return 1;
  constexpr int64_t kShort = 8;
  bool isShort = last.size <= kShort && (last.isPadded() || plan.reduction.empty());
  int64_t least = isShort ? std::max<int64_t>(last.size, 1) : 1;
  if (last.isPadded())
    return least;
  // Use fewer elements per thread if there are too few threads to fill a large GPU, or if the
  // results of a thread would not stay in registers.
  constexpr int64_t kMostResults = 32;
  for (int64_t lanes = std::min(kShort, 16 / widestOutput(plan)); lanes > least; lanes /= 2) {
    bool fits = plan.threads() / lanes >= kEnoughThreads && canHave(plan, lanes, mayMove) &&
                lanes * plan.repeats() <= kMostResults;
    for (int64_t output = plan.firstOutput; fits && output < end; ++output)
      fits = isVectorAccess(plan, output, lanes);
    if (fits)
      return lanes;
  }
  return least;
}

/// Neighboring results of a thread in a column reduction: two of 16-bit elements, so that a warp
/// reads 128 bytes of a row, if that leaves blocks enough for a large GPU. A thread takes as many
/// turns as with one, so estimates by ReductionShares hold.
static int64_t chooseColumnLanes(const KernelMapping &plan, int64_t bytes) {
  constexpr int64_t kLanes = 2, kManyBlocks = 128;
  const KernelLoop &last = plan.parallel.back();
  if (bytes >= 4 || last.size % kLanes != 0 || plan.blocks() < kLanes * kManyBlocks)
    return 1;
  for (int64_t input = 0; input < plan.numInputs; ++input)
    if (last.steps[input] == 1 && !isVectorAccess(plan, input, kLanes))
      return 1;
  return kLanes;
}

/// Sets the ops that combine two partial results, if threads can share the reduction and this is
/// faster.
static void shareReduction(KernelMapping &plan) {
  linalg::LinalgOp op = plan.op;
  int64_t length = 1;
  for (const KernelLoop &loop : plan.reduction)
    length *= loop.size;
  constexpr int64_t kLong = 2 * kWarpThreads, kManyThreads = 1 << 14;
  int64_t results = plan.threads();
  bool contiguous = false;
  for (int64_t input = 0; input < plan.numInputs; ++input)
    contiguous |= plan.reduction.back().steps[input] == 1;
  // Threads that share a row read along it. If threads of neighboring outputs already read along a
  // row, sharing only helps to fill the GPU.
  int64_t bytesAlongOutput = 0;
  for (int64_t input = 0; input < plan.numInputs && !plan.parallel.empty(); ++input)
    if (plan.parallel.back().steps[input] == 1 && plan.operands[input].buffer)
      bytesAlongOutput = elementBytes(plan.operands[input].buffer->type.getElementType());
  bool sharesRows = contiguous && bytesAlongOutput == 0,
       sharesColumns = !sharesRows && bytesAlongOutput != 0;
  if (!sharesRows && !sharesColumns && (results >= kManyThreads || length < kLong))
    return;
  convoy::ReductionShares shares =
      sharesColumns ? convoy::shareAlongColumns(results, length, bytesAlongOutput)
                    : convoy::shareAlongRows(results, length);
  if (shares.reducers == 1)
    return;
  SmallVector<Operation *> found;
  for (int64_t result = 0; result < plan.numResults(); ++result) {
    SmallVector<Operation *> combiners;
    if (!matchReduction(op.getRegionOutputArgs(), result, combiners) || combiners.size() != 1 ||
        !arith::getNeutralElement(combiners.front()))
      return;
    found.push_back(combiners.front());
  }
  plan.combiners = std::move(found);
  plan.columns = shares.columns;
  plan.reducers = shares.reducers;
  if (sharesColumns)
    plan.lanes = chooseColumnLanes(plan, bytesAlongOutput);
}

/// Elements that a thread loads from an input and stores at once, so that a warp accesses 128 bytes
/// of 16-bit elements.
static int64_t chooseTileLanes(const KernelMapping &plan) {
  constexpr int64_t kLanes = 2;
  int64_t narrowest = 4, last = plan.parallel.size() - 1;
  for (int64_t number = 0; number <= int64_t(plan.firstOutput); ++number) {
    bool isOutput = number == plan.firstOutput;
    if (!isOutput && !plan.isTransposed(number))
      continue;
    int64_t loop = isOutput ? last : plan.tileLoop;
    if (plan.parallel[loop].size % kLanes != 0 || !isVectorAlong(plan, loop, number, kLanes))
      return 1;
    narrowest =
        std::min(narrowest, elementBytes(plan.operands[number].buffer->type.getElementType()));
  }
  return narrowest < 4 && plan.tile >= kLanes * kWarpThreads ? kLanes : 1;
}

/// Transposes inputs that are contiguous along another loop than the output through squares in
/// shared memory, so that both the loads and the stores of neighboring threads are contiguous.
static void transposeThroughTiles(KernelMapping &plan) {
  constexpr int64_t kSmall = 32, kLarge = 64;
  if (plan.parallel.size() < 2 || plan.operands.size() - plan.firstOutput != 1 ||
      plan.parallel.back().steps[plan.firstOutput] != 1)
    return;
  const KernelLoop &last = plan.parallel.back();
  for (auto [i, loop] : llvm::enumerate(ArrayRef(plan.parallel).drop_back())) {
    bool crosses = false;
    for (int64_t input = 0; input < plan.numInputs; ++input)
      crosses |= plan.operands[input].buffer && plan.operands[input].isRead &&
                 loop.steps[input] == 1 && last.steps[input] > 1;
    int64_t shorter = std::min(loop.size, last.size);
    if (!crosses || shorter < kSmall / 2)
      continue;
    plan.tileLoop = i;
    plan.tile = shorter < kLarge * 3 / 4 ? kSmall : kLarge;
    plan.lanes = chooseTileLanes(plan);
    return;
  }
}

void spreadOverThreads(KernelMapping &plan, bool mayShare, bool mayMove) {
  if (!plan.reduction.empty() && mayShare)
    shareReduction(plan);
  if (plan.reduction.empty() && mayMove)
    transposeThroughTiles(plan);
  if (plan.reduction.empty() && mayMove && !plan.tile && !plan.epilogue)
    repeatForSharedReads(plan);
  if (plan.combiners.empty() && !plan.tile)
    plan.lanes = chooseLanes(plan, mayMove);
  findRuns(plan);
  repeatForSharedSteps(plan);
  if (plan.repeated.empty())
    repeatForSharedIndices(plan);
}

} // namespace convoy::gpu_codegen
