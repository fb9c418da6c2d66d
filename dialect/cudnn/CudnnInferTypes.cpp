// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Result type inference, with the same shape functions as the verifiers. An inferred type is packed
// and has the memory order and the element type of the corresponding operand; explicit types may
// differ in everything but the shape. Vectorized types are not inferred.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

using Types = SmallVectorImpl<Type>;

bool convoy::cudnn::haveInferredShapes(TypeRange inferred, TypeRange types) {
  auto haveOneShape = [](auto pair) {
    auto [a, b] = pair;
    return cast<TensorDescType>(a).getLogicalShape() == cast<TensorDescType>(b).getLogicalShape();
  };
  return inferred.size() <= types.size() &&
         llvm::all_of(llvm::zip_first(inferred, types), haveOneShape);
}

static TensorDescType typeOf(Value value) { return cast<TensorDescType>(value.getType()); }

/// A tensor type of `shape` with the channel order of `operand`, and its element type unless
/// `elementType` is given.
static TensorDescType like(Value operand, ArrayRef<int64_t> shape, Type elementType = {}) {
  TensorDescType type = typeOf(operand);
  bool channelsLast = type.getRank() > 2 && !type.isRowMajor() && type.getStrides()[1] == 1;
  return TensorDescType::get(shape, elementType ? elementType : type.getElementType(),
                             channelsLast);
}

static TensorDescType rowMajorLike(Value operand, ArrayRef<int64_t> shape) {
  return TensorDescType::get(shape, typeOf(operand).getElementType(), /*channelsLast=*/false);
}

/// Reports that the result shape cannot be inferred; the op's verifier would reject the op too.
template <typename Op> static LogicalResult refuse(std::optional<Location> location) {
  return emitOptionalError(location, "'", Op::getOperationName(),
                           "' op expects operands and attributes that determine the result shape");
}

/// Appends the type of a result of `shape` to `types`, or reports that there is no shape.
template <typename Op>
static LogicalResult append(std::optional<Location> location, Value operand,
                            FailureOr<SmallVector<int64_t>> shape, Types &types) {
  if (failed(shape))
    return refuse<Op>(location);
  types.push_back(like(operand, *shape));
  return success();
}

//===-- convolutions, products, windows ------------------------------------===//

LogicalResult ConvolutionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor op, Types &types) {
  if (op.getMode() != ConvolutionMode::Fprop)
    return emitOptionalError(
        location, "'", getOperationName(), "' op expects an explicit result type with mode ",
        stringifyConvolutionMode(op.getMode()), ", where several result shapes are possible");
  SmallVector<int64_t> input = typeOf(op.getX()).getLogicalShape(),
                       filter = typeOf(op.getW()).getLogicalShape();
  return append<ConvolutionOp>(location, op.getX(),
                               convolutionShape(input, filter, op.getSpatialStride(),
                                                op.getPrePadding(), op.getPostPadding(),
                                                op.getDilation()),
                               types);
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor op, Types &types) {
  FailureOr<SmallVector<int64_t>> shape = matmulShape(shapeOf(op.getA()), shapeOf(op.getB()));
  if (failed(shape))
    return refuse<MatmulOp>(location);
  types.push_back(rowMajorLike(op.getA(), *shape));
  return success();
}

/// The index is a result only if the caller gives its type.
LogicalResult ResampleOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor op, Types &types) {
  return append<ResampleOp>(location, op.getX(),
                            resampleShape(shapeOf(op.getX()), op.getWindow(), op.getStride(),
                                          op.getPrePadding(), op.getPostPadding(),
                                          static_cast<int64_t>(op.getDenominator())),
                            types);
}

LogicalResult MoeGroupedMatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                   Adaptor op, Types &types) {
  ArrayRef<int64_t> token = shapeOf(op.getToken()), weight = shapeOf(op.getWeight()), index;
  bool gathers = op.getMode() == MoeMode::Gather;
  if (gathers && op.getTokenIndex())
    index = shapeOf(op.getTokenIndex());
  if (token.size() != 3 || weight.size() != 3 || (gathers && index.size() != 3))
    return refuse<MoeGroupedMatmulOp>(location);
  types.push_back(rowMajorLike(op.getToken(), moeShape(token, weight, index)));
  return success();
}

/// The statistics are a result only if the caller gives their type.
LogicalResult SdpaForwardOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor op, Types &types) {
  ArrayRef<int64_t> q = shapeOf(op.getQ()), v = shapeOf(op.getV());
  if (q.size() != 4 || v.size() != 4)
    return refuse<SdpaForwardOp>(location);
  types.push_back(rowMajorLike(op.getQ(), attentionShape(q, v)));
  return success();
}

//===-- pointwise operations, data movement --------------------------------===//

LogicalResult PointwiseOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor op, Types &types) {
  SmallVector<SmallVector<int64_t>> logical = llvm::map_to_vector(
      op.getInputs(), [](Value value) { return typeOf(value).getLogicalShape(); });
  SmallVector<ArrayRef<int64_t>> shapes(logical.begin(), logical.end());
  if (shapes.empty() || llvm::any_of(shapes, [&](ArrayRef<int64_t> shape) {
        return shape.size() != shapes.front().size();
      }))
    return refuse<PointwiseOp>(location);
  FailureOr<SmallVector<int64_t>> shape = broadcastShape(shapes);
  if (failed(shape))
    return refuse<PointwiseOp>(location);
  PointwiseMode mode = op.getMode();
  Type element;
  if (mode >= PointwiseMode::CmpEq && mode <= PointwiseMode::LogicalNot)
    element = IntegerType::get(context, 1);
  else if (mode == PointwiseMode::GenIndex)
    element = op.getComputeType();
  auto *whole = llvm::find(shapes, ArrayRef(*shape));
  types.push_back(
      like(op.getInputs()[whole == shapes.end() ? 0 : whole - shapes.begin()], *shape, element));
  return success();
}

