// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Adds the table of runtime functions as first argument and a status as result: `@main` uses the
// GPU only through the table, and a failed call ends it with the status.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Passes.h"

namespace convoy {
#define GEN_PASS_DEF_ADDRUNTIMEARGUMENTPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct AddRuntimeArgumentPass
    : public convoy::impl::AddRuntimeArgumentPassBase<AddRuntimeArgumentPass> {
  using Base::Base;
  void runOnOperation() override;
};

/// Whether the function already has the argument and the status.
bool hasRuntime(func::FuncOp func) {
  FunctionType type = func.getFunctionType();
  return type.getNumInputs() != 0 && isa<LLVM::LLVMPointerType>(type.getInput(0)) &&
         type.getNumResults() == 1 && type.getResult(0).isInteger(32);
}

LogicalResult addRuntime(func::FuncOp func) {
  if (func.isExternal())
    return func.emitOpError(
        "expects a body, because it is compiled for 'cuda', but got a declaration");
  if (func.getNumResults() != 0)
    return func.emitOpError("expects no results before the status is added, but got ")
           << func.getNumResults();

  auto pointer = LLVM::LLVMPointerType::get(func.getContext());
  if (failed(func.insertArgument(0, pointer, DictionaryAttr(), func.getLoc())))
    return func.emitOpError("expects that an argument can be added, but its signature is fixed");
  if (failed(func.insertResult(0, IntegerType::get(func.getContext(), 32), DictionaryAttr())))
    return func.emitOpError("expects that a result can be added, but its signature is fixed");
  func.walk([](func::ReturnOp op) {
    OpBuilder builder(op);
    Value zero = arith::ConstantOp::create(builder, op.getLoc(), builder.getI32IntegerAttr(0));
    op.getOperandsMutable().assign(zero);
  });
  return success();
}

} // namespace

void AddRuntimeArgumentPass::runOnOperation() {
  for (func::FuncOp func : getOperation().getOps<func::FuncOp>()) {
    if (convoy::tcp::getTarget(func) != convoy::tcp::Target::Cuda || hasRuntime(func))
      continue;
    if (failed(addRuntime(func)))
      return signalPassFailure();
  }
}
