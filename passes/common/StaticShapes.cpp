// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/StaticShapes.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace convoy;

/// The first type of a tensor with a `?`, or null.
static Type findDynamic(TypeRange types) {
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && !tensor.hasStaticShape())
      return type;
  return {};
}

static Type findDynamic(Operation *op) {
  if (Type found = findDynamic(op->getResultTypes()))
    return found;
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    if (Type found = findDynamic(function.getArgumentTypes()))
      return found;
    return findDynamic(function.getResultTypes());
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (Type found = findDynamic(block.getArgumentTypes()))
        return found;
  return {};
}

/// The option of `tcp-specialize-symbols` that replaces the symbols around `op`.
static std::string valuesOption(Operation *op) {
  Operation *root = op;
  while (Operation *parent = root->getParentOp())
    root = parent;
  llvm::SetVector<StringRef> names;
  root->walk([&](tcp::SymbolicIntOp symbol) { names.insert(symbol.getSymbolName()); });
  std::string text = "--tcp-specialize-symbols=\"values=";
  for (auto [i, name] : llvm::enumerate(names))
    text += (i ? "," : "") + name.str() + "=N";
  return text + (names.empty() ? "NAME=N\"" : "\"");
}

LogicalResult convoy::verifyStaticShapes(Operation *root) {
  WalkResult walk = root->walk<WalkOrder::PreOrder>([](Operation *op) {
    Type dynamic = findDynamic(op);
    bool isSymbolic = isa<tcp::SymbolicIntOp, tcp::BindSymbolicShapeOp>(op);
    if (!dynamic && !isSymbolic)
      return WalkResult::advance();
    InFlightDiagnostic diag = op->emitOpError("expects static shapes, but ");
    if (dynamic)
      diag << "got " << dynamic;
    else
      diag << "it is about symbols";
    diag << "; replace the symbols by numbers first: " << valuesOption(op);
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}
