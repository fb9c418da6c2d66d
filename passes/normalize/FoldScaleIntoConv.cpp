// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Folds per-channel scales and shifts after a convolution or matrix product that depend only on
// weights (mainly batch norms) into its weights and one bias.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/normalize/WeightRounding.h"
#include "passes/normalize/Weights.h"
#include "llvm/ADT/SetVector.h"

namespace convoy {
#define GEN_PASS_DEF_TCPFOLDSCALEINTOCONVPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct FoldScaleIntoConvPass
    : public convoy::impl::TcpFoldScaleIntoConvPassBase<FoldScaleIntoConvPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// Folds in program order, so that one walk reduces a chain of scales and shifts.
class Folder {
public:
  explicit Folder(func::FuncOp function)
      : weights(function), builder(function.getContext(), &weights) {}

  bool subtractionToAddition(SubOp op);
  void visit(Operation *op);

private:
  /// The operands of `op`: the data, then the operand that depends only on weights.
  std::optional<std::pair<Value, Value>> dataAndWeights(Operation *op);
  template <typename Op> bool foldScale(Op op);
  template <typename Op> bool mergeWith(Op op);

  /// `value` in at least f32; skips a preceding cast from f32.
  Value widen(Value value);
  /// Computes `lhs Op rhs` of weights in at least f32. With `channel`, `lhs` has filters, and `rhs`
  /// a factor for each index of this dim of it.
  template <typename Op>
  Value compute(Location loc, Value lhs, Value rhs, std::optional<int64_t> channel = {});

  WeightValues weights;
  OpBuilder builder;
};

} // namespace

/// Erases `op` and the ops that only it used immediately: uses by dead ops would keep the next fold
/// from matching a single-use anchor.
static void eraseChain(Operation *op) {
  SmallVector<Operation *> worklist = {op};
  while (!worklist.empty()) {
    Operation *dead = worklist.pop_back_val();
    if (!isOpTriviallyDead(dead))
      continue;
    llvm::SmallSetVector<Operation *, 4> operands;
    for (Value operand : dead->getOperands())
      if (Operation *def = operand.getDefiningOp())
        operands.insert(def);
    dead->erase();
    llvm::append_range(worklist, operands);
  }
}

static bool isNarrowFloat(Type type) {
  auto floatType = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return floatType && floatType.getWidth() < 32;
}

std::optional<std::pair<Value, Value>> Folder::dataAndWeights(Operation *op) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  if (!weights.contains(lhs) && weights.contains(rhs) &&
      lhs.getType() == op->getResult(0).getType())
    return std::pair(lhs, rhs);
  if (op->hasTrait<OpTrait::IsCommutative>() && weights.contains(lhs) && !weights.contains(rhs) &&
      rhs.getType() == op->getResult(0).getType())
    return std::pair(rhs, lhs);
  return std::nullopt;
}

Value Folder::widen(Value value) {
  if (!isNarrowFloat(value.getType()))
    return value;
  Type wide = withElementType(value.getType(), builder.getF32Type());
  if (auto cast = value.getDefiningOp<CastOp>(); cast && cast.getInput().getType() == wide)
    return cast.getInput();
  if (auto reshape = value.getDefiningOp<ReshapeOp>())
    return ReshapeOp::create(builder, value.getLoc(), wide, widen(reshape.getInput()));
  return CastOp::create(builder, value.getLoc(), wide, value);
}

/// Whether `value`, of f32, is the result of a cast from a narrower float type, or a reshape of
/// one.
static bool isCastFromNarrow(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  auto cast = value.getDefiningOp<CastOp>();
  return cast && isNarrowFloat(cast.getInput().getType());
}

template <typename Op>
Value Folder::compute(Location loc, Value lhs, Value rhs, std::optional<int64_t> channel) {
  Type element = getElementTypeOrSelf(lhs.getType());
  lhs = widen(lhs), rhs = widen(rhs);
  SmallVector<int64_t> shape = *broadcastShape({shapeOf(lhs), shapeOf(rhs)});
  Value result = Op::create(builder, loc, withShape(lhs.getType(), shape), lhs, rhs);
  if (getElementTypeOrSelf(result.getType()) == element)
    return result;
  if (channel && isCastFromNarrow(lhs))
    result = withoutRoundingBias(builder, loc, result, rhs, cast<FloatType>(element), *channel);
  return CastOp::create(builder, loc, withElementType(result.getType(), element), result);
}

