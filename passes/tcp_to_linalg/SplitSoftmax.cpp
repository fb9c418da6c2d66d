// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Divides the sums of exponentials of long rows, as in a softmax, a log softmax and a logarithm of
// a sum of exponentials. Each part has its own maximum, so the maximum of a row and its sum read
// the row once (Milakov and Gimelshein, "Online normalizer calculation for softmax"). Sums of short
// rows are not divided; the exponentials of those that come from narrow floats are approximate.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/tcp_to_linalg/ReductionUtils.h"
#include <limits>

namespace convoy {
#define GEN_PASS_DEF_TCPSPLITSOFTMAXPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct TcpSplitSoftmaxPass : public convoy::impl::TcpSplitSoftmaxPassBase<TcpSplitSoftmaxPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// The contiguous rows of a tensor along `dim`.
struct Rows {
  Rows(Value input, int64_t dim) : dim(dim) {
    for (auto [i, size] : llvm::enumerate(shapeOf(input))) {
      (int64_t(i) == dim ? length : count) *= size;
      isContiguous &= int64_t(i) <= dim || size == 1;
    }
  }
  /// Elements of a part, or nullopt for rows that one block reduces in less time.
  std::optional<int64_t> part() const;

  int64_t dim, length = 1, count = 1;
  bool isContiguous = true;
};

/// Creates ops on tensors of f32 at the place of one op.
class SoftmaxBuilder {
public:
  SoftmaxBuilder(Operation *op, bool isNarrow)
      : builder(op), loc(op->getLoc()), isNarrow(isNarrow) {}

  Value cast(Value value, Type element) {
    auto type = mlir::cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    return CastOp::create(builder, loc, type.clone(element), value);
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type = mlir::cast<RankedTensorType>(value.getType()).clone(shape);
    return ReshapeOp::create(builder, loc, type, value);
  }
  template <typename Op> Value unary(Value value) {
    return marked(Op::create(builder, loc, value.getType(), value));
  }
  /// Of operands whose dims of size 1 broadcast to those of `a`.
  template <typename Op> Value binary(Value a, Value b) {
    return marked(Op::create(builder, loc, typeOf(shapeOf(a)), a, b));
  }
  template <typename Op> Value reduce(Value value, int64_t dim) {
    SmallVector<int64_t> shape(shapeOf(value));
    shape[dim] = 1;
    return Op::create(builder, loc, typeOf(shape), value, ArrayRef<int64_t>{dim});
  }
  /// `value`, or zero where it is infinite.
  Value finite(Value value) {
    SmallVector<int64_t> one(shapeOf(value).size(), 1);
    auto number = [&](float each) -> Value {
      return arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(typeOf(one), builder.getF32FloatAttr(each)));
    };
    Value isInfinite = CompareOp::create(
        builder, loc, typeOf(shapeOf(value)).clone(builder.getI1Type()), unary<AbsOp>(value),
        number(std::numeric_limits<float>::infinity()), ComparePredicate::Eq);
    return SelectOp::create(builder, loc, mlir::cast<RankedTensorType>(value.getType()), isInfinite,
                            number(0), value);
  }

private:
  RankedTensorType typeOf(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  }
  template <typename Op> Value marked(Op op) {
    if (isNarrow && isa<ExpOp, DivOp>(op.getOperation()))
      op->setAttr(kNarrowAttr, builder.getUnitAttr());
    return op;
  }

  OpBuilder builder;
  Location loc;
  bool isNarrow;
};

/// The sum over a row of exponentials of differences from a value of the row, of which its maximum
/// is a part.
struct Exponentials {
  ReduceSumOp sum;
  ExpOp exponential;
  SubOp difference;
  ReduceMaxOp top;
};

} // namespace

std::optional<int64_t> Rows::part() const {
  // One block computes each of 8 log softmaxes of 50,257 f16 in 14.5 us, because few of the
  // multiprocessors have one. Three kernels, which all of them run, take 6.6 us; with 64 rows 19.3
  // and one kernel 15.0.
  constexpr int64_t kLong = 1 << 14, kFewRows = 32;
  constexpr int64_t kLeastPart = 1 << 8, kPart = 1 << 10, kMostPart = 1 << 13,
                    kEnoughParts = 1 << 14;
  bool isLong = length > (count <= kFewRows ? kLong : kLongContiguousRow);
  if (!isContiguous || !isLong || count == 0)
    return std::nullopt;
  int64_t most = kPart;
  while (most < kMostPart && count * (length / most) > kEnoughParts)
    most *= 2;
  for (; most <= kMostPart; most *= 2)
    for (int64_t size = most; size >= kLeastPart; --size)
      if (length % size == 0)
        return size;
  return std::nullopt;
}

/// The narrower float of which `value` is a cast, or `value` itself.
static Value beforeCast(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast)
    return value;
  Type type = getElementTypeOrSelf(cast.getInput());
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32 ? cast.getInput() : value;
}

