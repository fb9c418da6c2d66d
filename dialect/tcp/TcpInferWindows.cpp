// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The shapes of the results of convolutions, products and poolings, as TcpInferShapes.cpp has those
// of the other ops.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

//===-- linear -------------------------------------------------------------===//

static bool hasZero(ArrayRef<Dim> dims) {
  return llvm::any_of(dims, [](Dim dim) { return dim.is(0); });
}

static FailureOr<Dims> inferConv(ConvOpInterface op, ArrayRef<Dims> operands,
                                 const Symbols &symbols) {
  // conv_c3
  const Dims &input = operands[0], &weights = operands[1];
  int64_t channel = channelDim(op.getSpatialRank(), op.getChannelsLast()), groups = op.getGroups();
  if (groups < 1 || !isMultipleOf(input[channel], groups) || !isMultipleOf(weights[0], groups))
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
  if (groups < 1 || !isMultipleOf(input[1], groups))
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
  if (key[1].is(0) || (key[1].isNumber() && !isMultipleOf(query[1], key[1].size())))
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
