// Moves the order that kernels want weights in to where weights are prepared, once, instead of at every run.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"

namespace convoy {
#define GEN_PASS_DEF_HOISTTRANSPOSESPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct HoistTransposesPass : public convoy::impl::HoistTransposesPassBase<HoistTransposesPass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

/// The op that is the argument's only user and rearranges it: a transposition, or a reshape on the way to one.
static Operation *rearrangement(BlockArgument argument) {
  if (!argument.hasOneUse())
    return nullptr;
  Operation *user = *argument.user_begin();
  if (isa<linalg::TransposeOp>(user))
    return user;
  if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) || !user->hasOneUse())
    return nullptr;
  Operation *next = *user->user_begin();
  return isa<linalg::TransposeOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(next) ? user : nullptr;
}

void HoistTransposesPass::runOnOperation() {
  auto main = getOperation().lookupSymbol<func::FuncOp>("main");
  auto prepare = getOperation().lookupSymbol<func::FuncOp>("prepare_weights");
  if (!main || !prepare || main.isExternal() || prepare.isExternal())
    return;
  auto preparedName = [](DictionaryAttr attrs) { return attrs ? attrs.getAs<StringAttr>(convoy::tcp::kPreparedAttr) : StringAttr(); };
  auto results = cast<func::ReturnOp>(prepare.getBody().back().getTerminator());

  DenseMap<StringAttr, unsigned> indices;
  for (unsigned i = 0; i < prepare.getNumResults(); ++i)
    if (StringAttr name = preparedName(prepare.getResultAttrDict(i)))
      indices[name] = i;

  for (BlockArgument argument : main.getArguments()) {
    auto found = indices.find(preparedName(main.getArgAttrDict(argument.getArgNumber())));
    if (found == indices.end())
      continue;
    while (Operation *op = rearrangement(argument)) {
      OpBuilder builder(results);
      IRMapping mapping;
      mapping.map(argument, results.getOperand(found->second));
      if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
        builder.clone(*transpose.getInit().getDefiningOp(), mapping);
      Operation *moved = builder.clone(*op, mapping);
      results.setOperand(found->second, moved->getResult(0));
      argument.setType(moved->getResult(0).getType());
      op->getResult(0).replaceAllUsesWith(argument);
      op->erase();
      ++movedCount;
    }
  }
  main.setType(FunctionType::get(&getContext(), main.getBody().getArgumentTypes(), main.getResultTypes()));
  prepare.setType(FunctionType::get(&getContext(), prepare.getArgumentTypes(), results.getOperandTypes()));
}
