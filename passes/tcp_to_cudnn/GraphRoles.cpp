#include "passes/tcp_to_cudnn/GraphRoles.h"
#include "passes/common/Groups.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

static TensorDescType typeOf(Value value) { return cast<TensorDescType>(value.getType()); }

/// Whether a tensor is one of matrices, whose channels are the last dim.
static bool isMatrix(TensorDescType type) { return type.getRank() <= 3 && type.isRowMajor(); }

static std::string reluRole(PointwiseOp op) {
  auto number = [](std::optional<APFloat> value) { return value ? value->convertToDouble() : 0.0; };
  if (number(op.getLowerClipSlope()) != 0.0)
    return "leaky_relu";
  if (number(op.getLowerClip()) != 0.0)
    return "clamp";
  return op.getUpperClip() ? "relu_clip" : "relu";
}

/// The role of `op` on `running`; nothing when the table has none for it.
static std::optional<std::string> roleOf(PointwiseOp op, Value running, int64_t channel,
                                         Type dtype) {
  if (op.getInputs().size() == 1) {
    switch (op.getMode()) {
    case PointwiseMode::Identity:
      return typeOf(op.getY()).getElementType() == dtype ? "" : "cast";
    case PointwiseMode::ReluFwd:
      return reluRole(op);
    case PointwiseMode::SwishFwd:
      return "silu";
    case PointwiseMode::GeluApproxTanhFwd:
      return "gelu_tanh";
    default:
      StringRef mode = stringifyPointwiseMode(op.getMode());
      mode.consume_back("_fwd");
      return mode.str();
    }
  }
  bool isFirst = op.getInputs()[0] == running;
  bool commutes = op.getMode() == PointwiseMode::Add || op.getMode() == PointwiseMode::Mul;
  if (op.getInputs().size() != 2 || (!isFirst && !commutes))
    return std::nullopt;
  Extent extent = extentOf(typeOf(op.getInputs()[isFirst ? 1 : 0]).getShape(),
                           typeOf(op.getY()).getShape(), channel);
  StringRef mode = op.getMode() == PointwiseMode::Max   ? "maximum"
                   : op.getMode() == PointwiseMode::Min ? "minimum"
                                                        : stringifyPointwiseMode(op.getMode());
  return binaryRole(mode, extent);
}

static SupportQuery queryOf(Operation *anchor, std::string &name) {
  SupportQuery query;
  query.role = "anchor";
  if (auto conv = dyn_cast<ConvolutionOp>(anchor)) {
    ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = conv.getW().getType().getShape();
    name = "conv" + std::to_string(conv.getSpatialRank()) + "d";
    query.layout = conv.getX().getType().isChannelsLast() ? "channels_last" : "channels_first";
    query.channels = w[1];
    query.channelGroups = w[1] == x[1] ? "none" : w[1] == 1 ? "depthwise" : "grouped";
  } else {
    name = "matmul";
    query.layout = "row_major";
    query.channels = typeOf(anchor->getOperand(0)).getShape().back();
  }
  query.dtype = typeOf(anchor->getOperand(0)).getElementType();
  query.rank = typeOf(anchor->getOperand(0)).getRank();
  return query;
}

/// Adds `op` as the next of `chain`, after `running`, which becomes its result.
static bool addStep(PointwiseOp op, Value &running, Type dtype, SmallVectorImpl<GraphStep> &chain,
                    std::string &reason) {
  if (!llvm::is_contained(op.getInputs(), running)) {
    reason = "its operations are not one chain";
    return false;
  }
  TensorDescType type = typeOf(op.getY());
  int64_t channel = isMatrix(type) ? type.getRank() - 1 : 1;
  std::optional<std::string> role = roleOf(op, running, channel, dtype);
  if (!role) {
    reason =
        ("pointwise " + stringifyPointwiseMode(op.getMode()) + " has no role in the support table")
            .str();
    return false;
  }
  chain.push_back({op, *role});
  running = op.getY();
  return true;
}

