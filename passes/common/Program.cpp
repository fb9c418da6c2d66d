// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

std::optional<convoy::tcp::Target> convoy::declaredTarget(ModuleOp module) {
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    if (std::optional<tcp::Target> target = tcp::getTarget(main))
      return target;
  return tcp::getTarget(module);
}

Operation *convoy::findGpuOp(ModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (!llvm::is_contained({"cudnn", "cudnn_backend", "gpu"}, op->getName().getDialectNamespace()))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

std::optional<convoy::tcp::Target> convoy::programTarget(ModuleOp module) {
  if (std::optional<tcp::Target> target = declaredTarget(module))
    return target;
  auto hasGroup = [&] {
    return module.walk([](tcp::IsolatedGroupOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  };
  if (findGpuOp(module) || hasGroup())
    return tcp::Target::Cuda;
  return std::nullopt;
}
