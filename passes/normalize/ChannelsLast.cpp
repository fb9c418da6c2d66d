// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts the function to channels-last: convolutions and pools get channels as the last dim,
// except for pools of images that only these would transpose, and the required transposes sink
// through all ops that are independent of the order of dims.

#include "passes/normalize/ChannelsLast.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace convoy {
#define GEN_PASS_DEF_TCPCHANNELSLASTPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct ChannelsLastPass : public convoy::impl::TcpChannelsLastPassBase<ChannelsLastPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

bool ChannelsLastRewriter::visitConv(ConvOpInterface op) {
  if (op.getChannelsLast())
    return false;
  Permutation perm = channelsLast(op.getSpatialRank() + 2);
  Value input = layouts.in(op.getInput(), perm, op.getLoc()),
        filter = layouts.in(op.getWeights(), perm, op.getLoc());
  Operation *conv = cloneWith(builder, op, {input, filter}, storedType(op.getOutput(), perm));
  conv->setAttr("channels_last", builder.getUnitAttr());
  layouts.set(op.getOutput(), conv->getResult(0), perm);
  return true;
}

template <typename GradientOp> bool ChannelsLastRewriter::visitGradient(GradientOp op) {
  if (op.getChannelsLast())
    return false;
  Permutation perm = channelsLast(op.getType().getRank());
  Value first = layouts.in(op->getOperand(0), perm, op.getLoc()),
        second = layouts.in(op->getOperand(1), perm, op.getLoc());
  auto copy = cast<GradientOp>(cloneWith(builder, op, {first, second}, storedType(op, perm)));
  copy.setChannelsLast(true);
  layouts.set(op, copy, perm);
  return true;
}

template <typename PoolOp> bool ChannelsLastRewriter::visitPool(PoolOp op) {
  if (op.getChannelsLast() || (!layouts.has(op.getInput()) && staysChannelsFirst(op, weights)))
    return false;
  Permutation perm = channelsLast(op.getType().getRank());
  Value input = layouts.in(op.getInput(), perm, op.getLoc());
  auto pool = cast<PoolOp>(cloneWith(builder, op, input, storedType(op, perm)));
  pool.setChannelsLast(true);
  layouts.set(op, pool, perm);
  return true;
}

Permutation ChannelsLastRewriter::commonOrder(OperandRange operands, Value result) {
  SmallVector<Permutation, 2> orders;
  SmallVector<Value> largest;
  int64_t most = -1;
  for (Value operand : operands) {
    // Transposing weights has no cost at run time.
    if (weights.contains(operand))
      continue;
    int64_t size = cast<RankedTensorType>(operand.getType()).getNumElements();
    if (size < most)
      continue;
    if (size > std::exchange(most, size)) {
      orders.clear();
      largest.clear();
    }
    largest.push_back(operand);
    if (!llvm::is_contained(orders, layouts.perm(operand)))
      orders.push_back(layouts.perm(operand));
  }
  if (orders.empty())
    return identity(shapeOf(result).size());
  auto cost = [&](const Permutation &perm) {
    int64_t before = 0;
    for (Value operand : largest)
      before += layouts.perm(operand) == perm ? 0 : bytesOf(operand);
    return before + bytesToTranspose(result, perm, weights);
  };
  if (orders.size() == 1)
    return orders.front();
  // What transposes once often does so again, as in models that mix tokens and channels in turn.
  return *llvm::min_element(orders, [&](const Permutation &a, const Permutation &b) {
    return std::pair(cost(a), isIdentity(a)) < std::pair(cost(b), isIdentity(b));
  });
}

bool ChannelsLastRewriter::visitElementwise(Operation *op) {
  Value result = op->getResult(0);
  if (op->getNumOperands() == 1) {
    // Unary elementwise ops are independent of the order.
    if (auto found = shuffled.find(op->getOperand(0)); found != shuffled.end())
      shuffled[result] = Shuffled(found->second);
  }
  Permutation perm = commonOrder(op->getOperands(), result);
  if (isIdentity(perm) && hoisted.contains(op))
    perm = channelsLast(perm.size());
  if (isIdentity(perm))
    return false;
  SmallVector<Value> operands = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return layouts.in(operand, perm, op->getLoc()); });
  layouts.set(result, cloneWith(builder, op, operands, storedType(result, perm))->getResult(0),
              perm);
  return true;
}

