// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes a program of hand-written IR, which has none of the names that the frontend gives: those of
// the function, of its arguments and results, and of the target.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Passes.h"
#include "passes/common/Program.h"
#include "llvm/ADT/StringSet.h"

namespace convoy {
#define GEN_PASS_DEF_COMPLETEPROGRAMPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct CompleteProgramPass : public convoy::impl::CompleteProgramPassBase<CompleteProgramPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

/// `@main`; without it the only function with a body, which is renamed. Null if there are several.
static FailureOr<func::FuncOp> findMain(ModuleOp module) {
  if (Operation *main = module.lookupSymbol("main"))
    return dyn_cast<func::FuncOp>(main);
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      functions.push_back(function);
  if (functions.size() != 1)
    return func::FuncOp();
  func::FuncOp only = functions.front();
  emitRemark(only.getLoc(), "@") << only.getSymName()
                                 << " is the only function of the module, so it becomes @main";
  if (failed(SymbolTable(module).rename(only, "main")))
    return failure();
  return only;
}

/// Makes arguments without a role inputs, named `argN`, and results without a name outputs, named
/// after their position.
static void nameTensors(func::FuncOp main) {
  static constexpr StringRef kRoles[] = {kInputAttr, kWeightAttr, kPreparedAttr, kOutputAttr,
                                         kArenaAttr};
  llvm::StringSet<> inputs, outputs;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto name = main.getArgAttrOfType<StringAttr>(i, kInputAttr))
      inputs.insert(name.getValue());
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (auto name = main.getResultAttrOfType<StringAttr>(i, kOutputAttr))
      outputs.insert(name.getValue());
  auto unique = [&](std::string name, llvm::StringSet<> &taken) {
    while (!taken.insert(name).second)
      name += "_";
    return StringAttr::get(main.getContext(), name);
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (isa<TensorType>(main.getArgument(i).getType()) &&
        llvm::none_of(kRoles, [&](StringRef role) { return main.getArgAttr(i, role); }))
      main.setArgAttr(i, kInputAttr, unique("arg" + std::to_string(i), inputs));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (isa<TensorType>(main.getResultTypes()[i]) && !main.getResultAttr(i, kOutputAttr))
      main.setResultAttr(i, kOutputAttr, unique(std::to_string(i), outputs));
}

void CompleteProgramPass::runOnStaticShapes() {
  ModuleOp module = getOperation();
  std::optional<Target> chosen = symbolizeTarget(StringRef(target));
  if (!chosen) {
    module.emitError("expected target to be cpu or cuda, but got '") << target.getValue() << "'";
    return signalPassFailure();
  }
  std::optional<Target> declared = declaredTarget(module);
  if (declared && *declared != *chosen) {
    module.emitError("expected target=")
        << stringifyTarget(*declared)
        << ", the tcp.target of the module, but got target=" << target.getValue()
        << "; a program of another target starts at phase 'tcp'";
    return signalPassFailure();
  }
  if (*chosen == Target::Cpu)
    if (Operation *op = findGpuOp(module)) {
      op->emitError("expected target=cuda, because '")
          << op->getName() << "' runs on a GPU, but got target=cpu";
      return signalPassFailure();
    }
  FailureOr<func::FuncOp> main = findMain(module);
  if (failed(main))
    return signalPassFailure();
  if (!*main || main->isExternal())
    return; // a phase that needs the function reports it
  nameTensors(*main);
  if (!declared) {
    setTarget(*main, *chosen);
    setTarget(module, *chosen);
  } else if (!getTarget(*main)) {
    setTarget(*main, *declared);
  }
}
