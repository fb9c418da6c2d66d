// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The shapes of the tcp ops' results, from those of the operands, with the checks of constraints
// between shapes. Each has the label of its constraint in the op's description. The op's verifier
// has checked the attributes.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

LogicalResult convoy::tcp::detail::verifyShape(Operation *op) {
  Symbols none;
  FailureOr<Dims> expected = cast<ShapeOpInterface>(op).inferShape(
      llvm::map_to_vector(op->getOperands(), [](Value value) { return dimsOf(value); }), none);
  if (failed(expected))
    return failure();
  Dims result = dimsOf(op->getResult(0));
  if (none.canBeEqual(*expected, result))
    return success();
  return op->emitOpError() << "expects result shape " << none.str(*expected) << ", but got "
                           << none.str(result);
}

/// One dim of several operands, of which those repeat that have size 1 in their types. Failure if
/// the others differ.
static FailureOr<Dim> broadcastDim(ValueRange operands, ArrayRef<Dims> shapes, unsigned dim,
                                   const Symbols &symbols) {
  std::optional<Dim> result;
  for (auto [operand, shape] : llvm::zip_equal(operands, shapes)) {
    if (shapeOf(operand)[dim] == 1)
      continue;
    FailureOr<Dim> both = result ? symbols.meet(*result, shape[dim]) : shape[dim];
    if (failed(both))
      return failure();
    result = *both;
  }
  return result.value_or(1);
}

//===-- elementwise --------------------------------------------------------===//

// add_c1, sub_c1, mul_c1, div_c1, maximum_c1, minimum_c1, pow_c1, copysign_c1, compare_c1,
// select_c1
FailureOr<Dims> convoy::tcp::detail::inferBroadcast(Operation *op, ArrayRef<Dims> operands,
                                                    const Symbols &symbols) {
  Dims result;
  for (unsigned i = 0; i < operands.front().size(); ++i) {
    FailureOr<Dim> dim = broadcastDim(op->getOperands(), operands, i, symbols);
    if (failed(dim)) {
      InFlightDiagnostic diag =
          op->emitOpError("expects dims that are equal or 1, but got shapes ");
      llvm::interleave(
          operands, [&](const Dims &shape) { diag << symbols.str(shape); },
          [&] { diag << " and "; });
      return diag;
    }
    result.push_back(*dim);
  }
  return result;
}

//===-- linear -------------------------------------------------------------===//

/// Whether a dim is a multiple of `divisor`, as far as it is a number.
static bool isMultiple(Dim dim, int64_t divisor) {
  return !dim.isNumber() || dim.size() % divisor == 0;
}

static bool hasZero(ArrayRef<Dim> dims) {
  return llvm::any_of(dims, [](Dim dim) { return dim.is(0); });
}

static FailureOr<Dims> inferConv(ConvOpInterface op, ArrayRef<Dims> operands,
                                 const Symbols &symbols) {
  // conv_c3
  const Dims &input = operands[0], &weights = operands[1];
  int64_t channel = channelDim(op.getSpatialRank(), op.getChannelsLast()), groups = op.getGroups();
  if (groups < 1 || !isMultiple(input[channel], groups) || !isMultiple(weights[0], groups))
    return op->emitOpError() << "expects 'groups' to divide " << symbols.str(input[channel])
                             << " input channels and " << symbols.str(weights[0])
                             << " output channels, but got " << groups;
  if (!symbols.canBeEqual(weights[channel] * groups, input[channel]))
    return op->emitOpError() << "expects weights with "
                             << symbols.str(floorDiv(input[channel], groups)) << " channels ("
                             << symbols.str(input[channel]) << " input channels in " << groups
                             << " groups), but got " << symbols.str(weights[channel]);
  // conv_c4
  Dims result = convShape(input, weights, op.getStride(), op.getPad(), op.getDilation(),
                          op.getChannelsLast());
  if (hasZero(result))
    return op->emitOpError() << "expects a window that fits into the padded input, but got input "
                             << symbols.str(input) << " and weights " << symbols.str(weights);
  return result; // conv_c5
}

FailureOr<Dims> Conv1dOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  return inferConv(*this, operands, symbols);
}
FailureOr<Dims> Conv2dOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  return inferConv(*this, operands, symbols);
}
FailureOr<Dims> Conv3dOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  return inferConv(*this, operands, symbols);
}

