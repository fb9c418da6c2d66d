// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of the tcp ops, for constraints that traits cannot express. Each check has the label of
// its constraint in the op's description.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

static LogicalResult expectShape(Operation *op, Value result, ArrayRef<int64_t> expected) {
  if (shapeOf(result) == expected)
    return success();
  return op->emitOpError() << "expects result shape " << str(expected) << ", but got "
                           << str(shapeOf(result));
}

static LogicalResult expectSpatialRank(Operation *op, StringRef what, Value value,
                                       int64_t spatialRank) {
  int64_t rank = shapeOf(value).size();
  if (rank == spatialRank + 2)
    return success();
  return op->emitOpError() << "expects " << what << " of rank " << spatialRank + 2 << ", but got "
                           << rank;
}

static LogicalResult expectDims(Operation *op, ArrayRef<int64_t> dims, int64_t rank) {
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= rank || (i && dims[i - 1] >= dim))
      return op->emitOpError() << "expects 'dims' sorted, distinct and below " << rank
                               << ", but got " << str(dims);
  return success();
}

//===-- elementwise --------------------------------------------------------===//

// add_c1, sub_c1, mul_c1, div_c1, maximum_c1, minimum_c1, pow_c1, copysign_c1, compare_c1,
// select_c1
LogicalResult convoy::tcp::detail::verifyElementwise(Operation *op) {
  SmallVector<ArrayRef<int64_t>> shapes = llvm::map_to_vector(op->getOperands(), shapeOf);
  FailureOr<SmallVector<int64_t>> expected = broadcastShape(shapes);
  if (failed(expected)) {
    InFlightDiagnostic diag = op->emitOpError("expects dims that are equal or 1, but got shapes ");
    llvm::interleave(
        shapes, [&](ArrayRef<int64_t> shape) { diag << str(shape); }, [&] { diag << " and "; });
    return diag;
  }
  return expectShape(op, op->getResult(0), *expected);
}

LogicalResult GeluOp::verify() {
  // gelu_c1
  StringRef approximate = getApproximateAttr();
  if (!symbolizeGeluApproximation(approximate))
    return emitOpError("expects 'approximate' to be \"none\" or \"tanh\", but got \"")
           << approximate << '"';
  return success();
}

LogicalResult PolynomialOp::verify() {
  // polynomial_c1
  if (getCoefficients().empty())
    return emitOpError("expects at least one number in 'coefficients', but got none");
  return success();
}

LogicalResult ClampOp::verify() {
  // clamp_c1
  if (!getMinFloat() && !getMaxFloat())
    return emitOpError("expects 'min_float', 'max_float' or both, but got neither");
  // clamp_c2
  if (getMinFloat() && getMaxFloat() && *getMinFloat() > *getMaxFloat())
    return emitOpError("expects 'min_float' at most 'max_float', but got ")
           << getMinFloat()->convertToFloat() << " and " << getMaxFloat()->convertToFloat();
  return success();
}

LogicalResult CompareOp::verify() {
  // compare_c2
  StringRef predicate = getPredicateAttr();
  if (!symbolizeComparePredicate(predicate))
    return emitOpError("expects 'predicate' to be eq, ne, lt, le, gt or ge, but got ") << predicate;
  return success();
}

//===-- linear -------------------------------------------------------------===//

