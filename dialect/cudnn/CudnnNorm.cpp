// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Normalizations. Each check has the label of its constraint in the op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

/// Named operands and results; absent ones are null.
using Named = ArrayRef<std::pair<StringRef, Value>>;

static SmallVector<Value> present(Named tensors) {
  SmallVector<Value> values;
  for (auto [name, value] : tensors)
    if (value)
      values.push_back(value);
  return values;
}

/// Checks that the present ones of `tensors` have the shape `expected`, or if it is empty the shape
/// of the first present one.
static LogicalResult expectShapes(Operation *op, Named tensors, ArrayRef<int64_t> expected = {}) {
  for (auto [name, value] : tensors) {
    if (!value)
      continue;
    if (expected.empty())
      expected = shapeOf(value);
    if (failed(expectShape(op, ("'" + name + "'").str(), shapeOf(value), expected)))
      return failure();
  }
  return success();
}

/// Checks that each of `tensors` is present if `expected` is true, and absent otherwise; `where`
/// ends the message.
static LogicalResult expectPresence(Operation *op, Named tensors, bool expected,
                                    const Twine &where) {
  for (auto [name, value] : tensors)
    if (static_cast<bool>(value) != expected)
      return op->emitOpError() << "expects " << (expected ? "'" : "no '") << name << "' " << where;
  return success();
}

//===-- shapes of a mode ---------------------------------------------------===//

bool convoy::cudnn::isOfTrailingDims(NormMode mode) {
  return mode == NormMode::LayerNorm || mode == NormMode::RmsNorm || mode == NormMode::AdaLayerNorm;
}

/// norm_forward_c1, norm_backward_c1
static LogicalResult verifyNormRank(Operation *op, NormMode mode, ValueRange tensors) {
  return expectRank(op, tensors, mode == NormMode::LayerNorm || mode == NormMode::RmsNorm ? 2 : 3,
                    isOfTrailingDims(mode) ? 8 : 5);
}

/// norm_forward_c3, norm_backward_c3
static LogicalResult verifyNormShapes(Operation *op, NormMode mode, ArrayRef<int64_t> x,
                                      Named parameters, Named statistics) {
  if (!isOfTrailingDims(mode)) {
    SmallVector<int64_t> channels = channelShape(x),
                         expected = channelShape(x, /*eachImage=*/mode != NormMode::BatchNorm);
    if (failed(expectShapes(op, parameters, channels)))
      return failure();
    SmallVector<Value> given = present(statistics);
    if (mode == NormMode::GroupNorm && !given.empty()) {
      expected[1] = shapeOf(given.front())[1];
      if (x[1] % expected[1])
        return op->emitOpError("expects groups that divide ")
               << x[1] << " channels, but got " << expected[1];
    }
    return expectShapes(op, statistics, expected);
  }
  if (failed(expectShapes(op, parameters)) || failed(expectShapes(op, statistics)))
    return failure();
  SmallVector<Value> scales = present(parameters), means = present(statistics);
  bool adaptive = mode == NormMode::AdaLayerNorm;
  for (int64_t axis = adaptive ? 2 : 1, rank = x.size(); axis < rank; ++axis) {
    auto [parameter, statistic] = layerNormShapes(x, axis, adaptive);
    if ((scales.empty() || shapeOf(scales.front()) == ArrayRef(parameter)) &&
        (means.empty() || shapeOf(means.front()) == ArrayRef(statistic)))
      return success();
  }
  InFlightDiagnostic diag = op->emitOpError("expects parameters of ");
  diag << (adaptive ? "the first and the trailing" : "the trailing")
       << " dims of x and statistics of its leading dims, 1 elsewhere, but got ";
  diag << "x " << str(x);
  if (!scales.empty())
    diag << ", parameters " << str(shapeOf(scales.front()));
  if (!means.empty())
    diag << ", statistics " << str(shapeOf(means.front()));
  return diag;
}

//===-- forward and backward -----------------------------------------------===//