FailureOr<Dims> ConvTransposeOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // conv_transpose_c3
  const Dims &input = operands[0], &weights = operands[1];
  int64_t groups = getGroups();
  if (groups < 1 || !isMultiple(input[1], groups))
    return emitOpError("expects 'groups' to divide ")
           << symbols.str(input[1]) << " input channels, but got " << groups;
  if (!symbols.canBeEqual(weights[0], input[1]))
    return emitOpError("expects weights whose first dim is ")
           << symbols.str(input[1]) << ", the number of input channels, but got "
           << symbols.str(weights[0]);
  // conv_transpose_c4
  Dims result = {input[0], weights[1] * groups};
  for (size_t i = 0; i < getStride().size(); ++i)
    result.push_back((input[i + 2] - 1) * getStride()[i] - getPad()[2 * i] - getPad()[2 * i + 1] +
                     (weights[i + 2] - 1) * getDilation()[i] + getOutputPad()[i] + 1);
  return result;
}

/// The shape of a gradient, of which spatial dims are unknown: several may have one result.
static Dims withUnknownSpace(Dim batch, Dim channels, int64_t spatialRank, bool channelsLast) {
  Dims result(spatialRank + 2, Dim::unknown());
  result[0] = batch;
  result[channelDim(spatialRank, channelsLast)] = channels;
  return result;
}

FailureOr<Dims> ConvBackwardDataOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  int64_t channel = channelDim(getStride().size(), getChannelsLast());
  return withUnknownSpace(operands[0][0], operands[1][channel] * getGroups(), getStride().size(),
                          getChannelsLast());
}

FailureOr<Dims> ConvBackwardFilterOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  int64_t channel = channelDim(getStride().size(), getChannelsLast());
  return withUnknownSpace(operands[1][channel], floorDiv(operands[0][channel], getGroups()),
                          getStride().size(), getChannelsLast());
}

FailureOr<Dims> MatmulOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  const Dims &lhs = operands[0], &rhs = operands[1];
  size_t rank = lhs.size();
  // matmul_c2
  if (!symbols.canBeEqual(lhs[rank - 1], rhs[rank - 2]))
    return emitOpError("expects the last dim of lhs to equal the second last of rhs, but got ")
           << symbols.str(lhs) << " and " << symbols.str(rhs);
  // matmul_c3
  Dims result;
  for (size_t i = 0; i + 2 < rank; ++i) {
    FailureOr<Dim> dim = broadcastDim(getOperands(), operands, i, symbols);
    if (failed(dim))
      return emitOpError("expects batch dims that are equal or 1, but got ")
             << symbols.str(lhs) << " and " << symbols.str(rhs);
    result.push_back(*dim);
  }
  result.append({lhs[rank - 2], rhs[rank - 1]});
  return result;
}

FailureOr<Dims> AttentionOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  const Dims &query = operands[0], &key = operands[1], &value = operands[2];
  auto hasShape = [&](const Dims &dims, ArrayRef<Dim> expected) {
    return symbols.canBeEqual(dims, expected);
  };
  // attention_c1
  bool fits = query.size() == 4 && key.size() == 4 && value.size() == 4 &&
              hasShape(key, {query[0], key[1], key[2], query[3]}) &&
              hasShape(value, {key[0], key[1], key[2], value[3]}) && !key[2].is(0);
  if (!fits)
    return emitOpError("expects a query of B x H x M x D, a key of B x G x N x D and a value of "
                       "B x G x N x E, but got ")
           << symbols.str(query) << ", " << symbols.str(key) << " and " << symbols.str(value);
  // attention_c2
  if (key[1].is(0) || (key[1].isNumber() && !isMultiple(query[1], key[1].size())))
    return emitOpError("expects heads of the key that divide the ")
           << symbols.str(query[1]) << " of the query, but got " << symbols.str(key[1]);
  // attention_c3
  Dims scores = {query[0], query[1], query[2], key[2]};
  if (getMask()) {
    const Dims &mask = operands[3];
    auto isBroadcast = [&](auto sizes) {
      return std::get<0>(sizes).is(1) || symbols.canBeEqual(std::get<0>(sizes), std::get<1>(sizes));
    };
    if (mask.size() != 4 || !llvm::all_of(llvm::zip(mask, scores), isBroadcast))
      return emitOpError("expects a mask whose dims are 1 or those of ")
             << symbols.str(scores) << ", but got " << symbols.str(mask);
  }
  // attention_c4
  return Dims{query[0], query[1], query[2], value[3]};
}

//===-- pooling ------------------------------------------------------------===//

