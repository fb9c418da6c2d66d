// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tcp.scatter, which writes at positions given by another tensor: loops over the updates on the
// CPU. On the GPU each element of the result reads the indices of its updates: all indices of a few
// updates, or its own among the sorted ones of many.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"
#include "passes/tcp_to_linalg/SortedKeys.h"

using namespace mlir;
using namespace convoy;

namespace {

/// MLIR's name of a reduction of a type. Sums and maxima of bools are `or`, products and minima
/// `and`. `set` is an assignment.
arith::AtomicRMWKind reductionOf(tcp::ScatterKind kind, Type type) {
  using Kind = arith::AtomicRMWKind;
  bool isFloat = isa<FloatType>(type), isBool = type.isInteger(1);
  switch (kind) {
  case tcp::ScatterKind::Set:
    return Kind::assign;
  case tcp::ScatterKind::Add:
    return isBool ? Kind::ori : isFloat ? Kind::addf : Kind::addi;
  case tcp::ScatterKind::Mul:
    return isBool ? Kind::andi : isFloat ? Kind::mulf : Kind::muli;
  case tcp::ScatterKind::Max:
    return isBool ? Kind::ori : isFloat ? Kind::maximumf : Kind::maxs;
  case tcp::ScatterKind::Min:
    return isBool ? Kind::andi : isFloat ? Kind::minimumf : Kind::mins;
  }
  llvm_unreachable("unknown kind");
}

/// The element after one update.
Value combine(OpBuilder &builder, Location loc, tcp::ScatterKind kind, Value element,
              Value update) {
  arith::AtomicRMWKind reduction = reductionOf(kind, element.getType());
  return reduction == arith::AtomicRMWKind::assign
             ? update
             : arith::getReductionOp(reduction, builder, loc, element, update);
}

/// A scatter with many updates on a GPU. The indices along the dim are sorted with the numbers of
/// their updates, so that an element of the result finds its first update by bisection, and reads
/// no other ones.
class SortedScatter {
public:
  SortedScatter(tcp::ScatterOp op, Value input, Value indices, Value updates, OpBuilder &builder)
      : op(op), input(input), indices(indices), updates(updates), b(builder), loc(op.getLoc()),
        dim(op.getDim().getSExtValue()), rank(shapeOf(input).size()), size(shapeOf(input)[dim]),
        count(shapeOf(indices)[dim]) {
    for (int64_t i = 0; i < rank; ++i)
      if (i != dim && shapeOf(indices)[i] != 1)
        rowDims.push_back(i);
  }

  /// Whether it takes less time than one kernel in which each element reads all indices.
  bool isFaster() {
    // Each of the kernels that merge takes about as long as a thread needs for so many indices.
    constexpr int64_t kIndicesOfKernel = 1 << 8, kManyReads = int64_t(1) << 28;
    // Without a reduction, only elements with other indices read them.
    int64_t reading = op.getKind() == tcp::ScatterKind::Set
                          ? rows() * size
                          : cast<RankedTensorType>(input.getType()).getNumElements();
    return count > kIndicesOfKernel * llvm::Log2_64_Ceil(count) ||
           (count > kIndicesOfKernel && reading * count > kManyReads);
  }