static LogicalResult verifyConv(ConvOpInterface op, int64_t spatialRank) {
  // conv_c1
  if (failed(expectSpatialRank(op, "input", op.getInput(), spatialRank)) ||
      failed(expectSpatialRank(op, "weights", op.getWeights(), spatialRank)) ||
      failed(expectSpatialRank(op, "output", op.getOutput(), spatialRank)))
    return failure();
  // conv_c2
  if (failed(expectCount(op, "stride", op.getStride(), spatialRank, 1)) ||
      failed(expectCount(op, "pad", op.getPad(), 2 * spatialRank, 0)) ||
      failed(expectCount(op, "dilation", op.getDilation(), spatialRank, 1)))
    return failure();
  // conv_c3
  int64_t channel = channelDim(spatialRank, op.getChannelsLast());
  int64_t inputChannels = shapeOf(op.getInput())[channel], filters = shapeOf(op.getWeights())[0];
  int64_t weightChannels = shapeOf(op.getWeights())[channel];
  int64_t groups = op.getGroups();
  if (groups < 1 || inputChannels % groups || filters % groups)
    return op->emitOpError() << "expects 'groups' to divide " << inputChannels
                             << " input channels and " << filters << " output channels, but got "
                             << groups;
  if (weightChannels != inputChannels / groups)
    return op->emitOpError() << "expects weights with " << inputChannels / groups << " channels ("
                             << inputChannels << " input channels in " << groups
                             << " groups), but got " << weightChannels;
  // conv_c4
  SmallVector<int64_t> expected =
      convShape(shapeOf(op.getInput()), shapeOf(op.getWeights()), op.getStride(), op.getPad(),
                op.getDilation(), op.getChannelsLast());
  if (llvm::is_contained(expected, 0))
    return op->emitOpError() << "expects a window that fits into the padded input, but got input "
                             << str(shapeOf(op.getInput())) << " and weights "
                             << str(shapeOf(op.getWeights()));
  return expectShape(op, op.getOutput(), expected); // conv_c5
}

LogicalResult Conv1dOp::verify() { return verifyConv(*this, 1); }
LogicalResult Conv2dOp::verify() { return verifyConv(*this, 2); }
LogicalResult Conv3dOp::verify() { return verifyConv(*this, 3); }

LogicalResult ConvTransposeOp::verify() {
  int64_t spatialRank = getStride().size();
  // conv_transpose_c1
  if (spatialRank < 1 || spatialRank > 3)
    return emitOpError("expects 1 to 3 spatial dims in 'stride', but got ") << spatialRank;
  if (failed(expectSpatialRank(*this, "input", getInput(), spatialRank)) ||
      failed(expectSpatialRank(*this, "weights", getWeights(), spatialRank)) ||
      failed(expectSpatialRank(*this, "output", getOutput(), spatialRank)))
    return failure();
  // conv_transpose_c2
  if (failed(expectCount(*this, "stride", getStride(), spatialRank, 1)) ||
      failed(expectCount(*this, "pad", getPad(), 2 * spatialRank, 0)) ||
      failed(expectCount(*this, "output_pad", getOutputPad(), spatialRank, 0)) ||
      failed(expectCount(*this, "dilation", getDilation(), spatialRank, 1)))
    return failure();
  // conv_transpose_c3
  ArrayRef<int64_t> input = shapeOf(getInput()), weights = shapeOf(getWeights());
  int64_t groups = getGroups();
  if (groups < 1 || input[1] % groups)
    return emitOpError("expects 'groups' to divide ")
           << input[1] << " input channels, but got " << groups;
  if (weights[0] != input[1])
    return emitOpError("expects weights whose first dim is ")
           << input[1] << ", the number of input channels, but got " << weights[0];
  // conv_transpose_c4
  SmallVector<int64_t> expected = {input[0], weights[1] * groups};
  for (int64_t i = 0; i < spatialRank; ++i)
    expected.push_back((input[i + 2] - 1) * getStride()[i] - getPad()[2 * i] - getPad()[2 * i + 1] +
                       getDilation()[i] * (weights[i + 2] - 1) + getOutputPad()[i] + 1);
  return expectShape(*this, getOutput(), expected);
}

