// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Forms the groups that become cuDNN graphs. A group grows from its anchor by ops whose results are
// used only in the group, so it has one result and, inserted at its last op, never creates a cycle.
// Each candidate is converted to its graph, for which the support table is queried.

#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/common/Groups.h"
#include "passes/common/PoolWindows.h"
#include "passes/fusion/Attention.h"
#include "passes/fusion/GroupGraph.h"
#include "passes/fusion/OpsToCudnn.h"
#include "passes/fusion/StridedView.h"

namespace convoy {
#define GEN_PASS_DEF_TCPFORMGROUPSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// The maximum number of ops in a group. Each candidate is converted as a whole, so without a limit
/// the time would be quadratic in the length of a chain.
constexpr size_t kMaxOps = 32;
/// The maximum number of ops in a region (`nextRegion`).
constexpr size_t kMaxBranches = 8;

/// A group that is being formed. The last op's result is its result.
struct Candidate {
  Operation *anchor;
  SmallVector<Operation *> ops; ///< in the order of the block
  std::string anchorName, pattern;
  bool needsKernel = false; ///< cuDNN has no engine for it

  Value result() const { return ops.back()->getResult(0); }
};

struct FormGroupsPass : public convoy::impl::TcpFormGroupsPassBase<FormGroupsPass> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override;
  void runOnStaticShapes() override;

private:
  /// Adds `ops` if the group with them becomes one graph that the table accepts. Otherwise returns
  /// false and sets the reason.
  bool extend(Candidate &group, ArrayRef<Operation *> ops, std::string &reason);
  void growEpilogue(Candidate &group);
  /// Adds the ops that compute `values`, which the group reads, and transitively their producers,
  /// if only the group uses their results.
  void growProducers(Candidate &group, SmallVector<Value> values);
  void growPrologue(Candidate &group);
  /// Whether a generated kernel that computes `value` can compute `users`, too.
  bool fusesIntoKernel(Value value, ArrayRef<Operation *> users) const;
  void growOperands(Candidate &group);
  bool isFree(Operation *op) const {
    return op->hasTrait<convoy::tcp::Elementwise>() && !grouped.contains(op);
  }
  /// The ops that depend on `value`, up to the next single value on which all later users depend.
  /// Empty if there is no such value.
  SmallVector<Operation *> nextRegion(Value value) const;
  /// Records why `op` is outside, unless there is a reason already.
  void recordOutside(Operation *op, const Twine &reason) { outside.try_emplace(op, reason.str()); }
  void markOutside(Block &block);
  void runOnBlock(Block &block);

  std::optional<SupportTable> table;
  llvm::DenseSet<Operation *> grouped;
  llvm::DenseMap<Operation *, std::string> outside;
};

} // namespace

/// The number of pixels of a pooling's input.
static int64_t pixelsOf(AvgPoolOp pool) {
  return ShapedType::getNumElements(pool.getInput().getType().getShape().slice(
      firstSpatialDim(pool.getChannelsLast()), pool.getKernel().size()));
}

/// The reason why a generated kernel is preferred for an op that cuDNN supports, or an empty
/// string.
static std::string reasonForGeneratedKernel(Operation *anchor) {
  // 256 images of 112x112x64 in f16, 3x3, on an H200: 762 us with the one engine of cuDNN 9.19, 243
  // us with the generated kernel.
  if (isa<MaxPoolOp>(anchor))
    return "max_pool: a generated kernel is faster than cuDNN's";
  if (auto pool = dyn_cast<AvgPoolOp>(anchor);
      pool && ShapedType::getNumElements(pool.getKernel()) <= kLargestPoolWindow &&
      ShapedType::getNumElements(pool.getKernel()) < pixelsOf(pool))
    return "avg_pool: a generated kernel is faster than cuDNN's for small windows";
  return "";
}

LogicalResult FormGroupsPass::initialize(MLIRContext *context) {
  std::string error;
  table = SupportTable::load(supportTable, allowTf32, error);
  return table ? success() : emitError(UnknownLoc::get(context), error);
}

