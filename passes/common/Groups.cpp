#include "passes/common/Groups.h"
#include "dialect/tcp/TcpShapes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

SupportQuery Anchor::query(StringRef role, StringRef after) const {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  return {name,     role,       type.getElementType(), layout, type.getRank(), channelGroups,
          channels, after.str()};
}

//===-- anchors
//----------------------------------------------------------------------------------------------------------===//

static StringRef layoutName(bool channelsLast) {
  return channelsLast ? "channels_last" : "channels_first";
}

static Anchor matchConv(ConvOpInterface op) {
  static constexpr StringLiteral names[] = {"conv1d", "conv2d", "conv3d"};
  auto groups = static_cast<int64_t>(op.getGroups());
  int64_t channels = shapeOf(op.getInput())[channelDim(op.getSpatialRank(), op.getChannelsLast())];
  StringRef kind = groups == 1 ? "none" : groups == channels ? "depthwise" : "grouped";
  return {op, names[op.getSpatialRank() - 1], layoutName(op.getChannelsLast()), kind,
          channels / groups};
}

std::optional<Anchor> matchAnchor(Operation *op, std::string &reason) {
  auto isOne = [](int64_t value) { return value == 1; };
  auto isZero = [](int64_t value) { return value == 0; };
  auto isEmpty = [&](Value value) { return llvm::any_of(shapeOf(value), isZero); };
  if (isa<ConvOpInterface, MatmulOp, MaxPoolOp, AvgPoolOp, ReduceMeanOp>(op) &&
      (llvm::any_of(op->getOperands(), isEmpty) || llvm::any_of(op->getResults(), isEmpty))) {
    reason = (op->getName().stripDialect() + ": cuDNN has no tensors without elements").str();
    return std::nullopt;
  }
  if (auto conv = dyn_cast<ConvOpInterface>(op))
    return matchConv(conv);
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return Anchor{op, "matmul", "row_major", "", shapeOf(matmul.getLhs()).back()};
  if (auto pool = dyn_cast<MaxPoolOp>(op)) {
    if (!llvm::all_of(pool.getDilation(), isOne)) {
      reason = "max_pool: cuDNN has no pooling with dilation";
      return std::nullopt;
    }
    return Anchor{op, "max_pool", layoutName(pool.getChannelsLast())};
  }
  if (auto pool = dyn_cast<AvgPoolOp>(op)) {
    if (pool.getDivisor()) {
      reason = "avg_pool: cuDNN has no pooling with a divisor of its own";
      return std::nullopt;
    }
    // Without padding both ways of counting are one; what ceil_pad adds is never counted, as cuDNN
    // does when it excludes padding.
    bool padded = !llvm::all_of(pool.getPad(), isZero);
    if (pool.getCountIncludePad() && padded && !llvm::all_of(pool.getCeilPad(), isZero)) {
      reason = "avg_pool: cuDNN counts all of the padding or none, not the part that ceil_mode "
               "does not add";
      return std::nullopt;
    }
    return Anchor{op, "avg_pool", layoutName(pool.getChannelsLast())};
  }
  if (auto mean = dyn_cast<ReduceMeanOp>(op)) {
    int64_t rank = mean.getType().getRank();
    auto isSpatial = [&](int64_t first) {
      return rank >= 3 && static_cast<int64_t>(mean.getDims().size()) == rank - 2 &&
             mean.getDims().front() == first && mean.getDims().back() == first + rank - 3;
    };
    if (isSpatial(1))
      return Anchor{op, "mean", "channels_last"};
    if (isSpatial(2))
      return Anchor{op, "mean", "channels_first"};
    reason = "reduce_mean: cuDNN takes the mean over the spatial dims, not over others";
  }
  return std::nullopt;
}

//===-- steps
//------------------------------------------------------------------------------------------------------------===//

Extent extentOf(ArrayRef<int64_t> other, ArrayRef<int64_t> running, int64_t channelDim) {
  bool channelOnly = other.size() == running.size(), batchToo = channelOnly;
  for (auto [i, sizes] : llvm::enumerate(llvm::zip(other, running))) {
    auto [size, full] = sizes;
    bool whole = size == full, isChannel = static_cast<int64_t>(i) == channelDim;
    channelOnly &= isChannel ? whole : size == 1;
    batchToo &= isChannel || i == 0 ? whole : size == 1;
  }
  // With one element a channel both are true, and a vector is the better word.
  if (channelOnly)
    return Extent::Channel;
  if (other == running)
    return Extent::Full;
  return batchToo ? Extent::Gate : Extent::Other;
}

