// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/fusion/Attention.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/fusion/StridedView.h"

using namespace mlir;
using convoy::cudnn::PointwiseMode;
using convoy::cudnn::ReductionMode;
using convoy::cudnn::TensorDescType;

namespace convoy {

/// Whether cuDNN reads a tensor of this view: rows are contiguous, and aligned to 16 bytes.
static bool isOperand(const StridedView &view, Value value) {
  int64_t bits = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  auto isAligned = [&](int64_t elements) { return elements * bits % 128 == 0; };
  ArrayRef<int64_t> shape = tcp::shapeOf(value), strides = view.strides;
  bool rows = llvm::all_of(llvm::zip(shape.drop_back(), strides.drop_back()), [&](auto each) {
    return std::get<0>(each) == 1 || isAligned(std::get<1>(each));
  });
  return strides.back() == 1 && isAligned(view.offset) && rows;
}

/// Whether `op` swaps dims of the result of attention, but not its last one.
static bool keepsRows(tcp::TransposeOp op) {
  return op.getPerm().back() == static_cast<int64_t>(op.getPerm().size()) - 1;
}

SmallVector<Operation *> isolateAttention(tcp::AttentionOp op) {
  SmallVector<Operation *> ops;
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands().take_front(3)) {
    StridedView view = stridedViewOf(operand.get(), [](Operation *) { return true; });
    if (view.ops.empty() || !isOperand(view, operand.get()))
      continue;
    IRMapping values;
    for (Operation *each : view.ops)
      ops.push_back(builder.clone(*each, values));
    operand.set(ops.back()->getResult(0));
  }
  ops.push_back(op);
  if (op->hasOneUse())
    if (auto transpose = dyn_cast<tcp::TransposeOp>(*op->user_begin());
        transpose && keepsRows(transpose))
      ops.push_back(transpose);
  return ops;
}

namespace {

/// Builds the graph of one group.
class AttentionBuilder {
public:
  AttentionBuilder(OpBuilder &builder, tcp::AttentionOp op, const GroupOps &group)
      : builder(builder), op(op), group(group), loc(op.getLoc()), f32(builder.getF32Type()) {
    ArrayRef<int64_t> query = tcp::shapeOf(op.getQuery());
    scores = {query[0], query[1], query[2], tcp::shapeOf(op.getKey())[2]};
    sums = {query[0], query[1], query[2], 1};
  }

  std::optional<GroupGraph> build(StringRef name, std::string &reason);

private:
  Type dtype() { return op.getQuery().getType().getElementType(); }
  /// The window, if it hides any score.
  std::optional<int64_t> window() {
    IntegerAttr attr = op.getWindowAttr();
    return attr && attr.getInt() < scores[2] ? std::optional(attr.getInt()) : std::nullopt;
  }
  TensorDescType desc(ArrayRef<int64_t> shape, Type type) const {
    return TensorDescType::get(shape, type, /*channelsLast=*/false);
  }
  /// The type of an operand in the graph, and its argument.
  TensorDescType addArgument(Value operand);
  TensorDescType resultType();

  Value number(double value) {
    return cudnn::ConstantOp::create(builder, loc, desc({1, 1, 1, 1}, f32),
                                     builder.getF32FloatAttr(value));
  }
  Value pointwise(PointwiseMode mode, ValueRange inputs, TensorDescType type) {
    return cudnn::PointwiseOp::create(builder, loc, type, mode, inputs, f32);
  }
  Value scoresOf(PointwiseMode mode, ValueRange inputs) {
    return pointwise(mode, inputs, desc(scores, f32));
  }
  Value reduce(ReductionMode mode, Value x) {
    return cudnn::ReductionOp::create(builder, loc, desc(sums, f32), x, mode, f32,
                                      /*is_deterministic=*/nullptr);
  }
  /// The index of each score along `axis`.
  Value indexOf(Value x, int64_t axis) {
    auto made = cudnn::PointwiseOp::create(builder, loc, desc(scores, builder.getI32Type()),
                                           PointwiseMode::GenIndex, x, builder.getI32Type());
    made.setAxis(axis);
    return made.getY();
  }
  /// `x` where the comparison of `lhs` and `rhs` is true, elsewhere minus infinity.
  Value keepWhere(Value x, PointwiseMode compare, Value lhs, Value rhs);
  Value scale(Value x);
  Value maskCausal(Value x);
  Value maskOutside(Value x, int64_t window);
  /// The softmax of `x` in the type of the operands. Sets `logarithms`.
  Value softmax(Value x);

