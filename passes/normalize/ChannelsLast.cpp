// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts the function to channels-last: convolutions and pools get channels as the last dim,
// except for pools of images that only these would transpose, and the required transposes sink
// through all ops that are independent of the order of dims. A single walk in program order: each
// value is kept in the order in which it is computed until an op requires a specific order, so most
// transposes are never created.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/normalize/OrderCost.h"
#include "llvm/ADT/TypeSwitch.h"

namespace convoy {
#define GEN_PASS_DEF_TCPCHANNELSLASTPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// The maximum number of ops between a transpose and a convolution, so that the time of the pass
/// is linear.
constexpr size_t kMaxHoisted = 32;

struct ChannelsLastPass : public convoy::impl::TcpChannelsLastPassBase<ChannelsLastPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

class Rewriter {
public:
  /// `block` is the body of `function`, or of a scan in it.
  Rewriter(func::FuncOp function, Block &block)
      : block(block), weights(function), builder(function.getContext(), &weights),
        layouts(builder) {}

  void run();

private:
  /// Finds the ops of `hoisted` before one convolution.
  void findHoisted(ConvOpInterface conv);
  /// Rewrites `op` to use the stored operands. Returns false if `op` requires the original order.
  bool visit(Operation *op);

  bool visitConv(ConvOpInterface op);
  template <typename GradientOp> bool visitGradient(GradientOp op);
  template <typename PoolOp> bool visitPool(PoolOp op);
  bool visitElementwise(Operation *op);
  bool visitGroup(IsolatedGroupOp op);
  bool visitReshape(ReshapeOp op);
  bool visitMatmul(MatmulOp op);
  bool keepOrder(MatmulOp op);
  bool visitConcat(ConcatOp op);
  bool visitIndexSelect(IndexSelectOp op);

  /// Copies `op` with the stored operand; the result is stored in the same order. The caller
  /// updates the copy's attributes.
  template <typename Op> Op sameOrder(Op op, ArrayRef<int64_t> perm);
  /// The order of the largest of `operands`, which an op with this result has in common. Of several
  /// orders, the one with which fewer bytes are transposed before and after the op.
  Permutation commonOrder(OperandRange operands, Value result);
  RankedTensorType storedType(Value value, ArrayRef<int64_t> perm) {
    return withShape(value.getType(),
                     toStored(cast<RankedTensorType>(value.getType()).getShape(), perm));
  }

  Block &block;
  WeightValues weights;
  OpBuilder builder;
  Layouts layouts;
  /// Flattened values whose last dim has the order of the stored value: the shape of that dim
  /// before flattening, and the order.
  struct Shuffled {
    SmallVector<int64_t> shape, transposed;
  };
  llvm::DenseMap<Value, Shuffled> shuffled;
  /// Elementwise ops that are computed channels-last although no operand is: only convolutions use
  /// their results. The transpose before the convolution moves before these ops, which can then
  /// become its prologue.
  llvm::DenseSet<Operation *> hoisted;
};

} // namespace

