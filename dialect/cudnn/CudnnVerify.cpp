// What the traits of the cudnn ops cannot say. Each check carries the label of its constraint in the op's description.

#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<TensorDescType>(value.getType()).getShape(); }

static LogicalResult expectShape(Operation *op, StringRef what, ArrayRef<int64_t> actual, ArrayRef<int64_t> expected) {
  if (actual == expected)
    return success();
  return op->emitOpError() << "expects " << what << " of shape " << str(expected) << ", but got " << str(actual);
}

/// One rank for operands and results, inside [low, high].
static LogicalResult expectRank(Operation *op, int64_t low, int64_t high) {
  int64_t rank = shapeOf(op->getResult(0)).size();
  for (Value operand : op->getOperands())
    if (static_cast<int64_t>(shapeOf(operand).size()) != rank)
      return op->emitOpError() << "expects tensors of equal rank, but got " << shapeOf(operand).size() << " and " << rank;
  if (rank < low || rank > high)
    return op->emitOpError() << "expects tensors of rank " << low << " to " << high << ", but got " << rank;
  return success();
}

static LogicalResult expectComputeType(Operation *op, Type type, bool integers, bool booleans = false) {
  if (isa<Float64Type, Float32Type, Float16Type, BFloat16Type>(type) || (integers && type.isSignlessInteger(32)) ||
      (booleans && type.isSignlessInteger(1)))
    return success();
  return op->emitOpError() << "expects compute type f64, f32, f16"
                           << (integers ? (booleans ? ", bf16, i32 or i1" : ", bf16 or i32") : " or bf16") << ", but got " << type;
}

//===-- operations -------------------------------------------------------------------------------------------------------===//

LogicalResult ConvolutionOp::verify() {
  // convolution_c1
  if (failed(expectRank(*this, 3, 5)))
    return failure();
  // convolution_c2
  int64_t spatialRank = getSpatialRank();
  if (failed(expectCount(*this, "spatial_stride", getSpatialStride(), spatialRank, 1)) ||
      failed(expectCount(*this, "pre_padding", getPrePadding(), spatialRank, 0)) ||
      failed(expectCount(*this, "post_padding", getPostPadding(), spatialRank, 0)) ||
      failed(expectCount(*this, "dilation", getDilation(), spatialRank, 1)))
    return failure();
  // convolution_c6
  if (getSpatialDimCount() && *getSpatialDimCount() != static_cast<uint64_t>(spatialRank) &&
      *getSpatialDimCount() != static_cast<uint64_t>(spatialRank + 2))
    return emitOpError("expects 'spatial_dim_count' ")
           << spatialRank << " (or " << spatialRank + 2 << ", the rank), but got " << static_cast<int64_t>(*getSpatialDimCount());
  // convolution_c3
  ArrayRef<int64_t> input = getInputType().getShape(), filter = getFilterType().getShape();
  if (input[1] % filter[1])
    return emitOpError("expects filter channels that divide ") << input[1] << " input channels, but got " << filter[1];
  if (filter[0] % getGroups())
    return emitOpError("expects ") << getGroups() << " groups (" << input[1] << " input channels, " << filter[1]
                                   << " a filter) that divide the output channels, but got " << filter[0];
  // convolution_c4
  SmallVector<int64_t> output = convolutionShape(input, filter, getSpatialStride(), getPrePadding(), getPostPadding(), getDilation());
  if (llvm::is_contained(output, 0))
    return emitOpError("expects a filter that fits into the padded input, but got input ") << str(input) << " and filter " << str(filter);
  if (failed(expectShape(*this, "output", getOutputType().getShape(), output)))
    return failure();
  return expectComputeType(*this, getComputeType(), /*integers=*/true); // convolution_c5
}

LogicalResult MatmulOp::verify() {
  // matmul_c1
  if (failed(expectRank(*this, 3, 8)))
    return failure();
  // matmul_c2
  ArrayRef<int64_t> a = shapeOf(getA()), b = shapeOf(getB());
  size_t rank = a.size();
  if (a[rank - 1] != b[rank - 2])
    return emitOpError("expects the last dim of a to be the second last of b, but got ") << str(a) << " and " << str(b);
  // matmul_c3
  FailureOr<SmallVector<int64_t>> expected = broadcastShape({a.drop_back(2), b.drop_back(2)});
  if (failed(expected))
    return emitOpError("expects batch dims that are equal or 1, but got ") << str(a) << " and " << str(b);
  expected->append({a[rank - 2], b[rank - 1]});
  if (failed(expectShape(*this, "result", shapeOf(getY()), *expected)))
    return failure();
  return expectComputeType(*this, getComputeType(), /*integers=*/true); // matmul_c4
}

