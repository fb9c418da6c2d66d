// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Chooses how threads compute a region of rows.

#include "passes/gpu_codegen/KernelMapping.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace convoy::gpu_codegen {

/// Elements of a row that a thread keeps in registers: at most, with 64 registers per thread, and
/// preferred for a row that a block shares.
constexpr int64_t kMostElements = 52, kPreferredElements = 16;

/// The number of the operand with the memory of `access`, which is added unless it is known.
static unsigned operandOf(KernelMapping &plan, const RowAccess &access) {
  const RowRegion &region = plan.rows->region;
  auto loopOf = [&](unsigned i) -> KernelLoop & {
    return i < plan.parallel.size() ? plan.parallel[i] : plan.reduction[i - plan.parallel.size()];
  };
  for (auto [number, operand] : llvm::enumerate(plan.operands)) {
    bool isSame = operand.buffer->root == access.buffer->root && operand.start == access.start;
    for (unsigned i = 0; isSame && i < region.loops.size(); ++i)
      isSame = loopOf(i).steps[number] == access.steps[i];
    if (isSame)
      return number;
  }
  KernelOperand &operand = plan.operands.emplace_back();
  operand.value = access.operand->get();
  operand.buffer = access.buffer;
  operand.start = access.start;
  operand.isRead = !access.isWritten;
  for (auto [i, step] : llvm::enumerate(access.steps))
    loopOf(i).steps.push_back(step);
  return plan.operands.size() - 1;
}

bool isRowVector(const KernelMapping &plan, unsigned number, int64_t width) {
  const KernelOperand &operand = plan.operands[number];
  Type type = operand.buffer->type.getElementType();
  std::optional<unsigned> unaligned = plan.rows->unaligned;
  int64_t begin = unaligned ? plan.operands[*unaligned].start : 0;
  if (width == 1 || type.isInteger(1) || plan.reduction.back().steps[number] != 1 ||
      (operand.start - begin) % width != 0)
    return false;
  for (ArrayRef<KernelLoop> loops : {ArrayRef(plan.parallel), ArrayRef(plan.reduction).drop_back()})
    for (const KernelLoop &loop : loops)
      if ((loop.steps[number] - (unaligned ? loop.steps[*unaligned] : 0)) % width != 0)
        return false;
  return isRootAligned(*operand.buffer, vectorAlignment(type, width));
}

/// Chooses the elements per access: 16 bytes of the widest memory with elements of rows, if all of
/// it is aligned, or if all of it is aligned after the same elements of long rows.
static void chooseWidth(KernelMapping &plan) {
  RowMapping &rows = *plan.rows;
  SmallVector<unsigned> full;
  bool hasWeights = false;
  int64_t widest = 1;
  for (unsigned number = 0; number < plan.operands.size(); ++number) {
    auto varies = [&](const KernelLoop &loop) { return loop.steps[number] != 0; };
    if (plan.reduction.back().steps[number] == 0)
      continue;
    if (!plan.parallel.empty() && llvm::none_of(plan.parallel, varies)) {
      hasWeights = true;
      continue;
    }
    full.push_back(number);
    widest = std::max(widest, elementBytes(plan.operands[number].buffer->type.getElementType()));
  }
  auto areVectors = [&](int64_t width) {
    return llvm::all_of(full, [&](unsigned number) { return isRowVector(plan, number, width); });
  };
  for (rows.width = 16 / widest; rows.width > 1; rows.width /= 2)
    if (plan.reduction.back().size % rows.width == 0 && areVectors(rows.width))
      break;
  // The groups of a row with running totals have all of its elements, in order. Weights begin at a
  // multiple of the width, so that threads would load single elements of them that are not
  // neighbors: a layer norm of 8192 x 4097 f16 elements takes 58.9 instead of 52.7 us on an H200.
  if (plan.reduction.size() != 1 || full.empty() || rows.region.cumulative() || hasWeights)
    return;
  // The elements outside of whole groups take one more access, so only rows of at least two groups
  // for each thread of a warp, and for a quarter of the accesses. Threads share smaller groups more
  // evenly, so that a row may stay in registers.
  auto isResident = [&](int64_t width) {
    return llvm::divideCeil(rows.region.length() / width, kMostThreads) * width <= kMostElements;
  };
  rows.unaligned = full.front();
  for (int64_t width = 16 / widest; width >= 4 * rows.width; width /= 2)
    if (rows.region.length() >= 2 * kWarpThreads * width && areVectors(width) &&
        (isResident(width) || !isResident(width / 2))) {
      rows.width = width;
      return;
    }
  rows.unaligned.reset();
}

