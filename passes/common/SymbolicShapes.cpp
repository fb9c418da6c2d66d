// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/SymbolicShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

SmallVector<SymbolicIntOp> convoy::symbolsOf(func::FuncOp function) {
  return function.isExternal() ? SmallVector<SymbolicIntOp>()
                               : llvm::to_vector(function.front().getOps<SymbolicIntOp>());
}

BindSymbolicShapeOp convoy::bindingOf(Value value) {
  for (Operation *user : value.getUsers())
    if (auto bind = dyn_cast<BindSymbolicShapeOp>(user))
      return bind;
  return {};
}

NotedErrors::NotedErrors(Location place, std::string note)
    : handler(place.getContext(), [place, note = std::move(note)](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          diagnostic.attachNote(place) << note;
        return failure(); // other handlers report it
      }) {}

namespace {

class Inference {
public:
  Inference(const Symbols &symbols, ArrayRef<SymbolicIntOp> declared, ArrayRef<AffineExpr> values)
      : symbols(symbols) {
    for (auto [symbol, value] : llvm::zip_equal(declared, values))
      valueOf[symbol->getResult(0)] = value;
  }

  /// Infers shapes in a block, whose arguments have `arguments`.
  LogicalResult run(Block &block, ArrayRef<Dims> arguments);

  SymbolicShapes shapes;

private:
  LogicalResult run(Operation *op);
  LogicalResult run(IsolatedGroupOp op);
  LogicalResult run(ScanOp op);

  /// Sets the shape of a value to that which is inferred, that of its type and the bound one, or
  /// emits an error if one of them contradicts another.
  LogicalResult set(Value value, ArrayRef<Dim> inferred);

  SmallVector<Dims> shapesOf(ValueRange values) const {
    return llvm::map_to_vector(values, [&](Value value) { return shapes.lookup(value); });
  }

  const Symbols &symbols;
  DenseMap<Value, AffineExpr> valueOf;
};

} // namespace

/// The more precise dims of two shapes; failure if these cannot be equal.
static FailureOr<Dims> meet(ArrayRef<Dim> a, ArrayRef<Dim> b, const Symbols &symbols) {
  Dims result;
  if (a.size() != b.size())
    return failure();
  for (auto [left, right] : llvm::zip_equal(a, b)) {
    FailureOr<Dim> both = symbols.meet(left, right);
    if (failed(both))
      return failure();
    result.push_back(*both);
  }
  return result;
}

LogicalResult Inference::set(Value value, ArrayRef<Dim> inferred) {
  Dims type = dimsOf(value);
  FailureOr<Dims> typed = meet(inferred, type, symbols);
  if (failed(typed)) {
    Operation *op = value.getDefiningOp();
    return (op ? op : value.getParentBlock()->getParentOp())->emitOpError("expects ")
           << (op ? "result" : "argument") << " shape " << symbols.str(inferred) << ", but got "
           << symbols.str(type);
  }
  if (BindSymbolicShapeOp bind = bindingOf(value)) {
    Dims bound;
    SmallVector<AffineExpr> replacements =
        llvm::map_to_vector(bind.getShapeSymbols(), [&](Value symbol) { return valueOf[symbol]; });
    for (AffineExpr expression : bind.getShapeExpressions().getResults())
      bound.push_back(expression.replaceSymbols(replacements));
    auto isNegative = [&](Dim dim) {
      std::optional<int64_t> most = symbols.bound(dim, /*isUpper=*/true);
      return most && *most < 0;
    };
    if (llvm::any_of(bound, isNegative))
      return bind.emitOpError("expects sizes of at least 0, but got ") << symbols.str(bound);
    FailureOr<Dims> both = meet(bound, *typed, symbols);
    if (failed(both)) {
      InFlightDiagnostic diag = bind.emitOpError("expects the shape ")
                                << symbols.str(*typed) << " of its operand, but got "
                                << symbols.str(bound);
      diag.attachNote(value.getLoc()) << "the operand is here";
      return diag;
    }
    typed = both;
  }
  shapes[value] = *typed;
  return success();
}