LogicalResult PointwiseOp::verify() {
  PointwiseMode mode = getMode();
  StringRef name = stringifyPointwiseMode(mode);
  // pointwise_c1
  if (static_cast<int64_t>(getInputs().size()) != pointwiseArity(mode))
    return emitOpError("expects ") << pointwiseArity(mode) << " operands of " << name << ", but got " << getInputs().size();
  // pointwise_c2
  if (failed(expectRank(*this, 1, 8)))
    return failure();
  SmallVector<ArrayRef<int64_t>> shapes = llvm::map_to_vector(getInputs(), shapeOf);
  FailureOr<SmallVector<int64_t>> expected = broadcastShape(shapes);
  if (failed(expected)) {
    InFlightDiagnostic diag = emitOpError("expects dims that are equal or 1, but got shapes ");
    llvm::interleave(shapes, [&](ArrayRef<int64_t> shape) { diag << str(shape); }, [&] { diag << " and "; });
    return diag;
  }
  if (failed(expectShape(*this, "result", shapeOf(getY()), *expected)))
    return failure();
  // pointwise_c3
  auto belongs = [&](StringRef attribute, bool present, ArrayRef<PointwiseMode> modes) -> LogicalResult {
    if (!present || llvm::is_contained(modes, mode))
      return success();
    return emitOpError("expects no '") << attribute << "' with mode " << name;
  };
  const PointwiseMode relu[] = {PointwiseMode::ReluFwd, PointwiseMode::ReluBwd};
  if (failed(belongs("lower_clip", getLowerClip().has_value(), relu)) || failed(belongs("upper_clip", getUpperClip().has_value(), relu)) ||
      failed(belongs("lower_clip_slope", getLowerClipSlope().has_value(), relu)) ||
      failed(belongs("elu_alpha", getEluAlpha().has_value(), {PointwiseMode::EluFwd, PointwiseMode::EluBwd})) ||
      failed(belongs("softplus_beta", getSoftplusBeta().has_value(), {PointwiseMode::SoftplusFwd, PointwiseMode::SoftplusBwd})) ||
      failed(belongs("swish_beta", getSwishBeta().has_value(), {PointwiseMode::SwishFwd, PointwiseMode::SwishBwd})) ||
      failed(belongs("axis", getAxis().has_value(), {PointwiseMode::GenIndex})))
    return failure();
  int64_t rank = shapeOf(getY()).size();
  if (mode == PointwiseMode::GenIndex && (!getAxis() || static_cast<int64_t>(*getAxis()) < 0 || static_cast<int64_t>(*getAxis()) >= rank))
    return emitOpError("expects 'axis' in 0 to ") << rank - 1 << " with mode gen_index";
  // pointwise_c4
  if (getUpperClip() && getLowerClip().value_or(APFloat(0.0)) > *getUpperClip())
    return emitOpError("expects 'lower_clip' at most 'upper_clip', but got ")
           << getLowerClip().value_or(APFloat(0.0)).convertToDouble() << " and " << getUpperClip()->convertToDouble();
  return expectComputeType(*this, getComputeType(), /*integers=*/true, /*booleans=*/true); // pointwise_c5
}

LogicalResult PointwiseReluOp::verify() {
  // pointwise_relu_c1
  if (failed(expectShape(*this, "result", shapeOf(getY()), shapeOf(getX()))))
    return failure();
  return expectComputeType(*this, getComputeType(), /*integers=*/false); // pointwise_relu_c2
}

LogicalResult ReductionOp::verify() {
  // reduction_c1
  if (failed(expectRank(*this, 1, 8)))
    return failure();
  // reduction_c2
  ArrayRef<int64_t> x = shapeOf(getX()), y = shapeOf(getY());
  for (auto [from, to] : llvm::zip(x, y))
    if (to != from && to != 1)
      return emitOpError("expects result dims that are the operand's or 1, but got ") << str(x) << " and " << str(y);
  if (x == y)
    return emitOpError("expects a reduced dim, but got ") << str(x) << " twice";
  return expectComputeType(*this, getComputeType(), /*integers=*/true); // reduction_c3
}

