// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds the anchor of a `cudnn.graph` and the role of each operation around it.

#include "passes/fusion/GraphForm.h"

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

static TensorDescType typeOf(Value value) { return cast<TensorDescType>(value.getType()); }

/// Whether a tensor is a matrix or a batch of matrices. Their channels are the last dim.
static bool isMatrix(TensorDescType type) { return type.getRank() <= 3 && type.isRowMajor(); }

static Layout layoutOf(TensorDescType type) {
  return isMatrix(type)          ? Layout::RowMajor
         : type.isChannelsLast() ? Layout::ChannelsLast
                                 : Layout::ChannelsFirst;
}

//===-- anchors ----------------------------------------------------------------------------===//

/// Conv1d includes convolutions over two spatial dims of which only the first has size 1, to which
/// convolutions over one dim are converted.
static Anchor anchorOf(ConvolutionOp conv) {
  if (conv.getMode() != ConvolutionMode::Fprop) {
    Anchor first = conv.getMode() == ConvolutionMode::Dgrad ? Anchor::Dgrad1d : Anchor::Wgrad1d;
    return static_cast<Anchor>(static_cast<int64_t>(first) + conv.getSpatialRank() - 1);
  }
  if (conv.getSpatialRank() == 3)
    return Anchor::Conv3d;
  if (conv.getSpatialRank() == 1)
    return Anchor::Conv1d;
  auto isFlat = [&](int64_t dim) {
    return llvm::all_of(ValueRange{conv.getX(), conv.getW(), conv.getY()},
                        [&](Value value) { return typeOf(value).getShape()[dim] == 1; });
  };
  return isFlat(2) && !isFlat(3) ? Anchor::Conv1d : Anchor::Conv2d;
}

static std::optional<Anchor> anchorOf(ResampleOp pool) {
  auto isZero = [](int64_t value) { return value == 0; };
  if (pool->getNumResults() != 1)
    return std::nullopt;
  switch (pool.getMode()) {
  case ResampleMode::Maxpool:
    return Anchor::MaxPool;
  case ResampleMode::AvgpoolExcludePadding:
    return Anchor::AvgPool;
  case ResampleMode::AvgpoolIncludePadding: {
    bool isWhole =
        ArrayRef<int64_t>(pool.getWindow()) == typeOf(pool.getX()).getShape().drop_front(2) &&
        llvm::all_of(pool.getPrePadding(), isZero) && llvm::all_of(pool.getPostPadding(), isZero);
    return isWhole ? Anchor::Mean : Anchor::AvgPool;
  }
  default:
    return std::nullopt;
  }
}

/// The query for `op`, or std::nullopt if it is not an anchor.
static std::optional<SupportQuery> queryOf(Operation *op) {
  SupportQuery query;
  if (auto conv = dyn_cast<ConvolutionOp>(op)) {
    if (conv.hasGroupDim() || op->getNumOperands() != 2)
      return std::nullopt;
    ArrayRef<int64_t> x = conv.getInputType().getShape(), w = conv.getFilterType().getShape();
    query.anchor = anchorOf(conv);
    query.channels = w[1];
    query.taps = llvm::product_of(w.drop_front(2));
    query.filters = w[0] * w[1] / x[1];
    query.channelGroups = w[1] == x[1] ? ChannelGroups::None
                          : w[1] == 1  ? ChannelGroups::Depthwise
                                       : ChannelGroups::Grouped;
  } else if (auto matmul = dyn_cast<MatmulOp>(op)) {
    if (op->getNumOperands() != 2)
      return std::nullopt;
    query.anchor = Anchor::Matmul;
    query.channels = typeOf(op->getOperand(0)).getShape().back();
  } else if (auto pool = dyn_cast<ResampleOp>(op)) {
    std::optional<Anchor> anchor = anchorOf(pool);
    if (!anchor)
      return std::nullopt;
    query.anchor = *anchor;
  } else {
    return std::nullopt;
  }
  TensorDescType type = typeOf(op->getOperand(0));
  query.layout = query.anchor == Anchor::Matmul ? Layout::RowMajor
                 : type.isChannelsLast()        ? Layout::ChannelsLast
                                                : Layout::ChannelsFirst;
  query.dtype = type.getElementType();
  query.rank = type.getRank();
  return query;
}

