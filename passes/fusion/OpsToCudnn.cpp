// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/fusion/OpsToCudnn.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Support/DebugStringHelper.h"
#include "passes/common/Groups.h"
#include "passes/fusion/GroupConverter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using convoy::cudnn::PointwiseMode;
using convoy::cudnn::TensorDescType;

namespace convoy {

namespace {

/// An op that becomes one pointwise operation with the same operands.
struct PlainOp {
  StringLiteral op;
  PointwiseMode mode;
};

constexpr PlainOp kPlainOps[] = {
    {tcp::AbsOp::getOperationName(), PointwiseMode::Abs},
    {tcp::NegOp::getOperationName(), PointwiseMode::Neg},
    {tcp::ExpOp::getOperationName(), PointwiseMode::Exp},
    {tcp::LogOp::getOperationName(), PointwiseMode::Log},
    {tcp::SqrtOp::getOperationName(), PointwiseMode::Sqrt},
    {tcp::RsqrtOp::getOperationName(), PointwiseMode::Rsqrt},
    {tcp::ErfOp::getOperationName(), PointwiseMode::Erf},
    {tcp::ReciprocalOp::getOperationName(), PointwiseMode::Reciprocal},
    {tcp::SigmoidOp::getOperationName(), PointwiseMode::SigmoidFwd},
    {tcp::TanhOp::getOperationName(), PointwiseMode::TanhFwd},
    {tcp::SiluOp::getOperationName(), PointwiseMode::SwishFwd},
    {tcp::AddOp::getOperationName(), PointwiseMode::Add},
    {tcp::MulOp::getOperationName(), PointwiseMode::Mul},
    {tcp::DivOp::getOperationName(), PointwiseMode::Div},
};

/// Modes of the ops that `convertOp` has a case for.
constexpr PointwiseMode kOtherModes[] = {PointwiseMode::Sub,      PointwiseMode::Max,
                                         PointwiseMode::Min,      PointwiseMode::ReluFwd,
                                         PointwiseMode::EluFwd,   PointwiseMode::GeluFwd,
                                         PointwiseMode::Identity, PointwiseMode::GeluApproxTanhFwd};

} // namespace

static bool isZero(int64_t value) { return value == 0; }

ArrayRef<PointwiseMode> groupModes() {
  static const SmallVector<PointwiseMode> modes = [] {
    auto list = llvm::map_to_vector(kPlainOps, [](const PlainOp &plain) { return plain.mode; });
    llvm::append_range(list, kOtherModes);
    return SmallVector<PointwiseMode>(list);
  }();
  return modes;
}

bool GroupConverter::findAnchor() {
  for (Operation *op : group.ops) {
    if (!isAnchor(op))
      continue;
    if (anchor) {
      reason = ("more than one anchor: " + anchor->getName().stripDialect() + " and " +
                op->getName().stripDialect())
                   .str();
      return false;
    }
    anchor = op;
  }
  if (!anchor) {
    reason = "no anchor: no convolution, gradient of one, matrix product, pooling or spatial mean";
    return false;
  }
  channelsLast =
      llvm::TypeSwitch<Operation *, bool>(anchor)
          .Case<tcp::ConvOpInterface, tcp::ConvBackwardDataOp, tcp::ConvBackwardFilterOp,
                tcp::MaxPoolOp, tcp::AvgPoolOp>([](auto op) { return op.getChannelsLast(); })
          .Case([](tcp::ReduceMeanOp op) { return llvm::is_contained(op.getDims(), 1); })
          .Default([](Operation *) { return false; });
  return true;
}

bool GroupConverter::checkTypes(Operation *op) {
  Type dtype = getElementTypeOrSelf(anchor->getOperand(0).getType());
  size_t rank = tcp::shapeOf(anchor->getResult(0)).size();
  bool isCast = isa<tcp::CastOp>(op);
  if (op != anchor && !op->hasTrait<tcp::Elementwise>())
    return refuse(op, "not elementwise"), false;
  for (Value value :
       llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults()))) {
    Type type = getElementTypeOrSelf(value.getType());
    if (!cudnn::isElementType(type))
      return refuse(op, "expects an element type of cuDNN, but got " + debugString(type)), false;
    if (llvm::any_of(tcp::shapeOf(value), isZero))
      return refuse(op, "cuDNN has no empty tensors"), false;
    if (!isa<FloatType>(type))
      return refuse(op, isCast ? "expects a float result" : "expects floats"), false;
    // Virtual tensors are f32, so a cast between other ops would not round.
    bool isLast = isCast && op == group.ops.back() && value.getDefiningOp() == op;
    if (type != dtype && !isLast)
      return refuse(op, isCast ? "a cast must be the last op of the group" : "follows a cast"),
             false;
    if (op != anchor && tcp::shapeOf(value).size() != rank)
      return refuse(op, "expects operands of the anchor's rank"), false;
  }
  // A tensor descriptor has at most 8 dims.
  return rank <= 8 || (refuse(op, "expects at most 8 dims, but got " + Twine(rank)), false);
}

