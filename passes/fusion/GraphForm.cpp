// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/fusion/GraphForm.h"
#include "passes/fusion/HardSwish.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

bool GraphForm::isLinear() const {
  auto conv = dyn_cast_if_present<ConvolutionOp>(anchor);
  return conv ? conv.getMode() == ConvolutionMode::Fprop : isa_and_present<MatmulOp>(anchor);
}

SmallVector<GraphStep> GraphForm::at(Position position) const {
  SmallVector<GraphStep> chosen;
  for (const GraphStep &step : steps) {
    Operation *op = step.op;
    // A step without a role has the position of its neighbors.
    Position here = step.role                               ? step.role->position
                    : anchor && op->isBeforeInBlock(anchor) ? Position::Prologue
                                                            : Position::Epilogue;
    if (here == position)
      chosen.push_back(step);
  }
  return chosen;
}

StringRef GraphForm::anchorName() const {
  return attention ? "attention" : stringifyAnchor(query.anchor);
}

std::string GraphForm::pattern() const {
  SmallVector<std::string> before, after;
  if (attention) {
    before.push_back(anchorName().str());
    if (attention->softcap)
      after.push_back("softcap");
    if (attention->mask)
      after.push_back("mask");
    if (attention->causal)
      after.push_back("causal");
    if (attention->window)
      after.push_back("window");
  }
  for (const GraphStep &step : steps) {
    if (!step.role)
      continue;
    Role role = *step.role;
    if (role.position != Position::Prologue) {
      after.push_back(role.name());
      continue;
    }
    role.position = Position::Epilogue; // the place in the pattern implies the position
    before.push_back(role.name());
  }
  if (anchor)
    before.push_back(stringifyAnchor(query.anchor).str());
  llvm::append_range(before, after);
  return llvm::join(before, "+");
}

/// If a hard swish begins with `first`, removes the steps of its other operations from `left`.
/// Returns the roles of all of them, otherwise none.
static SmallVector<Role> takeHardSwish(const GraphStep &first, ArrayRef<GraphStep> &left) {
  SmallVector<PointwiseOp, 4> ops = matchHardSwish(first.op);
  SmallVector<Role> roles = {*first.role};
  for (auto [op, step] : llvm::zip(llvm::drop_begin(ops), left))
    if (step.op == op && step.role)
      roles.push_back(*step.role);
  if (ops.empty() || roles.size() != ops.size())
    return {};
  left = left.drop_front(ops.size() - 1);
  return roles;
}

std::optional<std::string> GraphForm::refuse(const SupportTable &table, bool &needsKernel) const {
  needsKernel = false;
  if (attention)
    return table.refuseAttention(*attention);
  if (!anchor) {
    for (const GraphStep &step : steps) {
      PointwiseOp op = step.op;
      Role role = step.role.value_or(Role{Position::Epilogue, op.getMode()});
      if (auto reason = table.refusePointwise(role, query.dtype, query.layout))
        return reason;
    }
    return std::nullopt;
  }
  if (auto reason = table.refuse(query))
    return reason;
  // By position, then in order.
  SupportQuery roleQuery = query;
  bool onlyKernel = false;
  for (Position position : {Position::Prologue, Position::Operand, Position::Epilogue}) {
    ArrayRef<GraphStep> left = steps;
    while (!left.empty()) {
      const GraphStep &step = left.front();
      left = left.drop_front();
      if (!step.role || step.role->position != position)
        continue;
      roleQuery.role = *step.role;
      SmallVector<Role> roles = {*step.role};
      auto reason = table.refuse(roleQuery);
      // A kernel computes the whole graph, also what cuDNN has an engine for.
      onlyKernel |= reason.has_value();
      if (onlyKernel && !table.hasKernel(roleQuery, roles)) {
        roles = takeHardSwish(step, left);
        if (!table.hasKernel(roleQuery, roles))
          return reason ? reason : "cuDNN has no engine and Convoy no kernel for " + pattern();
      }
      if (position == Position::Epilogue)
        llvm::append_range(roleQuery.after, roles);
    }
  }
  needsKernel = onlyKernel;
  return std::nullopt;
}

std::optional<std::string> GraphForm::refuse(const SupportTable &table) const {
  bool needsKernel = false;
  std::optional<std::string> reason = refuse(table, needsKernel);
  return reason || !needsKernel ? reason : "cuDNN has no engine for it, only Convoy has a kernel";
}

} // namespace convoy
