// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pads the heads of attention whose rows are not multiples of 16 bytes, which neither cuDNN nor
// Convoy's kernels read. Products with weights before and after it compute the padding.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/fusion/Attention.h"
#include "passes/fusion/StridedView.h"
#include "passes/normalize/PaddedDim.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPPADATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct PadAttentionPass : public convoy::impl::TcpPadAttentionPassBase<PadAttentionPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// A product with a weight, and the sum with a bias that follows it, if any.
struct Projection {
  MatmulOp product;
  AddOp sum;
  Value bias;
};

/// The views through which an operand of attention reads a projection.
struct Source {
  Projection projection;
  SmallVector<Operation *> views;
};

/// The views through which a product with a weight reads the result of attention.
struct Consumer {
  MatmulOp product;
  SmallVector<Operation *> views;
};

/// Pads one attention.
class Padding {
public:
  Padding(AttentionOp op, WeightValues &weights);

  /// Whether the copies move fewer elements than the scores that are written without attention.
  bool isFaster();
  void run();

private:
  std::optional<Projection> projectionOf(Value value);
  /// Whether only operands of `op` read `value`, possibly through views, all of which can be padded
  /// along `dim`.
  bool isReadPadded(Value value, PaddedDim dim);
  std::optional<Source> findSource(Value operand);
  std::optional<Consumer> findConsumer();
  Value padded(const Source &source, PaddedDim units);
  /// Replaces the result of `op` by `result`, which has more columns.
  void replaceResult(Value result);

  AttentionOp op;
  WeightValues &weights;
  OpBuilder builder;
  std::array<std::optional<Source>, 3> sources; ///< of query, key and value
  std::optional<Consumer> consumer;
  llvm::DenseMap<Value, Value> values; ///< padded
};

} // namespace

/// The last dim of `value`, which is one head, with padding.
static PaddedDim headsOf(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return {static_cast<int64_t>(shape.size()) - 1, shape.back(),
          static_cast<int64_t>(llvm::alignTo(shape.back(), kPaddedDepth))};
}

Padding::Padding(AttentionOp op, WeightValues &weights)
    : op(op), weights(weights), builder(op.getContext(), &weights) {
  for (auto [source, operand] : llvm::zip(sources, op->getOperands()))
    source = findSource(operand);
  consumer = findConsumer();
}

std::optional<Projection> Padding::projectionOf(Value value) {
  Projection found;
  found.sum = value.getDefiningOp<AddOp>();
  found.product = value.getDefiningOp<MatmulOp>();
  if (found.sum)
    for (int64_t i : {0, 1}) {
      auto product = found.sum->getOperand(i).getDefiningOp<MatmulOp>();
      Value bias = found.sum->getOperand(1 - i);
      // A bias of one number would be added to the zeros.
      if (product && product->hasOneUse() && weights.contains(bias) &&
          shapeOf(bias).back() == shapeOf(value).back()) {
        found.product = product;
        found.bias = bias;
      }
    }
  bool isProjection = found.product && weights.contains(found.product.getRhs()) &&
                      !weights.contains(found.product.getLhs());
  return isProjection ? std::optional(found) : std::nullopt;
}

bool Padding::isReadPadded(Value value, PaddedDim dim) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (use.getOwner() == op)
      return use.getOperandNumber() < 3 && dim == headsOf(value);
    std::optional<PaddedDim> after =
        isView(use.getOwner()) ? through(use.getOwner(), dim) : std::nullopt;
    return after && isReadPadded(use.getOwner()->getResult(0), *after);
  });
}

std::optional<Source> Padding::findSource(Value operand) {
  Source source;
  Value base = operand;
  while (Operation *view = base.getDefiningOp()) {
    if (!isView(view))
      break;
    source.views.push_back(view);
    base = view->getOperand(0);
  }
  std::reverse(source.views.begin(), source.views.end());
  PaddedDim units = headsOf(operand);
  std::optional<Projection> projection = projectionOf(base);
  if (!projection || shapeOf(base).back() % units.from != 0)
    return std::nullopt;
  units.dim = headsOf(base).dim;
  source.projection = *projection;
  return isReadPadded(base, units) ? std::optional(std::move(source)) : std::nullopt;
}

std::optional<Consumer> Padding::findConsumer() {
  Consumer found;
  Value value = op.getOutput();
  PaddedDim dim = headsOf(value);
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    if (auto product = dyn_cast<MatmulOp>(use.getOwner())) {
      found.product = product;
      bool isLeft = use.getOperandNumber() == 0 && weights.contains(product.getRhs()) &&
                    dim.dim == headsOf(value).dim;
      return isLeft ? std::optional(std::move(found)) : std::nullopt;
    }
    std::optional<PaddedDim> after =
        isView(use.getOwner()) ? through(use.getOwner(), dim) : std::nullopt;
    if (!after)
      return std::nullopt;
    dim = *after;
    found.views.push_back(use.getOwner());
    value = use.getOwner()->getResult(0);
  }
  return std::nullopt;
}