/// conv(x, w) * s -> conv(x, w * s) and (conv(x, w) + b) * s -> conv(x, w * s) + b * s; likewise
/// for matmul and for division.
template <typename Op> bool Folder::foldScale(Op op) {
  auto operands = dataAndWeights(op);
  if (!operands)
    return false;
  auto [data, scale] = *operands;
  Value bias;
  if (auto add = data.template getDefiningOp<AddOp>(); add && add->hasOneUse()) {
    auto terms = dataAndWeights(add);
    if (!terms)
      return false;
    std::tie(data, bias) = *terms;
  }
  Operation *anchor = data.getDefiningOp();
  if (!anchor || !anchor->hasOneUse() || !isa<ConvOpInterface, MatmulOp>(anchor) ||
      !weights.contains(anchor->getOperand(1)))
    return false;
  auto conv = dyn_cast<ConvOpInterface>(anchor);
  int64_t rank = shapeOf(data).size(),
          channel = conv ? channelDim(conv.getSpatialRank(), conv.getChannelsLast()) : rank - 1;
  for (auto [dim, size] : llvm::enumerate(shapeOf(scale)))
    if (size != 1 && static_cast<int64_t>(dim) != channel)
      return false;

  builder.setInsertionPoint(op);
  Value factor = scale;
  if (conv) {
    // The filters are the first dim of the weights.
    SmallVector<int64_t> shape(rank, 1);
    shape[0] = shapeOf(scale)[channel];
    factor = ReshapeOp::create(builder, op.getLoc(), withShape(scale.getType(), shape), scale);
  }
  Value scaled = compute<Op>(op.getLoc(), anchor->getOperand(1), factor, conv ? 0 : rank - 1);
  // Insert at the scale, because it may be defined after the anchor.
  builder.setInsertionPoint(op);
  Value result =
      cloneWith(builder, anchor, {anchor->getOperand(0), scaled}, data.getType())->getResult(0);
  if (bias) {
    Value scaledBias = compute<Op>(op.getLoc(), bias, scale);
    result = AddOp::create(builder, op.getLoc(), op.getType(), result, scaledBias);
  }
  op.replaceAllUsesWith(result);
  return true;
}

/// Whether a value has an argument of the function among the values that it is computed from.
static bool hasArgument(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || llvm::any_of(op->getOperands(), hasArgument);
}

/// (x + a) + b -> x + (a + b), and the same for products, if a + b is not larger than both a and b.
/// Floats are rounded in another order then, and may overflow. So this is for the shifts and scales
/// of a convolution or product only, and not for numbers of the model: (x + n) - n rounds x.
template <typename Op> bool Folder::mergeWith(Op op) {
  auto outer = dataAndWeights(op);
  auto inner = outer ? outer->first.template getDefiningOp<Op>() : Op();
  if (!inner || !inner->hasOneUse())
    return false;
  auto operands = dataAndWeights(inner);
  if (!operands)
    return false;
  auto [data, first] = *operands;
  Value second = outer->second;
  if (isa<FloatType>(op.getType().getElementType()) &&
      (!isa_and_present<ConvOpInterface, MatmulOp>(data.getDefiningOp()) || !hasArgument(first) ||
       !hasArgument(second)))
    return false;
  FailureOr<SmallVector<int64_t>> shape = broadcastShape({shapeOf(first), shapeOf(second)});
  if (failed(shape) || (ArrayRef(*shape) != shapeOf(first) && ArrayRef(*shape) != shapeOf(second)))
    return false;
  builder.setInsertionPoint(op);
  Value merged = compute<Op>(op.getLoc(), first, second);
  op.replaceAllUsesWith(Op::create(builder, op.getLoc(), op.getType(), data, merged).getResult());
  return true;
}

/// x - b -> x + (-b), to canonicalize biases.
bool Folder::subtractionToAddition(SubOp op) {
  auto operands = dataAndWeights(op);
  if (!operands || !isa<FloatType>(op.getType().getElementType()))
    return false;
  builder.setInsertionPoint(op);
  Value negated = NegOp::create(builder, op.getLoc(), operands->second.getType(), operands->second);
  op.replaceAllUsesWith(
      AddOp::create(builder, op.getLoc(), op.getType(), operands->first, negated).getResult());
  return true;
}

void Folder::visit(Operation *op) {
  // New ops are inserted before `op`, so the walk does not visit them.
  if (auto mul = dyn_cast<MulOp>(op)) {
    if (!foldScale(mul))
      mergeWith(mul);
  } else if (auto div = dyn_cast<DivOp>(op))
    foldScale(div);
  else if (auto add = dyn_cast<AddOp>(op))
    mergeWith(add);
}

void FoldScaleIntoConvPass::runOnStaticShapes() {
  if (getOperation().isExternal())
    return;
  Block &block = getOperation().getBody().front();
  Folder folder(getOperation());
  for (SubOp op : llvm::make_early_inc_range(block.getOps<SubOp>()))
    if (folder.subtractionToAddition(op))
      op.erase();
  for (Operation &op : llvm::make_early_inc_range(block)) {
    folder.visit(&op);
    eraseChain(&op);
  }
}