bool FormGroupsPass::extend(Candidate &group, ArrayRef<Operation *> ops, std::string &reason) {
  SmallVector<Operation *> all(group.ops);
  llvm::append_range(all, ops);
  llvm::sort(all, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  if (all.size() > kMaxOps) {
    reason = ("its group already has " + Twine(kMaxOps) + " ops").str();
    return false;
  }
  OpBuilder builder(&getContext());
  std::optional<GroupGraph> made = buildGroupGraph(builder, "candidate", GroupOps::of(all), reason);
  if (!made)
    return false;
  bool needsKernel;
  if (std::optional<std::string> refused = made->form.refuse(*table, needsKernel)) {
    reason = *refused;
    return false;
  }
  group.needsKernel = needsKernel;
  group.ops = std::move(all);
  group.anchorName = made->form.anchorName().str();
  group.pattern = made->form.pattern();
  grouped.insert(ops.begin(), ops.end());
  return true;
}

SmallVector<Operation *> FormGroupsPass::nextRegion(Value value) const {
  SmallVector<Operation *> region;
  SmallVector<Value> live = {value};
  while (region.size() < kMaxBranches) {
    // The first user of a live value in the block.
    Operation *next = nullptr;
    for (Value each : live)
      for (Operation *user : each.getUsers()) {
        if (llvm::is_contained(region, user))
          continue;
        if (user->getBlock() != value.getParentBlock() || !isFree(user))
          return {};
        if (!next || user->isBeforeInBlock(next))
          next = user;
      }
    if (!next)
      return {};
    region.push_back(next);
    live.push_back(next->getResult(0));
    auto isInside = [&](Operation *user) { return llvm::is_contained(region, user); };
    llvm::erase_if(live, [&](Value each) {
      return each != live.back() && llvm::all_of(each.getUsers(), isInside);
    });
    if (live.size() == 1)
      return region;
  }
  return {};
}

void FormGroupsPass::growEpilogue(Candidate &group) {
  while (true) {
    Value value = group.result();
    SmallVector<Operation *> region = nextRegion(value);
    if (region.empty()) {
      if (!value.hasOneUse())
        for (Operation *user : value.getUsers())
          if (isFree(user))
            recordOutside(user, "the result of " + value.getDefiningOp()->getName().stripDialect() +
                                    " has other uses");
      return;
    }
    std::string reason, ignored;
    if (extend(group, region, reason))
      continue;
    // Branches and the op after them may be one function, e.g. v * relu6(v + 3) / 6.
    SmallVector<Operation *> both = region;
    if (region.size() > 1)
      llvm::append_range(both, nextRegion(region.back()->getResult(0)));
    if (both.size() > region.size() && extend(group, both, ignored))
      continue;
    for (Operation *op : region)
      recordOutside(op, reason);
    return;
  }
}

void FormGroupsPass::growProducers(Candidate &group, SmallVector<Value> values) {
  auto isInside = [&](Operation *user) { return llvm::is_contained(group.ops, user); };
  SmallVector<std::pair<Operation *, Candidate>> added; // each op, and the group without it
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || !isFree(op))
      continue;
    if (!llvm::all_of(op->getUsers(), isInside)) {
      recordOutside(op, "its result is not only used by " + group.anchorName);
      continue;
    }
    Candidate before = group;
    std::string reason;
    if (extend(group, op, reason)) {
      added.emplace_back(op, std::move(before));
      llvm::append_range(values, op->getOperands());
      continue;
    }
    recordOutside(op, reason);
    // An op with two tensors, one of which is computed for it alone, by `op` and maybe further ops:
    // one generated kernel for all of them writes one tensor, and the group reads one instead of
    // two.
    llvm::SetVector<Operation *> dependents(op->getUsers().begin(), op->getUsers().end());
    for (size_t i = 0; i < dependents.size(); ++i)
      if (dependents[i] != group.anchor)
        dependents.insert_range(dependents[i]->getUsers());
    auto *reader = llvm::find_if(added, [&](const auto &each) {
      return each.first->getNumOperands() > 1 && dependents.contains(each.first);
    });
    if (reader == added.end())
      continue;
    recordOutside(reader->first, reason);
    for (Operation *each : group.ops)
      if (!llvm::is_contained(reader->second.ops, each))
        grouped.erase(each);
    group = std::move(reader->second);
    return;
  }
}

bool FormGroupsPass::fusesIntoKernel(Value value, ArrayRef<Operation *> users) const {
  auto isUser = [&](Operation *user) { return llvm::is_contained(users, user); };
  if (!llvm::all_of(value.getUsers(), isUser))
    return false;
  Operation *op = value.getDefiningOp();
  while (isa_and_present<ReshapeOp, TransposeOp>(op) && op->getOperand(0).hasOneUse())
    op = op->getOperand(0).getDefiningOp();
  return op && (isFree(op) || isa<LayerNormOp, SoftmaxOp>(op));
}

