// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts calls of graphs to calls of the runtime.

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/common/Locations.h"
#include "passes/common/Manifest.h"
#include "passes/cudnn_to_backend/GraphTensors.h"

namespace convoy {
#define GEN_PASS_DEF_CONVERTCUDNNEXECUTETOBACKENDPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct ConvertCudnnExecuteToBackendPass
    : public convoy::impl::ConvertCudnnExecuteToBackendPassBase<ConvertCudnnExecuteToBackendPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult convert(func::FuncOp func, const llvm::StringMap<int64_t> &graphs,
                        SmallVectorImpl<Attribute> &calls);
};

} // namespace

/// The elements of a packed buffer from `offset` on.
static Value fromOffset(OpBuilder &builder, Location loc, Value buffer, int64_t offset) {
  if (offset == 0)
    return buffer;
  auto type = cast<MemRefType>(buffer.getType());
  int64_t count = type.getNumElements() - offset;
  auto layout = StridedLayoutAttr::get(builder.getContext(), offset, {1});
  return memref::ReinterpretCastOp::create(
      builder, loc, MemRefType::get({count}, type.getElementType(), layout, type.getMemorySpace()),
      buffer, offset, ArrayRef<int64_t>(count), ArrayRef<int64_t>(1));
}

LogicalResult ConvertCudnnExecuteToBackendPass::convert(func::FuncOp func,
                                                        const llvm::StringMap<int64_t> &graphs,
                                                        SmallVectorImpl<Attribute> &calls) {
  SmallVector<cudnn::ExecuteOp> ops;
  func.walk([&](cudnn::ExecuteOp op) { ops.push_back(op); });
  if (ops.empty())
    return success();
  if (func.getNumArguments() == 0 || !isa<LLVM::LLVMPointerType>(func.getArgument(0).getType()))
    return func.emitOpError(
        "expects the runtime, an '!llvm.ptr', as first argument; add-runtime-argument adds it");

  OpBuilder builder(&getContext());
  for (cudnn::ExecuteOp op : ops) {
    auto graph = SymbolTable::lookupNearestSymbolFrom<cudnn::GraphOp>(op, op.getGraphAttr());
    for (unsigned i = 0; i < graph.getNumArguments(); ++i)
      if (graph.getArgAttr(i, cudnn::kByValueAttr))
        return op.emitOpError("expects every operand in device memory, but argument #")
               << i << " of @" << op.getGraph()
               << " is by value; use a cudnn.constant in the graph instead";
    if (op.getNumResults() != 0)
      return op.emitOpError("expects memrefs, but got tensors");
    builder.setInsertionPoint(op);
    SmallVector<Value> buffers(op.getInputs());
    for (auto [buffer, offset] : llvm::zip(buffers, op.getOffsets().value_or(ArrayRef<int64_t>())))
      buffer = fromOffset(builder, op.getLoc(), buffer, offset);
    llvm::append_range(buffers, op.getOutputs());
    auto number = builder.getI32IntegerAttr(calls.size());
    cudnn_backend::ExecuteGraphOp::create(builder, op.getLoc(), func.getArgument(0), number,
                                          buffers);
    calls.push_back(builder.getDictionaryAttr({
        builder.getNamedAttr("graph", builder.getI64IntegerAttr(graphs.lookup(op.getGraph()))),
        builder.getNamedAttr("location", builder.getStringAttr(placeText(op.getLoc()))),
    }));
    op.erase();
  }
  return success();
}

void ConvertCudnnExecuteToBackendPass::runOnOperation() {
  ModuleOp module = getOperation();
  llvm::StringMap<int64_t> graphs;
  for (auto graph : module.getOps<cudnn::GraphOp>())
    graphs.try_emplace(graph.getSymName(), graphs.size());
  SmallVector<Attribute> calls;
  for (auto func : module.getOps<func::FuncOp>())
    if (tcp::getTarget(func) == tcp::Target::Cuda && failed(convert(func, graphs, calls)))
      return signalPassFailure();
  if (!calls.empty())
    setManifest(module, "calls", ArrayAttr::get(&getContext(), calls));
}