/// Checks a gradient of the convolution of `input` with `weights`, whose output has the shape of
/// `gradient`.
template <typename GradientOp>
static LogicalResult verifyConvGradient(GradientOp op, Value input, Value weights, Value gradient) {
  int64_t spatialRank = op.getStride().size();
  // conv_backward_data_c1, conv_backward_filter_c1
  if (spatialRank < 1 || spatialRank > 3)
    return op.emitOpError("expects 1 to 3 spatial dims in 'stride', but got ") << spatialRank;
  bool isResult = input == op.getOutput();
  if (failed(expectSpatialRank(op, isResult ? "result" : "input", input, spatialRank)) ||
      failed(expectSpatialRank(op, isResult ? "weights" : "result", weights, spatialRank)) ||
      failed(expectSpatialRank(op, "gradient", gradient, spatialRank)))
    return failure();
  // conv_backward_data_c2, conv_backward_filter_c2
  if (failed(expectCount(op, "stride", op.getStride(), spatialRank, 1)) ||
      failed(expectCount(op, "pad", op.getPad(), 2 * spatialRank, 0)) ||
      failed(expectCount(op, "dilation", op.getDilation(), spatialRank, 1)))
    return failure();
  // conv_backward_data_c3, conv_backward_filter_c3
  int64_t channel = channelDim(spatialRank, op.getChannelsLast()), groups = op.getGroups(),
          inputs = shapeOf(input)[channel], outputs = shapeOf(gradient)[channel];
  if (groups < 1 || inputs % groups || outputs % groups)
    return op.emitOpError("expects 'groups' to divide ")
           << inputs << " input channels and " << outputs << " channels of the gradient, but got "
           << groups;
  if (shapeOf(weights)[channel] != inputs / groups)
    return op.emitOpError("expects weights with ")
           << inputs / groups << " channels (" << inputs << " input channels in " << groups
           << " groups), but got " << shapeOf(weights)[channel];
  // conv_backward_data_c4, conv_backward_filter_c4
  SmallVector<int64_t> expected = convShape(shapeOf(input), shapeOf(weights), op.getStride(),
                                            op.getPad(), op.getDilation(), op.getChannelsLast());
  if (shapeOf(gradient) != ArrayRef(expected) || llvm::is_contained(expected, 0))
    return op.emitOpError("expects a gradient of shape ")
           << str(expected) << ", that of the convolution of " << str(shapeOf(input)) << " with "
           << str(shapeOf(weights)) << ", without empty dims, but got " << str(shapeOf(gradient));
  return success();
}

LogicalResult ConvBackwardDataOp::verify() {
  return verifyConvGradient(*this, getOutput(), getWeights(), getGradient());
}

LogicalResult ConvBackwardFilterOp::verify() {
  return verifyConvGradient(*this, getInput(), getOutput(), getGradient());
}

LogicalResult MatmulOp::verify() {
  ArrayRef<int64_t> lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs());
  size_t rank = lhs.size();
  // matmul_c1
  if (rank < 2)
    return emitOpError("expects operands of rank at least 2, but got ") << rank;
  // matmul_c2
  if (lhs[rank - 1] != rhs[rank - 2])
    return emitOpError("expects the last dim of lhs to equal the second last of rhs, but got ")
           << str(lhs) << " and " << str(rhs);
  // matmul_c3
  FailureOr<SmallVector<int64_t>> expected = broadcastShape({lhs.drop_back(2), rhs.drop_back(2)});
  if (failed(expected))
    return emitOpError("expects batch dims that are equal or 1, but got ")
           << str(lhs) << " and " << str(rhs);
  expected->append({lhs[rank - 2], rhs[rank - 1]});
  return expectShape(*this, getOutput(), *expected);
}

LogicalResult AttentionOp::verify() {
  ArrayRef<int64_t> query = shapeOf(getQuery()), key = shapeOf(getKey()),
                    value = shapeOf(getValue());
  // attention_c1
  bool fits = query.size() == 4 && key.size() == 4 && value.size() == 4 && key[0] == query[0] &&
              key[3] == query[3] && value.drop_back() == key.drop_back() && key[2] > 0;
  if (!fits)
    return emitOpError("expects a query of B x H x M x D, a key of B x G x N x D and a value of "
                       "B x G x N x E, but got ")
           << str(query) << ", " << str(key) << " and " << str(value);
  // attention_c2
  if (key[1] < 1 || query[1] % key[1])
    return emitOpError("expects heads of the key that divide the ")
           << query[1] << " of the query, but got " << key[1];
  // attention_c3
  SmallVector<int64_t> scores = {query[0], query[1], query[2], key[2]};
  if (Value mask = getMask()) {
    auto isBroadcast = [](auto sizes) {
      return std::get<0>(sizes) == 1 || std::get<0>(sizes) == std::get<1>(sizes);
    };
    if (shapeOf(mask).size() != 4 || !llvm::all_of(llvm::zip(shapeOf(mask), scores), isBroadcast))
      return emitOpError("expects a mask whose dims are 1 or those of ")
             << str(scores) << ", but got " << str(shapeOf(mask));
  }
  // attention_c4
  return expectShape(*this, getOutput(), {query[0], query[1], query[2], value[3]});
}

//===-- pooling ------------------------------------------------------------===//

