// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts attention that cuDNN does not compute to products and a softmax.

#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Passes.h"
#include "passes/fusion/Attention.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPDECOMPOSEATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct DecomposeAttentionPass
    : public convoy::impl::TcpDecomposeAttentionPassBase<DecomposeAttentionPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// Creates the ops of one attention.
class Decomposition {
public:
  explicit Decomposition(AttentionOp op)
      : builder(op), op(op), loc(op.getLoc()), dtype(op.getQuery().getType().getElementType()) {
    ArrayRef<int64_t> query = shapeOf(op.getQuery());
    scores = {query[0], query[1], query[2], shapeOf(op.getKey())[2]};
  }

  Value run();

private:
  RankedTensorType typeOf(ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }
  Value number(double value) {
    auto type = typeOf({1, 1, 1, 1}, dtype);
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, builder.getFloatAttr(dtype, value).getValue()));
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return ReshapeOp::create(builder, loc, typeOf(shape, dtype), value);
  }
  /// The product for every head of `value`. The rows of all heads of `rows` that share one are the
  /// rows of one matrix.
  Value product(Value rows, Value matrix, ArrayRef<int64_t> shape);
  /// Whether there is a window that hides any score.
  bool hasWindow() { return op.getWindowAttr() && op.getWindowAttr().getInt() < scores[2]; }
  Value select(Value condition, Value onTrue, Value onFalse) {
    return SelectOp::create(builder, loc, typeOf(scores, dtype), condition, onTrue, onFalse);
  }
  /// The product `x` with its scale, and bounded by the softcap.
  Value scale(Value x);
  /// Hides the columns after the index of a row, or outside of its window.
  Value maskColumns(Value x);
  /// `weights`, the softmax of `x`, with zeros where all scores of a row are minus infinity.
  Value withoutMaskedRows(Value x, Value weights);

  OpBuilder builder;
  AttentionOp op;
  Location loc;
  Type dtype;
  SmallVector<int64_t> scores;
};

} // namespace

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value Decomposition::product(Value rows, Value matrix, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> left(shapeOf(rows)), result(shape);
  int64_t heads = shapeOf(matrix)[1], shared = left[1] / heads;
  for (SmallVector<int64_t> *each : {&left, &result}) {
    (*each)[1] = heads;
    (*each)[2] *= shared;
  }
  if (shared != 1)
    rows = reshape(rows, left);
  Value found = MatmulOp::create(builder, loc, typeOf(result, dtype), rows, matrix);
  return shared != 1 ? reshape(found, shape) : found;
}

Value Decomposition::scale(Value x) {
  auto type = typeOf(scores, dtype);
  x = MulOp::create(builder, loc, type, x, number(op.getScale().convertToDouble()));
  if (!op.getSoftcap())
    return x;
  // Unlike their quotient, both numbers are usually exact in 16 bits.
  double softcap = op.getSoftcap()->convertToDouble();
  x = DivOp::create(builder, loc, type, x, number(softcap));
  x = TanhOp::create(builder, loc, type, x);
  return MulOp::create(builder, loc, type, x, number(softcap));
}

Value Decomposition::maskColumns(Value x) {
  auto index = [&](int64_t dim) -> Value {
    SmallVector<int64_t> shape(4, 1);
    shape[dim] = scores[dim];
    return IotaOp::create(builder, loc, typeOf(shape, builder.getI32Type()),
                          builder.getIndexAttr(dim));
  };
  auto type = typeOf({1, 1, scores[2], scores[3]}, builder.getI1Type());
  if (op.getCausal()) {
    Value kept = CompareOp::create(builder, loc, type, index(2), index(3), ComparePredicate::Ge);
    x = select(kept, x, number(-kInfinity));
  }
  if (hasWindow()) {
    Value row = index(2), column = index(3);
    Value width = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            typeOf({1, 1, 1, 1}, builder.getI32Type()),
            builder.getI32IntegerAttr(static_cast<int32_t>(op.getWindowAttr().getInt()))));
    Value end =
        AddOp::create(builder, loc, cast<RankedTensorType>(column.getType()), column, width);
    Value kept = CompareOp::create(builder, loc, type, end, row, ComparePredicate::Gt);
    x = select(kept, x, number(-kInfinity));
  }
  return x;
}

Value Decomposition::withoutMaskedRows(Value x, Value weights) {
  SmallVector<int64_t> rows(scores);
  rows[3] = 1;
  Value most = ReduceMaxOp::create(builder, loc, typeOf(rows, dtype), x, ArrayRef<int64_t>{3});
  Value isMasked = CompareOp::create(builder, loc, typeOf(rows, builder.getI1Type()), most,
                                     number(-kInfinity), ComparePredicate::Eq);
  return select(isMasked, number(0.0), weights);
}

Value Decomposition::run() {
  ArrayRef<int64_t> key = shapeOf(op.getKey());
  Value transposed =
      TransposeOp::create(builder, loc, typeOf({key[0], key[1], key[3], key[2]}, dtype),
                          op.getKey(), ArrayRef<int64_t>{0, 1, 3, 2});
  auto type = typeOf(scores, dtype);
  Value x = product(op.getQuery(), transposed, scores);
  x = scale(x);
  if (op.getMask())
    x = AddOp::create(builder, loc, type, x, op.getMask());
  x = maskColumns(x);
  Value weights = SoftmaxOp::create(builder, loc, type, x, 3);
  // A causal mask alone keeps the first column of every row, a window its last one unless the row
  // is far below the last column.
  bool isBelow = hasWindow() && scores[2] - op.getWindowAttr().getInt() >= scores[3];
  if (op.getMask() || isBelow)
    weights = withoutMaskedRows(x, weights);
  return product(weights, op.getValue(), shapeOf(op.getOutput()));
}

void DecomposeAttentionPass::runOnStaticShapes() {
  SmallVector<AttentionOp> ops;
  getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
  // Only attention for cuda needs the table, whose text takes time to read.
  std::optional<SupportTable> table;
  if (!ops.empty() && getTarget(getOperation()) != Target::Cpu) {
    std::string error;
    table = SupportTable::load(supportTable, allowTf32, error);
    if (!table) {
      getOperation().emitError(error);
      return signalPassFailure();
    }
  }
  // What depends on weights alone, such as that of learned queries with themselves, becomes part of
  // @prepare_weights, which has no graphs.
  WeightValues weights(getOperation());
  auto isRun = [&](AttentionOp op) {
    return table && !weights.contains(op.getOutput()) && !refuseAttention(op, *table);
  };
  llvm::erase_if(ops, isRun);
  for (AttentionOp op : ops) {
    op.replaceAllUsesWith(Decomposition(op).run());
    op.erase();
  }
}