LogicalResult Inference::run(Block &block, ArrayRef<Dims> arguments) {
  for (auto [argument, dims] : llvm::zip_equal(block.getArguments(), arguments))
    if (isa<RankedTensorType>(argument.getType()) && failed(set(argument, dims)))
      return failure();
  for (Operation &op : block)
    if (failed(run(&op)))
      return failure();
  return success();
}

LogicalResult Inference::run(Operation *op) {
  if (auto group = dyn_cast<IsolatedGroupOp>(op))
    return run(group);
  if (auto scan = dyn_cast<ScanOp>(op))
    return run(scan);
  if (auto inferring = dyn_cast<ShapeOpInterface>(op)) {
    FailureOr<Dims> dims = inferring.inferShape(shapesOf(op->getOperands()), symbols);
    return success(succeeded(dims) && succeeded(set(op->getResult(0), *dims)));
  }
  // Another op, of which only the types are known.
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      SmallVector<Dims> arguments;
      for (Type type : block.getArgumentTypes())
        arguments.push_back(isa<RankedTensorType>(type) ? dimsOf(type) : Dims());
      if (failed(run(block, arguments)))
        return failure();
    }
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()) && failed(set(result, dimsOf(result))))
      return failure();
  return success();
}

LogicalResult Inference::run(IsolatedGroupOp op) {
  Block &body = op.getBody().front();
  if (failed(run(body, shapesOf(op.getInputs()))))
    return failure();
  for (auto [result, yielded] :
       llvm::zip_equal(op.getOutputs(), body.getTerminator()->getOperands()))
    if (failed(set(result, shapes.lookup(yielded))))
      return failure();
  return success();
}

LogicalResult Inference::run(ScanOp op) {
  SmallVector<Dims> arguments = shapesOf(op.getCarried());
  for (Value sliced : op.getSliced()) {
    Dims dims = shapes.lookup(sliced);
    // scan_c2
    if (!symbols.canBeEqual(dims.front(), op.getTrips()))
      return op.emitOpError("expects sliced operands with ")
             << op.getTrips() << " elements along dim 0, but got " << symbols.str(dims);
    arguments.emplace_back(ArrayRef(dims).drop_front());
  }
  llvm::append_range(arguments, shapesOf(op.getInvariant()));
  if (failed(run(op.getBody().front(), arguments)))
    return failure();
  for (auto [state, next] : llvm::zip_equal(op.getCarried(), op.getNextState()))
    // scan_c4
    if (!symbols.canBeEqual(shapes.lookup(state), shapes.lookup(next)))
      return op.emitOpError("expects a next state of shape ")
             << symbols.str(shapes.lookup(state)) << ", but got "
             << symbols.str(shapes.lookup(next));
  for (auto [result, state] : llvm::zip_first(op.getCarried(), op.getOutputs()))
    if (failed(set(state, shapes.lookup(result))))
      return failure();
  for (auto [result, output] : llvm::zip_equal(op.getStacked(), op.getStepOutputs())) {
    Dims dims = {op.getTrips()};
    llvm::append_range(dims, shapes.lookup(output));
    if (failed(set(result, dims)))
      return failure();
  }
  return success();
}

FailureOr<SymbolicShapes> convoy::inferSymbolicShapes(func::FuncOp function, const Symbols &symbols,
                                                      ArrayRef<AffineExpr> values) {
  Inference inference(symbols, symbolsOf(function), values);
  for (Block &block : function.getBody()) {
    SmallVector<Dims> arguments;
    for (Type type : block.getArgumentTypes())
      arguments.push_back(isa<RankedTensorType>(type) ? dimsOf(type) : Dims());
    if (failed(inference.run(block, arguments)))
      return failure();
  }
  return std::move(inference.shapes);
}