/// Threads compute all rows along a loop if most of what they read is the same for these rows, if
/// it stays in registers, and if there are enough threads. Unaligned rows that read the same begin
/// at the same place between groups.
static void repeatRowsForSharedReads(KernelMapping &plan) {
  constexpr int64_t kMostRegisters = 64;
  const RowMapping &rows = *plan.rows;
  int64_t groups = rows.groups(),
          sharers = std::min<int64_t>(kWarpThreads, llvm::PowerOf2Ceil(groups)),
          elements = rows.elementsOf(sharers);
  if (rows.region.length() > kWarpRow || rows.region.isAcross)
    return;
  for (auto [i, loop] : llvm::enumerate(plan.parallel)) {
    int64_t bytes = 0;
    for (int64_t input = 0; input < plan.numInputs; ++input)
      if (loop.steps[input] == 0 && plan.reduction.back().steps[input] != 0)
        bytes += elements * elementBytes(plan.operands[input].buffer->type.getElementType());
    if (readsSame(plan, plan.reduction.back(), loop) && bytes <= 4 * kMostRegisters &&
        rows.region.rows() / loop.size * sharers >= kEnoughThreads) {
      plan.repeated = {unsigned(i)};
      return;
    }
  }
}

/// Threads that share a row. With more than half of a block's most threads, only one block would
/// run at a time on a multiprocessor, which waits for memory while it reduces.
static int64_t threadsOfRow(const RowMapping &rows) {
  int64_t elements = kPreferredElements;
  auto threads = [&] {
    int64_t groups = std::max<int64_t>(1, elements / rows.width);
    return int64_t(llvm::alignTo(llvm::divideCeil(rows.groups(), groups), kWarpThreads));
  };
  int64_t ofBlock = threads() * rows.columns;
  if (ofBlock > kMostThreads / 2 && ofBlock <= kMostThreads)
    elements *= 2;
  return threads();
}

static void shareRows(KernelMapping &plan) {
  RowMapping &rows = *plan.rows;
  // Two blocks of several rows run at a time on a multiprocessor.
  int64_t most = rows.columns == 1 ? kMostThreads : kMostThreads / 2 / rows.columns;
  int64_t groups = rows.groups(), count = rows.region.rows() / plan.repeats();
  if (rows.region.length() <= kWarpRow)
    rows.sharers = std::min<int64_t>(kWarpThreads, llvm::PowerOf2Ceil(groups));
  else
    rows.sharers = threadsOfRow(rows);
  while (rows.sharers >= kWarpThreads && rows.sharers < groups &&
         count * rows.sharers < kEnoughThreads)
    rows.sharers *= 2;
  rows.sharers =
      std::min({rows.sharers, most,
                int64_t(llvm::alignTo(groups, rows.sharers < kWarpThreads ? 1 : kWarpThreads))});
  if (rows.sharers < kWarpThreads)
    rows.sharers = llvm::PowerOf2Ceil(rows.sharers);
  // Threads that are a multiple of the inner loop keep its index, and what varies only with it.
  if (int64_t inner = plan.reduction.back().size / rows.width; plan.reduction.size() == 2) {
    int64_t unit = std::lcm(inner, kWarpThreads);
    if (rows.sharers > kWarpThreads && unit <= most)
      rows.sharers =
          std::min<int64_t>(llvm::alignTo(rows.sharers, unit), llvm::alignDown(most, unit));
    rows.outerStep = rows.sharers % inner == 0 ? rows.sharers / inner : 0;
  }
  rows.isResident = rows.elementsOf(rows.sharers) <= kMostElements;
}

