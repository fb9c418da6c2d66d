// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Computes the model in another float type. Weight-only arithmetic keeps its type and is rounded
// once, where it is combined with data. Inputs are cast at their uses and results are cast back, so
// the model's interface does not change.

#include "mlir/IR/BuiltinAttributes.h"
#include "passes/Passes.h"
#include "passes/normalize/KeptOps.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPSETDTYPEPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct SetDtypePass : public convoy::impl::TcpSetDtypePassBase<SetDtypePass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

class Converter {
public:
  /// Ops of `kept` compute in f32 at least. A null `dtype` keeps the types of all others.
  Converter(func::FuncOp function, FloatType dtype, llvm::DenseSet<Operation *> kept)
      : function(function), weights(function), builder(function.getContext(), &weights),
        dtype(dtype), kept(std::move(kept)) {}

  void run();

private:
  void findDouble();
  void findWide();
  /// Calls `visit` for each op in the order of the program, also in the bodies of scans.
  void forEachOp(llvm::function_ref<void(Operation *)> visit);
  void addDouble(Operation *op);
  void convert(Block &block);
  void convert(Operation *op);
  /// The element type in which `op` takes or makes a value of this element type in the model.
  Type computeType(Operation *op, Type modelType);
  /// Casts `operand` to `elementType`.
  void setOperand(OpOperand &operand, Type elementType);

  func::FuncOp function;
  WeightValues weights;
  OpBuilder builder;
  FloatType dtype;
  llvm::DenseSet<Operation *> kept;
  /// Ops that keep the model's type.
  llvm::DenseSet<Operation *> wide;
  /// The element types of values in the model.
  llvm::DenseMap<Value, Type> modelTypes;
  llvm::DenseMap<std::pair<Value, Type>, Value> casts;
};

} // namespace

static bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

static bool isWideFloat(Type type) {
  return isFloat(type) && getElementTypeOrSelf(type).getIntOrFloatBitWidth() >= 32;
}

/// Whether the result may exceed the range of f16 long before the operands do: squares, powers and
/// exponentials.
static bool growsFast(Operation *op) {
  auto mul = dyn_cast<MulOp>(op);
  return isa<ExpOp, PowOp>(op) || (mul && mul.getLhs() == mul.getRhs());
}

void Converter::forEachOp(llvm::function_ref<void(Operation *)> visit) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function)
      visit(op);
  });
}

/// Keeps the type of `op`; for a scan and its `tcp.yield`, that of the whole scan: the state has
/// one type in all steps.
void Converter::addDouble(Operation *op) {
  if (auto scan = dyn_cast<ScanOp>(isa<YieldOp>(op) ? op->getParentOp() : op))
    scan->walk([&](Operation *each) { wide.insert(each); });
  else
    wide.insert(op);
}

/// Finds what is computed in f64 from values of narrower float types: the cast to f64 asks for the
/// precision, e.g. of a formula that cancels.
void Converter::findDouble() {
  auto isDouble = [](Value value) { return getElementTypeOrSelf(value.getType()).isF64(); };
  auto isFound = [&](Value value) {
    return isDouble(value) && wide.contains(value.getDefiningOp());
  };
  forEachOp([&](Operation *op) {
    if (isa<func::ReturnOp>(op))
      return;
    bool found = llvm::any_of(op->getOperands(), isFound);
    if (isa<CastOp>(op))
      found = isDouble(op->getResult(0)) && isFloat(op->getOperand(0).getType()) &&
              (found || !isDouble(op->getOperand(0)));
    if (found)
      addDouble(op);
  });
}

/// Finds fast-growing values that are only summed, as in the mean of squares of an RMS norm, and
/// values that depend only on such sums.
void Converter::findWide() {
  // The range of f32 and wider types is sufficient.
  if (!dtype || dtype.getWidth() >= 32)
    return;
  auto isSum = [](Operation *op) { return isa<ReduceSumOp, ReduceMeanOp>(op); };
  auto isWide = [&](Value value) { return wide.contains(value.getDefiningOp()); };
  forEachOp([&](Operation *op) {
    if (growsFast(op) && isWideFloat(op->getResult(0).getType()) && !op->use_empty() &&
        llvm::all_of(op->getUsers(), isSum))
      wide.insert(op);
    if (isSum(op) && isWide(op->getOperand(0)))
      wide.insert(op);
    bool followsSum =
        op->hasTrait<convoy::tcp::Elementwise>() && !isa<CastOp>(op) &&
        isFloat(op->getResult(0).getType()) && llvm::any_of(op->getOperands(), isWide) &&
        llvm::all_of(op->getOperands(),
                     [&](Value value) { return isWide(value) || weights.contains(value); });
    if (followsSum)
      wide.insert(op);
  });
}

