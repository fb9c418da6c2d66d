#include "passes/tcp_to_cudnn/GraphBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using convoy::cudnn::PointwiseMode;
using convoy::cudnn::TensorDescType;

namespace convoy {

namespace {

class GraphBuilder {
public:
  GraphBuilder(OpBuilder &builder, tcp::IsolatedGroupOp group, const GroupForm &form)
      : builder(builder), group(group), form(form), f32(builder.getF32Type()) {}

  cudnn::GraphOp build(StringRef name);

private:
  TensorDescType descOf(Value value, Type elementType) const;
  TensorDescType descOf(Value value) const {
    return descOf(value, cast<RankedTensorType>(value.getType()).getElementType());
  }
  /// The steps after the anchor in the order in which they are built.
  SmallVector<Step> epilogueOrder() const;
  /// The anchor on values of the graph.
  Value buildAnchor(TensorDescType type);
  Value buildConv(tcp::ConvOpInterface op, TensorDescType type);
  Value buildPool(Operation *op, TensorDescType type);
  /// `step` on `running`. Null when it has no pointwise mode.
  Value buildStep(const Step &step, Value running, TensorDescType type);

  OpBuilder &builder;
  tcp::IsolatedGroupOp group;
  const GroupForm &form;
  Type f32;
  /// Block arguments of the group, and its anchor's first operand, in the graph.
  IRMapping values;
};

} // namespace

TensorDescType GraphBuilder::descOf(Value value, Type elementType) const {
  SmallVector<int64_t> shape(cast<RankedTensorType>(value.getType()).getShape());
  if (form.anchor.name == "matmul") {
    // cuDNN multiplies batches of matrices.
    shape.insert(shape.begin(), std::max<int64_t>(0, 3 - static_cast<int64_t>(shape.size())), 1);
    return TensorDescType::get(shape, elementType, /*channelsLast=*/false);
  }
  bool channelsLast = form.anchor.layout == "channels_last";
  if (channelsLast)
    std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
  // cuDNN fuses nothing but bias and relu with a convolution over one dim, and everything over two.
  // The memory is the same.
  if (form.anchor.name == "conv1d")
    shape.insert(shape.begin() + 2, 1);
  return TensorDescType::get(shape, elementType, channelsLast);
}

SmallVector<Step> GraphBuilder::epilogueOrder() const {
  ArrayRef<Step> steps = form.epilogue;
  if (!form.anchor.name.starts_with("conv"))
    return SmallVector<Step>(steps);
  // A sum is the same in any order, but only convolution, residual, bias, activation has
  // precompiled kernels. Values in between are f32, so that this changes nothing but the rounding
  // of one sum.
  auto sums = steps.take_while(
      [](const Step &step) { return step.role == "bias" || step.role == "residual"; });
  auto isResidual = [](const Step &step) { return step.role == "residual"; };
  SmallVector<Step> ordered;
  llvm::copy_if(sums, std::back_inserter(ordered), isResidual);
  llvm::copy_if(sums, std::back_inserter(ordered),
                [&](const Step &step) { return !isResidual(step); });
  llvm::append_range(ordered, steps.drop_front(sums.size()));
  return ordered;
}

Value GraphBuilder::buildConv(tcp::ConvOpInterface op, TensorDescType type) {
  SmallVector<int64_t> stride(op.getStride()), dilation(op.getDilation()), pre, post;
  for (size_t i = 0; i < op.getPad().size(); i += 2) {
    pre.push_back(op.getPad()[i]);
    post.push_back(op.getPad()[i + 1]);
  }
  if (form.anchor.name == "conv1d") { // as in descOf
    for (SmallVector<int64_t> *numbers : {&stride, &dilation})
      numbers->insert(numbers->begin(), 1);
    for (SmallVector<int64_t> *numbers : {&pre, &post})
      numbers->insert(numbers->begin(), 0);
  }
  return cudnn::ConvolutionOp::create(
      builder, op.getLoc(), type, values.lookup(op.getInput()), values.lookup(op.getWeights()),
      cudnn::ConvolutionMode::Fprop, cudnn::ConvolutionKind::CrossCorrelation, f32, APFloat(1.0),
      APFloat(0.0), /*spatial_dim_count=*/IntegerAttr(), stride, pre, post, dilation);
}

Value GraphBuilder::buildPool(Operation *op, TensorDescType type) {
  using cudnn::PaddingMode;
  using cudnn::ResampleMode;
  Value x = values.lookup(op->getOperand(0));
  auto create = [&](ResampleMode mode, PaddingMode padding, ArrayRef<int64_t> window,
                    ArrayRef<int64_t> stride, ArrayRef<int64_t> pad,
                    ArrayRef<int64_t> extra) -> Value {
    SmallVector<int64_t> pre, post;
    for (size_t i = 0; i < window.size(); ++i) {
      pre.push_back(pad[2 * i]);
      post.push_back(pad[2 * i + 1] + extra[i]);
    }
    return cudnn::ResampleOp::create(builder, op->getLoc(), type, x, mode, f32, window, stride, pre,
                                     post, padding)
        .getY();
  };
  if (auto pool = dyn_cast<tcp::MaxPoolOp>(op)) {
    SmallVector<int64_t> none(pool.getKernel().size());
    return create(ResampleMode::Maxpool, PaddingMode::NegInfPad, pool.getKernel(), pool.getStride(),
                  pool.getPad(), none);
  }
  if (auto pool = dyn_cast<tcp::AvgPoolOp>(op)) {
    bool padded = llvm::any_of(pool.getPad(), [](int64_t size) { return size != 0; });
    ResampleMode mode = pool.getCountIncludePad() && padded ? ResampleMode::AvgpoolIncludePadding
                                                            : ResampleMode::AvgpoolExcludePadding;
    return create(mode, PaddingMode::ZeroPad, pool.getKernel(), pool.getStride(), pool.getPad(),
                  pool.getCeilPad());
  }
  // The mean over all spatial dims: one window as large as they are.
  ArrayRef<int64_t> window = cast<TensorDescType>(x.getType()).getShape().drop_front(2);
  SmallVector<int64_t> one(window.size(), 1), none(2 * window.size());
  return create(ResampleMode::AvgpoolIncludePadding, PaddingMode::ZeroPad, window, one, none,
                ArrayRef(none).take_front(window.size()));
}

Value GraphBuilder::buildAnchor(TensorDescType type) {
  Operation *op = form.anchor.op;
  if (auto conv = dyn_cast<tcp::ConvOpInterface>(op))
    return buildConv(conv, type);
  if (auto matmul = dyn_cast<tcp::MatmulOp>(op))
    return cudnn::MatmulOp::create(builder, op->getLoc(), type, values.lookup(matmul.getLhs()),
                                   values.lookup(matmul.getRhs()), f32);
  return buildPool(op, type);
}

Value GraphBuilder::buildStep(const Step &step, Value running, TensorDescType type) {
  auto create = [&](PointwiseMode mode) {
    SmallVector<Value, 2> inputs = {running};
    if (step.other)
      inputs.push_back(values.lookup(step.other));
    return cudnn::PointwiseOp::create(builder, step.op->getLoc(), type, mode, inputs, f32);
  };
  auto number = [&](double value) { return builder.getF64FloatAttr(value); };
  // As torch does; of itself cuDNN drops NaN.
  auto propagateNan = [](cudnn::PointwiseOp op) {
    op.setNanPropagation(cudnn::NanPropagation::PropagateNan);
    return op;
  };
  return llvm::TypeSwitch<Operation *, Value>(step.op)
      .Case([&](tcp::AddOp) { return create(PointwiseMode::Add); })
      .Case([&](tcp::SubOp) { return create(PointwiseMode::Sub); })
      .Case([&](tcp::MulOp) { return create(PointwiseMode::Mul); })
      .Case([&](tcp::DivOp) { return create(PointwiseMode::Div); })
      .Case([&](tcp::MaximumOp) { return propagateNan(create(PointwiseMode::Max)); })
      .Case([&](tcp::MinimumOp) { return propagateNan(create(PointwiseMode::Min)); })
      .Case([&](tcp::AbsOp) { return create(PointwiseMode::Abs); })
      .Case([&](tcp::NegOp) { return create(PointwiseMode::Neg); })
      .Case([&](tcp::ExpOp) { return create(PointwiseMode::Exp); })
      .Case([&](tcp::LogOp) { return create(PointwiseMode::Log); })
      .Case([&](tcp::SqrtOp) { return create(PointwiseMode::Sqrt); })
      .Case([&](tcp::RsqrtOp) { return create(PointwiseMode::Rsqrt); })
      .Case([&](tcp::ErfOp) { return create(PointwiseMode::Erf); })
      .Case([&](tcp::ReciprocalOp) { return create(PointwiseMode::Reciprocal); })
      .Case([&](tcp::SigmoidOp) { return create(PointwiseMode::SigmoidFwd); })
      .Case([&](tcp::TanhOp) { return create(PointwiseMode::TanhFwd); })
      .Case([&](tcp::SiluOp) { return create(PointwiseMode::SwishFwd); })
      .Case([&](tcp::CastOp) { return create(PointwiseMode::Identity); })
      .Case([&](tcp::GeluOp op) {
        return create(op.getApproximate() == "tanh" ? PointwiseMode::GeluApproxTanhFwd
                                                    : PointwiseMode::GeluFwd);
      })
      .Case([&](tcp::EluOp op) {
        auto elu = create(PointwiseMode::EluFwd);
        elu.setEluAlphaAttr(number(op.getAlpha().convertToDouble()));
        return elu;
      })
      .Case([&](tcp::LeakyReluOp op) {
        auto relu = create(PointwiseMode::ReluFwd);
        relu.setLowerClipSlopeAttr(number(op.getNegativeSlope().convertToDouble()));
        return relu;
      })
      .Case([&](tcp::ClampOp op) -> Value {
        if (!op.getMinFloat())
          return {};
        auto relu = create(PointwiseMode::ReluFwd);
        relu.setLowerClipAttr(number(op.getMinFloat()->convertToDouble()));
        if (op.getMaxFloat())
          relu.setUpperClipAttr(number(op.getMaxFloat()->convertToDouble()));
        return relu;
      })
      .Default([](Operation *) { return Value(); });
}

/// Activations for which cuDNN 9.19 finds no kernel, or an old one alone, when they end a
/// convolution; an identity after them makes it generate one.
static bool wantsIdentity(const Step &step) {
  return step.role == "relu_clip" || step.role == "sigmoid" || step.role == "tanh" ||
         step.role == "elu";
}

cudnn::GraphOp GraphBuilder::build(StringRef name) {
  Block &body = group.getBody().front();
  SmallVector<Type> arguments =
      llvm::map_to_vector(body.getArguments(), [&](Value value) -> Type { return descOf(value); });
  TensorDescType result = descOf(body.getTerminator()->getOperand(0));
  auto graph = cudnn::GraphOp::create(builder, form.anchor.op->getLoc(), name,
                                      builder.getFunctionType(arguments, result));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&graph.getBody().front());
  for (auto [from, to] : llvm::zip(body.getArguments(), graph.getBody().front().getArguments()))
    values.map(from, to);

