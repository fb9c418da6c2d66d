// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Replaces the symbols of shapes by numbers.

#include "mlir/IR/Verifier.h"
#include "passes/Passes.h"
#include "passes/common/SymbolicShapes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace convoy {
#define GEN_PASS_DEF_TCPSPECIALIZESYMBOLSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

/// Name of a symbol to its value.
using SymbolValues = llvm::MapVector<StringRef, int64_t>;

namespace {

struct TcpSpecializeSymbolsPass
    : public convoy::impl::TcpSpecializeSymbolsPassBase<TcpSpecializeSymbolsPass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

/// Reads the option `values`, whose names are those of symbols of the module.
static FailureOr<SymbolValues> readValues(ModuleOp module, ArrayRef<std::string> texts) {
  llvm::SetVector<StringRef> names;
  module.walk([&](SymbolicIntOp symbol) { names.insert(symbol.getSymbolName()); });
  SymbolValues values;
  for (StringRef text : texts) {
    auto [name, number] = text.split('=');
    int64_t value = 0;
    if (name.empty() || number.getAsInteger(10, value))
      return module.emitError("expected NAME=NUMBER in 'values', but got '") << text << "'";
    if (!names.contains(name))
      return module.emitError("expected names of symbols in 'values' (")
             << llvm::join(names, ", ") << "), but got '" << text << "'";
    if (!values.insert({name, value}).second)
      return module.emitError("expected one value of '")
             << name << "' in 'values', but got several";
  }
  return values;
}

/// The values of the symbols as expressions; an error if one is missing or not in its range.
static FailureOr<SmallVector<AffineExpr>> valuesOf(ArrayRef<SymbolicIntOp> symbols,
                                                   const SymbolValues &values) {
  SmallVector<AffineExpr> result;
  for (SymbolicIntOp symbol : symbols) {
    StringRef name = symbol.getSymbolName();
    const auto *found = values.find(name);
    if (found == values.end())
      return symbol.emitOpError("expects a value of '")
             << name << "', " << symbol.getRangeText() << ", but 'values' has none";
    int64_t value = found->second;
    if (value < symbol.getMinVal() || value > symbol.getMaxVal() || value % symbol.getDivisor())
      return symbol.emitOpError("expects a value of '")
             << name << "', " << symbol.getRangeText() << ", but got " << name << "=" << value;
    result.push_back(getAffineConstantExpr(value, symbol.getContext()));
  }
  return result;
}

/// Gives a value the type of its shape, which consists of numbers.
static LogicalResult setType(Value value, const SymbolicShapes &shapes, Operation *op) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.hasStaticShape())
    return success();
  Dims dims = shapes.lookup(value);
  std::string what = "result #";
  if (auto argument = dyn_cast<BlockArgument>(value))
    what = "argument #" + std::to_string(argument.getArgNumber());
  else
    what += std::to_string(cast<OpResult>(value).getResultNumber());
  if (llvm::any_of(dims, [](Dim dim) { return dim.isUnknown(); }))
    return op->emitOpError("expects a shape of ")
           << what << " that follows from symbols, but got " << Symbols().str(dims)
           << "; bind it with 'tcp.bind_symbolic_shape'";
  RankedTensorType known =
      type.clone(llvm::map_to_vector(dims, [](Dim dim) { return dim.size(); }));
  if (!hasTensorSize(known))
    return op->emitOpError("expects ")
           << what << " of at most 2^40 elements, but got " << Symbols().str(dims);
  value.setType(known);
  return success();
}

/// Replaces the `?` of all types in `function`, whose shapes are numbers.
static LogicalResult setTypes(func::FuncOp function, const SymbolicShapes &shapes) {
  for (BlockArgument argument : function.getArguments())
    if (failed(setType(argument, shapes, function)))
      return failure();
  WalkResult walk = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto slice = dyn_cast<SliceOp>(op)) {
      SmallVector<int64_t> sizes(slice.getSizes());
      for (auto [size, dim] : llvm::zip_equal(sizes, shapes.lookup(slice.getResult())))
        size = size == kRestOfDim ? dim.size() : size;
      slice.setSizes(sizes);
    }
    for (Value result : op->getResults())
      if (failed(setType(result, shapes, op)))
        return WalkResult::interrupt();
    if (op != function)
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          if (failed(setType(argument, shapes, op)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  SmallVector<Type> results(function.getResultTypes());
  for (auto returned : function.getOps<func::ReturnOp>())
    for (auto [i, type, value] : llvm::enumerate(results, returned.getOperands())) {
      if (failed(verifyCompatibleShape(type, value.getType())))
        return returned.emitOpError("expects result #")
               << i << " of type " << type << ", but got " << value.getType();
      type = value.getType();
    }
  function.setType(
      FunctionType::get(function.getContext(), function.front().getArgumentTypes(), results));
  return success();
}

/// Removes the ops about symbols. A symbol that is used in another way becomes a constant.
static void eraseSymbols(MutableArrayRef<SymbolicIntOp> symbols, ArrayRef<AffineExpr> values) {
  for (auto [symbol, value] : llvm::zip_equal(symbols, values)) {
    if (!symbol->use_empty()) {
      OpBuilder builder(symbol);
      symbol.getResult().replaceAllUsesWith(arith::ConstantOp::create(
          builder, symbol.getLoc(),
          builder.getI64IntegerAttr(cast<AffineConstantExpr>(value).getValue())));
    }
    symbol->erase();
  }
}

static LogicalResult specialize(func::FuncOp function, const SymbolValues &values) {
  SmallVector<SymbolicIntOp> symbols = symbolsOf(function);
  FailureOr<SmallVector<AffineExpr>> numbers = valuesOf(symbols, values);
  if (failed(numbers))
    return failure();
  std::string text = "for";
  for (SymbolicIntOp symbol : symbols)
    text += " " + symbol.getSymbolName().str() + "=" +
            std::to_string(values.lookup(symbol.getSymbolName()));
  std::optional<NotedErrors> noted;
  if (!symbols.empty())
    noted.emplace(function.getLoc(), text);
  Symbols none;
  FailureOr<SymbolicShapes> shapes = inferSymbolicShapes(function, none, *numbers);
  if (failed(shapes) || failed(setTypes(function, *shapes)))
    return failure();
  SmallVector<BindSymbolicShapeOp> bindings;
  function.walk([&](BindSymbolicShapeOp bind) { bindings.push_back(bind); });
  for (BindSymbolicShapeOp bind : bindings)
    bind.erase();
  eraseSymbols(symbols, *numbers);
  return verify(function);
}

void TcpSpecializeSymbolsPass::runOnOperation() {
  FailureOr<SymbolValues> chosen = readValues(getOperation(), values);
  if (failed(chosen))
    return signalPassFailure();
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && failed(specialize(function, *chosen)))
      return signalPassFailure();
}
