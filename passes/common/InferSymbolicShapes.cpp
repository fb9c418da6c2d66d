// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Binds the results of ops to expressions of symbols.

#include "passes/Passes.h"
#include "passes/common/SymbolicShapes.h"

namespace convoy {
#define GEN_PASS_DEF_TCPINFERSYMBOLICSHAPESPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct TcpInferSymbolicShapesPass
    : public convoy::impl::TcpInferSymbolicShapesPassBase<TcpInferSymbolicShapesPass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

/// Binds `value` to `dims`, with those symbols that they use.
static void bind(Value value, ArrayRef<Dim> dims, ArrayRef<SymbolicIntOp> symbols) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  SmallVector<AffineExpr> expressions =
      llvm::map_to_vector(dims, [&](Dim dim) { return dim.expression(value.getContext()); });
  SmallVector<AffineExpr> replacements;
  SmallVector<Value> used;
  for (unsigned i = 0; i < symbols.size(); ++i) {
    replacements.push_back(builder.getAffineSymbolExpr(used.size()));
    if (llvm::any_of(expressions, [&](AffineExpr each) { return each.isFunctionOfSymbol(i); }))
      used.push_back(symbols[i]->getResult(0));
  }
  for (AffineExpr &each : expressions)
    each = each.replaceSymbols(replacements);
  BindSymbolicShapeOp::create(
      builder, value.getLoc(), value, used,
      AffineMapAttr::get(AffineMap::get(0, used.size(), expressions, value.getContext())));
}

static LogicalResult infer(func::FuncOp function) {
  SmallVector<SymbolicIntOp> declared = symbolsOf(function);
  SmallVector<SymbolRange> ranges;
  SmallVector<AffineExpr> expressions;
  std::string text = "symbols:";
  for (auto [i, symbol] : llvm::enumerate(declared)) {
    ranges.push_back({symbol.getSymbolName().str(), int64_t(symbol.getMinVal()),
                      int64_t(symbol.getMaxVal()), int64_t(symbol.getDivisor())});
    expressions.push_back(getAffineSymbolExpr(i, function.getContext()));
    text += (i ? "; " : " ") + symbol.getSymbolName().str() + ", " + symbol.getRangeText();
  }
  std::optional<NotedErrors> noted;
  if (!declared.empty())
    noted.emplace(function.getLoc(), text);
  FailureOr<SymbolicShapes> shapes =
      inferSymbolicShapes(function, Symbols(std::move(ranges)), expressions);
  if (failed(shapes))
    return failure();
  // They precede all values that are bound to them.
  for (SymbolicIntOp symbol : llvm::reverse(declared))
    symbol->moveBefore(&function.front(), function.front().begin());
  for (Operation &op : llvm::make_early_inc_range(function.front()))
    for (Value result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || type.hasStaticShape() || bindingOf(result))
        continue;
      Dims dims = shapes->lookup(result);
      if (llvm::none_of(dims, [](Dim dim) { return dim.isUnknown(); }))
        bind(result, dims, declared);
    }
  return success();
}

void TcpInferSymbolicShapesPass::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && failed(infer(function)))
      return signalPassFailure();
}