bool Padding::isFaster() {
  int64_t copied = 0;
  auto addCopy = [&](Value value) {
    PaddedDim heads = headsOf(value);
    if (heads.from != heads.to)
      copied += cast<RankedTensorType>(value.getType()).getNumElements() / heads.from *
                (heads.from + heads.to);
  };
  for (auto [source, operand] : llvm::zip(sources, op->getOperands()))
    if (!source)
      addCopy(operand);
  if (!consumer)
    addCopy(op.getOutput());
  // The first product writes the scores, the softmax reads and writes them, the second product
  // reads them.
  ArrayRef<int64_t> query = shapeOf(op.getQuery());
  return copied <= 4 * query[0] * query[1] * query[2] * shapeOf(op.getKey())[2];
}

Value Padding::padded(const Source &source, PaddedDim units) {
  auto [product, sum, bias] = source.projection;
  Value base = bias ? Value(sum.getOutput()) : product.getOutput();
  units.dim = headsOf(base).dim;
  if (!values.contains(base)) {
    builder.setInsertionPointAfterValue(base);
    auto wide = [&](Value of) {
      return withShape(of.getType(),
                       paddedShape(shapeOf(of), {headsOf(of).dim, units.from, units.to}));
    };
    Location loc = product.getLoc();
    Value factor = product.getRhs();
    factor = padWithZeros(builder, loc, factor, {headsOf(factor).dim, units.from, units.to});
    Value result =
        MatmulOp::create(builder, loc, wide(product.getOutput()), product.getLhs(), factor);
    if (bias) {
      Value row = padWithZeros(builder, loc, bias, {headsOf(bias).dim, units.from, units.to});
      result = AddOp::create(builder, sum.getLoc(), wide(sum.getOutput()), result, row);
    }
    values[base] = result;
  }
  Value here = base;
  for (Operation *view : source.views) {
    units = *through(view, units);
    Value after = view->getResult(0);
    if (!values.contains(after)) {
      builder.setInsertionPointAfter(view);
      values[after] = cloneView(builder, view, values[here], units);
    }
    here = after;
  }
  return values[here];
}

void Padding::replaceResult(Value result) {
  PaddedDim dim = headsOf(op.getOutput());
  if (consumer) {
    for (Operation *view : consumer->views) {
      dim = *through(view, dim);
      builder.setInsertionPoint(view);
      result = cloneView(builder, view, result, dim);
    }
    MatmulOp product = consumer->product;
    Value factor = product.getRhs();
    builder.setInsertionPoint(product);
    dim.dim = static_cast<int64_t>(shapeOf(factor).size()) - 2;
    factor = padWithZeros(builder, product.getLoc(), factor, dim);
    product.getLhsMutable().assign(result);
    product.getRhsMutable().assign(factor);
    return;
  }
  Value replaced = op.getOutput();
  // The group of attention has the transpose of its result.
  auto transpose = replaced.hasOneUse() ? dyn_cast<TransposeOp>(*replaced.user_begin()) : nullptr;
  if (transpose && transpose.getPerm().back() == dim.dim) {
    builder.setInsertionPoint(transpose);
    result = cloneView(builder, transpose, result, dim);
    replaced = transpose.getOutput();
  }
  SmallVector<int64_t> sizes(shapeOf(replaced)), starts(sizes.size()), strides(sizes.size(), 1);
  replaced.replaceAllUsesWith(
      SliceOp::create(builder, op.getLoc(), replaced.getType(), result, starts, sizes, strides));
}

void Padding::run() {
  SmallVector<Value> operands;
  for (auto [source, operand] : llvm::zip(sources, op->getOperands())) {
    PaddedDim heads = headsOf(operand);
    if (source && heads.from != heads.to) {
      operands.push_back(padded(*source, heads));
      continue;
    }
    builder.setInsertionPoint(op);
    operands.push_back(padWithZeros(builder, op.getLoc(), operand, heads));
  }
  builder.setInsertionPoint(op);
  PaddedDim heads = headsOf(op.getOutput());
  Type type = withShape(op.getType(), paddedShape(shapeOf(op.getOutput()), heads));
  Value result = AttentionOp::create(builder, op.getLoc(), type, operands[0], operands[1],
                                     operands[2], op.getMask(), op.getScaleAttr(),
                                     op.getCausalAttr(), op.getSoftcapAttr(), op.getWindowAttr());
  if (heads.from == heads.to)
    op.replaceAllUsesWith(result);
  else
    replaceResult(result);
}

void PadAttentionPass::runOnStaticShapes() {
  SmallVector<AttentionOp> ops;
  // A group in the input keeps its ops.
  getOperation().walk([&](AttentionOp op) {
    if (!isa<IsolatedGroupOp>(op->getParentOp()))
      ops.push_back(op);
  });
  if (ops.empty() || getTarget(getOperation()) == Target::Cpu)
    return;
  std::string error;
  std::optional<SupportTable> table = SupportTable::load(supportTable, allowTf32, error);
  if (!table) {
    getOperation().emitError(error);
    return signalPassFailure();
  }
  WeightValues weights(getOperation());
  SmallVector<Block *> changed;
  for (AttentionOp op : ops) {
    if (!refuseAttention(op, *table) || refusePaddedAttention(op, *table))
      continue;
    Padding padding(op, weights);
    if (!padding.isFaster())
      continue;
    padding.run();
    changed.push_back(op->getBlock());
  }
  // At the end, because `weights` knows values by their address.
  for (Block *block : changed)
    eraseDeadOps(*block);
}