/// Shares rows whose elements are contiguous with those of neighboring rows only: a warp reads
/// across rows.
static void shareAcross(RowMapping &rows) {
  static_assert(kLongAcross <= kWarpThreads * kMostElements);
  rows.sharers = std::min<int64_t>(
      kMostThreads / kWarpThreads,
      llvm::PowerOf2Ceil(llvm::divideCeil(rows.region.length(), kPreferredElements)));
  // A block of one warp is too small.
  rows.columns = rows.sharers == 1 ? 1 : kWarpThreads;
}

/// The number of neighboring rows of a block whose elements make two sectors of memory together, if
/// those of a row do not, e.g. the few channels of a group in channels-last order. One if there
/// would be too few blocks.
static int64_t chooseColumns(const KernelMapping &plan) {
  constexpr int64_t kBytes = 64, kMostColumns = 8, kManyBlocks = 256;
  if (plan.reduction.size() < 2 || plan.parallel.empty() || !plan.repeated.empty())
    return 1;
  const KernelLoop &next = plan.parallel.back(), &run = plan.reduction.back();
  int64_t bytes = kBytes;
  for (auto [number, operand] : llvm::enumerate(plan.operands)) {
    if (run.steps[number] == 0 || next.steps[number] == 0)
      continue;
    if (run.steps[number] != 1 || next.steps[number] != run.size)
      return 1;
    bytes = std::min(bytes, run.size * elementBytes(operand.buffer->type.getElementType()));
  }
  int64_t columns = 1;
  while (columns < kMostColumns && columns * bytes < kBytes && next.size % (2 * columns) == 0 &&
         plan.rows->region.rows() >= 2 * columns * kManyBlocks)
    columns *= 2;
  return columns;
}

/// Chooses the threads of a block.
static void placeRows(KernelMapping &plan) {
  RowMapping &rows = *plan.rows;
  if (rows.region.isInOrder) {
    rows.width = rows.sharers = 1;
    rows.isResident = rows.region.length() <= kMostElements;
    return;
  }
  if (rows.region.isAcross)
    return shareAcross(rows);
  for (rows.columns = chooseColumns(plan);; rows.columns /= 2) {
    shareRows(plan);
    if (rows.columns != 1 && packColumns(plan))
      return;
    if (rows.columns == 1 || (rows.isResident && rows.sharers * rows.columns >= kWarpThreads))
      break;
  }
  packRow(plan);
}

KernelMapping chooseRowMapping(const RowRegion &region) {
  KernelMapping plan;
  plan.op = region.ops.back().op;
  plan.rows.emplace();
  plan.rows->region = region;
  for (const RowLoop &loop : region.loops) {
    KernelLoop &added = (loop.isReduced ? plan.reduction : plan.parallel).emplace_back();
    added.size = added.inner = loop.size;
  }
  for (const RowOp &each : region.ops) {
    auto &inputs = plan.rows->inputs.emplace_back();
    for (const RowAccess &input : each.inputs)
      inputs.push_back(input.buffer && !input.source ? std::optional(operandOf(plan, input))
                                                     : std::nullopt);
  }
  plan.numInputs = plan.firstOutput = plan.operands.size();
  for (const RowOp &each : region.ops)
    plan.rows->outputs.push_back(each.isStored ? std::optional(operandOf(plan, each.output))
                                               : std::nullopt);
  chooseWidth(plan);
  repeatRowsForSharedReads(plan);
  placeRows(plan);
  SmallVector<std::string> names = {"rows"};
  for (const RowOp &each : region.ops)
    if (each.kind != RowKind::Row && !llvm::is_contained(names, describe(each.op)))
      names.push_back(describe(each.op));
  constexpr size_t kMostNames = 4;
  names.resize(std::min(names.size(), kMostNames));
  plan.name = llvm::join(names, "_");
  return plan;
}

} // namespace convoy::gpu_codegen
