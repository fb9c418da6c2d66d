// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Moves transposes and conversions of weights to @prepare_weights, so that they run once instead of
// at every run.

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

/// Whether `op` only converts its one operand to another float type.
static bool isConversion(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumDpsInputs() == 1 && generic.getNumDpsInits() == 1 &&
         generic.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() &&
         llvm::all_of(generic.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); }) &&
         llvm::all_of(generic.getBody()->without_terminator(),
                      [](Operation &inner) { return isa<arith::ExtFOp>(inner); });
}

/// The argument's only user, if it prepares the argument: a transpose, a conversion, or a reshape
/// before one.
static Operation *preparation(BlockArgument argument) {
  if (!argument.hasOneUse())
    return nullptr;
  Operation *user = *argument.user_begin();
  if (isa<linalg::TransposeOp>(user) || isConversion(user))
    return user;
  if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) || !user->hasOneUse())
    return nullptr;
  Operation *next = *user->user_begin();
  bool leadsOn = isa<linalg::TransposeOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(next) ||
                 isConversion(next);
  return leadsOn ? user : nullptr;
}

void HoistTransposesPass::runOnOperation() {
  auto main = getOperation().lookupSymbol<func::FuncOp>("main");
  auto prepare = getOperation().lookupSymbol<func::FuncOp>("prepare_weights");
  if (!main || !prepare || main.isExternal() || prepare.isExternal())
    return;
  auto preparedName = [](DictionaryAttr attrs) {
    return attrs ? attrs.getAs<StringAttr>(convoy::tcp::kPreparedAttr) : StringAttr();
  };
  auto results = cast<func::ReturnOp>(prepare.getBody().back().getTerminator());

  DenseMap<StringAttr, unsigned> indices;
  for (unsigned i = 0; i < prepare.getNumResults(); ++i)
    if (StringAttr name = preparedName(prepare.getResultAttrDict(i)))
      indices[name] = i;

  DenseMap<StringAttr, unsigned> readers;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    ++readers[preparedName(main.getArgAttrDict(i))];

  for (BlockArgument argument : main.getArguments()) {
    StringAttr name = preparedName(main.getArgAttrDict(argument.getArgNumber()));
    auto found = indices.find(name);
    if (found == indices.end() || readers[name] != 1)
      continue;
    while (Operation *op = preparation(argument)) {
      OpBuilder builder(results);
      IRMapping mapping;
      mapping.map(argument, results.getOperand(found->second));
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        builder.clone(*linalgOp.getDpsInits()[0].getDefiningOp(), mapping);
      Operation *moved = builder.clone(*op, mapping);
      results.setOperand(found->second, moved->getResult(0));
      argument.setType(moved->getResult(0).getType());
      op->getResult(0).replaceAllUsesWith(argument);
      op->erase();
    }
  }
  main.setType(
      FunctionType::get(&getContext(), main.getBody().getArgumentTypes(), main.getResultTypes()));
  prepare.setType(
      FunctionType::get(&getContext(), prepare.getArgumentTypes(), results.getOperandTypes()));
}