//===-- roles ------------------------------------------------------------------------------===//

static ReluKind reluOf(PointwiseOp op) {
  auto number = [](std::optional<APFloat> value) { return value ? value->convertToDouble() : 0.0; };
  if (number(op.getLowerClipSlope()) != 0.0)
    return ReluKind::Leaky;
  if (number(op.getLowerClip()) != 0.0)
    return ReluKind::Clamp;
  return op.getUpperClip() ? ReluKind::Clip : ReluKind::Relu;
}

static Extent extentOf(ArrayRef<int64_t> other, ArrayRef<int64_t> result, int64_t channelDim) {
  if (other.size() != result.size())
    return Extent::Broadcast;
  // Which dims are broadcast: the batch, the channels, some and all of the others.
  bool batch = other[0] != result[0], channel = other[channelDim] != result[channelDim];
  bool isOne = true, some = false, all = true;
  for (auto [i, sizes] : llvm::enumerate(llvm::zip(other, result))) {
    auto [size, full] = sizes;
    isOne &= size == 1;
    if (i == 0 || static_cast<int64_t>(i) == channelDim)
      continue;
    some |= size != full;
    all &= size == 1;
  }
  // Several are true where the result has dims of size 1. Channel comes first because precompiled
  // kernels support it.
  if (!channel && all && other[0] == 1)
    return Extent::Channel;
  if (other == result)
    return Extent::Full;
  if (isOne)
    return Extent::One;
  if (!batch && !some)
    return Extent::Pixels;
  return !batch && !channel && all ? Extent::Gate : Extent::Broadcast;
}

namespace {

/// Finds the role of each operation of a graph.
class Matcher {
public:
  Matcher(GraphOp graph, std::string &reason) : body(graph.getBody().front()), reason(reason) {}
  std::optional<GraphForm> match();

private:
  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }
  bool findAnchor();
  void findPositions();
  bool addStep(PointwiseOp op);
  /// Whether `value` is in the chain of operations at `position`. The chain begins with the
  /// anchor's result in an epilogue, and otherwise with the argument that the first operation
  /// reads.
  bool isInChain(Value value, Position position) const;
  /// Finds the role of `op`, if any. Returns false with the reason if `op` is not supported.
  bool matchRole(PointwiseOp op, Position position, std::optional<Role> &role);

  Block &body;
  std::string &reason;
  GraphForm form;
  /// The operations that the anchor depends on, and those that depend on it.
  llvm::SmallPtrSet<Operation *, 8> before, after;
  /// Arguments that the chains of a position begin with.
  llvm::SmallDenseMap<Position, llvm::SmallDenseSet<Value>> sources;
};

} // namespace

bool Matcher::findAnchor() {
  for (Operation &op : body.without_terminator()) {
    if (isa<PointwiseOp, ConstantOp>(op))
      continue;
    std::optional<SupportQuery> query = queryOf(&op);
    if (!query || form.anchor)
      return refuse("expects one convolution, gradient of a convolution, matrix product or pooling "
                    "and pointwise operations around it");
    form.anchor = &op;
    form.query = *query;
  }
  return true;
}

void Matcher::findPositions() {
  SmallVector<Value> inputs;
  if (form.anchor) {
    after.insert(form.anchor);
    inputs.push_back(form.anchor->getOperand(0));
  }
  while (!inputs.empty())
    if (Operation *op = inputs.pop_back_val().getDefiningOp();
        op && !isa<ConstantOp>(op) && before.insert(op).second)
      llvm::append_range(inputs, op->getOperands());
  auto isAfter = [&](Value value) { return after.contains(value.getDefiningOp()); };
  for (Operation &op : body.without_terminator())
    if (!isa<ConstantOp>(op) && (!form.anchor || llvm::any_of(op.getOperands(), isAfter)))
      after.insert(&op);
}