void FormGroupsPass::growPrologue(Candidate &group) {
  Candidate before = group;
  growProducers(group, {group.anchor->getOperand(0)});
  SmallVector<Operation *> prologue;
  for (Operation *op : group.ops)
    if (!llvm::is_contained(before.ops, op))
      prologue.push_back(op);
  // A prologue saves writing and reading its result. There is nothing to save if a generated kernel
  // writes its operand, and convolutions with a prologue are slower: of 256 channels on 256x256
  // pixels to 128, after a group norm and silu in f16 on an H200, 206 us, which are 187 TFLOP/s.
  int64_t size = cast<RankedTensorType>(group.anchor->getOperand(0).getType()).getNumElements();
  auto isGenerated = [&](Value operand) {
    return cast<RankedTensorType>(operand.getType()).getNumElements() == size &&
           !llvm::is_contained(prologue, operand.getDefiningOp()) &&
           fusesIntoKernel(operand, prologue);
  };
  bool intoKernel = llvm::any_of(
      prologue, [&](Operation *op) { return llvm::any_of(op->getOperands(), isGenerated); });
  // cuDNN's engines for convolutions are slow if such a prologue reads more tensors. With it
  // DenseNet-201, which scales, shifts and clips the inputs of 98 convolutions, takes 3.09 ms for
  // one image in f16 on an H200, and 4.50 for 32; with generated kernels 0.94 and 2.37.
  bool readsMore = isa<ConvOpInterface>(group.anchor) &&
                   llvm::any_of(prologue, [](Operation *op) { return op->getNumOperands() > 1; });
  if (!intoKernel && !readsMore)
    return;
  for (Operation *op : prologue) {
    grouped.erase(op);
    recordOutside(op, intoKernel ? "the kernel before it computes it, too"
                                 : "cuDNN is slow if a convolution scales or shifts its input");
  }
  group = std::move(before);
}

void FormGroupsPass::growOperands(Candidate &group) {
  SmallVector<Value> values;
  for (Operation *op : group.ops)
    if (group.anchor->isBeforeInBlock(op))
      llvm::append_range(values, op->getOperands());
  growProducers(group, std::move(values));
}

void FormGroupsPass::markOutside(Block &block) {
  for (Operation &op : block) {
    if (op.getDialect() != getContext().getLoadedDialect<TcpDialect>() ||
        isa<IsolatedGroupOp, ScanOp, YieldOp>(op))
      continue;
    std::string reason;
    if (auto found = outside.find(&op); found != outside.end())
      reason = found->second;
    else if (op.hasTrait<convoy::tcp::Elementwise>())
      reason = "elementwise, not next to an anchor";
    else if (isa<ReshapeOp>(op))
      reason = "reshape: a view, needs no kernel";
    else
      reason = (op.getName().stripDialect() + ": cuDNN's graphs have no such operation").str();
    op.setAttr(kOutsideAttr, StringAttr::get(&getContext(), reason));
  }
}

/// Erases the views whose copies in groups have replaced them.
static void eraseDeadViews(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isView(&op) && op.use_empty())
      op.erase();
}

void FormGroupsPass::runOnBlock(Block &block) {
  SmallVector<Candidate> groups, attentions;
  for (Operation &op : block) {
    if (!isAnchor(&op))
      continue;
    std::string reason;
    Candidate group{&op, {}, {}, {}};
    if (auto attention = dyn_cast<AttentionOp>(op)) {
      // Its group has views, and no other ops.
      if (extend(group, isolateAttention(attention), reason))
        attentions.push_back(std::move(group));
      else
        recordOutside(&op, reason);
      continue;
    }
    if (extend(group, &op, reason))
      reason = reasonForGeneratedKernel(&op);
    if (reason.empty()) {
      groups.push_back(std::move(group));
      continue;
    }
    grouped.erase(&op);
    recordOutside(&op, reason);
  }
  // The sum of two branches becomes part of the last anchor's group, because the other branch is
  // computed by then. Epilogues are grown before prologues: an op is computed once in an epilogue,
  // but in the prologues of several groups it may be computed in each.
  for (Candidate &group : llvm::reverse(groups))
    growEpilogue(group);
  for (Candidate &group : groups)
    growPrologue(group);
  for (Candidate &group : groups)
    growOperands(group);
  for (const Candidate &group : llvm::concat<Candidate>(groups, attentions))
    if (IsolatedGroupOp made =
            outlineGroup(group.ops, group.anchor->getLoc(), group.anchorName, group.pattern);
        group.needsKernel)
      made->setAttr(kOnlyKernelAttr, UnitAttr::get(&getContext()));
  eraseDeadViews(block);
  markOutside(block);
}

void FormGroupsPass::runOnStaticShapes() {
  func::FuncOp function = getOperation();
  if (function.isExternal() || getTarget(function) == Target::Cpu)
    return;
  grouped.clear();
  outside.clear();
  SmallVector<Block *> blocks = {&function.getBody().front()};
  function.walk([&](ScanOp scan) {
    if (!isa<IsolatedGroupOp>(scan->getParentOp()))
      blocks.push_back(&scan.getBody().front());
  });
  for (Block *block : blocks)
    runOnBlock(*block);
}