  Value run() {
    Value keys = sortedKeys(b, loc, unsortedKeys(), /*isCuda=*/true), first = firstUpdates(keys);
    return parallelGeneric(
        b, loc, cast<RankedTensorType>(input.getType()), input, b.getMultiDimIdentityMap(rank),
        [&](OpBuilder &inner, Location, ValueRange args) {
          Integers ints{inner, loc};
          SmallVector<Value> at = loopIndices(inner);
          Value row = rowOf(inner, at), own = at[dim];
          auto bound = [&](Value number) -> Value {
            Value start = tensor::ExtractOp::create(inner, loc, first, ValueRange{row, number});
            return ints.make<arith::MinUIOp>(ints.cast(inner.getIndexType(), start),
                                             ints.index(count));
          };
          Value begin = bound(own), end = bound(ints.make<arith::AddIOp>(own, ints.index(1)));
          return scf::ForOp::create(
                     inner, loc, begin, end, ints.index(1), args[0],
                     [&](OpBuilder &body, Location, Value number, ValueRange soFar) {
                       Integers ints{body, loc};
                       Value key =
                           tensor::ExtractOp::create(body, loc, keys, ValueRange{row, number});
                       at[dim] = ints.place(lowerHalf(ints, key), count);
                       Value update = tensor::ExtractOp::create(body, loc, updates, at);
                       scf::YieldOp::create(body, loc,
                                            combine(body, loc, op.getKind(), soFar[0], update));
                     })
              .getResult(0);
        });
  }

private:
  int64_t rows() const {
    int64_t product = 1;
    for (int64_t i : rowDims)
      product *= shapeOf(indices)[i];
    return product;
  }

  SmallVector<Value> loopIndices(OpBuilder &inner) const {
    SmallVector<Value> found;
    for (int64_t i = 0; i < rank; ++i)
      found.push_back(linalg::IndexOp::create(inner, loc, i));
    return found;
  }

  /// The number of the row of keys that an element with these indices has.
  Value rowOf(OpBuilder &inner, ArrayRef<Value> at) const {
    Integers ints{inner, loc};
    Value row = ints.index(0);
    for (int64_t i : rowDims)
      row = ints.make<arith::AddIOp>(ints.make<arith::MulIOp>(row, ints.index(shapeOf(indices)[i])),
                                     at[i]);
    return row;
  }

  static Value lowerHalf(const Integers &ints, Value key) {
    return ints.make<arith::AndIOp>(key, ints.number(key.getType(), 0xFFFFFFFF));
  }

  /// The index of each update in the upper half, its number in the lower one. Indices out of range
  /// come last.
  Value unsortedKeys() const {
    Type i64 = b.getI64Type();
    return parallelGeneric(
        b, loc, RankedTensorType::get({rows(), count}, i64), {}, {},
        [&](OpBuilder &inner, Location, ValueRange) {
          Integers ints{inner, loc};
          Value row = linalg::IndexOp::create(inner, loc, 0),
                number = linalg::IndexOp::create(inner, loc, 1);
          SmallVector<Value> at(rank, ints.index(0));
          at[dim] = number;
          for (int64_t i : llvm::reverse(rowDims)) {
            Value length = ints.index(shapeOf(indices)[i]);
            at[i] = ints.make<arith::RemUIOp>(row, length);
            row = ints.make<arith::DivUIOp>(row, length);
          }
          Value index = tensor::ExtractOp::create(inner, loc, indices, at);
          if (index.getType() != i64)
            index = arith::ExtSIOp::create(inner, loc, i64, index);
          Value most = ints.number(i64, size);
          Value inRange = ints.compare(arith::CmpIPredicate::ult, index, most);
          return ints.make<arith::OrIOp>(
              ints.make<arith::ShLIOp>(ints.select(inRange, index, most), ints.number(i64, 32)),
              ints.cast(i64, number));
        });
  }

  /// For each index the number of keys with smaller ones, and the number of keys in range.
  Value firstUpdates(Value keys) const {
    Type i64 = b.getI64Type();
    return parallelGeneric(
        b, loc, RankedTensorType::get({rows(), size + 1}, i64), {}, {},
        [&](OpBuilder &inner, Location, ValueRange) {
          Integers ints{inner, loc};
          Value row = linalg::IndexOp::create(inner, loc, 0);
          Value least = ints.make<arith::ShLIOp>(
              ints.cast(i64, linalg::IndexOp::create(inner, loc, 1)), ints.number(i64, 32));
          Value before = countBefore(
              inner, loc, ints.index(0), ints.index(count),
              [&](OpBuilder &body, Value at) -> Value {
                Value key = tensor::ExtractOp::create(body, loc, keys, ValueRange{row, at});
                return Integers{body, loc}.compare(arith::CmpIPredicate::slt, key, least);
              });
          return ints.cast(i64, before);
        });
  }

