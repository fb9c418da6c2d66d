// Calls of graphs, and copies on the device, as requests to the runtime.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/common/Locations.h"
#include "passes/common/Manifest.h"
#include "passes/host/CudnnGraphBuilder.h"

namespace convoy {
#define GEN_PASS_DEF_CONVERTCUDNNEXECUTETOBACKENDPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct ConvertCudnnExecuteToBackendPass : public convoy::impl::ConvertCudnnExecuteToBackendPassBase<ConvertCudnnExecuteToBackendPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult convert(func::FuncOp func, const llvm::StringMap<int64_t> &graphs, SmallVectorImpl<Attribute> &calls);
};

} // namespace

LogicalResult ConvertCudnnExecuteToBackendPass::convert(func::FuncOp func, const llvm::StringMap<int64_t> &graphs,
                                                        SmallVectorImpl<Attribute> &calls) {
  OpBuilder builder(&getContext());
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa<cudnn::ExecuteOp, memref::CopyOp>(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  if (func.getNumArguments() == 0 || !isa<LLVM::LLVMPointerType>(func.getArgument(0).getType()))
    return func.emitOpError("expects the runtime, an '!llvm.ptr', as first argument; add-runtime-argument adds it");
  Value runtime = func.getArgument(0);

  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      if (!isa<MemRefType>(copy.getSource().getType()) || !isa<MemRefType>(copy.getTarget().getType()))
        return copy.emitOpError("expects ranked memrefs, but got ") << copy.getTarget().getType() << " and " << copy.getSource().getType();
      cudnn_backend::CopyOp::create(builder, op->getLoc(), runtime, copy.getTarget(), copy.getSource());
      op->erase();
      continue;
    }
    auto execute = cast<cudnn::ExecuteOp>(op);
    if (execute.getNumResults() != 0)
      return execute.emitOpError("expects memrefs, but got tensors: it is not bufferized");
    SmallVector<Value> buffers(execute.getInputs());
    llvm::append_range(buffers, execute.getOutputs());
    auto number = builder.getI32IntegerAttr(calls.size());
    cudnn_backend::ExecuteGraphOp::create(builder, op->getLoc(), runtime, number, buffers);
    calls.push_back(builder.getDictionaryAttr({
        builder.getNamedAttr("graph", builder.getI64IntegerAttr(graphs.lookup(execute.getGraph()))),
        builder.getNamedAttr("location", builder.getStringAttr(placeText(op->getLoc()))),
    }));
    op->erase();
  }
  return success();
}

void ConvertCudnnExecuteToBackendPass::runOnOperation() {
  ModuleOp module = getOperation();
  llvm::StringMap<int64_t> graphs;
  for (auto graph : module.getOps<cudnn::GraphOp>())
    graphs.try_emplace(graph.getSymName(), graphs.size());
  SmallVector<Attribute> calls;
  for (auto func : module.getOps<func::FuncOp>()) {
    auto target = func->getAttrOfType<StringAttr>(tcp::kTargetAttr);
    if (target && target.getValue() == "cuda" && failed(convert(func, graphs, calls)))
      return signalPassFailure();
  }
  if (!calls.empty())
    setManifest(module, "calls", ArrayAttr::get(&getContext(), calls));
}
