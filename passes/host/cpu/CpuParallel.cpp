// Parallel loops become functions of a range of steps. The call that is left says `convoy.parallel`: it is right as it stands, run on one
// thread over the whole range, and phase llvm hands it to convoy_parallel_for.

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace convoy {
#define GEN_PASS_DEF_HOSTCPUPARALLELPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct HostCpuParallelPass : public convoy::impl::HostCpuParallelPassBase<HostCpuParallelPass> {
  void runOnOperation() override;
};

/// A body that was made before and does the same: layers of one shape share their code.
func::FuncOp findEqual(func::FuncOp body, ArrayRef<func::FuncOp> bodies) {
  for (func::FuncOp other : bodies)
    if (other.getFunctionType() == body.getFunctionType() &&
        OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &body.getBody(), OperationEquivalence::IgnoreLocations))
      return other;
  return {};
}

LogicalResult outline(scf::ParallelOp loop, func::FuncOp parent, SmallVectorImpl<func::FuncOp> &bodies, SymbolTable &symbols) {
  if (loop.getNumLoops() != 1 || loop.getNumReductions() != 0)
    return loop.emitError("expected one loop and no reductions, but got ") << loop.getNumLoops() << " and " << loop.getNumReductions();
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop.getRegion(), captured);
  captured.insert(loop.getStep()[0]);

  // Constants are made anew inside; everything else becomes an argument.
  llvm::SmallVector<Value> arguments;
  llvm::SmallVector<Operation *> constants;
  for (Value value : captured) {
    if (Operation *def = value.getDefiningOp(); def && def->hasTrait<OpTrait::ConstantLike>())
      constants.push_back(def);
    else
      arguments.push_back(value);
  }
  Location loc = loop.getLoc();
  OpBuilder builder(parent);
  llvm::SmallVector<Type> types(2, builder.getIndexType());
  llvm::append_range(types, ValueRange(arguments).getTypes());
  std::string name = (parent.getName() + "_parallel_" + llvm::Twine(bodies.size())).str();
  auto body = func::FuncOp::create(builder, loc, name, builder.getFunctionType(types, {}));
  body.setPrivate();

  builder.setInsertionPointToStart(body.addEntryBlock());
  IRMapping mapping;
  for (Operation *constant : constants)
    builder.clone(*constant, mapping);
  for (auto [outside, inside] : llvm::zip_equal(arguments, body.getArguments().drop_front(2)))
    mapping.map(outside, inside);
  auto steps = scf::ForOp::create(builder, loc, body.getArgument(0), body.getArgument(1), mapping.lookup(loop.getStep()[0]));
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPointToStart(steps.getBody());
  mapping.map(loop.getInductionVars()[0], steps.getInductionVar());
  for (Operation &op : loop.getBody()->without_terminator())
    builder.clone(op, mapping);

  if (func::FuncOp equal = findEqual(body, bodies)) {
    body.erase();
    body = equal;
  } else {
    symbols.insert(body);
    bodies.push_back(body);
  }
  builder.setInsertionPoint(loop);
  llvm::SmallVector<Value> operands = {loop.getLowerBound()[0], loop.getUpperBound()[0]};
  operands.append(arguments);
  auto call = func::CallOp::create(builder, loc, body, operands);
  call->setAttr("convoy.parallel", builder.getUnitAttr());
  loop.erase();
  return success();
}

} // namespace

void HostCpuParallelPass::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    auto target = function->getAttrOfType<StringAttr>("tcp.target");
    if (!target || target.getValue() != "cpu")
      continue;
    llvm::SmallVector<scf::ParallelOp> loops;
    function.walk<WalkOrder::PreOrder>([&](scf::ParallelOp loop) {
      loops.push_back(loop);
      return WalkResult::skip();
    });
    llvm::SmallVector<func::FuncOp> bodies;
    for (scf::ParallelOp loop : loops)
      if (failed(outline(loop, function, bodies, symbols)))
        return signalPassFailure();
  }
}