  OpBuilder &builder;
  tcp::AttentionOp op;
  const GroupOps &group;
  Location loc;
  Type f32;
  SmallVector<int64_t> scores, sums;
  SmallVector<GraphArgument> arguments;
  /// The logarithms of the sums of exponentials. cuDNN 9.19 recognizes attention only with them.
  Value logarithms;
};

} // namespace

TensorDescType AttentionBuilder::addArgument(Value operand) {
  StridedView view =
      stridedViewOf(operand, [&](Operation *each) { return llvm::is_contained(group.ops, each); });
  arguments.push_back({view.base, view.offset});
  // Any stride is right for a dim of size 1. Equal graphs have equal strides.
  ArrayRef<int64_t> shape = tcp::shapeOf(operand);
  int64_t extent = 1;
  for (auto [size, stride] : llvm::zip_equal(shape, view.strides))
    extent = std::max(extent, size == 1 ? 1 : size * stride);
  for (auto [size, stride] : llvm::zip_equal(shape, view.strides))
    stride = size == 1 ? extent : stride;
  return TensorDescType::get(shape, dtype(), view.strides, TensorDescType::kDefaultAlignment);
}

TensorDescType AttentionBuilder::resultType() {
  Value last = group.ops.back()->getResult(0);
  SmallVector<int64_t> strides = computeStrides(tcp::shapeOf(last));
  if (auto transpose = dyn_cast<tcp::TransposeOp>(group.ops.back()))
    applyPermutationToVector(strides, invertPermutationVector(transpose.getPerm()));
  return TensorDescType::get(tcp::shapeOf(op.getOutput()), dtype(), strides,
                             TensorDescType::kDefaultAlignment);
}

Value AttentionBuilder::scale(Value x) {
  double scale = op.getScale().convertToDouble();
  if (!op.getSoftcap())
    return scoresOf(PointwiseMode::Mul, {x, number(scale)});
  double softcap = op.getSoftcap()->convertToDouble();
  x = scoresOf(PointwiseMode::Mul, {x, number(scale / softcap)});
  return scoresOf(PointwiseMode::Mul, {scoresOf(PointwiseMode::TanhFwd, x), number(softcap)});
}

Value AttentionBuilder::keepWhere(Value x, PointwiseMode compare, Value lhs, Value rhs) {
  Value kept = cudnn::PointwiseOp::create(builder, loc, desc(scores, builder.getI1Type()), compare,
                                          ValueRange{lhs, rhs}, builder.getI1Type());
  return scoresOf(PointwiseMode::BinarySelect,
                  {x, number(-std::numeric_limits<double>::infinity()), kept});
}

Value AttentionBuilder::maskCausal(Value x) {
  Value row = indexOf(x, 2), column = indexOf(x, 3);
  return keepWhere(x, PointwiseMode::CmpGe, row, column);
}

Value AttentionBuilder::maskOutside(Value x, int64_t window) {
  Value row = indexOf(x, 2), column = indexOf(x, 3);
  // cudnn-frontend writes the left bound of a band so.
  column = scoresOf(PointwiseMode::Add, {column, number(static_cast<double>(window))});
  return keepWhere(x, PointwiseMode::CmpGt, column, row);
}

Value AttentionBuilder::softmax(Value x) {
  Value most = reduce(ReductionMode::Max, x);
  Value powers = scoresOf(PointwiseMode::Exp, scoresOf(PointwiseMode::Sub, {x, most}));
  Value total = reduce(ReductionMode::Add, powers);
  TensorDescType type = desc(sums, f32);
  logarithms =
      pointwise(PointwiseMode::Add, {most, pointwise(PointwiseMode::Log, total, type)}, type);
  return pointwise(PointwiseMode::Div, {powers, total}, desc(scores, dtype()));
}

