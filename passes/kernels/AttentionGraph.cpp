// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/AttentionGraph.h"

using namespace mlir;
using convoy::cudnn::PointwiseMode;
using convoy::cudnn::ReductionMode;
using convoy::cudnn::TensorDescType;

namespace convoy {

TensorDescType AttentionGraph::argument(unsigned number) const {
  return cast<TensorDescType>(cudnn::GraphOp(graph).getArgument(number).getType());
}

TensorDescType AttentionGraph::result() const {
  return cast<TensorDescType>(cudnn::GraphOp(graph).getResultTypes()[0]);
}

/// Sets the distances of batches, heads and rows, whose dims are `dims` of `type`.
static void setDistances(int (&distances)[3], TensorDescType type, std::array<int, 3> dims) {
  for (auto [distance, dim] : llvm::zip_equal(distances, dims))
    distance = word(type.getStrides()[dim]);
}

device::AttentionArguments AttentionGraph::arguments() const {
  TensorDescType q = argument(0), k = argument(1), v = argument(2);
  device::AttentionArguments arguments = {};
  arguments.heads = word(q.getShape()[1]);
  arguments.keyHeads = word(k.getShape()[1]);
  arguments.rows = word(q.getShape()[2]);
  arguments.columns = word(k.getShape()[3]);
  arguments.depth = word(q.getShape()[3]);
  arguments.width = word(v.getShape()[3]);
  setDistances(arguments.query, q, {0, 1, 2});
  setDistances(arguments.key, k, {0, 1, 3});
  setDistances(arguments.value, v, {0, 1, 2});
  setDistances(arguments.result, result(), {0, 1, 2});
  if (hasMask) {
    TensorDescType mask = argument(3);
    for (auto [distance, size, stride] :
         llvm::zip_equal(arguments.mask, mask.getShape(), mask.getStrides()))
      distance = size == 1 ? 0 : word(stride);
  }
  arguments.scale = static_cast<float>(scale);
  arguments.softcap = static_cast<float>(softcap);
  arguments.causal = causal;
  arguments.window = word(window);
  return arguments;
}

SmallVector<std::optional<unsigned>> AttentionGraph::tensors() const {
  unsigned results = cudnn::GraphOp(graph).getNumArguments();
  return {0, 1, 2, hasMask ? std::optional<unsigned>(3) : std::nullopt, results, results + 1};
}

/// The op that computes `value`, if it is a pointwise operation of this mode in f32.
static cudnn::PointwiseOp pointwise(Value value, PointwiseMode mode) {
  auto op = value.getDefiningOp<cudnn::PointwiseOp>();
  bool matches = op && op.getMode() == mode && op.getAlpha1().isExactlyValue(1.0) &&
                 op.getAlpha2().isExactlyValue(1.0);
  return matches ? op : cudnn::PointwiseOp();
}

static std::optional<double> constant(Value value) {
  auto op = value.getDefiningOp<cudnn::ConstantOp>();
  auto number = op ? dyn_cast<FloatAttr>(op.getValue()) : FloatAttr();
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

/// The input of a reduction of rows of this mode: of the last one of four dims.
static Value reduced(Value value, ReductionMode mode) {
  auto op = value.getDefiningOp<cudnn::ReductionOp>();
  if (!op || op.getMode() != mode)
    return {};
  ArrayRef<int64_t> from = op.getX().getType().getShape(), to = op.getY().getType().getShape();
  bool isOfRows = from.size() == 4 && from.drop_back() == to.drop_back() && to.back() == 1;
  return isOfRows ? op.getX() : Value();
}

/// Whether `value` is the number of each element's row (axis 2) or column (axis 3).
static bool isIndex(Value value, int64_t axis) {
  cudnn::PointwiseOp op = pointwise(value, PointwiseMode::GenIndex);
  return op && op.getAxis() == axis;
}

/// The scores before a select of them where `kept` and of minus infinity elsewhere; null if `value`
/// is none. Sets `kept`.
static Value withoutSelect(Value value, Value &kept) {
  cudnn::PointwiseOp select = pointwise(value, PointwiseMode::BinarySelect);
  if (!select || constant(select.getInputs()[1]) != -std::numeric_limits<double>::infinity())
    return {};
  kept = select.getInputs()[2];
  return select.getInputs()[0];
}

/// The scores before a mask of the columns outside of a window, or `value` if there is none. Sets
/// `window`.
static Value withoutWindow(Value value, int64_t &window) {
  Value condition, scores = withoutSelect(value, condition);
  cudnn::PointwiseOp kept =
      scores ? pointwise(condition, PointwiseMode::CmpGt) : cudnn::PointwiseOp();
  cudnn::PointwiseOp moved =
      kept ? pointwise(kept.getInputs()[0], PointwiseMode::Add) : cudnn::PointwiseOp();
  if (!moved || !isIndex(moved.getInputs()[0], 3) || !isIndex(kept.getInputs()[1], 2))
    return value;
  std::optional<double> distance = constant(moved.getInputs()[1]);
  if (!distance || *distance < 1 || *distance != std::floor(*distance) ||
      *distance > std::numeric_limits<int32_t>::max())
    return value;
  window = static_cast<int64_t>(*distance);
  return scores;
}

/// The scores before a causal mask, or `value` if there is none; null for any other select.
static Value withoutCausalMask(Value value) {
  if (!pointwise(value, PointwiseMode::BinarySelect))
    return value;
  Value condition, scores = withoutSelect(value, condition);
  cudnn::PointwiseOp kept =
      scores ? pointwise(condition, PointwiseMode::CmpGe) : cudnn::PointwiseOp();
  bool matches = kept && isIndex(kept.getInputs()[0], 2) && isIndex(kept.getInputs()[1], 3);
  return matches ? scores : Value();
}

/// Whether the operands have one batch for each of the query's, key and value the same heads, which
/// divide the query's, and the mask dims of 1 or of the scores.
static bool hasShapes(const AttentionGraph &form) {
  ArrayRef<int64_t> q = form.argument(0).getShape(), k = form.argument(1).getShape(),
                    v = form.argument(2).getShape();
  if (q.size() != 4 || k.size() != 4 || v.size() != 4)
    return false;
  int64_t scores[] = {q[0], q[1], q[2], k[3]}, result[] = {q[0], q[1], q[2], v[3]};
  auto fits = [](auto sizes) {
    auto [size, whole] = sizes;
    return size == 1 || size == whole;
  };
  return k[0] == q[0] && v[0] == q[0] && k[1] == v[1] && q[1] % k[1] == 0 && q[3] == k[2] &&
         k[3] == v[2] && form.result().getShape() == ArrayRef(result) &&
         (!form.hasMask || (form.argument(3).getRank() == 4 &&
                            llvm::all_of(llvm::zip(form.argument(3).getShape(), scores), fits)));
}

std::optional<AttentionGraph> matchAttentionGraph(cudnn::GraphOp graph) {
  AttentionGraph form = {graph};
  form.hasMask = graph.getNumArguments() == 4;
  if (graph.getNumResults() != 2 || (graph.getNumArguments() != 3 && !form.hasMask))
    return std::nullopt;
  Operation *end = graph.getBody().front().getTerminator();
  auto last = end->getOperand(0).getDefiningOp<cudnn::MatmulOp>();
  if (!last || last.getB() != graph.getArgument(2) || last.getMOverride() || last.getNOverride() ||
      last.getKOverride())
    return std::nullopt;
  cudnn::PointwiseOp quotient = pointwise(last.getA(), PointwiseMode::Div);
  cudnn::PointwiseOp powers =
      quotient ? pointwise(quotient.getInputs()[0], PointwiseMode::Exp) : quotient;
  cudnn::PointwiseOp difference =
      powers ? pointwise(powers.getInputs()[0], PointwiseMode::Sub) : powers;
  if (!difference || reduced(quotient.getInputs()[1], ReductionMode::Add) != powers.getY())
    return std::nullopt;
  Value scores = difference.getInputs()[0];
  cudnn::PointwiseOp stats = pointwise(end->getOperand(1), PointwiseMode::Add);
  if (reduced(difference.getInputs()[1], ReductionMode::Max) != scores || !stats ||
      stats.getInputs()[0] != difference.getInputs()[1])
    return std::nullopt;
  cudnn::PointwiseOp logarithm = pointwise(stats.getInputs()[1], PointwiseMode::Log);
  if (!logarithm || logarithm.getInputs()[0] != quotient.getInputs()[1])
    return std::nullopt;

  Value inWindow = withoutWindow(scores, form.window), masked = withoutCausalMask(inWindow);
  if (!masked)
    return std::nullopt;
  form.causal = masked != inWindow;
  if (form.hasMask) {
    cudnn::PointwiseOp sum = pointwise(masked, PointwiseMode::Add);
    if (!sum || sum.getInputs()[1] != graph.getArgument(3))
      return std::nullopt;
    masked = sum.getInputs()[0];
  }
  cudnn::PointwiseOp scaled = pointwise(masked, PointwiseMode::Mul);
  std::optional<double> scale = scaled ? constant(scaled.getInputs()[1]) : std::nullopt;
  cudnn::PointwiseOp tanh =
      scale ? pointwise(scaled.getInputs()[0], PointwiseMode::TanhFwd) : cudnn::PointwiseOp();
  if (tanh) {
    form.softcap = *scale;
    scaled = pointwise(tanh.getInputs()[0], PointwiseMode::Mul);
    std::optional<double> inner = scaled ? constant(scaled.getInputs()[1]) : std::nullopt;
    if (!inner || form.softcap <= 0)
      return std::nullopt;
    scale = *inner * form.softcap;
  }
  auto first = scaled ? scaled.getInputs()[0].getDefiningOp<cudnn::MatmulOp>() : cudnn::MatmulOp();
  if (!scale || !first || first.getA() != graph.getArgument(0) ||
      first.getB() != graph.getArgument(1) || first.getMOverride() || first.getNOverride() ||
      first.getKOverride())
    return std::nullopt;
  form.scale = *scale;
  return hasShapes(form) ? std::optional(form) : std::nullopt;
}

} // namespace convoy
