// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// MLIR's `reduction-tree` folds all ops before its first test, and ends with a signal if the module
// is not interesting then, as with an op on constants. This pass tests each of its changes and
// takes it back if the module is not interesting any more.

#include "passes/tools/ReduceOps.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;
using namespace convoy;

namespace {

class Reducer {
public:
  Reducer(ModuleOp module, const Tester &tester) : module(module), tester(tester) {}

  bool isInteresting() const {
    return tester.isInteresting(module).first == Tester::Interestingness::True;
  }

  /// Tries each change once. Returns whether one was kept.
  bool run();

private:
  bool reduce(Operation *op);
  bool erase(Operation *op);
  bool replaceUses(Value result, Value by);
  bool replaceByArgument(Value result);
  bool eraseResult(func::FuncOp function, unsigned index);
  bool eraseArgument(func::FuncOp function, unsigned index);

  ModuleOp module;
  const Tester &tester;
};

struct ReduceOpsPass : public PassWrapper<ReduceOpsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReduceOpsPass)

  ReduceOpsPass() = default;
  ReduceOpsPass(const ReduceOpsPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "reduce-ops"; }
  StringRef getDescription() const override {
    return "erase ops, or replace them by operands and function arguments";
  }

  void runOnOperation() override {
    Tester tester(testerName, testerArgs);
    Reducer reducer(getOperation(), tester);
    if (!reducer.isInteresting()) {
      getOperation().emitError("expects a module that is interesting");
      return signalPassFailure();
    }
    while (reducer.run())
      ;
  }

  Option<std::string> testerName{*this, "test", llvm::cl::desc("the interestingness script")};
  ListOption<std::string> testerArgs{*this, "test-arg", llvm::cl::desc("its arguments")};
};

} // namespace

bool Reducer::erase(Operation *op) {
  Block *block = op->getBlock();
  Block::iterator next = std::next(op->getIterator());
  op->remove();
  if (isInteresting()) {
    op->destroy();
    return true;
  }
  block->getOperations().insert(next, op);
  return false;
}

bool Reducer::replaceUses(Value result, Value by) {
  SmallVector<OpOperand *> uses =
      llvm::map_to_vector(result.getUses(), [](OpOperand &use) { return &use; });
  result.replaceAllUsesWith(by);
  if (isInteresting())
    return true;
  for (OpOperand *use : uses)
    use->set(result);
  return false;
}

bool Reducer::replaceByArgument(Value result) {
  auto function = dyn_cast<func::FuncOp>(result.getDefiningOp()->getParentOp());
  if (!function || !function.getBody().hasOneBlock())
    return false;
  // Functions of a model name all of their inputs.
  SmallVector<NamedAttribute> attributes;
  Builder builder(function.getContext());
  unsigned index = function.getNumArguments();
  if (index && function.getArgAttr(0, tcp::kInputAttr))
    attributes.push_back(builder.getNamedAttr(
        tcp::kInputAttr, builder.getStringAttr("reduced" + std::to_string(index))));
  if (failed(function.insertArgument(index, result.getType(), builder.getDictionaryAttr(attributes),
                                     result.getLoc())))
    return false;
  if (replaceUses(result, function.getArgument(index)))
    return true;
  if (failed(function.eraseArgument(index)))
    llvm_unreachable("the argument that was inserted");
  return false;
}

bool Reducer::eraseResult(func::FuncOp function, unsigned index) {
  Operation *end = function.getBody().front().getTerminator();
  Value value = end->getOperand(index);
  DictionaryAttr attributes = function.getResultAttrDict(index);
  end->eraseOperand(index);
  if (failed(function.eraseResult(index)))
    llvm_unreachable("a result of the function");
  if (isInteresting())
    return true;
  end->insertOperands(index, value);
  if (failed(function.insertResult(index, value.getType(), attributes)))
    llvm_unreachable("the result that was erased");
  return false;
}

bool Reducer::eraseArgument(func::FuncOp function, unsigned index) {
  BlockArgument argument = function.getArgument(index);
  Type type = argument.getType();
  Location loc = argument.getLoc();
  DictionaryAttr attributes = function.getArgAttrDict(index);
  if (!argument.use_empty() || failed(function.eraseArgument(index)))
    return false;
  if (isInteresting())
    return true;
  if (failed(function.insertArgument(index, type, attributes, loc)))
    llvm_unreachable("the argument that was erased");
  return false;
}

bool Reducer::reduce(Operation *op) {
  if (auto function = dyn_cast<func::FuncOp>(op); function && function.getBody().hasOneBlock()) {
    bool changed = false;
    for (unsigned index = function.getNumResults(); index-- > 0;)
      changed |= eraseResult(function, index);
    for (unsigned index = function.getNumArguments(); index-- > 0;)
      changed |= eraseArgument(function, index);
    return changed;
  }
  bool changed = false;
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue;
    auto operand = llvm::find_if(op->getOperands(),
                                 [&](Value each) { return each.getType() == result.getType(); });
    changed |= (operand != op->getOperands().end() && replaceUses(result, *operand)) ||
               replaceByArgument(result);
  }
  return changed;
}

bool Reducer::run() {
  bool changed = false;
  // Users first. An op that is erased takes its regions with it, so they come after it.
  SmallVector<Block *> blocks = {module.getBody()};
  while (!blocks.empty()) {
    Block *block = blocks.pop_back_val();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block))) {
      bool isEnd = op.hasTrait<OpTrait::IsTerminator>();
      if (!isEnd && op.use_empty() && erase(&op)) {
        changed = true;
        continue;
      }
      if (!isEnd && reduce(&op))
        changed = true;
      if (!isEnd && op.use_empty() && !isa<func::FuncOp>(op) && erase(&op)) {
        changed = true;
        continue;
      }
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          blocks.push_back(&inner);
    }
  }
  return changed;
}

void convoy::registerReduceOpsPass() { PassRegistration<ReduceOpsPass>(); }