/// Checks a pooling of `input` with the result `output`, or its gradient.
template <typename PoolOp>
static LogicalResult verifyPool(PoolOp op, Value input, Value output, ArrayRef<int64_t> fullPad,
                                ArrayRef<int64_t> dilation) {
  int64_t spatialRank = op.getKernel().size();
  bool isGradient = input == op->getResult(0);
  // max_pool_c1, avg_pool_c1, max_pool_indices_c1, max_pool_backward_c1
  if (spatialRank < 1 || spatialRank > 3)
    return op.emitOpError("expects 1 to 3 numbers in 'kernel', but got ") << spatialRank;
  if (failed(expectSpatialRank(op, isGradient ? "result" : "input", input, spatialRank)))
    return failure();
  // max_pool_c2, avg_pool_c2, max_pool_indices_c2, max_pool_backward_c2
  if (failed(expectCount(op, "kernel", op.getKernel(), spatialRank, 1)) ||
      failed(expectCount(op, "stride", op.getStride(), spatialRank, 1)) ||
      failed(expectCount(op, "pad", fullPad, 2 * spatialRank, 0)) ||
      failed(expectCount(op, "dilation", dilation, spatialRank, 1)))
    return failure();
  SmallVector<int64_t> expected = poolShape(shapeOf(input), op.getKernel(), op.getStride(), fullPad,
                                            dilation, op.getChannelsLast());
  // max_pool_c4, avg_pool_c5, max_pool_indices_c4, max_pool_backward_c4
  if (llvm::is_contained(
          ArrayRef(expected).slice(firstSpatialDim(op.getChannelsLast()), spatialRank), 0))
    return op.emitOpError("expects a window that fits into the padded input, but got input ")
           << str(shapeOf(input)) << " and kernel " << str(op.getKernel());
  // max_pool_c3, avg_pool_c3, max_pool_indices_c3
  if (!isGradient)
    return expectShape(op, output, expected);
  // max_pool_backward_c3
  if (shapeOf(output) != ArrayRef(expected))
    return op.emitOpError("expects a gradient of shape ")
           << str(expected) << ", but got " << str(shapeOf(output));
  return success();
}

LogicalResult MaxPoolOp::verify() {
  return verifyPool(*this, getInput(), getOutput(), getPad(), getDilation());
}

LogicalResult MaxPoolIndicesOp::verify() {
  return verifyPool(*this, getInput(), getOutput(), getPad(), getDilation());
}

LogicalResult MaxPoolBackwardOp::verify() {
  return verifyPool(*this, getOutput(), getGradient(), getPad(), getDilation());
}

LogicalResult AvgPoolOp::verify() {
  // avg_pool_c2
  int64_t spatialRank = getKernel().size();
  if (failed(expectCount(*this, "ceil_pad", getCeilPad(), spatialRank, 0)) ||
      failed(expectCount(*this, "pad", getPad(), 2 * spatialRank, 0)))
    return failure();
  // avg_pool_c4
  if (getDivisor() && *getDivisor() == 0)
    return emitOpError("expects a nonzero 'divisor', but got 0");
  return verifyPool(*this, getInput(), getOutput(), withCeilPad(getPad(), getCeilPad()),
                    SmallVector<int64_t>(spatialRank, 1));
}

//===-- reduction ----------------------------------------------------------===//

template <typename ReduceOp> static LogicalResult verifyReduce(ReduceOp op) {
  SmallVector<int64_t> expected(shapeOf(op.getInput()));
  if (failed(expectDims(op, op.getDims(), expected.size()))) // reduce_c1
    return failure();
  for (int64_t dim : op.getDims())
    expected[dim] = 1;
  return expectShape(op, op.getOutput(), expected); // reduce_c2
}

LogicalResult ReduceSumOp::verify() { return verifyReduce(*this); }
LogicalResult ReduceMeanOp::verify() { return verifyReduce(*this); }
LogicalResult ReduceMaxOp::verify() { return verifyReduce(*this); }

LogicalResult SoftmaxOp::verify() {
  // softmax_c1
  int64_t rank = shapeOf(getInput()).size(), dim = static_cast<int64_t>(getDim());
  if (dim < 0 || dim >= rank)
    return emitOpError("expects 'dim' in 0 to ") << rank - 1 << ", but got " << dim;
  return success();
}