LogicalResult NormForwardOp::verify() {
  NormMode mode = getMode();
  bool training = getPhase() == NormForwardPhase::Training, batch = mode == NormMode::BatchNorm;
  std::pair<StringRef, Value> parameters[] = {{"scale", getScale()}, {"bias", getBias()}};
  std::pair<StringRef, Value> given[] = {{"mean", getMean()}, {"inv_variance", getInvVariance()}};
  std::pair<StringRef, Value> saved[] = {{"saved_mean", getSavedMean()},
                                         {"saved_inv_variance", getSavedInvVariance()}};
  std::pair<StringRef, Value> running[] = {{"exp_avg_factor", getExpAvgFactor()},
                                           {"input_running_mean", getInputRunningMean()},
                                           {"input_running_var", getInputRunningVar()},
                                           {"output_running_mean", getOutputRunningMean()},
                                           {"output_running_var", getOutputRunningVar()}};
  std::string where =
      ("with " + stringifyNormMode(mode) + " " + stringifyNormForwardPhase(getPhase())).str();

  // norm_forward_c1
  SmallVector<Value> tensors{getX(), getY()};
  for (Named each : {Named(parameters), Named(given), Named(saved), Named(running).drop_front()})
    llvm::append_range(tensors, present(each));
  llvm::append_range(tensors, getPeerStats());
  if (failed(verifyNormRank(*this, mode, tensors)))
    return failure();
  // norm_forward_c2
  ArrayRef<int64_t> x = shapeOf(getX());
  if (failed(expectShape(*this, "'y'", shapeOf(getY()), x)))
    return failure();
  // norm_forward_c4
  if (getBias() && !getScale())
    return emitOpError("expects 'scale' with 'bias'");
  // norm_forward_c5
  if (training && !getEpsilon())
    return emitOpError("expects 'epsilon' ") << where;
  if (failed(expectByValue(*this, "epsilon", getEpsilon())) ||
      failed(expectByValue(*this, "exp_avg_factor", getExpAvgFactor())))
    return failure();
  // norm_forward_c6
  if (failed(expectPresence(*this, Named(saved).take_front(), training && mode != NormMode::RmsNorm,
                            where)) ||
      failed(expectPresence(*this, Named(saved).drop_front(), training, where)))
    return failure();
  // norm_forward_c7
  if (failed(expectPresence(*this, given, batch && !training, where)))
    return failure();
  // norm_forward_c8
  bool runs = llvm::any_of(running, [](auto &each) { return each.second; });
  if (!batch || !training) {
    if (failed(expectPresence(*this, running, false, where)))
      return failure();
    if (!getPeerStats().empty())
      return emitOpError("expects no 'peer_stats' ") << where;
  } else if (runs &&
             failed(expectPresence(*this, running, true, "with other running statistics"))) {
    return failure();
  }
  // norm_forward_c3
  SmallVector<std::pair<StringRef, Value>> statistics(std::begin(given), std::end(given));
  llvm::append_range(statistics, saved);
  llvm::append_range(statistics, Named(running).drop_front());
  return verifyNormShapes(*this, mode, x, parameters, statistics);
}

LogicalResult NormBackwardOp::verify() {
  NormMode mode = getMode();
  std::pair<StringRef, Value> parameters[] = {
      {"scale", getScale()}, {"dscale", getDscale()}, {"dbias", getDbias()}};
  std::pair<StringRef, Value> statistics[] = {{"mean", getMean()},
                                              {"inv_variance", getInvVariance()}};
  std::string where = ("with " + stringifyNormMode(mode)).str();

  // norm_backward_c1
  SmallVector<Value> tensors{getX(), getDy(), getDx()};
  for (Named each : {Named(parameters), Named(statistics)})
    llvm::append_range(tensors, present(each));
  llvm::append_range(tensors, getPeerStats());
  if (failed(verifyNormRank(*this, mode, tensors)))
    return failure();
  // norm_backward_c2
  ArrayRef<int64_t> x = shapeOf(getX());
  if (failed(expectShape(*this, "'dy'", shapeOf(getDy()), x)) ||
      failed(expectShape(*this, "'dx'", shapeOf(getDx()), x)))
    return failure();
  // norm_backward_c4
  if (!getScale() != !getDscale())
    return emitOpError("expects 'scale' and 'dscale' together, but got only '")
           << (getScale() ? "scale" : "dscale") << "'";
  if (getDbias() && !getDscale())
    return emitOpError("expects 'dscale' with 'dbias'");
  // norm_backward_c5
  if (failed(expectByValue(*this, "epsilon", getEpsilon())))
    return failure();
  // norm_backward_c6
  if (failed(
          expectPresence(*this, Named(statistics).take_front(), mode != NormMode::RmsNorm, where)))
    return failure();
  // norm_backward_c7
  if (!getPeerStats().empty() && mode != NormMode::BatchNorm)
    return emitOpError("expects no 'peer_stats' ") << where;
  // norm_backward_c3
  return verifyNormShapes(*this, mode, x, parameters, statistics);
}