LogicalResult ResampleOp::verify() {
  // resample_c1
  if (failed(expectRank(*this, 3, 5)))
    return failure();
  // resample_c2
  ArrayRef<int64_t> x = shapeOf(getX()), y = shapeOf(getY());
  int64_t spatialRank = x.size() - 2;
  if (failed(expectCount(*this, "window", getWindow(), spatialRank, 1)) ||
      failed(expectCount(*this, "stride", getStride(), spatialRank, 1)) ||
      failed(expectCount(*this, "pre_padding", getPrePadding(), spatialRank, 0)) ||
      failed(expectCount(*this, "post_padding", getPostPadding(), spatialRank, 0)))
    return failure();
  // resample_c3
  bool pooling = getMode() != ResampleMode::Nearest && getMode() != ResampleMode::Bilinear;
  if (pooling) {
    SmallVector<int64_t> expected =
        windowShape(x, getWindow(), getStride(), getPrePadding(), getPostPadding(), SmallVector<int64_t>(spatialRank, 1));
    if (llvm::is_contained(expected, 0))
      return emitOpError("expects a window that fits into the padded input, but got input ")
             << str(x) << " and window " << str(getWindow());
    if (failed(expectShape(*this, "result", y, expected)))
      return failure();
  } else if (x.take_front(2) != y.take_front(2)) {
    return emitOpError("expects a result with the operand's first two dims, but got ") << str(x) << " and " << str(y);
  }
  // resample_c4
  if ((getMode() == ResampleMode::Maxpool) != (getPaddingMode() == PaddingMode::NegInfPad))
    return emitOpError("expects ") << (getMode() == ResampleMode::Maxpool ? "neg_inf_pad" : "zero_pad or edge_val_pad") << " with mode "
                                   << stringifyResampleMode(getMode()) << ", but got " << stringifyPaddingMode(getPaddingMode());
  return expectComputeType(*this, getComputeType(), /*integers=*/true); // resample_c5
}

//===-- graphs -----------------------------------------------------------------------------------------------------------===//

/// The body of a graph in either form: operations, then a terminator whose operands are computed, each once.
static LogicalResult verifyGraphBody(Operation *op, Block &body) {
  // graph_c2, build_and_exec_graph_c4
  if (llvm::hasSingleElement(body))
    return op->emitOpError("expects at least one operation in its body");
  for (Operation &inner : body.without_terminator())
    if (!isa<ConvolutionOp, MatmulOp, PointwiseOp, PointwiseReluOp, ReductionOp, ResampleOp>(inner))
      return inner.emitOpError("is not an operation of a graph");
  // graph_c3, build_and_exec_graph_c4
  llvm::SmallDenseSet<Value> seen;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    if (isa<BlockArgument>(value))
      return op->emitOpError("expects results that are computed in the graph, but result #") << i << " is an argument";
    if (!seen.insert(value).second)
      return op->emitOpError("expects every value as a result once, but result #") << i << " is a result already";
  }
  return success();
}

LogicalResult GraphOp::verifyType() {
  // graph_c1
  for (auto [i, type] : llvm::enumerate(getArgumentTypes()))
    if (!isa<TensorDescType>(type))
      return emitOpError("expects tensor descriptors as arguments, but argument #") << i << " is " << type;
  for (auto [i, type] : llvm::enumerate(getResultTypes()))
    if (!isa<TensorDescType>(type))
      return emitOpError("expects tensor descriptors as results, but result #") << i << " is " << type;
  if (getResultTypes().empty())
    return emitOpError("expects at least one result, but got none");
  return success();
}

LogicalResult GraphOp::verifyRegions() {
  if (!isa<ReturnOp>(getBody().front().getTerminator()))
    return emitOpError("expects 'cudnn.return' at the end of its body"); // graph_c2
  return verifyGraphBody(*this, getBody().front());
}