LogicalResult LayerNormOp::verify() {
  return expectDims(*this, getDims(), shapeOf(getInput()).size()); // layer_norm_c1
}

//===-- shape --------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  // reshape_c1
  int64_t from = getInput().getType().getNumElements(), to = getOutput().getType().getNumElements();
  if (from != to)
    return emitOpError("expects a result of ") << from << " elements, but got " << to;
  return success();
}

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput());
  // transpose_c1
  SmallVector<int64_t> sorted(getPerm());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, input.size())))
    return emitOpError("expects 'perm' to be a permutation of ")
           << input.size() << " dims, but got " << str(getPerm());
  // transpose_c2
  return expectShape(*this, getOutput(),
                     llvm::map_to_vector(getPerm(), [&](int64_t dim) { return input[dim]; }));
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput());
  // slice_c1
  if (failed(expectCount(*this, "starts", getStarts(), input.size(), 0)) ||
      failed(expectCount(*this, "sizes", getSizes(), input.size(), 1)) ||
      failed(expectCount(*this, "strides", getStrides(), input.size(), 1)))
    return failure();
  // slice_c2
  for (auto [size, start, count, stride] :
       llvm::zip_equal(input, getStarts(), getSizes(), getStrides()))
    if (start + (count - 1) * stride >= size)
      return emitOpError("expects a slice inside ")
             << str(input) << ", but got starts " << str(getStarts()) << ", sizes "
             << str(getSizes()) << ", strides " << str(getStrides());
  return expectShape(*this, getOutput(), getSizes()); // slice_c3
}

LogicalResult PadOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput());
  constexpr int64_t any = std::numeric_limits<int64_t>::min();
  // pad_c1
  if (failed(expectCount(*this, "low", getLow(), input.size(), any)) ||
      failed(expectCount(*this, "high", getHigh(), input.size(), any)) ||
      failed(expectCount(*this, "interior", getInterior(), input.size(), 0)))
    return failure();
  // pad_c2
  SmallVector<int64_t> expected;
  for (auto [size, low, high, interior] :
       llvm::zip_equal(input, getLow(), getHigh(), getInterior()))
    expected.push_back(size + low + high + (size ? size - 1 : 0) * interior);
  if (llvm::any_of(expected, [](int64_t dim) { return dim < 0; }))
    return emitOpError("expects non-negative result dims, but got ") << str(expected);
  return expectShape(*this, getOutput(), expected);
}

LogicalResult BroadcastOp::verify() {
  // broadcast_c1
  for (auto [from, to] : llvm::zip_equal(shapeOf(getInput()), shapeOf(getOutput())))
    if (from != to && from != 1)
      return emitOpError("expects input dims equal to the result's or 1, but got ")
             << str(shapeOf(getInput())) << " and " << str(shapeOf(getOutput()));
  return success();
}

LogicalResult ReverseOp::verify() {
  return expectDims(*this, getDims(), shapeOf(getInput()).size());
} // reverse_c1

LogicalResult ConcatOp::verify() {
  // concat_c1; a trait checks that there is an input.
  SmallVector<int64_t> expected(shapeOf(getInputs().front()));
  int64_t dim = static_cast<int64_t>(getDim()), rank = expected.size();
  if (dim < 0 || dim >= rank)
    return emitOpError("expects 'dim' in 0 to ") << rank - 1 << ", but got " << dim;
  // concat_c2
  expected[dim] = 0;
  for (Value input : getInputs()) {
    SmallVector<int64_t> rest(shapeOf(input));
    expected[dim] += rest[dim];
    rest[dim] = expected[dim];
    if (rest != expected)
      return emitOpError("expects inputs with equal dims except dim ")
             << dim << ", but got " << str(shapeOf(getInputs().front())) << " and "
             << str(shapeOf(input));
  }
  return expectShape(*this, getOutput(), expected);
}

//===-- indices ------------------------------------------------------------===//

static LogicalResult expectDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError() << "expects 'dim' below the rank " << rank << " of the input, but got "
                           << dim;
}

LogicalResult IotaOp::verify() {
  // iota_c1
  size_t rank = shapeOf(getOutput()).size();
  if (getDim().uge(rank))
    return emitOpError("expects 'dim' below the rank ")
           << rank << ", but got " << getDim().getZExtValue();
  return success();
}