void Converter::setOperand(OpOperand &operand, Type elementType) {
  Value value = operand.get();
  if (!isFloat(value.getType()) || getElementTypeOrSelf(value.getType()) == elementType)
    return;
  Value &result = casts[{value, elementType}];
  if (!result) {
    RankedTensorType type = withElementType(value.getType(), elementType);
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
    if (splat) {
      APFloat number = splat.getSplatValue<APFloat>();
      bool losesInfo = false, wasFinite = number.isFinite(), isNegative = number.isNegative();
      const llvm::fltSemantics &semantics = cast<FloatType>(elementType).getFloatSemantics();
      number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
      // A mask of -1e9 must not become infinite: softmax of a fully masked row would be NaN instead
      // of uniform.
      if (wasFinite && !number.isFinite())
        number = APFloat::getLargest(semantics, isNegative);
      result = arith::ConstantOp::create(builder, constant.getLoc(),
                                         DenseElementsAttr::get(type, number));
    } else {
      result = CastOp::create(builder, value.getLoc(), type, value);
    }
  }
  operand.set(result);
}

Type Converter::computeType(Operation *op, Type modelType) {
  Type type = wide.contains(op) || !dtype ? modelType : dtype;
  if (kept.contains(op) && type.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(type.getContext());
  return type;
}

void Converter::convert(Operation *op) {
  // A cast accepts any operand type; only its result type changes.
  if (!isa<CastOp>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (Type type = modelTypes.lookup(operand.get()))
        setOperand(operand, computeType(op, type));
  for (Value result : op->getResults())
    if (Type type = modelTypes.lookup(result))
      result.setType(withElementType(result.getType(), computeType(op, type)));
}

void Converter::convert(Block &block) {
  Operation *parent = block.getParentOp();
  if (isa<ScanOp>(parent))
    for (BlockArgument argument : block.getArguments())
      if (Type type = modelTypes.lookup(argument))
        argument.setType(withElementType(argument.getType(), computeType(parent, type)));
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.getNumResults() == 1 && weights.contains(op.getResult(0)))
      continue;
    builder.setInsertionPoint(&op);
    if (isa<func::ReturnOp>(op)) {
      for (auto [operand, type] : llvm::zip_equal(op.getOpOperands(), function.getResultTypes()))
        setOperand(operand, getElementTypeOrSelf(type));
      continue;
    }
    if (isa<YieldOp>(op)) {
      for (OpOperand &operand : op.getOpOperands())
        if (Type type = modelTypes.lookup(operand.get()))
          setOperand(operand, computeType(parent, type));
      continue;
    }
    convert(&op);
    if (auto scan = dyn_cast<ScanOp>(op))
      convert(scan.getBody().front());
  }
  eraseDeadOps(block);
}

void Converter::run() {
  findDouble();
  findWide();
  auto remember = [&](ValueRange values) {
    for (Value value : values)
      if (isFloat(value.getType()))
        modelTypes[value] = getElementTypeOrSelf(value.getType());
  };
  remember(function.getArguments());
  forEachOp([&](Operation *op) {
    remember(op->getResults());
    for (Region &region : op->getRegions())
      remember(region.getArguments());
  });
  convert(function.getBody().front());
}

void SetDtypePass::runOnStaticShapes() {
  func::FuncOp function = getOperation();
  if ((dtype.empty() && keepFloat32.empty()) || function.isExternal())
    return;
  Builder builder(&getContext());
  auto type = llvm::StringSwitch<FloatType>(dtype)
                  .Case("f32", builder.getF32Type())
                  .Case("f16", builder.getF16Type())
                  .Case("bf16", builder.getBF16Type())
                  .Default(FloatType());
  if (!type && !dtype.empty()) {
    function.emitError("expects dtype f32, f16 or bf16, but got '") << dtype.getValue() << "'";
    return signalPassFailure();
  }
  if (!function.getBody().hasOneBlock()) {
    function.emitError("expected one block, but got ") << function.getBody().getBlocks().size();
    return signalPassFailure();
  }
  WalkResult checked = function.getBody().walk<WalkOrder::PreOrder>([](Operation *op) {
    if (op->getNumRegions() && !isa<ScanOp>(op)) {
      op->emitOpError("cannot change its dtype: expects no groups yet");
      return WalkResult::interrupt();
    }
    auto isOther = [](Type type) { return isFloat(type) && !isa<RankedTensorType>(type); };
    for (Type each : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                              SmallVector<Type>(op->getResultTypes())))
      if (isOther(each)) {
        op->emitOpError("cannot change its dtype: expects ranked tensors, but got ") << each;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (checked.wasInterrupted())
    return signalPassFailure();
  auto kept = findKeptOps(function, keepFloat32);
  if (failed(kept))
    return signalPassFailure();
  Converter(function, type, std::move(*kept)).run();
}