LogicalResult ReturnOp::verify() {
  // return_c1
  ArrayRef<Type> expected = cast<GraphOp>((*this)->getParentOp()).getResultTypes();
  if (expected.size() != getOperands().size())
    return emitOpError("expects ") << expected.size() << " operands, but got " << getOperands().size();
  for (auto [i, type] : llvm::enumerate(getOperandTypes()))
    if (type != expected[i])
      return emitOpError("expects operand #") << i << " of type " << expected[i] << ", but got " << type;
  return success();
}

/// `type` as the memory of a tensor of `desc`; `what` and `index` name it in messages.
static LogicalResult expectMemory(Operation *op, StringRef what, int64_t index, ShapedType type, TensorDescType desc) {
  // execute_c3, build_and_exec_graph_c2
  if (type.getElementType() != desc.getElementType())
    return op->emitOpError() << "expects " << what << " #" << index << " of element type " << desc.getElementType() << ", but got "
                             << type.getElementType();
  // execute_c4, build_and_exec_graph_c3
  if (!desc.isPacked())
    return op->emitOpError() << "expects a packed descriptor for " << what << " #" << index << ", but got " << desc;
  if (!desc.isSameMemoryAs(type.getShape()))
    return op->emitOpError() << "expects " << what << " #" << index << " of shape " << str(desc.getPhysicalShape()) << " for " << desc
                             << ", but got " << str(type.getShape());
  return success();
}

LogicalResult ExecuteOp::verify() {
  // execute_c5
  bool tensors = isa<TensorType>(getOutputs().empty() ? (*this)->getOperand(0).getType() : getOutputs().front().getType());
  for (Value operand : (*this)->getOperands()) {
    if (isa<TensorType>(operand.getType()) != tensors)
      return emitOpError("expects tensors or memrefs alone, but got both");
    if (auto memref = dyn_cast<MemRefType>(operand.getType()); memref && !memref.getLayout().isIdentity())
      return emitOpError("expects memrefs of identity layout, but got ") << memref;
  }
  return success();
}

LogicalResult ExecuteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // execute_c1
  auto graph = symbols.lookupNearestSymbolFrom<GraphOp>(*this, getGraphAttr());
  if (!graph)
    return emitOpError("expects the name of a cudnn.graph, but got ") << getGraphAttr();
  auto check = [&](StringRef what, OperandRange operands, ArrayRef<Type> types) -> LogicalResult {
    // execute_c2
    if (operands.size() != types.size())
      return emitOpError("expects ") << types.size() << " " << what << "s for " << getGraphAttr() << ", but got " << operands.size();
    for (auto [i, pair] : llvm::enumerate(llvm::zip(operands, types)))
      if (failed(expectMemory(*this, what, i, cast<ShapedType>(std::get<0>(pair).getType()), cast<TensorDescType>(std::get<1>(pair)))))
        return failure();
    return success();
  };
  if (failed(check("input", getInputs(), graph.getArgumentTypes())))
    return failure();
  return check("output", getOutputs(), graph.getResultTypes());
}

LogicalResult BuildAndExecGraphOp::verifyRegions() {
  Block &body = getBody().front();
  auto build = dyn_cast<BuildGraphOp>(body.getTerminator());
  if (!build)
    return emitOpError("expects 'cudnn.build_graph' at the end of its body"); // build_and_exec_graph_c4
  if (failed(verifyGraphBody(*this, body)))
    return failure();
  auto check = [&](StringRef what, TypeRange types, TypeRange descriptors) -> LogicalResult {
    // build_and_exec_graph_c1
    if (types.size() != descriptors.size())
      return emitOpError("expects ") << types.size() << " descriptors of " << what << "s in its body, but got " << descriptors.size();
    for (auto [i, pair] : llvm::enumerate(llvm::zip(types, descriptors))) {
      auto desc = dyn_cast<TensorDescType>(std::get<1>(pair));
      if (!desc)
        return emitOpError("expects a tensor descriptor for ") << what << " #" << i << ", but got " << std::get<1>(pair);
      if (failed(expectMemory(*this, what, i, cast<ShapedType>(std::get<0>(pair)), desc)))
        return failure();
    }
    return success();
  };
  if (failed(check("input", getInputs().getTypes(), body.getArgumentTypes())))
    return failure();
  return check("output", getOutputs().getTypes(), build.getOperandTypes());
}
