// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Replaces ui8 by i8. Everything after this pass has signless integers, whose ops are signed.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPLOWERUNSIGNEDPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct LowerUnsignedPass : public convoy::impl::TcpLowerUnsignedPassBase<LowerUnsignedPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

static bool isUnsigned(Type type) { return getElementTypeOrSelf(type).isUnsignedInteger(8); }

static RankedTensorType withElement(Type type, Type element) {
  return cast<RankedTensorType>(type).clone(element);
}

/// Whether an op computes the bits of its result from the bits of its operands without regard to
/// the sign.
static bool ignoresSign(Operation *op) {
  if (auto compare = dyn_cast<CompareOp>(op))
    return llvm::is_contained({ComparePredicate::Eq, ComparePredicate::Ne}, compare.getPredicate());
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return !llvm::is_contained({ScatterKind::Max, ScatterKind::Min}, scatter.getKind());
  return isa<AddOp, SubOp, MulOp, NegOp, BitwiseAndOp, BitwiseOrOp, BitwiseXorOp, ShiftLeftOp,
             SelectOp, BroadcastOp, ConcatOp, GatherOp, IndexSelectOp, PadOp, ReshapeOp, ReverseOp,
             SliceOp, TransposeOp, ReduceSumOp, IsolatedGroupOp, YieldOp, arith::ConstantOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

/// Computes an op in i16, which represents every number of ui8, and of whose result the low bits
/// are that of ui8.
static void widen(Operation *op) {
  OpBuilder builder(op);
  Type wide = builder.getI16Type();
  for (OpOperand &operand : op->getOpOperands())
    if (Value value = operand.get(); isUnsigned(value.getType()))
      operand.set(CastOp::create(builder, op->getLoc(), withElement(value.getType(), wide), value));
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type type = result.getType();
    if (!isUnsigned(type))
      continue;
    result.setType(withElement(type, wide));
    auto narrow = CastOp::create(builder, op->getLoc(), type, result);
    result.replaceAllUsesExcept(narrow, narrow);
  }
}

/// Makes a cast from ui8 to a wider type one from i8, whose sign is then cleared. A cast from f64
/// to ui8 is through i64, as in PyTorch, which matters beyond i32. Floats of other types are
/// multiples of 256 there.
static void lowerCast(CastOp op) {
  Type to = op.getType().getElementType();
  if (Value input = op.getInput();
      getElementTypeOrSelf(input).isF64() && isUnsigned(op.getType())) {
    OpBuilder builder(op);
    op.setOperand(CastOp::create(builder, op.getLoc(),
                                 withElement(op.getType(), builder.getI64Type()), input));
    return;
  }
  if (!isUnsigned(op.getInput().getType()) || to.isInteger(1) || to.isInteger(8))
    return;
  OpBuilder builder(op);
  Type wide = to.isInteger() ? to : builder.getI16Type();
  auto type = withElement(op.getType(), wide);
  Value extended = CastOp::create(builder, op.getLoc(), type, op.getInput());
  auto maskType = type.clone(SmallVector<int64_t>(type.getRank(), 1));
  Value mask = arith::ConstantOp::create(
      builder, op.getLoc(),
      DenseElementsAttr::get(maskType, APInt(wide.getIntOrFloatBitWidth(), 0xFF)));
  Value number = BitwiseAndOp::create(builder, op.getLoc(), type, extended, mask);
  if (wide != to)
    number = CastOp::create(builder, op.getLoc(), op.getType(), number);
  op.replaceAllUsesWith(number);
  op.erase();
}

/// Replaces the type of a value and of the constant or padding that it is computed from.
static void setSignless(Value value) {
  if (!isUnsigned(value.getType()))
    return;
  auto type = withElement(value.getType(), IntegerType::get(value.getContext(), 8));
  value.setType(type);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue())
                              .bitcast(IntegerType::get(value.getContext(), 8)));
  // The number with the same bits.
  if (auto pad = value.getDefiningOp<PadOp>())
    pad.setValueAttr(FloatAttr::get(Float64Type::get(value.getContext()),
                                    static_cast<int8_t>(static_cast<uint8_t>(static_cast<int64_t>(
                                        pad.getValueAttr().getValueAsDouble())))));
}

void LowerUnsignedPass::runOnStaticShapes() {
  func::FuncOp function = getOperation();
  auto unit = UnitAttr::get(&getContext());
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (isUnsigned(type))
      function.setArgAttr(index, kUnsignedAttr, unit);
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (isUnsigned(type))
      function.setResultAttr(index, kUnsignedAttr, unit);

  SmallVector<Operation *> ops;
  function.getBody().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (auto abs = dyn_cast<AbsOp>(op); abs && isUnsigned(abs.getType())) {
      abs.replaceAllUsesWith(abs.getInput());
      abs.erase();
    } else if (!isa<CastOp>(op) && !ignoresSign(op)) {
      widen(op);
    }
  function.getBody().walk([](CastOp op) { lowerCast(op); });
  function.getBody().walk<WalkOrder::PreOrder>(
      [](Block *block) { llvm::for_each(block->getArguments(), setSignless); });
  function.getBody().walk([](Operation *op) { llvm::for_each(op->getResults(), setSignless); });

  // Casts between i8 and ui8 have no effect now. Until here they were the type of their users.
  function.getBody().walk([](CastOp op) {
    if (op.getInput().getType() != op.getType())
      return;
    op.replaceAllUsesWith(op.getInput());
    op.erase();
  });

  auto signless = [&](TypeRange types) {
    return llvm::map_to_vector(types, [&](Type type) {
      return isUnsigned(type) ? withElement(type, IntegerType::get(&getContext(), 8)) : type;
    });
  };
  function.setFunctionType(FunctionType::get(&getContext(), signless(function.getArgumentTypes()),
                                             signless(function.getResultTypes())));
}
