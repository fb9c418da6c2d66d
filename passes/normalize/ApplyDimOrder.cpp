// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gives arguments and results with `tcp.dim_order` the shape in memory. Only the function's border
// changes; the passes that follow fold the transposes into the ops between.

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/Passes.h"
#include "passes/normalize/Layouts.h"

namespace convoy {
#define GEN_PASS_DEF_TCPAPPLYDIMORDERPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct ApplyDimOrderPass : public convoy::impl::TcpApplyDimOrderPassBase<ApplyDimOrderPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

/// The packed tensor in memory of a tensor of `type`; `type` itself without an order. Null for
/// another type.
static Type storedType(Type type, DenseI64ArrayAttr order) {
  if (!order)
    return type;
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? withShape(tensor, applyPermutation(tensor.getShape(), order))
                : RankedTensorType();
}

void ApplyDimOrderPass::runOnStaticShapes() {
  func::FuncOp function = getOperation();
  if (function.isExternal())
    return;
  auto stored = [&](TypeRange types, auto orderOf) {
    SmallVector<Type> result;
    for (auto [index, type] : llvm::enumerate(types)) {
      result.push_back(storedType(type, orderOf(index)));
      if (!result.back()) {
        function.emitError("expects '") << kDimOrderAttr << "' on tensors, but got " << type;
        signalPassFailure();
      }
    }
    return result;
  };
  auto argumentOrder = [&](unsigned index) {
    return function.getArgAttrOfType<DenseI64ArrayAttr>(index, kDimOrderAttr);
  };
  auto resultOrder = [&](unsigned index) {
    return function.getResultAttrOfType<DenseI64ArrayAttr>(index, kDimOrderAttr);
  };
  SmallVector<Type> arguments = stored(function.getArgumentTypes(), argumentOrder),
                    results = stored(function.getResultTypes(), resultOrder);
  if (llvm::is_contained(arguments, Type()) || llvm::is_contained(results, Type()))
    return;

  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  for (auto [argument, type] : llvm::zip_equal(function.getArguments(), arguments)) {
    DenseI64ArrayAttr order = argumentOrder(argument.getArgNumber());
    if (!order)
      continue;
    auto logical = TransposeOp::create(builder, argument.getLoc(), argument.getType(), argument,
                                       invertPermutationVector(order));
    argument.setType(type);
    argument.replaceAllUsesExcept(logical, logical);
  }
  for (auto end : function.getOps<func::ReturnOp>()) {
    builder.setInsertionPoint(end);
    for (OpOperand &result : end->getOpOperands())
      if (DenseI64ArrayAttr order = resultOrder(result.getOperandNumber()))
        result.set(TransposeOp::create(builder, end.getLoc(), results[result.getOperandNumber()],
                                       result.get(), order));
  }
  function.setFunctionType(builder.getFunctionType(arguments, results));
}
