// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pointwise operations. Each check has the label of its constraint in the op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

int64_t convoy::cudnn::pointwiseArity(PointwiseMode mode) {
  switch (mode) {
  case PointwiseMode::Add:
  case PointwiseMode::Mul:
  case PointwiseMode::Min:
  case PointwiseMode::Max:
  case PointwiseMode::AddSquare:
  case PointwiseMode::Div:
  case PointwiseMode::Mod:
  case PointwiseMode::Pow:
  case PointwiseMode::Sub:
  case PointwiseMode::Atan2:
  case PointwiseMode::CmpEq:
  case PointwiseMode::CmpNeq:
  case PointwiseMode::CmpGt:
  case PointwiseMode::CmpGe:
  case PointwiseMode::CmpLt:
  case PointwiseMode::CmpLe:
  case PointwiseMode::LogicalAnd:
  case PointwiseMode::LogicalOr:
    return 2;
  case PointwiseMode::BinarySelect:
    return 3;
  default:
    return isBackward(mode) ? 2 : 1;
  }
}

bool convoy::cudnn::isBackward(PointwiseMode mode) {
  return mode >= PointwiseMode::ReluBwd && mode <= PointwiseMode::GeluApproxTanhBwd;
}

void PointwiseOp::build(OpBuilder &builder, OperationState &state, Type type, PointwiseMode mode,
                        ValueRange inputs, Type computeType) {
  state.addOperands(inputs);
  state.addTypes(type);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.mode = PointwiseModeAttr::get(builder.getContext(), mode);
  properties.compute_type = TypeAttr::get(computeType);
  properties.alpha1 = properties.alpha2 = builder.getF64FloatAttr(1.0);
}

LogicalResult PointwiseOp::verify() {
  PointwiseMode mode = getMode();
  StringRef name = stringifyPointwiseMode(mode);
  // pointwise_c1
  if (static_cast<int64_t>(getInputs().size()) != pointwiseArity(mode))
    return emitOpError("expects ") << pointwiseArity(mode) << " operands with mode " << name
                                   << ", but got " << getInputs().size();
  // pointwise_c2
  if (failed(expectRank(*this, 1, 8)))
    return failure();
  auto logicalShape = [](Value value) {
    return cast<TensorDescType>(value.getType()).getLogicalShape();
  };
  SmallVector<SmallVector<int64_t>> logical = llvm::map_to_vector(getInputs(), logicalShape);
  SmallVector<ArrayRef<int64_t>> shapes(logical.begin(), logical.end());
  FailureOr<SmallVector<int64_t>> expected = broadcastShape(shapes);
  if (failed(expected)) {
    InFlightDiagnostic diag = emitOpError("expects dims that are equal or 1, but got shapes ");
    llvm::interleave(
        shapes, [&](ArrayRef<int64_t> shape) { diag << str(shape); }, [&] { diag << " and "; });
    return diag;
  }
  if (failed(expectShape(*this, "result", logicalShape(getY()), *expected)))
    return failure();
  // pointwise_c3
  auto belongs = [&](StringRef attribute, bool present,
                     ArrayRef<PointwiseMode> modes) -> LogicalResult {
    if (!present || llvm::is_contained(modes, mode))
      return success();
    return emitOpError("expects no '") << attribute << "' with mode " << name;
  };
  const PointwiseMode relu[] = {PointwiseMode::ReluFwd, PointwiseMode::ReluBwd};
  if (failed(belongs("lower_clip", getLowerClip().has_value(), relu)) ||
      failed(belongs("upper_clip", getUpperClip().has_value(), relu)) ||
      failed(belongs("lower_clip_slope", getLowerClipSlope().has_value(), relu)) ||
      failed(belongs("elu_alpha", getEluAlpha().has_value(),
                     {PointwiseMode::EluFwd, PointwiseMode::EluBwd})) ||
      failed(belongs("softplus_beta", getSoftplusBeta().has_value(),
                     {PointwiseMode::SoftplusFwd, PointwiseMode::SoftplusBwd})) ||
      failed(belongs("swish_beta", getSwishBeta().has_value(),
                     {PointwiseMode::SwishFwd, PointwiseMode::SwishBwd})) ||
      failed(belongs("axis", getAxis().has_value(), {PointwiseMode::GenIndex})) ||
      failed(belongs("nan_propagation", getNanPropagation().has_value(),
                     {PointwiseMode::ReluFwd, PointwiseMode::ReluBwd, PointwiseMode::Min,
                      PointwiseMode::Max})))
    return failure();
  int64_t rank = shapeOf(getY()).size();
  if (mode == PointwiseMode::GenIndex && (!getAxis() || static_cast<int64_t>(*getAxis()) < 0 ||
                                          static_cast<int64_t>(*getAxis()) >= rank))
    return emitOpError("expects 'axis' in 0 to ") << rank - 1 << " with mode gen_index";
  // pointwise_c4
  if (getUpperClip() && getLowerClip().value_or(APFloat(0.0)) > *getUpperClip())
    return emitOpError("expects 'lower_clip' at most 'upper_clip', but got ")
           << getLowerClip().value_or(APFloat(0.0)).convertToDouble() << " and "
           << getUpperClip()->convertToDouble();
  // pointwise_c6
  if (getInputs().size() == 1 && !getAlpha2().isExactlyValue(1.0))
    return emitOpError("expects no 'alpha2' with mode ") << name << ", which has one operand";
  return expectComputeType(*this, getComputeType(),
                           {/*integer=*/true, /*boolean=*/true}); // pointwise_c5
}

OpFoldResult PointwiseOp::fold(FoldAdaptor) {
  if (getMode() != PointwiseMode::Identity || !getAlpha1().isExactlyValue(1.0))
    return {};
  Value input = getInputs().front();
  auto producer = input.getDefiningOp<PointwiseOp>();
  // Skip an inner cast that preserves every value.
  if (producer && producer.getMode() == PointwiseMode::Identity &&
      producer.getAlpha1().isExactlyValue(1.0)) {
    auto from = cast<TensorDescType>(producer.getInputs().front().getType()).getElementType();
    if (holds(cast<TensorDescType>(input.getType()).getElementType(), from) &&
        holds(producer.getComputeType(), from)) {
      getInputsMutable().assign(producer.getInputs().front());
      return getY();
    }
  }
  // An identity without conversion. Its operand must be computed in the graph: a cuDNN graph cannot
  // return its arguments. An identity after a clip stays: cuDNN supports a bounded clip after a
  // bias only with it.
  if (input.getType() != getY().getType() || !input.getDefiningOp() ||
      (producer && producer.getUpperClip()))
    return {};
  return input;
}

LogicalResult PointwiseReluOp::verify() {
  // pointwise_relu_c1
  if (failed(expectShape(*this, "result", shapeOf(getY()), shapeOf(getX()))))
    return failure();
  return expectComputeType(*this, getComputeType(), {}); // pointwise_relu_c2
}

LogicalResult PointwiseReluOp::canonicalize(PointwiseReluOp op, PatternRewriter &rewriter) {
  auto relu = PointwiseOp::create(rewriter, op.getLoc(), op.getY().getType(),
                                  PointwiseMode::ReluFwd, op.getX(), op.getComputeType());
  relu.setLowerClipAttr(op.getLowerClipAttr());
  rewriter.replaceOp(op, relu);
  return success();
}
