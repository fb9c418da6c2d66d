// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/RowRegion.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/common/Cumulative.h"

using namespace mlir;

namespace convoy {

/// Whether only `ops` use the memory at `root`.
static bool isTemporary(Value root, ArrayRef<Operation *> ops) {
  if (!root.getDefiningOp<memref::AllocOp>())
    return false;
  SmallVector<Value> views = {root};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user) && user->getNumResults() == 1)
        views.push_back(user->getResult(0));
      else if (!llvm::is_contained(ops, user))
        return false;
    }
  return true;
}

/// Sets how a reduction combines partial results. Fails if threads cannot share it.
static LogicalResult describeReduction(RowOp &each) {
  SmallVector<Operation *> combiners;
  linalg::LinalgOp op = each.op;
  if ((each.combiner = cumulativeCombiner(op)))
    return success(arith::getNeutralElement(each.combiner).has_value());
  if (!matchReduction(op.getRegionOutputArgs(), 0, combiners) || combiners.size() != 1 ||
      combiners.front()->getResult(0).getType() != getElementTypeOrSelf(op.getDpsInits()[0]) ||
      !arith::getNeutralElement(combiners.front()))
    return failure();
  each.combiner = combiners.front();
  return success();
}

/// Whether a reduction has an input with an element for each of its iterations. A matrix product,
/// which reads its operands repeatedly, has none.
static bool readsRows(const RowOp &each) {
  return each.kind != RowKind::Reduction || llvm::any_of(each.inputs, [](const RowAccess &input) {
           return input.buffer && !llvm::is_contained(input.steps, 0);
         });
}

/// Whether a row that an op computes of other rows is longer than those that one thread computes
/// several of: each of the other rows would be read for each result.
static bool sumsLongRows(const RowRegion &region) {
  return region.length() > kWarpRow && llvm::any_of(region.ops, [](const RowOp &each) {
           return each.kind == RowKind::Full &&
                  llvm::any_of(each.inputs, [](const RowAccess &input) {
                    return input.isShifted() &&
                           llvm::any_of(input.steps, [](int64_t step) { return step != 0; });
                  });
         });
}

/// Sets the sources of all reads. Every access to memory that the region writes must be to the
/// elements at which it is written, and after that, so that values of one row depend on no other
/// row.
static LogicalResult connect(RowRegion &region) {
  for (auto [number, writer] : llvm::enumerate(region.ops)) {
    const RowAccess &written = writer.output;
    for (auto [other, each] : llvm::enumerate(region.ops)) {
      if (other != number && each.output.range.overlaps(written.range))
        return failure();
      for (RowAccess &read : each.inputs) {
        if (!read.buffer || !read.range.overlaps(written.range))
          continue;
        if (other <= number || !beginAtSameElement(read, written) || read.steps != written.steps)
          return failure();
        read.source = number;
      }
    }
  }
  return success();
}

/// The accesses to memory outside of the region.
static SmallVector<RowAccess *> memoryAccesses(RowRegion &region) {
  SmallVector<RowAccess *> found;
  for (RowOp &each : region.ops) {
    for (RowAccess &input : each.inputs)
      if (input.buffer && !input.source)
        found.push_back(&input);
    if (each.isStored)
      found.push_back(&each.output);
  }
  return found;
}