  tcp::ScatterOp op;
  Value input, indices, updates;
  OpBuilder &b;
  Location loc;
  int64_t dim, rank, size, count;
  SmallVector<int64_t> rowDims; ///< dims but `dim` along which indices vary
};

struct ScatterPattern : public OpConversionPattern<tcp::ScatterOp> {
  using OpConversionPattern<tcp::ScatterOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::ScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    if (!isCuda(op)) {
      rewriter.replaceOp(op, applyUpdates(op, adaptor, rewriter));
      return success();
    }
    SortedScatter sorted(op, adaptor.getInput(), adaptor.getIndices(), adaptor.getUpdates(),
                         rewriter);
    rewriter.replaceOp(op, sorted.isFaster() ? sorted.run() : scanUpdates(op, adaptor, rewriter));
    return success();
  }

private:
  /// The result on the GPU: `set` finds the last update of each element first, so that only the
  /// distinct indices are scanned.
  static Value scanUpdates(tcp::ScatterOp op, OpAdaptor adaptor, OpBuilder &builder) {
    Value input = adaptor.getInput(), updates = adaptor.getUpdates();
    auto type = cast<RankedTensorType>(input.getType());
    int64_t dim = op.getDim().getSExtValue();
    if (op.getKind() != tcp::ScatterKind::Set)
      return scan(op, adaptor.getIndices(), updates, input, builder,
                  [&](OpBuilder &inner, Location loc, Value isOwn, ValueRange args) -> Value {
                    Value combined = combine(inner, loc, op.getKind(), args[2], args[1]);
                    return arith::SelectOp::create(inner, loc, isOwn, combined, args[2]);
                  });
    SmallVector<int64_t> shape(shapeOf(op.getIndices()));
    shape[dim] = type.getDimSize(dim);
    Value none = arith::ConstantIntOp::create(builder, op.getLoc(), -1, 64);
    // A maximum, which threads can share.
    Value last =
        scan(op, adaptor.getIndices(), {}, filled(builder, op.getLoc(), shape, none), builder,
             [&](OpBuilder &inner, Location loc, Value isOwn, ValueRange args) -> Value {
               Value number =
                   arith::IndexCastOp::create(inner, loc, inner.getI64Type(),
                                              linalg::IndexOp::create(inner, loc, type.getRank()));
               Value found = arith::SelectOp::create(inner, loc, isOwn, number, none);
               return arith::MaxSIOp::create(inner, loc, args[1], found);
             });
    return broadcastGeneric(
        builder, op.getLoc(), type, {last, input},
        [&](OpBuilder &inner, Location loc, ValueRange args) {
          Value zero = arith::ConstantIntOp::create(inner, loc, 0, 64);
          Value updated =
              arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sge, args[0], zero);
          // No value in memory makes a kernel read elsewhere, even if the kernel before it has not
          // run, as when the program is profiled.
          Value most =
              arith::ConstantIntOp::create(inner, loc, shapeOf(op.getUpdates())[dim] - 1, 64);
          Value number = arith::MinSIOp::create(
              inner, loc, arith::MaxSIOp::create(inner, loc, args[0], zero), most);
          SmallVector<Value> at;
          for (int64_t i = 0; i < type.getRank(); ++i)
            at.push_back(i != dim
                             ? linalg::IndexOp::create(inner, loc, i).getResult()
                             : arith::IndexCastOp::create(inner, loc, inner.getIndexType(), number)
                                   .getResult());
          Value update = tensor::ExtractOp::create(inner, loc, updates, at);
          return arith::SelectOp::create(inner, loc, updated, update, args[1]).getResult();
        });
  }

  /// Changes each element of `init` by `body` for all indices along `dim`, in order. The arguments
  /// of `body` are whether the index is that of the element, and the index, the element of
  /// `values`, and the element.
  static Value scan(tcp::ScatterOp op, Value indices, ValueRange values, Value init,
                    OpBuilder &builder,
                    function_ref<Value(OpBuilder &, Location, Value, ValueRange)> body) {
    int64_t dim = op.getDim().getSExtValue(), rank = shapeOf(init).size();
    // The last loop is over the updates.
    auto mapOf = [&](Value operand) {
      SmallVector<AffineExpr> results;
      for (auto [i, size] : llvm::enumerate(shapeOf(operand)))
        results.push_back(int64_t(i) == dim ? builder.getAffineDimExpr(rank)
                          : size == 1       ? builder.getAffineConstantExpr(0)
                                            : builder.getAffineDimExpr(i));
      return AffineMap::get(rank + 1, 0, results, builder.getContext());
    };
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    iterators.push_back(utils::IteratorType::reduction);
    AffineMap identity = AffineMap::getMultiDimIdentityMap(rank, builder.getContext());
    SmallVector<Value> inputs = {indices};
    llvm::append_range(inputs, values);
    SmallVector<AffineMap> maps = llvm::map_to_vector(inputs, mapOf);
    maps.push_back(AffineMap::get(rank + 1, 0, identity.getResults(), builder.getContext()));
    return reductionGeneric(builder, op.getLoc(), init, inputs, maps, iterators,
                            [&](OpBuilder &inner, Location loc, ValueRange args) {
                              Value mine = linalg::IndexOp::create(inner, loc, dim);
                              Value wanted =
                                  arith::IndexCastOp::create(inner, loc, args[0].getType(), mine);
                              Value isOwn = arith::CmpIOp::create(
                                  inner, loc, arith::CmpIPredicate::eq, args[0], wanted);
                              return body(inner, loc, isOwn, args);
                            });
  }

  /// Loops over the updates. An update out of range writes back the element that it read.
  static Value applyUpdates(tcp::ScatterOp op, OpAdaptor adaptor, OpBuilder &builder) {
    Location loc = op.getLoc();
    int64_t dim = op.getDim().getSExtValue(), size = shapeOf(op.getInput())[dim];
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    SmallVector<Value> lower, upper, step;
    for (int64_t each : shapeOf(op.getUpdates())) {
      lower.push_back(constant(0));
      upper.push_back(constant(each));
      step.push_back(constant(1));
    }
    Value zero = constant(0), last = constant(size - 1);
    auto body = [&](OpBuilder &inner, Location, ValueRange position,
                    ValueRange carried) -> scf::ValueVector {
      SmallVector<Value> at(position), from(position);
      for (auto [i, count] : llvm::enumerate(shapeOf(op.getIndices())))
        if (count == 1)
          from[i] = zero;
      Value index = arith::IndexCastOp::create(
          inner, loc, inner.getIndexType(),
          tensor::ExtractOp::create(inner, loc, adaptor.getIndices(), from));
      at[dim] =
          arith::MinSIOp::create(inner, loc, arith::MaxSIOp::create(inner, loc, index, zero), last);
      // A negative index is a large unsigned one.
      Value inRange = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ule, index, last);
      Value element = tensor::ExtractOp::create(inner, loc, carried[0], at);
      Value update = tensor::ExtractOp::create(inner, loc, adaptor.getUpdates(), position);
      Value next = arith::SelectOp::create(
          inner, loc, inRange, combine(inner, loc, op.getKind(), element, update), element);
      return {tensor::InsertOp::create(inner, loc, next, carried[0], at)};
    };
    return scf::buildLoopNest(builder, loc, lower, upper, step, adaptor.getInput(), body)
        .results[0];
  }
};

} // namespace

void convoy::populateScatterPatterns(RewritePatternSet &patterns) {
  patterns.add<ScatterPattern>(patterns.getContext());
}