/// The maximum of `input` along `dim` that `value`, which has an element for each row, depends on.
static ReduceMaxOp maximumIn(Value value, Value input, int64_t dim) {
  constexpr unsigned kMostOps = 8;
  SmallVector<Value> todo = {value};
  for (unsigned i = 0; i < todo.size() && i < kMostOps; ++i) {
    Operation *op = todo[i].getDefiningOp();
    auto max = dyn_cast_if_present<ReduceMaxOp>(op);
    if (max && max.getInput() == input && max.getDims() == ArrayRef<int64_t>{dim})
      return max;
    if (op && op->hasTrait<convoy::tcp::Elementwise>())
      llvm::append_range(todo, op->getOperands());
  }
  return nullptr;
}

static std::optional<Exponentials> matchExponentials(ReduceSumOp sum) {
  auto exponential = sum.getInput().getDefiningOp<ExpOp>();
  auto difference = exponential ? exponential.getInput().getDefiningOp<SubOp>() : nullptr;
  if (!difference || sum.getDims().size() != 1 ||
      !getElementTypeOrSelf(difference.getType()).isF32())
    return std::nullopt;
  int64_t dim = sum.getDims().front();
  Value input = difference.getLhs(), start = difference.getRhs();
  if (shapeOf(input) != shapeOf(difference) || shapeOf(start)[dim] != 1)
    return std::nullopt;
  ReduceMaxOp top = maximumIn(start, input, dim);
  if (!top || shapeOf(top) != shapeOf(start))
    return std::nullopt;
  return Exponentials{sum, exponential, difference, top};
}

/// The maximum and the sum of a row from those of its parts. An infinite maximum of a part is
/// replaced by zero, so that its sum is zero or infinite rather than NaN.
static void divide(Exponentials found, const Rows &rows, int64_t part) {
  Value input = found.difference.getLhs();
  SmallVector<int64_t> whole(shapeOf(found.top)), kept(whole), split(shapeOf(input));
  kept.insert(kept.begin() + rows.dim, 1);
  split[rows.dim] = part;
  split.insert(split.begin() + rows.dim, rows.length / part);

  // Each kernel converts what it reads: a cast that all of them use would be stored.
  Value stored = beforeCast(input);
  bool isNarrow = stored != input;
  SoftmaxBuilder parts(found.top, isNarrow);
  Value divided = parts.cast(parts.reshape(stored, split), getElementTypeOrSelf(input));
  Value most = parts.reduce<ReduceMaxOp>(divided, rows.dim + 1);
  Value differences = parts.binary<SubOp>(divided, parts.finite(most));
  Value sums = parts.reduce<ReduceSumOp>(parts.unary<ExpOp>(differences), rows.dim + 1);
  Value top = parts.reshape(parts.reduce<ReduceMaxOp>(most, rows.dim), whole);
  found.top.replaceAllUsesWith(top);
  found.top->erase();

  SoftmaxBuilder joined(found.sum, isNarrow);
  Value from = joined.reshape(found.difference.getRhs(), kept);
  // Computed again, so that the sum reads what the maximum of the row reads: they become one
  // kernel.
  Value start = joined.finite(most);
  Value weights = joined.unary<ExpOp>(joined.binary<SubOp>(start, from));
  Value sum = joined.reduce<ReduceSumOp>(joined.binary<MulOp>(sums, weights), rows.dim);
  found.sum.replaceAllUsesWith(joined.reshape(sum, whole));
  found.sum->erase();
}

/// The softmax of long rows as the ops that it consists of.
static void expand(SoftmaxOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  SoftmaxBuilder builder(op, type.getElementTypeBitWidth() < 32);
  int64_t dim = op.getDim();
  Value x = builder.cast(op.getInput(), Float32Type::get(op.getContext()));
  Value top = builder.reduce<ReduceMaxOp>(x, dim);
  Value exponentials = builder.unary<ExpOp>(builder.binary<SubOp>(x, top));
  Value quotients =
      builder.binary<DivOp>(exponentials, builder.reduce<ReduceSumOp>(exponentials, dim));
  op.replaceAllUsesWith(builder.cast(quotients, type.getElementType()));
  op->erase();
}

void TcpSplitSoftmaxPass::runOnStaticShapes() {
  if (getTarget(getOperation()) != Target::Cuda)
    return;
  SmallVector<SoftmaxOp> softmaxes;
  getOperation().walk([&](SoftmaxOp op) {
    unsigned bits = op.getType().getElementTypeBitWidth();
    if (bits <= 32 && Rows(op.getInput(), op.getDim()).part())
      softmaxes.push_back(op);
  });
  llvm::for_each(softmaxes, expand);

  SmallVector<ReduceSumOp> sums;
  getOperation().walk([&](ReduceSumOp op) { sums.push_back(op); });
  for (ReduceSumOp sum : sums)
    if (std::optional<Exponentials> found = matchExponentials(sum)) {
      Value input = found->difference.getLhs();
      Rows rows(input, sum.getDims().front());
      // The differences are at most zero, and the sum is at least one, so that it has an error of a
      // few units of f32 with approximate exponentials as well.
      if (std::optional<int64_t> part = rows.part())
        divide(*found, rows, *part);
      else if (beforeCast(input) != input && found->exponential->hasOneUse())
        found->exponential->setAttr(kNarrowAttr, UnitAttr::get(&getContext()));
    }
}