/// Whether an op of a group is the same op on channels-last values, apart from its attributes.
static bool isMovableInGroup(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && elements.isSplat();
  }
  return isa<ConvOpInterface, MaxPoolOp, AvgPoolOp, YieldOp>(op) ||
         op.hasTrait<convoy::tcp::Elementwise>();
}

/// A group in the input keeps its ops; the transposes are outside of it.
bool ChannelsLastRewriter::visitGroup(IsolatedGroupOp op) {
  Block &body = op.getBody().front();
  auto isChannelsFirst = [](Operation &each) {
    return llvm::TypeSwitch<Operation *, bool>(&each)
        .Case<ConvOpInterface, MaxPoolOp, AvgPoolOp>([](auto op) { return !op.getChannelsLast(); })
        .Default(false);
  };
  if (llvm::none_of(body, isChannelsFirst) || !llvm::all_of(body, isMovableInGroup))
    return false;
  // All operands of these ops have one rank.
  int64_t rank = 0;
  for (Operation &each : body)
    if (isChannelsFirst(each))
      rank = shapeOf(each.getResult(0)).size();
  auto order = [&](Value value) {
    int64_t own = shapeOf(value).size();
    return own == rank ? channelsLast(rank) : identity(own);
  };
  auto stored = [&](Value value) { return storedType(value, order(value)); };

  SmallVector<Value> inputs = llvm::map_to_vector(
      op.getInputs(), [&](Value input) { return layouts.in(input, order(input), op.getLoc()); });
  auto group = IsolatedGroupOp::create(
      builder, op.getLoc(),
      llvm::map_to_vector(op.getOutputs(), [&](Value output) -> Type { return stored(output); }),
      inputs, op->getAttrs());
  Block *copy = &group.getBody().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : body.getArguments())
    mapping.map(argument, copy->addArgument(stored(argument), argument.getLoc()));
  OpBuilder inside = OpBuilder::atBlockEnd(copy);
  for (Operation &each : body) {
    Operation *made = inside.clone(each, mapping);
    for (Value result : made->getResults())
      result.setType(stored(result));
    if (auto constant = dyn_cast<arith::ConstantOp>(made))
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue())
                                .resizeSplat(cast<ShapedType>(constant.getType())));
    else if (isChannelsFirst(each))
      made->setAttr("channels_last", inside.getUnitAttr());
  }
  for (auto [from, to] : llvm::zip_equal(op.getOutputs(), group.getOutputs()))
    layouts.set(from, to, order(from));
  return true;
}

bool ChannelsLastRewriter::visit(Operation *op) {
  if (auto conv = dyn_cast<ConvOpInterface>(op))
    return visitConv(conv);
  if (op->hasTrait<convoy::tcp::Elementwise>())
    return visitElementwise(op);
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ConvBackwardDataOp, ConvBackwardFilterOp>([&](auto op) { return visitGradient(op); })
      .Case<MaxPoolOp, AvgPoolOp>([&](auto op) { return visitPool(op); })
      .Case([&](IsolatedGroupOp op) { return visitGroup(op); })
      .Default([&](Operation *op) { return visitShapeOp(op); });
}

void ChannelsLastRewriter::run() {
  for (auto conv : block.getOps<ConvOpInterface>())
    if (!conv.getChannelsLast())
      findHoisted(conv, weights, hoisted);
  SmallVector<Operation *> replaced;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.getNumResults() == 1 && weights.contains(op.getResult(0)))
      continue;
    builder.setInsertionPoint(&op);
    if (visit(&op)) {
      replaced.push_back(&op);
      continue;
    }
    for (OpOperand &operand : op.getOpOperands())
      if (layouts.has(operand.get()))
        operand.set(
            layouts.in(operand.get(), identity(shapeOf(operand.get()).size()), op.getLoc()));
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  eraseDeadOps(block);
}

void ChannelsLastPass::runOnStaticShapes() {
  func::FuncOp function = getOperation();
  if (function.isExternal())
    return;
  SmallVector<Block *> blocks = {&function.getBody().front()};
  function.walk([&](ScanOp scan) { blocks.push_back(&scan.getBody().front()); });
  for (Block *block : blocks)
    ChannelsLastRewriter(function, *block).run();
}
