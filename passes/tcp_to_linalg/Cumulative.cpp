// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Running sums and products. Each is one generic with two results: the totals, which vary along the
// reduced dim, and the total of the row, which the next iteration continues. So the iterations of
// that dim are in order (passes/common/Cumulative.h).

#include "passes/common/Cumulative.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/common/RowLoops.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"

using namespace mlir;
using namespace convoy;

namespace {

/// Running totals of one kind.
struct Totals {
  OpBuilder &builder;
  Location loc;
  bool isProduct, cuda;

  Value neutral(Type type) const {
    return scalarConstant(builder, loc, type, isProduct ? 1.0 : 0.0);
  }
  Value combine(OpBuilder &inner, Location at, Value a, Value b) const;
  static Value convert(OpBuilder &inner, Location at, Value value, Type to) {
    return isa<FloatType>(to) ? convertFloat(inner, at, value, to) : value;
  }
  Value along(Value x, int64_t dim, Type total, Type element) const;
  Value ofParts(Value parts) const;
  Value inParts(Value x, Type compute) const;
  Value onGpu(Value x, int64_t dim, Type type) const;
  Value onCpu(Value x, int64_t dim, Type type) const;
};

Value Totals::combine(OpBuilder &inner, Location at, Value a, Value b) const {
  if (isa<FloatType>(a.getType()))
    return isProduct ? Value(arith::MulFOp::create(inner, at, a, b))
                     : Value(arith::AddFOp::create(inner, at, a, b));
  return isProduct ? Value(arith::MulIOp::create(inner, at, a, b))
                   : Value(arith::AddIOp::create(inner, at, a, b));
}

/// The running totals of `x` along `dim` as `element`s, accumulated in the type `total`.
Value Totals::along(Value x, int64_t dim, Type total, Type element) const {
  auto type = cast<RankedTensorType>(x.getType());
  unsigned rank = type.getRank();
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators[dim] = utils::IteratorType::reduction;
  SmallVector<int64_t> rows(type.getShape());
  rows.erase(rows.begin() + dim);
  AffineMap all = builder.getMultiDimIdentityMap(rank);
  Value results = tensor::EmptyOp::create(builder, loc, type.getShape(), element),
        last = filled(builder, loc, rows, neutral(total));
  return linalg::GenericOp::create(
             builder, loc, TypeRange{results.getType(), last.getType()}, x,
             ValueRange{results, last}, ArrayRef{all, all, all.dropResult(dim)}, iterators,
             [&](OpBuilder &inner, Location at, ValueRange args) {
               Value next = combine(inner, at, args[2], convert(inner, at, args[0], total));
               linalg::YieldOp::create(inner, at,
                                       ValueRange{convert(inner, at, next, element), next});
             })
      .getResult(0);
}

/// The number of elements of a part of a row: a divisor of `size` if there is one, so that no copy
/// has more elements, and preferably a multiple of 16 bytes.
int64_t partOf(int64_t size) {
  constexpr int64_t kLeast = 1 << 10, kMost = 1 << 13, kPadded = 1 << 12;
  for (int64_t multiple : {8, 1})
    for (int64_t part = kMost; part >= kLeast; part -= multiple)
      if (size % part == 0)
        return part;
  return kPadded;
}

/// The total of each part of a row and those before it. `parts` has the running totals of the
/// parts. They are added in order, so that the last total of a part, which the elements of the next
/// one are added to, is the same number there.
Value Totals::ofParts(Value parts) const {
  auto type = cast<RankedTensorType>(parts.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> starts(rank, builder.getIndexAttr(0)),
      ones(rank, builder.getIndexAttr(1)),
      sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  starts.back() = builder.getIndexAttr(type.getDimSize(rank - 1) - 1);
  sizes.back() = builder.getIndexAttr(1);
  Value last = tensor::ExtractSliceOp::create(builder, loc, parts, starts, sizes, ones);
  Value totals = along(last, rank - 2, type.getElementType(), type.getElementType());
  totals.getDefiningOp()->setAttr(kInOrderAttr, builder.getUnitAttr());
  return totals;
}

/// The running totals along the last dim from those of parts, accumulated in `compute`.
Value Totals::inParts(Value x, Type compute) const {
  auto type = cast<RankedTensorType>(x.getType());
  Type element = type.getElementType();
  SmallVector<int64_t> shape(type.getShape()), low(shape.size(), 0), high(shape.size(), 0);
  int64_t size = shape.back(), part = partOf(size), count = llvm::divideCeil(size, part);
  high.back() = count * part - size;
  x = padded(builder, loc, x, low, high, neutral(element), cuda);
  shape.back() = count;
  shape.push_back(part);
  unsigned rank = shape.size();
  Value parts = along(reshapeTo(builder, loc, x, shape), rank - 1, compute, compute),
        totals = ofParts(parts);
  Value y = broadcastGeneric(
      builder, loc, type.clone(shape, element), parts,
      [&](OpBuilder &inner, Location at, ValueRange args) {
        SmallVector<Value> before;
        for (unsigned dim = 0; dim < rank; ++dim)
          before.push_back(linalg::IndexOp::create(inner, at, dim));
        Value zero = arith::ConstantIndexOp::create(inner, at, 0),
              one = arith::ConstantIndexOp::create(inner, at, 1), number = before[rank - 2];
        before[rank - 1] = zero;
        before[rank - 2] =
            arith::SubIOp::create(inner, at, arith::MaxSIOp::create(inner, at, number, one), one);
        Value isFirst = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::eq, number, zero);
        Value total = arith::SelectOp::create(inner, at, isFirst, neutral(compute),
                                              tensor::ExtractOp::create(inner, at, totals, before));
        total = combine(inner, at, total, args[0]);
        return convert(inner, at, total, element);
      });
  SmallVector<int64_t> whole(type.getShape());
  whole.back() = count * part;
  y = reshapeTo(builder, loc, y, whole);
  if (high.back() == 0)
    return y;
  MLIRContext *context = builder.getContext();
  return tensor::ExtractSliceOp::create(
      builder, loc, y, SmallVector<OpFoldResult>(whole.size(), builder.getIndexAttr(0)),
      getAsIndexOpFoldResult(context, type.getShape()),
      SmallVector<OpFoldResult>(whole.size(), builder.getIndexAttr(1)));
}

/// A block, or a part of it, shares each row, whose elements neighboring threads should read. Few
/// long rows are divided, so that all multiprocessors have work.
Value Totals::onGpu(Value x, int64_t dim, Type type) const {
  constexpr int64_t kFewElements = 1 << 15, kLong = 1 << 14, kManyBlocks = 1 << 7, kWarp = 32;
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t size = shape[dim], inner = llvm::product_of(shape.drop_front(dim + 1)),
          all = llvm::product_of(shape), rows = all / size, last = shape.size() - 1;
  bool isAcross = size <= kLongAcross && rows >= kManyRows && inner >= kWarp;
  bool moves = inner != 1 && !isAcross && all > kFewElements;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  std::swap(order[dim], order[last]);
  if (moves)
    x = transposed(builder, loc, x, order);
  if ((moves || inner == 1) && size > kLong && rows < kManyBlocks) {
    if (!moves && dim != last) // only dims of size 1 follow
      x = transposed(builder, loc, x, order), moves = true;
    x = inParts(x, type);
  } else {
    x = along(x, moves ? last : dim, type, elementTypeOf(x));
  }
  return moves ? transposed(builder, loc, x, order) : x;
}

/// The totals of floats are f64: a loop adds the elements of a row one by one, so that the errors
/// of f32 would add up. Conversions of 16-bit floats to f64 would be calls.
Value Totals::onCpu(Value x, int64_t dim, Type type) const {
  Type total = isa<FloatType>(type) ? builder.getF64Type() : type;
  Value y = along(convertElements(builder, loc, x, type), dim, total, type);
  return convertElements(builder, loc, y, elementTypeOf(x));
}

template <typename Op, bool isProduct> struct CumulativePattern : public OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Value x = adaptor.getInput();
    auto type = cast<RankedTensorType>(x.getType());
    int64_t dim = op.getDim().getSExtValue();
    if (type.getDimSize(dim) == 1 || type.getNumElements() == 0) {
      rewriter.replaceOp(op, x);
      return success();
    }
    Totals totals{rewriter, op.getLoc(), isProduct, isCuda(op)};
    Type compute = computeType(type.getElementType());
    Value y = totals.cuda ? totals.onGpu(x, dim, compute) : totals.onCpu(x, dim, compute);
    rewriter.replaceOp(op, y);
    return success();
  }
};

} // namespace

void convoy::populateCumulativePatterns(RewritePatternSet &patterns) {
  patterns.add<CumulativePattern<tcp::CumsumOp, false>, CumulativePattern<tcp::CumprodOp, true>>(
      patterns.getContext());
}