std::string binaryRole(StringRef name, Extent extent) {
  bool isSum = name == "add", isProduct = name == "mul";
  switch (extent) {
  case Extent::Full:
    return isSum ? "residual" : isProduct ? "product" : (name + "_full").str();
  case Extent::Channel:
    return isSum ? "bias" : isProduct ? "scale" : (name + "_channel").str();
  case Extent::Gate:
    return isProduct ? "gate" : (name + "_gate").str();
  case Extent::Other:
    return (name + "_broadcast").str();
  }
  llvm_unreachable("an extent has one of these values");
}

static std::string unaryRole(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([](ClampOp op) {
        if (op.isRelu())
          return "relu";
        // Bounds away from zero are not what cuDNN's relu was made for, and nothing vouches for
        // them.
        return op.getMinFloat() && op.getMinFloat()->isZero() ? "relu_clip" : "clamp";
      })
      .Case([](GeluOp op) { return op.getApproximate() == "tanh" ? "gelu_tanh" : "gelu"; })
      .Default([](Operation *op) { return op->getName().stripDialect().str(); });
}

/// `op` with `running` as one operand.
static std::optional<Step> matchStep(const Anchor &anchor, Operation *op, Value running,
                                     std::string &reason) {
  StringRef name = op->getName().stripDialect();
  if (!op->hasTrait<convoy::tcp::Elementwise>()) {
    reason = (name + ": not elementwise").str();
    return std::nullopt;
  }
  if (op->getNumOperands() == 1)
    return Step{op, unaryRole(op), {}};
  if (op->getNumOperands() != 2 || op->getOperand(0) == op->getOperand(1)) {
    reason = (name + ": takes the value of the group more than once, or two others").str();
    return std::nullopt;
  }
  bool second = op->getOperand(1) == running;
  if (second && !op->hasTrait<OpTrait::IsCommutative>()) {
    reason =
        (name + ": the value of the group is its second operand, and cuDNN wants it first").str();
    return std::nullopt;
  }
  Value other = op->getOperand(second ? 0 : 1);
  if (shapeOf(op->getResult(0)) != shapeOf(running)) {
    reason = (name + ": broadcasts the value of the group").str();
    return std::nullopt;
  }
  if (other.getDefiningOp<arith::ConstantOp>()) {
    reason = (name + ": a constant operand, which a graph would take by value").str();
    return std::nullopt;
  }
  int64_t rank = shapeOf(running).size();
  int64_t channel = anchor.layout == "channels_first" ? 1 : rank - 1;
  return Step{op, binaryRole(name, extentOf(shapeOf(other), shapeOf(running), channel)), other};
}

std::optional<Step> matchEpilogue(const Anchor &anchor, Operation *op, Value running,
                                  std::string &reason) {
  if (!anchor.isLinear()) {
    reason = ("after " + anchor.name + ", which is a graph alone").str();
    return std::nullopt;
  }
  if (auto cast = dyn_cast<CastOp>(op); cast && !isa<FloatType>(cast.getType().getElementType())) {
    reason = "cast: to a type that is no float";
    return std::nullopt;
  }
  return matchStep(anchor, op, running, reason);
}

std::optional<Step> matchPrologue(const Anchor &anchor, Operation *op, std::string &reason) {
  if (!anchor.isLinear()) {
    reason = ("before " + anchor.name + ", which is a graph alone").str();
    return std::nullopt;
  }
  std::optional<Step> step =
      matchStep(anchor, op, op->getNumOperands() ? op->getOperand(0) : Value(), reason);
  if (step)
    step->role = "prologue_" + step->role;
  return step;
}

//===-- groups
//-----------------------------------------------------------------------------------------------------------===//

std::string GroupForm::pattern() const {
  std::string text;
  for (const Step &step : prologue)
    text += StringRef(step.role).substr(StringRef("prologue_").size()).str() + "+";
  text += anchor.name;
  return epilogue.empty() ? text : text + "+" + epilogueRoles();
}