  // Virtual tensors are f32, but the anchor reads two tensors of one type.
  auto fail = [&](Operation *op) -> cudnn::GraphOp {
    op->emitError("expects an op with a pointwise mode of cuDNN, but got '")
        << op->getName() << "'";
    graph.erase();
    return nullptr;
  };
  Value input = form.anchor.op->getOperand(0);
  if (!form.prologue.empty()) {
    Value running = values.lookup(form.prologue.front().op->getOperand(0));
    for (const Step &step : form.prologue) {
      Value value = step.op->getResult(0);
      running = buildStep(step, running, value == input ? descOf(value) : descOf(value, f32));
      if (!running)
        return fail(step.op);
    }
    values.map(input, running);
  }

  SmallVector<Step> steps = epilogueOrder();
  bool identity = !steps.empty() && form.anchor.name != "matmul" && wantsIdentity(steps.back());
  TensorDescType anchorType = steps.empty() ? result : descOf(form.anchor.op->getResult(0), f32);
  Value running = buildAnchor(anchorType);
  for (const Step &step : steps) {
    bool last = &step == &steps.back() && !identity;
    Operation *op = step.op;
    running = buildStep(step, running, last ? result : descOf(op->getResult(0), f32));
    if (!running)
      return fail(op);
  }
  if (identity)
    running = cudnn::PointwiseOp::create(builder, steps.back().op->getLoc(), result,
                                         PointwiseMode::Identity, running, f32);
  cudnn::ReturnOp::create(builder, group.getLoc(), running);
  return graph;
}

cudnn::GraphOp buildGraph(OpBuilder &builder, StringRef name, tcp::IsolatedGroupOp group,
                          const GroupForm &form) {
  return GraphBuilder(builder, group, form).build(name);
}

} // namespace convoy