LogicalResult IndexSelectOp::verify() {
  // index_select_c1
  ArrayRef<int64_t> input = shapeOf(getInput());
  int64_t dim = getDim().getSExtValue();
  if (failed(expectDim(*this, dim, input.size())))
    return failure();
  // index_select_c2
  SmallVector<int64_t> expected(input.take_front(dim));
  llvm::append_range(expected, shapeOf(getIndices()));
  llvm::append_range(expected, input.drop_front(dim + 1));
  return expectShape(*this, getOutput(), expected);
}

/// Whether the indices have the rank of the input, and each dim except `dim` fits.
static bool fitsExcept(int64_t dim, ArrayRef<int64_t> indices, ArrayRef<int64_t> input,
                       llvm::function_ref<bool(int64_t index, int64_t size)> fits) {
  if (indices.size() != input.size())
    return false;
  return llvm::all_of(llvm::enumerate(indices, input), [&](auto each) {
    auto [i, index, size] = each;
    return int64_t(i) == dim || fits(index, size);
  });
}

LogicalResult GatherOp::verify() {
  // gather_c1
  ArrayRef<int64_t> input = shapeOf(getInput()), indices = shapeOf(getIndices());
  int64_t dim = getDim().getSExtValue();
  if (failed(expectDim(*this, dim, input.size())))
    return failure();
  // gather_c2
  if (!fitsExcept(dim, indices, input, std::less_equal<int64_t>()))
    return emitOpError("expects indices of the input's rank, and at most its size in each dim "
                       "except dim ")
           << dim << ", but got " << str(indices) << " for " << str(input);
  // gather_c3
  return expectShape(*this, getOutput(), indices);
}

LogicalResult ArgsortOp::verify() {
  // argsort_c1
  ArrayRef<int64_t> input = shapeOf(getInput());
  if (input.empty())
    return emitOpError("expects an input of rank at least 1, but got 0");
  // argsort_c2
  if (input.back() > std::numeric_limits<int32_t>::max())
    return emitOpError("expects less than 2^31 elements in the last dim, but got ") << input.back();
  return success();
}

LogicalResult ScatterOp::verify() {
  // scatter_c1
  ArrayRef<int64_t> input = shapeOf(getInput()), indices = shapeOf(getIndices());
  int64_t dim = getDim().getSExtValue();
  if (failed(expectDim(*this, dim, input.size())))
    return failure();
  // scatter_c2
  auto broadcasts = [](int64_t index, int64_t size) { return index == 1 || index == size; };
  if (!fitsExcept(dim, indices, input, broadcasts))
    return emitOpError("expects indices of the input's rank, whose dims except dim ")
           << dim << " are 1 or the input's, but got " << str(indices) << " for " << str(input);
  // scatter_c3
  SmallVector<int64_t> expected(input);
  expected[dim] = indices[dim];
  if (shapeOf(getUpdates()) != ArrayRef(expected))
    return emitOpError("expects updates of shape ")
           << str(expected) << ", but got " << str(shapeOf(getUpdates()));
  // scatter_c5
  StringRef kind = getKindAttr();
  if (!symbolizeScatterKind(kind))
    return emitOpError("expects 'kind' to be set, add, mul, max or min, but got ") << kind;
  // scatter_c4
  return expectShape(*this, getOutput(), input);
}

//===-- groups -------------------------------------------------------------===//

LogicalResult IsolatedGroupOp::verify() {
  Block &body = getBody().front();
  // isolated_group_c1
  if (body.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("expects block arguments with the operands' types: ")
           << getInputs().getTypes() << ", but got " << body.getArgumentTypes();
  // isolated_group_c2
  if (!isa<YieldOp>(body.back()))
    return emitOpError("expects a body that ends in 'tcp.yield'");
  return success();
}

LogicalResult IsolatedGroupOp::verifyRegions() {
  // isolated_group_c2
  auto yield = cast<YieldOp>(getBody().front().back());
  if (yield.getResults().getTypes() != getOutputs().getTypes())
    return emitOpError("expects 'tcp.yield' with the results' types: ")
           << getOutputs().getTypes() << ", but got " << yield.getResults().getTypes();
  return success();
}
