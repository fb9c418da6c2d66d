// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts calls marked `convoy.parallel` to calls of convoy_parallel_for: the arguments are stored
// in a struct on the stack, from which a task function loads them. Runs on the llvm dialect because
// the struct contains lowered memrefs.

#include "passes/Passes.h"

namespace convoy {
#define GEN_PASS_DEF_PARALLELCALLSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

constexpr StringLiteral kMark = "convoy.parallel";

struct ParallelCallsPass : public convoy::impl::ParallelCallsPassBase<ParallelCallsPass> {
  void runOnOperation() override;
};

LLVM::LLVMFuncOp makeTask(OpBuilder &builder, LLVM::LLVMFuncOp body, LLVM::LLVMStructType frame) {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto i64 = IntegerType::get(context, 64);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(body);
  Location loc = body.getLoc();
  auto task = LLVM::LLVMFuncOp::create(
      builder, loc, (body.getName() + "_task").str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer, i64, i64}),
      LLVM::Linkage::Internal, /*dsoLocal=*/true);
  Block *block = task.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> arguments = {block->getArgument(1), block->getArgument(2)};
  for (auto [index, type] : llvm::enumerate(frame.getBody())) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, frame, block->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{0, int32_t(index)});
    arguments.push_back(LLVM::LoadOp::create(builder, loc, type, slot));
  }
  LLVM::CallOp::create(builder, loc, body, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return task;
}

} // namespace

void ParallelCallsPass::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<LLVM::CallOp> calls;
  module.walk([&](LLVM::CallOp call) {
    if (call->hasAttr(kMark))
      calls.push_back(call);
  });
  if (calls.empty())
    return;

  MLIRContext *context = &getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto i64 = IntegerType::get(context, 64);
  OpBuilder builder(context);
  builder.setInsertionPointToStart(module.getBody());
  auto parallelFor = LLVM::LLVMFuncOp::create(
      builder, module.getLoc(), "convoy_parallel_for",
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer, pointer, i64, i64}));
  DenseMap<Operation *, LLVM::LLVMFuncOp> tasks; // by body, which several calls may share
  for (LLVM::CallOp call : calls) {
    auto body = module.lookupSymbol<LLVM::LLVMFuncOp>(call.getCallee().value_or(""));
    if (!body || body.isExternal() || call.getNumResults() != 0 ||
        call.getArgOperands().size() < 2) {
      call.emitError("expected a parallel call of a function with a body, an iteration range as "
                     "first arguments and no results");
      return signalPassFailure();
    }
    Location loc = call.getLoc();
    ValueRange values = call.getArgOperands().drop_front(2);
    auto frame = LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(values.getTypes()));
    LLVM::LLVMFuncOp &task = tasks[body];
    if (!task)
      task = makeTask(builder, body, frame);

    auto function = call->getParentOfType<LLVM::LLVMFuncOp>();
    builder.setInsertionPointToStart(&function.getBody().front());
    Value one = LLVM::ConstantOp::create(builder, loc, i64, 1);
    Value storage = LLVM::AllocaOp::create(builder, loc, pointer, frame, one);
    builder.setInsertionPoint(call);
    for (auto [index, value] : llvm::enumerate(values)) {
      Value slot = LLVM::GEPOp::create(builder, loc, pointer, frame, storage,
                                       ArrayRef<LLVM::GEPArg>{0, int32_t(index)});
      LLVM::StoreOp::create(builder, loc, value, slot);
    }
    Value address = LLVM::AddressOfOp::create(builder, loc, task);
    LLVM::CallOp::create(
        builder, loc, parallelFor,
        ValueRange{address, storage, call.getArgOperands()[0], call.getArgOperands()[1]});
    call.erase();
  }
}