TensorDescType GroupConverter::descOf(Value value, Type elementType) const {
  SmallVector<int64_t> shape(tcp::shapeOf(value));
  if (isa<tcp::MatmulOp>(anchor)) {
    // cuDNN's matmul expects batches of matrices.
    shape.insert(shape.begin(), std::max<int64_t>(0, 3 - static_cast<int64_t>(shape.size())), 1);
    return TensorDescType::get(shape, elementType, /*channelsLast=*/false);
  }
  if (channelsLast)
    std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
  // With a convolution over one dim cuDNN fuses only bias and relu, over two dims everything. The
  // memory is the same.
  if (auto conv = dyn_cast<tcp::ConvOpInterface>(anchor); conv && conv.getSpatialRank() == 1)
    shape.insert(shape.begin() + 2, 1);
  return TensorDescType::get(shape, elementType, channelsLast);
}

TensorDescType GroupConverter::resultType(Operation *op) const {
  Value result = op->getResult(0);
  bool isStored = op == group.ops.back() || result == anchor->getOperand(0);
  return isStored ? descOf(result) : descOf(result, f32);
}

Value GroupConverter::createNumber(Operation *op, FloatAttr number) {
  // The compute type represents every number of a narrower type.
  bool losesInfo = false;
  APFloat value = number.getValue();
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
  SmallVector<int64_t> ones(descOf(op->getResult(0)).getRank(), 1);
  return cudnn::ConstantOp::create(builder, op->getLoc(),
                                   TensorDescType::get(ones, f32, /*channelsLast=*/false),
                                   FloatAttr::get(f32, value));
}

Value GroupConverter::lookup(Operation *op, Value operand) {
  if (FloatAttr number = numberOf(operand))
    return createNumber(op, number);
  if (operand.getDefiningOp<arith::ConstantOp>())
    return refuse(op, "a constant operand that is not a scalar");
  return values.lookup(operand);
}