std::optional<GraphRoles> matchRoles(GraphOp graph, std::string &reason) {
  GraphRoles roles;
  Block &body = graph.getBody().front();
  for (Operation &op : body.without_terminator()) {
    auto conv = dyn_cast<ConvolutionOp>(op);
    bool isAnchor = (conv && conv.getMode() == ConvolutionMode::Fprop && !conv.hasGroupDim()) ||
                    isa<MatmulOp>(op);
    if ((!isAnchor && !isa<PointwiseOp>(op)) ||
        (isAnchor && (roles.anchor || op.getNumOperands() != 2))) {
      reason = "it is not one forward convolution or matrix product between pointwise operations";
      return std::nullopt;
    }
    if (isAnchor)
      roles.anchor = &op;
  }
  Operation *first = roles.anchor ? roles.anchor : &body.front();
  if (roles.anchor)
    roles.query = queryOf(roles.anchor, roles.anchorName);
  else
    roles.query.dtype = typeOf(first->getOperand(0)).getElementType();
  Type dtype = roles.query.dtype;
  Value running = body.front().getOperand(0);
  for (Operation &op : body.without_terminator()) {
    auto &chain =
        roles.anchor && op.isBeforeInBlock(roles.anchor) ? roles.prologue : roles.epilogue;
    if (&op == roles.anchor && &op != &body.front() && op.getOperand(0) != running) {
      reason = "its operations are not one chain";
      return std::nullopt;
    }
    if (&op == roles.anchor)
      running = op.getResult(0);
    else if (!addStep(cast<PointwiseOp>(op), running, dtype, chain, reason))
      return std::nullopt;
    if (!running.hasOneUse()) {
      reason = "a value in between has several uses";
      return std::nullopt;
    }
  }
  if (!roles.anchor)
    roles.query.layout = isMatrix(typeOf(running))          ? "row_major"
                         : typeOf(running).isChannelsLast() ? "channels_last"
                                                            : "channels_first";
  return roles;
}

static std::string joined(ArrayRef<GraphStep> chain) {
  SmallVector<StringRef> names;
  for (const GraphStep &step : chain)
    if (!step.role.empty())
      names.push_back(step.role);
  return llvm::join(names, "+");
}

std::string GraphRoles::pattern() const {
  SmallVector<std::string> parts = {joined(prologue), anchorName, joined(epilogue)};
  llvm::erase_if(parts, [](const std::string &part) { return part.empty(); });
  return llvm::join(parts, "+");
}

std::optional<std::string> GraphRoles::refuse(const SupportTable &table) const {
  if (!anchor) {
    for (const GraphStep &step : epilogue) {
      PointwiseOp op = step.op;
      // The section of the table has operands like the result; of others cuDNN 9.19 takes one
      // number a channel.
      if (StringRef role = step.role; role.ends_with("gate") || role.ends_with("_broadcast"))
        return (role + ": cuDNN takes pointwise operations alone with operands like the result, or "
                       "with one number a channel")
            .str();
      if (auto reason = table.refusePointwise(stringifyPointwiseMode(op.getMode()), query.dtype,
                                              query.layout))
        return reason;
    }
    return std::nullopt;
  }
  std::string after;
  auto ask = [&](const std::string &role) {
    SupportQuery asked = query;
    asked.anchor = anchorName;
    asked.role = role;
    asked.after = after;
    return table.refuse(asked);
  };
  if (auto reason = ask("anchor"))
    return reason;
  for (const GraphStep &step : prologue)
    if (auto reason = step.role.empty() ? std::nullopt : ask("prologue_" + step.role))
      return reason;
  for (const GraphStep &step : epilogue) {
    if (step.role.empty())
      continue;
    if (auto reason = ask(step.role))
      return reason;
    after += (after.empty() ? "" : "+") + step.role;
  }
  return std::nullopt;
}

} // namespace convoy