std::string GroupForm::epilogueRoles() const {
  return llvm::join(llvm::map_range(epilogue, [](const Step &step) { return step.role; }), "+");
}

std::optional<std::string> GroupForm::refuse(const SupportTable &table) const {
  if (auto reason = table.refuse(anchor.query("anchor")))
    return reason;
  for (const Step &step : prologue)
    if (auto reason = table.refuse(anchor.query(step.role)))
      return reason;
  std::string after;
  for (const Step &step : epilogue) {
    if (auto reason = table.refuse(anchor.query(step.role, after)))
      return reason;
    after += (after.empty() ? "" : "+") + step.role;
  }
  for (const Step &step : epilogue)
    if (step.role == "cast" && &step != &epilogue.back())
      return "cast: the type changes before the end of the group";
  return std::nullopt;
}

std::optional<GroupForm> matchGroup(IsolatedGroupOp group, std::string &reason) {
  Block &body = group.getBody().front();
  GroupForm form;
  size_t matched = 1;
  for (Operation &op : body.without_terminator()) {
    std::optional<Anchor> anchor = matchAnchor(&op, reason);
    if (!reason.empty())
      return std::nullopt;
    if (anchor && form.anchor.op) {
      reason = "more than one anchor: " + form.anchor.name.str() + " and " + anchor->name.str();
      return std::nullopt;
    }
    if (anchor)
      form.anchor = *anchor;
  }
  if (!form.anchor.op) {
    reason = "no anchor: no convolution, matrix product, pooling or spatial mean";
    return std::nullopt;
  }
  for (Operation *op = form.anchor.op->getOperand(0).getDefiningOp(); op;
       op = op->getOperand(0).getDefiningOp(), ++matched) {
    std::optional<Step> step = matchPrologue(form.anchor, op, reason);
    if (!step)
      return std::nullopt;
    form.prologue.insert(form.prologue.begin(), *step);
  }
  Value running = form.anchor.op->getResult(0);
  while (running.hasOneUse() && !isa<YieldOp>(*running.user_begin())) {
    std::optional<Step> step = matchEpilogue(form.anchor, *running.user_begin(), running, reason);
    if (!step)
      return std::nullopt;
    running = step->op->getResult(0);
    form.epilogue.push_back(*step);
    ++matched;
  }
  if (group.getNumResults() != 1 || body.getTerminator()->getOperand(0) != running ||
      !running.hasOneUse()) {
    reason = "the end of the chain after the anchor is not its one result";
    return std::nullopt;
  }
  if (matched != llvm::range_size(body.without_terminator())) {
    reason = "ops beside the chain through the anchor";
    return std::nullopt;
  }
  for (const Step &step : llvm::concat<const Step>(form.prologue, form.epilogue))
    if (step.other && !isa<BlockArgument>(step.other)) {
      reason = "an operand of the chain is computed in the group";
      return std::nullopt;
    }
  return form;
}

void outlineGroup(ArrayRef<Operation *> ops, Location loc, StringRef anchor, const Twine &pattern) {
  llvm::SetVector<Value> inputs;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (!llvm::is_contained(ops, operand.getDefiningOp()))
        inputs.insert(operand);

  Value result = ops.back()->getResult(0);
  OpBuilder builder(ops.back());
  auto group = IsolatedGroupOp::create(builder, loc, result.getType(), inputs.getArrayRef());
  group->setAttr(kAnchorAttr, builder.getStringAttr(anchor));
  group->setAttr(kPatternAttr, builder.getStringAttr(pattern));
  result.replaceAllUsesWith(group.getResult(0));

  Block &body = group.getBody().emplaceBlock();
  for (Operation *op : ops)
    op->moveBefore(&body, body.end());
  for (Value input : inputs) {
    BlockArgument argument = body.addArgument(input.getType(), input.getLoc());
    input.replaceUsesWithIf(argument,
                            [&](OpOperand &use) { return use.getOwner()->getBlock() == &body; });
  }
  builder.setInsertionPointToEnd(&body);
  YieldOp::create(builder, loc, result);
}

} // namespace convoy