Value GroupConverter::convertPointwise(Operation *op) {
  TensorDescType type = resultType(op);
  SmallVector<Value, 2> inputs;
  for (Value operand : op->getOperands()) {
    inputs.push_back(lookup(op, operand));
    if (!inputs.back())
      return {};
  }
  auto number = [&](double value) { return builder.getF64FloatAttr(value); };
  auto bound = [&](PointwiseMode mode) {
    cudnn::PointwiseOp pointwise = create(op, mode, inputs, type);
    // PyTorch propagates NaN; cuDNN's default does not.
    pointwise.setNanPropagation(cudnn::NanPropagation::PropagateNan);
    return pointwise;
  };
  for (const PlainOp &plain : kPlainOps)
    if (op->getName().getStringRef() == plain.op)
      return create(op, plain.mode, inputs, type);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](tcp::SubOp sub) -> Value {
        auto isInside = [&](Value operand) {
          return llvm::is_contained(group.ops, operand.getDefiningOp());
        };
        if (isInside(sub.getLhs()) || !isInside(sub.getRhs()))
          return create(op, PointwiseMode::Sub, inputs, type);
        // cuDNN requires the value of the chain as the first operand. a - b and -b + a are equal.
        Value negated = create(op, PointwiseMode::Neg, inputs[1], descOf(sub.getRhs(), f32));
        return create(op, PointwiseMode::Add, {negated, inputs[0]}, type);
      })
      .Case([&](tcp::MaximumOp) { return bound(PointwiseMode::Max); })
      .Case([&](tcp::MinimumOp) { return bound(PointwiseMode::Min); })
      .Case([&](tcp::CastOp) { return create(op, PointwiseMode::Identity, inputs, type); })
      .Case([&](tcp::GeluOp gelu) {
        return create(op,
                      gelu.getApproximate() == tcp::GeluApproximation::Tanh
                          ? PointwiseMode::GeluApproxTanhFwd
                          : PointwiseMode::GeluFwd,
                      inputs, type);
      })
      .Case([&](tcp::EluOp elu) {
        cudnn::PointwiseOp pointwise = create(op, PointwiseMode::EluFwd, inputs, type);
        pointwise.setEluAlphaAttr(number(elu.getAlpha().convertToDouble()));
        return pointwise;
      })
      .Case([&](tcp::LeakyReluOp leaky) {
        cudnn::PointwiseOp pointwise = create(op, PointwiseMode::ReluFwd, inputs, type);
        pointwise.setLowerClipSlopeAttr(number(leaky.getNegativeSlope().convertToDouble()));
        return pointwise;
      })
      .Case([&](tcp::ClampOp clamp) -> Value {
        if (!clamp.getMinFloat()) { // relu_fwd always has a lower bound
          inputs.push_back(createNumber(op, clamp.getMaxFloatAttr()));
          return bound(PointwiseMode::Min);
        }
        cudnn::PointwiseOp pointwise = create(op, PointwiseMode::ReluFwd, inputs, type);
        pointwise.setLowerClipAttr(number(clamp.getMinFloat()->convertToDouble()));
        if (clamp.getMaxFloat())
          pointwise.setUpperClipAttr(number(clamp.getMaxFloat()->convertToDouble()));
        return pointwise;
      })
      .Default([&](Operation *) { return refuse(op, "not an operation that cuDNN fuses"); });
}

Value GroupConverter::convertOp(Operation *op) {
  return op == anchor ? convertAnchor() : convertPointwise(op);
}

cudnn::GraphOp GroupConverter::convert(StringRef name) {
  if (!findAnchor() || !checkTypes(anchor))
    return nullptr;
  for (Operation *op : group.ops)
    if (!checkTypes(op))
      return nullptr;
  auto arguments =
      llvm::map_to_vector(group.inputs, [&](Value value) -> Type { return descOf(value); });
  Value result = group.ops.back()->getResult(0);
  auto graph = cudnn::GraphOp::create(builder, anchor->getLoc(), name,
                                      builder.getFunctionType(arguments, descOf(result)));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&graph.getBody().front());
  values.map(group.inputs.getArrayRef(), graph.getArguments());
  for (Operation *op : group.ops) {
    Value converted = convertOp(op);
    if (!converted) {
      graph->erase();
      return nullptr;
    }
    values.map(op->getResult(0), converted);
  }
  cudnn::ReturnOp::create(builder, group.ops.back()->getLoc(), values.lookup(result));
  return graph;
}

cudnn::GraphOp convertGroup(OpBuilder &builder, StringRef name, const GroupOps &group,
                            std::string &reason) {
  return GroupConverter(builder, group, reason).convert(name);
}

} // namespace convoy
