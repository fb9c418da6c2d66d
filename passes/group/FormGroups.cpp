// Forms the groups that become cuDNN graphs. A group has one result and every value inside it has
// one use, so nothing outside can lie between two of its ops: put where its last op was, a group
// never closes a cycle.

#include "passes/Passes.h"
#include "passes/common/Groups.h"
#include "llvm/ADT/MapVector.h"

namespace convoy {
#define GEN_PASS_DEF_TCPFORMGROUPSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct FormGroupsPass : public convoy::impl::TcpFormGroupsPassBase<FormGroupsPass> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override;
  void runOnOperation() override;

private:
  void growEpilogue(GroupForm &form);
  void growPrologue(GroupForm &form);
  /// Notes why `op` stays outside; the first reason stays.
  void leave(Operation *op, const Twine &reason) { outside.try_emplace(op, reason.str()); }
  void outline(const GroupForm &form);
  void markOutside(Block &block);

  std::optional<SupportTable> table;
  llvm::DenseSet<Operation *> taken;
  llvm::DenseMap<Operation *, std::string> outside;
};

} // namespace

/// Why an op that cuDNN takes is better off as a generated kernel; empty when it is not.
static std::string whyGenerated(const Anchor &anchor) {
  // 256 images of 112x112x64 in f16, 3x3, on an H200: 762 us by the one engine of cuDNN 9.19, 243
  // us generated.
  return anchor.name == "max_pool" ? "max_pool: a generated kernel is faster than cuDNN's" : "";
}

LogicalResult FormGroupsPass::initialize(MLIRContext *context) {
  std::string error;
  table = SupportTable::load(supportTable, allowTf32, error);
  return table ? success() : emitError(UnknownLoc::get(context), error);
}

void FormGroupsPass::growEpilogue(GroupForm &form) {
  Value running = form.anchor.op->getResult(0);
  while (true) {
    if (!running.hasOneUse()) {
      for (Operation *user : running.getUsers())
        if (user->hasTrait<convoy::tcp::Elementwise>())
          leave(user, "the result of " + running.getDefiningOp()->getName().stripDialect() +
                          " before it has other uses");
      return;
    }
    Operation *user = *running.user_begin();
    if (taken.contains(user) || !user->hasTrait<convoy::tcp::Elementwise>())
      return;
    std::string reason;
    std::optional<Step> step = matchEpilogue(form.anchor, user, running, reason);
    if (step)
      reason = table->refuse(form.anchor.query(step->role, form.epilogueRoles())).value_or("");
    // A cast ends a group: what follows would read another type.
    if (reason.empty() && !form.epilogue.empty() && form.epilogue.back().role == "cast")
      reason = "after a change of type";
    if (!reason.empty())
      return leave(user, reason);
    form.epilogue.push_back(*step);
    taken.insert(user);
    running = user->getResult(0);
  }
}

void FormGroupsPass::growPrologue(GroupForm &form) {
  Operation *op = form.anchor.op->getOperand(0).getDefiningOp();
  for (; op && !taken.contains(op) && op->hasTrait<convoy::tcp::Elementwise>();
       op = op->getOperand(0).getDefiningOp()) {
    if (!op->hasOneUse())
      return leave(op, "its result has other uses than " + form.anchor.name);
    std::string reason;
    std::optional<Step> step = matchPrologue(form.anchor, op, reason);
    if (step)
      reason = table->refuse(form.anchor.query(step->role)).value_or("");
    if (!reason.empty())
      return leave(op, reason);
    form.prologue.insert(form.prologue.begin(), *step);
    taken.insert(op);
  }
}

void FormGroupsPass::outline(const GroupForm &form) {
  SmallVector<Operation *> ops =
      llvm::map_to_vector(form.prologue, [](const Step &step) { return step.op; });
  ops.push_back(form.anchor.op);
  llvm::append_range(ops, llvm::map_range(form.epilogue, [](const Step &step) { return step.op; }));
  outlineGroup(ops, form.anchor.op->getLoc(), form.anchor.name, form.pattern());
}

void FormGroupsPass::markOutside(Block &block) {
  for (Operation &op : block) {
    if (op.getDialect() != getContext().getLoadedDialect<TcpDialect>() || isa<IsolatedGroupOp>(op))
      continue;
    std::string reason;
    if (auto found = outside.find(&op); found != outside.end())
      reason = found->second;
    else if (op.hasTrait<convoy::tcp::Elementwise>())
      reason = "elementwise, with no anchor beside it";
    else if (isa<ReshapeOp>(op))
      reason = "reshape: a view, which costs nothing";
    else
      reason = (op.getName().stripDialect() + ": not an operation of cuDNN's graphs").str();
    op.setAttr(kOutsideAttr, StringAttr::get(&getContext(), reason));
  }
}

void FormGroupsPass::runOnOperation() {
  func::FuncOp function = getOperation();
  auto target = function->getAttrOfType<StringAttr>(kTargetAttr);
  if (function.isExternal() || (target && target.getValue() == "cpu"))
    return;
  taken.clear();
  outside.clear();
  Block &block = function.getBody().front();

  SmallVector<GroupForm> forms;
  for (Operation &op : block) {
    std::string reason;
    std::optional<Anchor> anchor = matchAnchor(&op, reason);
    if (anchor)
      reason = table->refuse(anchor->query("anchor")).value_or(whyGenerated(*anchor));
    if (!reason.empty())
      leave(&op, reason);
    if (!anchor || !reason.empty())
      continue;
    GroupForm form;
    form.anchor = *anchor;
    forms.push_back(std::move(form));
    taken.insert(&op);
  }
  // The sum of two branches goes to the anchor that comes last: the other one has been computed by
  // then. Epilogues come before prologues: what one op ends is cheaper to it than to the many that
  // may begin with it.
  for (GroupForm &form : llvm::reverse(forms))
    growEpilogue(form);
  for (GroupForm &form : forms)
    growPrologue(form);
  for (const GroupForm &form : forms)
    outline(form);
  markOutside(block);
}