std::optional<GroupGraph> AttentionBuilder::build(StringRef name, std::string &reason) {
  auto refuse = [&](const Twine &why) {
    reason = ("attention: " + why).str();
    return std::nullopt;
  };
  for (Operation *each : group.ops)
    if (each != op && !isView(each))
      return refuse("expects no op in its group but views");
  if (group.ops.back() != op && !(isa<tcp::TransposeOp>(group.ops.back()) &&
                                  group.ops.back()->getOperand(0) == op.getOutput()))
    return refuse("expects only a transpose after it");
  if (llvm::is_contained(tcp::shapeOf(op.getQuery()), 0) ||
      llvm::is_contained(tcp::shapeOf(op.getValue()), 0))
    return refuse("cuDNN has no empty tensors");
  // A reduction over one column is not one for cuDNN.
  if (scores.back() == 1)
    return refuse("expects more than one column");

  TensorDescType query = addArgument(op.getQuery()), key = addArgument(op.getKey()),
                 value = addArgument(op.getValue());
  SmallVector<int64_t> shape(key.getShape()), strides(key.getStrides());
  std::swap(shape[2], shape[3]);
  std::swap(strides[2], strides[3]);
  key = TensorDescType::get(shape, dtype(), strides, TensorDescType::kDefaultAlignment);
  SmallVector<Type> types = {query, key, value};
  if (op.getMask()) {
    // Rows of a mask have any number of elements.
    TensorDescType mask = addArgument(op.getMask());
    types.push_back(TensorDescType::get(mask.getShape(), dtype(), mask.getStrides(),
                                        dtype().getIntOrFloatBitWidth() / 8));
  }
  TensorDescType output = resultType();
  OwningOpRef<cudnn::GraphOp> graph = cudnn::GraphOp::create(
      builder, loc, name, builder.getFunctionType(types, {output, desc(sums, f32)}));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&graph->getBody().front());
  Value here = cudnn::MatmulOp::create(builder, loc, desc(scores, f32), graph->getArgument(0),
                                       graph->getArgument(1), f32);
  here = scale(here);
  if (op.getMask())
    here = scoresOf(PointwiseMode::Add, {here, graph->getArgument(3)});
  if (op.getCausal())
    here = maskCausal(here);
  if (std::optional<int64_t> width = window())
    here = maskOutside(here, *width);
  here = cudnn::MatmulOp::create(builder, loc, output, softmax(here), graph->getArgument(2), f32);
  cudnn::ReturnOp::create(builder, loc, {here, logarithms});
  GraphForm form;
  form.attention = {dtype(),
                    std::max(query.getShape()[3], value.getShape()[3]),
                    query.getShape()[3] % 8 == 0 && value.getShape()[3] % 8 == 0,
                    static_cast<bool>(op.getMask()),
                    op.getCausal(),
                    op.getSoftcap().has_value(),
                    window().has_value()};
  return GroupGraph{std::move(graph), std::move(form), std::move(arguments)};
}

std::optional<GroupGraph> buildAttentionGraph(OpBuilder &builder, StringRef name,
                                              tcp::AttentionOp op, const GroupOps &group,
                                              std::string &reason) {
  return AttentionBuilder(builder, op, group).build(name, reason);
}

/// The form of `op` alone, or std::nullopt with the reason in `reason`.
static std::optional<GraphForm> formOf(tcp::AttentionOp op, std::string &reason) {
  // Results of cuDNN 9.19's engines differ, and have infinities and NaN (2 x 2 heads of 140 x 140).
  if (op.getScale().isNegative()) {
    reason = "cuDNN computes wrong results for a negative scale";
    return std::nullopt;
  }
  OpBuilder builder(op.getContext());
  std::optional<GroupGraph> made =
      buildAttentionGraph(builder, "candidate", op, GroupOps::of(op.getOperation()), reason);
  return made ? std::optional(std::move(made->form)) : std::nullopt;
}

std::optional<std::string> refuseAttention(tcp::AttentionOp op, const SupportTable &table) {
  std::string reason;
  std::optional<GraphForm> form = formOf(op, reason);
  return form ? form->refuse(table) : reason;
}

std::optional<std::string> refusePaddedAttention(tcp::AttentionOp op, const SupportTable &table) {
  Type dtype = op.getQuery().getType().getElementType();
  if (!dtype.isF16() && !dtype.isBF16())
    return "only attention in 16-bit floats is padded";
  std::string reason;
  std::optional<GraphForm> form = formOf(op, reason);
  if (!form)
    return reason;
  form->attention->depth = llvm::alignTo(form->attention->depth, kPaddedDepth);
  form->attention->isAligned = true;
  return form->refuse(table);
}

} // namespace convoy