/// Orders and merges the loops, so that memory with elements of rows is contiguous along the last
/// one, or else along the last one over rows, if there is such an order.
static void orderLoops(RowRegion &region) {
  SmallVector<RowAccess *> accesses = memoryAccesses(region), full;
  for (RowAccess *access : accesses) {
    bool variesInside = false, variesOutside = region.rows() == 1;
    for (auto [loop, step] : llvm::zip_equal(region.loops, access->steps))
      (loop.isReduced ? variesInside : variesOutside) |= step != 0;
    if (variesInside && variesOutside)
      full.push_back(access);
  }
  auto reorder = [&](ArrayRef<unsigned> order) {
    auto permute = [&](auto &values) {
      auto old = values;
      for (auto [to, from] : llvm::enumerate(order))
        values[to] = old[from];
    };
    permute(region.loops);
    for (RowAccess *access : accesses)
      permute(access->steps);
  };
  auto isContiguous = [](const RowAccess *access) { return access->steps.back() <= 1; };
  for (const RowAccess *reference : full) {
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, region.loops.size()));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::tuple(region.loops[a].isReduced, -reference->steps[a], a) <
             std::tuple(region.loops[b].isReduced, -reference->steps[b], b);
    });
    reorder(order);
    region.isContiguous = llvm::all_of(full, isContiguous);
    if (region.isContiguous)
      break;
  }
  for (unsigned i = region.loops.size(); i-- > 1;) {
    RowLoop &outer = region.loops[i - 1], &inner = region.loops[i];
    if (outer.isReduced != inner.isReduced || !llvm::all_of(accesses, [&](const RowAccess *access) {
          return access->steps[i - 1] == access->steps[i] * inner.size;
        }))
      continue;
    outer.size *= inner.size;
    region.loops.erase(&inner);
    for (RowAccess *access : accesses)
      access->steps.erase(access->steps.begin() + i - 1);
  }
  int64_t last = llvm::count_if(region.loops, [](const RowLoop &loop) { return !loop.isReduced; });
  region.isAcross =
      !region.isContiguous && last != 0 && region.rows() >= kManyRows &&
      region.length() <= kLongAcross &&
      llvm::all_of(full, [&](const RowAccess *access) { return access->steps[last - 1] == 1; });
}

std::optional<unsigned> RowRegion::cumulative() const {
  for (auto [number, op] : llvm::enumerate(ops))
    if (op.kind == RowKind::Cumulative)
      return number;
  return std::nullopt;
}

std::optional<RowRegion> RowRegion::analyze(ArrayRef<Operation *> ops) {
  RowLoops loops;
  RowRegion region;
  llvm::DenseMap<Value, Value> fills;
  std::optional<unsigned> first;
  for (Operation *op : ops) {
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      if (!isConstant(fill.getInputs()[0]) ||
          !fills.try_emplace(fill.getOutputs()[0], fill.getInputs()[0]).second)
        return std::nullopt;
      continue;
    }
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || failed(loops.add(linalgOp)))
      return std::nullopt;
    RowOp &each = region.ops.emplace_back();
    each.op = linalgOp;
    if (linalgOp.getNumReductionLoops() != 0) {
      auto fill = fills.find(linalgOp.getDpsInits().back());
      if (fill == fills.end() || failed(describeReduction(each)))
        return std::nullopt;
      each.init = fill->second;
      fills.erase(fill);
      first = first.value_or(region.ops.size() - 1);
      region.isInOrder |= linalgOp->hasAttr(kInOrderAttr);
    } else if (linalgOp.payloadUsesValueFromOperand(linalgOp.getDpsInitOperand(0))) {
      return std::nullopt;
    }
  }
  if (!first || !fills.empty() || failed(loops.place(*first)))
    return std::nullopt;
  region.loops = llvm::to_vector(loops.loops());
  for (auto [each, member] : llvm::zip_equal(region.ops, loops.members())) {
    each.kind = *loops.kind(member);
    for (const RowAccess &access : member.accesses) {
      // The last total of each row is in registers.
      if (access.isWritten && access.operand->get() != each.op.getDpsInits()[0]) {
        if (!isTemporary(access.buffer->root, ops))
          return std::nullopt;
        continue;
      }
      RowAccess mapped = access;
      mapped.steps = loops.steps(member, access);
      if (access.isWritten)
        each.output = mapped;
      else
        each.inputs.push_back(mapped);
    }
    each.isStored = !isTemporary(each.output.buffer->root, ops);
  }
  // The order of the elements is that of one loop.
  auto isReduced = [](const RowLoop &loop) { return loop.isReduced; };
  auto combines = [](const RowOp &each) { return each.combiner != nullptr; };
  if (region.cumulative() &&
      (llvm::count_if(region.ops, combines) != 1 || llvm::count_if(region.loops, isReduced) != 1))
    return std::nullopt;
  if (region.length() == 1 || !llvm::all_of(region.ops, readsRows) || sumsLongRows(region) ||
      failed(connect(region)))
    return std::nullopt;
  orderLoops(region);
  return region;
}

std::optional<RowRegion> RowRegion::match(scf::ExecuteRegionOp region) {
  if (region.getNumResults() != 0 || !region.getRegion().hasOneBlock())
    return std::nullopt;
  SmallVector<Operation *> ops;
  for (Operation &op : region.getRegion().front().without_terminator())
    if (!isa<memref::AllocOp, ViewLikeOpInterface>(op))
      ops.push_back(&op);
  return analyze(ops);
}

} // namespace convoy
