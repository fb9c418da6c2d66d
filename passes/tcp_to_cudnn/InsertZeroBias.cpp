// cuDNN's precompiled kernels of a convolution with a residual or a relu want a bias: one of zeros where there is none.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/tcp_to_cudnn/ConvSums.h"
#include "llvm/ADT/StringSet.h"

namespace convoy {
#define GEN_PASS_DEF_CUDNNINSERTZEROBIASPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

namespace {

struct InsertZeroBiasPass : public convoy::impl::CudnnInsertZeroBiasPassBase<InsertZeroBiasPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult insert(GraphOp graph, ConvolutionOp conv, ArrayRef<ExecuteOp> calls);
  FailureOr<Value> zeros(ExecuteOp call, RankedTensorType type);

  /// Zeros that are prepared already, by type.
  llvm::DenseMap<Type, Value> prepared;
};

} // namespace

/// An argument of the caller with zeros, which @prepare_weights makes.
FailureOr<Value> InsertZeroBiasPass::zeros(ExecuteOp call, RankedTensorType type) {
  if (Value made = prepared.lookup(type))
    return made;
  auto main = call->getParentOfType<func::FuncOp>();
  auto prepare = getOperation().lookupSymbol<func::FuncOp>("prepare_weights");
  if (!main || main.getSymName() != "main" || !prepare)
    return call.emitOpError("expects to stand in @main, beside @prepare_weights, which makes the zeros");
  llvm::StringSet<> names;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto name = main.getArgAttrOfType<StringAttr>(i, tcp::kPreparedAttr))
      names.insert(name.getValue());
  std::string name = "zero_bias";
  for (int64_t number = 1; !names.insert(name).second; ++number)
    name = "zero_bias_" + std::to_string(number);

  Builder attributes(&getContext());
  auto attrs = attributes.getDictionaryAttr(attributes.getNamedAttr(tcp::kPreparedAttr, attributes.getStringAttr(name)));
  Operation *end = prepare.getBody().front().getTerminator();
  OpBuilder builder(end);
  Value constant =
      arith::ConstantOp::create(builder, call.getLoc(), DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
  end->insertOperands(end->getNumOperands(), constant);
  unsigned number = main.getNumArguments();
  if (failed(prepare.insertResult(prepare.getNumResults(), type, attrs)) || failed(main.insertArgument(number, type, attrs, call.getLoc())))
    return failure();
  return prepared[type] = main.getArgument(number);
}

LogicalResult InsertZeroBiasPass::insert(GraphOp graph, ConvolutionOp conv, ArrayRef<ExecuteOp> calls) {
  for (ExecuteOp call : calls)
    if (isa<MemRefType>(call.getOutputs().front().getType()))
      return call.emitOpError("expects tensors while a zero bias is inserted, but got memrefs");
  if (failed(insertBias(graph, conv)))
    return failure();
  auto biasType = cast<TensorDescType>(graph.getArgumentTypes().back());
  auto zeroType = RankedTensorType::get(biasType.getPhysicalShape(), biasType.getElementType());
  for (ExecuteOp call : calls) {
    FailureOr<Value> bias = zeros(call, zeroType);
    if (failed(bias))
      return failure();
    call.getInputsMutable().append(*bias);
  }
  return success();
}

void InsertZeroBiasPass::runOnOperation() {
  llvm::MapVector<GraphOp, SmallVector<ExecuteOp>> calls;
  SymbolTableCollection symbols;
  getOperation().walk([&](ExecuteOp call) { calls[symbols.lookupNearestSymbolFrom<GraphOp>(call, call.getGraphAttr())].push_back(call); });
  for (auto graph : getOperation().getOps<GraphOp>()) {
    SmallVector<ConvolutionOp> convs(graph.getBody().front().getOps<ConvolutionOp>());
    for (ConvolutionOp conv : convs)
      if (wantsBias(conv) && failed(insert(graph, conv, calls.lookup(graph))))
        return signalPassFailure();
  }
}