bool Matcher::isInChain(Value value, Position position) const {
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto found = sources.find(position);
    return found != sources.end() && found->second.contains(value);
  }
  switch (position) {
  case Position::Prologue:
    return before.contains(op);
  case Position::Operand:
    return isa<PointwiseOp>(op) && !before.contains(op) && !after.contains(op);
  case Position::Epilogue:
    return after.contains(op);
  }
  llvm_unreachable("unknown position");
}

bool Matcher::matchRole(PointwiseOp op, Position position, std::optional<Role> &role) {
  StringRef mode = stringifyPointwiseMode(op.getMode());
  Role found{position, op.getMode()};
  if (op.getInputs().size() == 1) {
    if (op.getMode() == PointwiseMode::ReluFwd)
      found.relu = reluOf(op);
    // An identity that only rounds to the graph's type has no role.
    if (op.getMode() != PointwiseMode::Identity ||
        typeOf(op.getY()).getElementType() != form.query.dtype)
      role = found;
    return true;
  }
  if (op.getInputs().size() != 2)
    return refuse("pointwise " + mode + " has no role in the support table");
  Value first = op.getInputs()[0], second = op.getInputs()[1];
  bool commutes = op.getMode() == PointwiseMode::Add || op.getMode() == PointwiseMode::Mul ||
                  op.getMode() == PointwiseMode::Max || op.getMode() == PointwiseMode::Min;
  ArrayRef<int64_t> result = typeOf(op.getY()).getShape();
  // Without an anchor there is no chain before its first operation.
  bool startsChain = !form.anchor && typeOf(first).getShape() == result;
  if (!isInChain(first, position) && !startsChain) {
    if (!commutes)
      return refuse(mode + ": the value computed in the graph must be the first operand");
    std::swap(first, second);
  }
  if (typeOf(first).getShape() != result)
    return refuse(mode + ": broadcasts the value computed in the graph");
  int64_t channel = isMatrix(typeOf(op.getY())) ? typeOf(op.getY()).getRank() - 1 : 1;
  bool isVirtual = isInChain(second, position) && typeOf(second).getShape() == result;
  found.extent = second.getDefiningOp<ConstantOp>() ? Extent::Scalar
                 : isVirtual ? Extent::Virtual
                             : extentOf(typeOf(second).getShape(), result, channel);
  role = found;
  return true;
}

bool Matcher::addStep(PointwiseOp op) {
  Position position = before.contains(op)  ? Position::Prologue
                      : after.contains(op) ? Position::Epilogue
                                           : Position::Operand;
  for (Value input : op.getInputs())
    if (position != Position::Prologue && before.contains(input.getDefiningOp()))
      return refuse("a value before the anchor is also used after it");
  // The first operation of a chain defines its source, the first operand.
  if (!llvm::any_of(op.getInputs(), [&](Value value) { return isInChain(value, position); }))
    sources[position].insert(op.getInputs().front());
  std::optional<Role> role;
  if (!matchRole(op, position, role))
    return false;
  form.steps.push_back({op, role});
  return true;
}

std::optional<GraphForm> Matcher::match() {
  if (!findAnchor())
    return std::nullopt;
  Value result = body.getTerminator()->getOperand(0);
  if (!form.anchor) {
    auto first = *body.getOps<PointwiseOp>().begin();
    form.query.dtype = typeOf(first.getInputs().front()).getElementType();
    form.query.layout = layoutOf(typeOf(result));
  }
  findPositions();
  for (Operation &op : body.without_terminator()) {
    if (op.use_empty())
      return refuse("the result of an operation has no uses"), std::nullopt;
    if (auto step = dyn_cast<PointwiseOp>(op); step && !addStep(step))
      return std::nullopt;
  }
  bool single = body.getTerminator()->getNumOperands() == 1 && result.hasOneUse() &&
                after.contains(result.getDefiningOp());
  if (!single)
    return refuse("expects the last operation's result as the only result"), std::nullopt;
  for (Value operand : form.anchor ? form.anchor->getOperands().drop_front() : ValueRange())
    if (operand.getDefiningOp())
      return refuse("the anchor's second operand is computed in the graph"), std::nullopt;
  return std::move(form);
}

std::optional<GraphForm> matchGraph(GraphOp graph, std::string &reason) {
  return Matcher(graph, reason).match();
}

} // namespace convoy