/// The result of a pooling of `input`; an error if a window does not fit.
template <typename PoolOp>
static FailureOr<Dims> inferPool(PoolOp op, const Dims &input, ArrayRef<int64_t> pad,
                                 ArrayRef<int64_t> dilation, const Symbols &symbols) {
  Dims result =
      poolShape(input, op.getKernel(), op.getStride(), pad, dilation, op.getChannelsLast());
  // max_pool_c4, avg_pool_c5, max_pool_indices_c4, max_pool_backward_c4
  if (hasZero(ArrayRef(result).slice(firstSpatialDim(op.getChannelsLast()), op.getKernel().size())))
    return op.emitOpError("expects a window that fits into the padded input, but got input ")
           << symbols.str(input) << " and kernel " << str(op.getKernel());
  return result; // max_pool_c3, avg_pool_c3, max_pool_indices_c3
}

FailureOr<Dims> MaxPoolOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  return inferPool(*this, operands[0], getPad(), getDilation(), symbols);
}

FailureOr<Dims> AvgPoolOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  return inferPool(*this, operands[0], withCeilPad(getPad(), getCeilPad()),
                   SmallVector<int64_t>(getKernel().size(), 1), symbols);
}

FailureOr<Dims> MaxPoolIndicesOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  FailureOr<Dims> result = inferPool(*this, operands[0], getPad(), getDilation(), symbols);
  // max_pool_indices_c3
  if (succeeded(result) && !symbols.canBeEqual(*result, operands[1]))
    return emitOpError("expects maxima of shape ")
           << symbols.str(*result) << ", but got " << symbols.str(operands[1]);
  return result;
}

FailureOr<Dims> MaxPoolBackwardOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  const Dims &gradient = operands[0], &indices = operands[1];
  // max_pool_backward_c3
  if (!symbols.canBeEqual(gradient, indices))
    return emitOpError("expects indices of the gradient's shape ")
           << symbols.str(gradient) << ", but got " << symbols.str(indices);
  FailureOr<Dims> expected =
      inferPool(*this, dimsOf(getOutput()), getPad(), getDilation(), symbols);
  if (succeeded(expected) && !symbols.canBeEqual(*expected, gradient))
    return emitOpError("expects a gradient of shape ")
           << symbols.str(*expected) << ", but got " << symbols.str(gradient);
  if (failed(expected))
    return failure();
  int64_t rank = getKernel().size();
  return withUnknownSpace(gradient[0], gradient[channelDim(rank, getChannelsLast())], rank,
                          getChannelsLast());
}

//===-- reduction ----------------------------------------------------------===//

template <typename ReduceOp> static Dims inferReduce(ReduceOp op, ArrayRef<Dims> operands) {
  Dims result = operands[0];
  for (int64_t dim : op.getDims())
    result[dim] = 1;
  return result; // reduce_c2
}

FailureOr<Dims> ReduceSumOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  return inferReduce(*this, operands);
}
FailureOr<Dims> ReduceMeanOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  return inferReduce(*this, operands);
}
FailureOr<Dims> ReduceMaxOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  return inferReduce(*this, operands);
}

//===-- shape --------------------------------------------------------------===//

FailureOr<Dims> ReshapeOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // reshape_c1
  Dims result = dimsOf(getOutput()), known;
  llvm::copy_if(result, std::back_inserter(known), [](Dim dim) { return dim.isNumber(); });
  Dim from = elementsOf(operands[0]), to = elementsOf(known);
  if (known.size() == result.size() && !symbols.canBeEqual(from, to))
    return emitOpError("expects a result of ")
           << symbols.str(from) << " elements, but got " << symbols.str(to);
  if (from.isNumber() && known.size() < result.size() &&
      (to.is(0) ? !from.is(0) : !isMultiple(from, to.size())))
    return emitOpError("expects a result of ")
           << symbols.str(from) << " elements, but got " << (to.is(0) ? "" : "a multiple of ")
           << symbols.str(to);
  // The elements determine one unknown dim.
  if (known.size() + 1 == result.size() && !to.is(0))
    *llvm::find_if(result, [](Dim dim) { return dim.isUnknown(); }) = floorDiv(from, to);
  return result;
}

FailureOr<Dims> TransposeOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  // transpose_c2
  Dims result;
  for (int64_t dim : getPerm())
    result.push_back(operands[0][dim]);
  return result;
}

FailureOr<Dims> SliceOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  Dims result;
  for (auto [input, start, size, stride] :
       llvm::zip_equal(operands[0], getStarts(), getSizes(), getStrides())) {
    // slice_c2
    int64_t last = size == kRestOfDim ? start : start + (size - 1) * stride;
    if (std::optional<int64_t> most = symbols.bound(input, /*isUpper=*/true); most && last >= *most)
      return emitOpError("expects a slice inside ")
             << symbols.str(operands[0]) << ", but got starts " << str(getStarts()) << ", sizes "
             << str(getSizes()) << ", strides " << str(getStrides());
    // slice_c3
    result.push_back(size == kRestOfDim ? floorDiv(input - start - 1, stride) + 1 : Dim(size));
  }
  return result;
}

