// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu_codegen/Outline.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace convoy {

func::FuncOp LoopOutliner::share(func::FuncOp body) {
  for (func::FuncOp other : bodies)
    if (other.getFunctionType() == body.getFunctionType() &&
        OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &body.getBody(),
                                                   OperationEquivalence::IgnoreLocations)) {
      body.erase();
      return other;
    }
  symbols.insert(body);
  bodies.push_back(body);
  return body;
}

func::CallOp
LoopOutliner::outline(Operation *loop, ValueRange leading, ValueRange used,
                      llvm::function_ref<void(OpBuilder &, ValueRange, IRMapping &)> fill) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop->getRegions(), captured);
  captured.insert(used.begin(), used.end());

  // Clone constants into the function; all other values become arguments.
  llvm::SmallVector<Value> arguments(leading);
  llvm::SmallVector<Operation *> constants;
  for (Value value : captured) {
    if (Operation *def = value.getDefiningOp(); def && def->hasTrait<OpTrait::ConstantLike>())
      constants.push_back(def);
    else
      arguments.push_back(value);
  }
  Location loc = loop->getLoc();
  OpBuilder builder(parent);
  std::string name = (parent.getName() + "_" + kind + "_" + llvm::Twine(bodies.size())).str();
  auto body = func::FuncOp::create(builder, loc, name,
                                   builder.getFunctionType(ValueRange(arguments).getTypes(), {}));
  body.setPrivate();

  builder.setInsertionPointToStart(body.addEntryBlock());
  IRMapping mapping;
  for (Operation *constant : constants)
    builder.clone(*constant, mapping);
  mapping.map(ValueRange(arguments).drop_front(leading.size()),
              body.getArguments().drop_front(leading.size()));
  fill(builder, body.getArguments().take_front(leading.size()), mapping);
  func::ReturnOp::create(builder, loc);

  builder.setInsertionPoint(loop);
  auto call = func::CallOp::create(builder, loc, share(body), arguments);
  loop->erase();
  return call;
}

} // namespace convoy