LogicalResult PointwiseReluOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                                Types &types) {
  types.push_back(like(op.getX(), shapeOf(op.getX())));
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor op, Types &types) {
  SmallVector<ArrayRef<int64_t>> shapes = llvm::map_to_vector(op.getInputs(), shapeOf);
  auto axis = static_cast<int64_t>(op.getAxis());
  auto isOther = [&](ArrayRef<int64_t> shape) { return shape.size() != shapes.front().size(); };
  if (shapes.empty() || llvm::any_of(shapes, isOther) || axis < 0 ||
      axis >= static_cast<int64_t>(shapes.front().size()))
    return refuse<ConcatOp>(location);
  return append<ConcatOp>(location, op.getInputs().front(), concatShape(shapes, axis), types);
}

LogicalResult BlockScaleDequantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                       Adaptor op, Types &types) {
  types.push_back(like(op.getX(), shapeOf(op.getX()), op.getComputeType()));
  return success();
}

LogicalResult SignalOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                         Types &types) {
  types.push_back(like(op.getX(), shapeOf(op.getX())));
  return success();
}

LogicalResult ContractBandMatrixOp::inferReturnTypes(MLIRContext *,
                                                     std::optional<Location> location, Adaptor op,
                                                     Types &types) {
  ArrayRef<int64_t> x = shapeOf(op.getX());
  auto axis = static_cast<int64_t>(op.getAxis());
  int64_t lower = op.getLowerBandwidth(), upper = op.getUpperBandwidth();
  if (axis < 0 || axis >= static_cast<int64_t>(x.size()) || lower < 0 || upper < 0)
    return refuse<ContractBandMatrixOp>(location);
  return append<ContractBandMatrixOp>(location, op.getX(), bandShape(x, axis, lower, upper), types);
}

//===-- normalizations -----------------------------------------------------===//

/// Shape of the statistics of `x`. Failure if the operands do not determine it: the number of
/// groups, or, without a scale, the normalized dims.
static FailureOr<SmallVector<int64_t>> statisticsShape(NormMode mode, ArrayRef<int64_t> x,
                                                       Value scale) {
  if (x.size() < 2)
    return failure();
  if (mode == NormMode::BatchNorm || mode == NormMode::InstanceNorm)
    return channelShape(x, /*eachImage=*/mode == NormMode::InstanceNorm);
  bool adaptive = mode == NormMode::AdaLayerNorm;
  for (int64_t axis = adaptive ? 2 : 1, rank = x.size();
       axis < rank && scale && isOfTrailingDims(mode); ++axis)
    if (auto [parameters, statistics] = layerNormShapes(x, axis, adaptive);
        shapeOf(scale) == ArrayRef(parameters))
      return statistics;
  return failure();
}

static Type typeOrNull(Value value) { return value ? value.getType() : Type(); }

LogicalResult NormForwardOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location, Adaptor op,
                                              Types &types) {
  ArrayRef<int64_t> x = shapeOf(op.getX());
  types.push_back(like(op.getX(), x));
  if (op.getPhase() == NormForwardPhase::Inference)
    return success();
  FailureOr<SmallVector<int64_t>> shape = statisticsShape(op.getMode(), x, op.getScale());
  if (failed(shape))
    return refuse<NormForwardOp>(location);
  Type element = typeOf(op.getX()).getElementType();
  TensorDescType statistics =
      like(op.getX(), *shape, element.isF64() ? element : Float32Type::get(context));
  types.append({op.getMode() == NormMode::RmsNorm ? Type() : statistics, statistics,
                typeOrNull(op.getInputRunningMean()), typeOrNull(op.getInputRunningVar())});
  return success();
}

/// The gradient of the bias is a result only if the caller gives its type.
LogicalResult NormBackwardOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                               Types &types) {
  types.push_back(like(op.getX(), shapeOf(op.getX())));
  if (op.getScale())
    types.push_back(like(op.getScale(), shapeOf(op.getScale())));
  return success();
}

LogicalResult GenStatsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor op, Types &types) {
  ArrayRef<int64_t> x = shapeOf(op.getX());
  if (x.size() < 2)
    return refuse<GenStatsOp>(location);
  types.append(2, like(op.getX(), channelShape(x), op.getComputeType()));
  return success();
}

LogicalResult BnFinalizeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                             Types &types) {
  types.append(op.getMode() == BnFinalizeMode::Training ? 4 : 2,
               like(op.getScale(), shapeOf(op.getScale())));
  if (op.getMode() == BnFinalizeMode::Training)
    types.append({typeOrNull(op.getPrevRunningMean()), typeOrNull(op.getPrevRunningVar())});
  return success();
}

LogicalResult BnBwdWeightsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                               Types &types) {
  types.append(5, like(op.getScale(), shapeOf(op.getScale())));
  return success();
}