FailureOr<Dims> PadOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // pad_c2
  Dims result;
  for (auto [size, low, high, interior] :
       llvm::zip_equal(operands[0], getLow(), getHigh(), getInterior()))
    result.push_back(size + low + high + (size.is(0) ? Dim(0) : size - 1) * interior);
  if (llvm::any_of(result, [](Dim dim) { return dim.isNumber() && dim.size() < 0; }))
    return emitOpError("expects non-negative result dims, but got ") << symbols.str(result);
  return result;
}

FailureOr<Dims> BroadcastOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // broadcast_c1
  Dims result = dimsOf(getOutput());
  for (auto [type, dim, to] : llvm::zip_equal(shapeOf(getInput()), operands[0], result)) {
    if (type == 1)
      continue;
    FailureOr<Dim> both = symbols.meet(dim, to);
    if (failed(both))
      return emitOpError("expects input dims equal to the result's or 1, but got ")
             << symbols.str(operands[0]) << " and " << symbols.str(dimsOf(getOutput()));
    to = *both;
  }
  return result;
}

FailureOr<Dims> ReverseOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  return operands[0];
}

FailureOr<Dims> ConcatOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // concat_c2
  Dims result = operands[0];
  int64_t dim = getDim();
  for (const Dims &input : operands.drop_front())
    for (auto [i, size, each] : llvm::enumerate(result, input)) {
      if (int64_t(i) == dim) {
        size = size + each;
        continue;
      }
      FailureOr<Dim> both = symbols.meet(size, each);
      if (failed(both))
        return emitOpError("expects inputs with equal dims except dim ")
               << dim << ", but got " << symbols.str(operands[0]) << " and " << symbols.str(input);
      size = *both;
    }
  return result;
}

//===-- indices ------------------------------------------------------------===//

FailureOr<Dims> IotaOp::inferShape(ArrayRef<Dims>, const Symbols &) { return dimsOf(getOutput()); }

FailureOr<Dims> IndexSelectOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  // index_select_c2
  ArrayRef<Dim> input = operands[0];
  int64_t dim = getDim().getSExtValue();
  Dims result(input.take_front(dim));
  llvm::append_range(result, operands[1]);
  llvm::append_range(result, input.drop_front(dim + 1));
  return result;
}

/// Whether the indices have the rank of the input, and each dim except `dim` fits.
static bool fitsExcept(int64_t dim, ArrayRef<Dim> indices, ArrayRef<Dim> input,
                       llvm::function_ref<bool(Dim index, Dim size)> fits) {
  if (indices.size() != input.size())
    return false;
  return llvm::all_of(llvm::enumerate(indices, input), [&](auto each) {
    auto [i, index, size] = each;
    return int64_t(i) == dim || fits(index, size);
  });
}

FailureOr<Dims> GatherOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // gather_c2
  int64_t dim = getDim().getSExtValue();
  auto isInside = [&](Dim index, Dim size) {
    return symbols.bound(index - size, /*isUpper=*/false).value_or(0) <= 0;
  };
  if (!fitsExcept(dim, operands[1], operands[0], isInside))
    return emitOpError("expects indices of the input's rank, and at most its size in each dim "
                       "except dim ")
           << dim << ", but got " << symbols.str(operands[1]) << " for "
           << symbols.str(operands[0]);
  // gather_c3
  return operands[1];
}

FailureOr<Dims> ScatterOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // scatter_c2
  const Dims &input = operands[0], &indices = operands[1], &updates = operands[2];
  int64_t dim = getDim().getSExtValue();
  auto broadcasts = [&](Dim index, Dim size) {
    return index.is(1) || symbols.canBeEqual(index, size);
  };
  if (!fitsExcept(dim, indices, input, broadcasts))
    return emitOpError("expects indices of the input's rank, whose dims except dim ")
           << dim << " are 1 or the input's, but got " << symbols.str(indices) << " for "
           << symbols.str(input);
  // scatter_c3
  Dims expected = input;
  expected[dim] = indices[dim];
  if (!symbols.canBeEqual(updates, expected))
    return emitOpError("expects updates of shape ")
           << symbols.str(expected) << ", but got " << symbols.str(updates);
  // scatter_c4
  return input;
}