//===-- batch normalization over several graphs ----------------------------===//

LogicalResult GenStatsOp::verify() {
  // gen_stats_c1
  if (failed(expectRank(*this, {getX(), getSum(), getSqSum()}, 3, 5)))
    return failure();
  // gen_stats_c2
  std::pair<StringRef, Value> sums[] = {{"sum", getSum()}, {"sq_sum", getSqSum()}};
  if (failed(expectShapes(*this, sums, channelShape(shapeOf(getX())))))
    return failure();
  return expectComputeType(*this, getComputeType(), {}); // gen_stats_c3
}

LogicalResult BnFinalizeOp::verify() {
  bool training = getMode() == BnFinalizeMode::Training;
  std::string where = ("with mode " + stringifyBnFinalizeMode(getMode())).str();
  std::pair<StringRef, Value> parameters[] = {{"scale", getScale()},
                                              {"bias", getBias()},
                                              {"eq_scale", getEqScale()},
                                              {"eq_bias", getEqBias()}};
  std::pair<StringRef, Value> batch[] = {{"y_sum", getYSum()},
                                         {"y_sq_sum", getYSqSum()},
                                         {"saved_mean", getSavedMean()},
                                         {"saved_inv_std", getSavedInvStd()}};
  std::pair<StringRef, Value> scalars[] = {{"accum_count", getAccumCount()},
                                           {"exp_average_factor", getExpAverageFactor()}};
  std::pair<StringRef, Value> previous[] = {{"prev_running_mean", getPrevRunningMean()},
                                            {"prev_running_var", getPrevRunningVar()}};
  std::pair<StringRef, Value> updated[] = {{"updated_running_mean", getUpdatedRunningMean()},
                                           {"updated_running_var", getUpdatedRunningVar()}};

  // bn_finalize_c1
  SmallVector<Value> tensors;
  for (Named each : {Named(parameters), Named(batch), Named(previous), Named(updated)})
    llvm::append_range(tensors, present(each));
  if (failed(expectRank(*this, tensors, 3, 5)))
    return failure();
  for (Named each : {Named(parameters), Named(batch), Named(previous), Named(updated)})
    if (failed(expectShapes(*this, each, channelShape(shapeOf(getScale())))))
      return failure();
  // bn_finalize_c2
  if (failed(expectByValue(*this, "epsilon", getEpsilon())) ||
      failed(expectByValue(*this, "exp_average_factor", getExpAverageFactor())) ||
      failed(expectByValue(*this, "accum_count", getAccumCount())))
    return failure();
  if (getAccumCount() && !getAccumCount().getType().getElementType().isSignlessInteger(64))
    return emitOpError("expects 'accum_count' of i64, but got ")
           << getAccumCount().getType().getElementType();
  // bn_finalize_c3
  if (failed(expectPresence(*this, batch, training, where)) ||
      failed(expectPresence(*this, scalars, training, where)))
    return failure();
  // bn_finalize_c4
  bool runs = getPrevRunningMean() || getPrevRunningVar();
  StringRef running = runs ? "with other running statistics" : "without other running statistics";
  if (failed(expectPresence(*this, previous, runs || !training,
                            training ? running : StringRef(where))) ||
      failed(
          expectPresence(*this, updated, runs && training, training ? running : StringRef(where))))
    return failure();
  return expectComputeType(*this, getComputeType(), {}); // bn_finalize_c5
}

LogicalResult BnBwdWeightsOp::verify() {
  // bn_bwd_weights_c1
  SmallVector<Value> tensors((*this)->getOperands());
  llvm::append_range(tensors, (*this)->getResults());
  if (failed(expectRank(*this, tensors, 3, 5)))
    return failure();
  // bn_bwd_weights_c2
  ArrayRef<int64_t> x = shapeOf(getX());
  if (failed(expectShape(*this, "'dy'", shapeOf(getDy()), x)))
    return failure();
  // bn_bwd_weights_c3
  std::pair<StringRef, Value> channels[] = {
      {"mean", getMean()},           {"inv_std", getInvStd()}, {"scale", getScale()},
      {"dscale", getDscale()},       {"dbias", getDbias()},    {"eq_dy_scale", getEqDyScale()},
      {"eq_x_scale", getEqXScale()}, {"eq_bias", getEqBias()}};
  if (failed(expectShapes(*this, channels, channelShape(x))))
    return failure();
  return expectComputeType(*this, getComputeType(), {}); // bn_bwd_weights_c4
}