bool Rewriter::visitConv(ConvOpInterface op) {
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

template <typename GradientOp> bool Rewriter::visitGradient(GradientOp op) {
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

template <typename PoolOp> bool Rewriter::visitPool(PoolOp op) {
  if (op.getChannelsLast() || (!layouts.has(op.getInput()) && staysChannelsFirst(op, weights)))
    return false;
  Permutation perm = channelsLast(op.getType().getRank());
  Value input = layouts.in(op.getInput(), perm, op.getLoc());
  auto pool = cast<PoolOp>(cloneWith(builder, op, input, storedType(op, perm)));
  pool.setChannelsLast(true);
  layouts.set(op, pool, perm);
  return true;
}

Permutation Rewriter::commonOrder(OperandRange operands, Value result) {
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

void Rewriter::findHoisted(ConvOpInterface conv) {
  // What a transpose of `value` moves.
  auto cost = [&](Value value) -> int64_t {
    int64_t rank = shapeOf(value).size();
    bool isFree = weights.contains(value) || value.getDefiningOp<ConvOpInterface>() ||
                  movesUnitDimsOnly(shapeOf(value), toStored(identity(rank), channelsLast(rank)));
    return isFree ? 0 : bytesOf(value);
  };
  llvm::SetVector<Operation *> ops;
  auto isInside = [&](OpOperand &use) {
    auto user = dyn_cast<ConvOpInterface>(use.getOwner());
    return ops.contains(use.getOwner()) ||
           (user && !user.getChannelsLast() && use.getOperandNumber() == 0);
  };
  auto isMovable = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->hasTrait<convoy::tcp::Elementwise>() && !weights.contains(value) &&
           llvm::all_of(value.getUses(), isInside);
  };
  // The values that are transposed. Further ops are added from last to first; in between there may
  // be more values than at the end, as for x * sigmoid(x).
  llvm::SetVector<Value> border;
  border.insert(conv.getInput());
  int64_t limit = bytesOf(conv.getInput());
  size_t best = 0;
  while (ops.size() < kMaxHoisted) {
    Operation *last = nullptr;
    for (Value value : border)
      if (isMovable(value) && (!last || last->isBeforeInBlock(value.getDefiningOp())))
        last = value.getDefiningOp();
    if (!last)
      break;
    ops.insert(last);
    border.remove(last->getResult(0));
    border.insert_range(last->getOperands());
    int64_t total = 0;
    for (Value value : border)
      total += cost(value);
    if (total <= limit)
      best = ops.size();
  }
  hoisted.insert_range(ops.getArrayRef().take_front(best));
}

bool Rewriter::visitElementwise(Operation *op) {
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
bool Rewriter::visitGroup(IsolatedGroupOp op) {
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

bool Rewriter::visitConcat(ConcatOp op) {
  Permutation perm = commonOrder(op.getInputs(), op);
  if (isIdentity(perm))
    return false;
  SmallVector<Value> operands = llvm::map_to_vector(
      op.getInputs(), [&](Value operand) { return layouts.in(operand, perm, op.getLoc()); });
  auto concat = cast<ConcatOp>(cloneWith(builder, op, operands, storedType(op, perm)));
  concat.setDim(perm[op.getDim()]);
  layouts.set(op, concat, perm);
  return true;
}

bool Rewriter::visitIndexSelect(IndexSelectOp op) {
  Permutation perm = layouts.perm(op.getInput());
  // Other indices change the rank.
  if (isIdentity(perm) || shapeOf(op.getIndices()).size() != 1)
    return false;
  auto copy = cast<IndexSelectOp>(
      cloneWith(builder, op, {layouts.get(op.getInput()), op.getIndices()}, storedType(op, perm)));
  copy.setDimAttr(builder.getIndexAttr(perm[op.getDim().getSExtValue()]));
  layouts.set(op, copy, perm);
  return true;
}

template <typename Op> Op Rewriter::sameOrder(Op op, ArrayRef<int64_t> perm) {
  auto copy = cast<Op>(cloneWith(builder, op, layouts.get(op.getInput()), storedType(op, perm)));
  layouts.set(op, copy, perm);
  return copy;
}

/// Whether all uses of `value`, directly or through elementwise ops, are products with weights. The
/// columns of `value` may then be permuted together with the rows of the weights.
static bool feedsMatmulsOnly(Value value, const WeightValues &weights) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (auto matmul = dyn_cast<MatmulOp>(use.getOwner()))
      return use.getOperandNumber() == 0 && weights.contains(matmul.getRhs());
    Operation *user = use.getOwner();
    return user->hasTrait<convoy::tcp::Elementwise>() && user->getNumOperands() == 1 &&
           feedsMatmulsOnly(user->getResult(0), weights);
  });
}

bool Rewriter::visitReshape(ReshapeOp op) {
  Value input = op.getInput();
  if (!layouts.has(input) || op.getType().getNumElements() == 0)
    return false;
  Permutation perm = layouts.perm(input);
  ArrayRef<int64_t> from = shapeOf(input), to = op.getType().getShape();
  Value stored = layouts.get(input);
  StoredReshape steps = followReshape(from, to, perm);

  if (!steps.transposed.empty()) {
    // N x C x spatial -> N x features before a matrix product: the rows of the weights are permuted
    // to the stored order instead.
    if (to.size() == 2 && from.size() > 2 && from[0] == to[0] && perm[0] == 0 &&
        feedsMatmulsOnly(op, weights)) {
      Shuffled &entry = shuffled[op];
      entry.shape.assign(from.begin() + 1, from.end());
      for (int64_t dim : toStored(identity(from.size()), perm))
        if (dim != 0)
          entry.transposed.push_back(dim - 1);
      op->setOperand(0, stored);
      return false;
    }
    // The transpose may as well restore the original order, if the ops after it require that.
    if (bytesToTranspose(op, steps.perm, weights) >
        bytesToTranspose(op, identity(to.size()), weights))
      return false;
    SmallVector<int64_t> shape =
        llvm::map_to_vector(steps.transposed, [&](int64_t dim) { return shapeOf(stored)[dim]; });
    stored = TransposeOp::create(builder, op.getLoc(), withShape(stored.getType(), shape), stored,
                                 steps.transposed);
  }
  Value result =
      ReshapeOp::create(builder, op.getLoc(), withShape(op.getType(), steps.shape), stored);
  layouts.set(op, result, steps.perm);
  return true;
}

/// A product with one weight for all of its rows is computed in the order of its left factor,
/// unless more bytes would be transposed after it than before it.
bool Rewriter::keepOrder(MatmulOp op) {
  Permutation perm = layouts.perm(op.getLhs());
  if (isIdentity(perm) || !canKeepOrder(op, perm, weights))
    return false;
  if (bytesToTranspose(op.getOutput(), perm, weights) >
      bytesOf(op.getLhs()) + bytesToTranspose(op.getOutput(), identity(perm.size()), weights))
    return false;
  Value product = cloneWith(builder, op, {layouts.get(op.getLhs()), op.getRhs()},
                            storedType(op.getOutput(), perm))
                      ->getResult(0);
  layouts.set(op.getOutput(), product, perm);
  return true;
}

bool Rewriter::visitMatmul(MatmulOp op) {
  if (keepOrder(op))
    return true;
  auto found = shuffled.find(op.getLhs());
  if (found == shuffled.end())
    return false;
  const Shuffled &order = found->second;
  Value rows = op.getRhs();
  RankedTensorType type = op.getRhs().getType();
  int64_t columns = type.getDimSize(1);
  SmallVector<int64_t> shape(order.shape), perm(order.transposed);
  shape.push_back(columns);
  perm.push_back(perm.size());
  rows = ReshapeOp::create(builder, op.getLoc(), withShape(type, shape), rows);
  SmallVector<int64_t> transposed =
      llvm::map_to_vector(perm, [&](int64_t dim) { return shape[dim]; });
  rows = TransposeOp::create(builder, op.getLoc(), withShape(type, transposed), rows, perm);
  op.getRhsMutable().set(ReshapeOp::create(builder, op.getLoc(), type, rows));
  return false;
}

bool Rewriter::visit(Operation *op) {
  if (auto conv = dyn_cast<ConvOpInterface>(op))
    return visitConv(conv);
  if (op->hasTrait<convoy::tcp::Elementwise>())
    return visitElementwise(op);
  auto order = [&](auto op) { return layouts.perm(op.getInput()); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ConvBackwardDataOp, ConvBackwardFilterOp>([&](auto op) { return visitGradient(op); })
      .Case<MaxPoolOp, AvgPoolOp>([&](auto op) { return visitPool(op); })
      .Case([&](IsolatedGroupOp op) { return visitGroup(op); })
      .Case([&](ConcatOp op) { return visitConcat(op); })
      .Case([&](IndexSelectOp op) { return visitIndexSelect(op); })
      .Case([&](ReshapeOp op) { return visitReshape(op); })
      .Case([&](MatmulOp op) { return visitMatmul(op); })
      .Case([&](TransposeOp op) {
        Permutation perm = order(op);
        Permutation composed = llvm::to_vector<5>(
            llvm::map_range(op.getPerm(), [&](int64_t dim) { return perm[dim]; }));
        layouts.set(op, layouts.get(op.getInput()), composed);
        return true;
      })
      .Case<BroadcastOp, PadOp, SliceOp, ReverseOp, ReduceSumOp, ReduceMeanOp, ReduceMaxOp,
            SoftmaxOp, CumsumOp, CumprodOp, LayerNormOp>([&](auto op) {
        Permutation perm = order(op);
        if (isIdentity(perm))
          return false;
        using Op = decltype(op);
        auto copy = sameOrder(op, perm);
        if constexpr (std::is_same_v<Op, PadOp>) {
          copy.setLow(toStored(op.getLow(), perm));
          copy.setHigh(toStored(op.getHigh(), perm));
          copy.setInterior(toStored(op.getInterior(), perm));
        } else if constexpr (std::is_same_v<Op, SliceOp>) {
          copy.setStarts(toStored(op.getStarts(), perm));
          copy.setSizes(toStored(op.getSizes(), perm));
          copy.setStrides(toStored(op.getStrides(), perm));
        } else if constexpr (std::is_same_v<Op, SoftmaxOp>) {
          copy.setDim(perm[op.getDim()]);
        } else if constexpr (std::is_same_v<Op, CumsumOp> || std::is_same_v<Op, CumprodOp>) {
          copy.setDimAttr(builder.getIndexAttr(perm[op.getDim().getSExtValue()]));
        } else if constexpr (!std::is_same_v<Op, BroadcastOp>) {
          SmallVector<int64_t> dims =
              llvm::map_to_vector(op.getDims(), [&](int64_t dim) { return perm[dim]; });
          llvm::sort(dims);
          copy.setDims(dims);
        }
        return true;
      })
      .Default([](Operation *) { return false; });
}

void Rewriter::run() {
  for (auto conv : block.getOps<ConvOpInterface>())
    if (!conv.getChannelsLast())
      findHoisted(conv);
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
    Rewriter(function, *block).run();
}
