// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The index along a dim, and ops that read at positions given by another tensor: one generic each,
// which loads from the input at a computed position. Ops that write at such positions: loops over
// the updates on the CPU; on the GPU one generic, in which each element of the result reads the
// indices of its updates.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"

using namespace mlir;
using namespace convoy;

namespace {

/// The result for an index out of range.
Value outOfRange(OpBuilder &builder, Location loc, Type type) {
  if (auto floating = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(
        builder, loc, FloatAttr::get(type, APFloat::getNaN(floating.getFloatSemantics())));
  unsigned bits = type.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(
      builder, loc,
      IntegerAttr::get(type, bits == 1 ? APInt::getZero(1) : APInt::getSignedMinValue(bits)));
}

/// Loads `input` at the loop indices of the input's dims, but at `index` in `dim`, which may be out
/// of range unless it is `inBounds`.
Value loadAt(OpBuilder &builder, Location loc, Value input, int64_t dim, Value index, bool inBounds,
             function_ref<int64_t(int64_t)> loopOf) {
  Type indexType = builder.getIndexType();
  Value position = arith::IndexCastOp::create(builder, loc, indexType, index);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value last = arith::ConstantIndexOp::create(builder, loc, shapeOf(input)[dim] - 1);
  SmallVector<Value> indices;
  for (int64_t i = 0, rank = shapeOf(input).size(); i < rank; ++i)
    indices.push_back(
        i != dim ? linalg::IndexOp::create(builder, loc, loopOf(i)).getResult()
                 : arith::MinSIOp::create(
                       builder, loc, arith::MaxSIOp::create(builder, loc, position, zero), last)
                       .getResult());
  Value element = tensor::ExtractOp::create(builder, loc, input, indices);
  if (inBounds)
    return element;
  // A negative index is a large unsigned one.
  Value inRange = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, position, last);
  return arith::SelectOp::create(builder, loc, inRange, element,
                                 outOfRange(builder, loc, element.getType()));
}

struct IotaPattern : public OpConversionPattern<tcp::IotaOp> {
  using OpConversionPattern<tcp::IotaOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::IotaOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const final {
    auto type = cast<RankedTensorType>(op.getType());
    rewriter.replaceOp(
        op, parallelGeneric(rewriter, op.getLoc(), type, {}, {},
                            [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
                              Value index =
                                  linalg::IndexOp::create(inner, loc, op.getDim().getZExtValue());
                              return arith::IndexCastOp::create(inner, loc, type.getElementType(),
                                                                index);
                            }));
    return success();
  }
};

struct IndexSelectPattern : public OpConversionPattern<tcp::IndexSelectOp> {
  using OpConversionPattern<tcp::IndexSelectOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::IndexSelectOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    auto type = cast<RankedTensorType>(op.getType());
    int64_t dim = op.getDim().getSExtValue(), count = shapeOf(op.getIndices()).size();
    AffineMap map =
        AffineMap::getMultiDimIdentityMap(type.getRank(), getContext()).getSliceMap(dim, count);
    rewriter.replaceOp(
        op, parallelGeneric(rewriter, op.getLoc(), type, adaptor.getIndices(), map,
                            [&](OpBuilder &inner, Location loc, ValueRange args) {
                              return loadAt(inner, loc, adaptor.getInput(), dim, args[0],
                                            op.getInBounds(),
                                            [&](int64_t i) { return i < dim ? i : i + count - 1; });
                            }));
    return success();
  }
};

struct GatherPattern : public OpConversionPattern<tcp::GatherOp> {
  using OpConversionPattern<tcp::GatherOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::GatherOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    auto type = cast<RankedTensorType>(op.getType());
    int64_t dim = op.getDim().getSExtValue();
    rewriter.replaceOp(op, broadcastGeneric(rewriter, op.getLoc(), type, adaptor.getIndices(),
                                            [&](OpBuilder &inner, Location loc, ValueRange args) {
                                              return loadAt(inner, loc, adaptor.getInput(), dim,
                                                            args[0], /*inBounds=*/false,
                                                            [](int64_t i) { return i; });
                                            }));
    return success();
  }
};

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

struct ScatterPattern : public OpConversionPattern<tcp::ScatterOp> {
  using OpConversionPattern<tcp::ScatterOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::ScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    rewriter.replaceOp(op, isCuda(op) ? scanUpdates(op, adaptor, rewriter)
                                      : applyUpdates(op, adaptor, rewriter));
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
                  [&](OpBuilder &inner, Location loc, ValueRange args) {
                    return combine(inner, loc, op.getKind(), args[2], args[1]);
                  });
    SmallVector<int64_t> shape(shapeOf(op.getIndices()));
    shape[dim] = type.getDimSize(dim);
    Value none = arith::ConstantIntOp::create(builder, op.getLoc(), -1, 64);
    Value last = scan(op, adaptor.getIndices(), {}, filled(builder, op.getLoc(), shape, none),
                      builder, [&](OpBuilder &inner, Location loc, ValueRange) {
                        Value number = linalg::IndexOp::create(inner, loc, type.getRank());
                        return arith::IndexCastOp::create(inner, loc, inner.getI64Type(), number);
                      });
    return broadcastGeneric(
        builder, op.getLoc(), type, {last, input},
        [&](OpBuilder &inner, Location loc, ValueRange args) {
          Value zero = arith::ConstantIntOp::create(inner, loc, 0, 64);
          Value updated =
              arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sge, args[0], zero);
          // No value in memory makes a kernel read elsewhere, even if the kernel before it has not run,
          // as when the program is profiled.
          Value most =
              arith::ConstantIntOp::create(inner, loc, shapeOf(op.getUpdates())[dim] - 1, 64);
          Value number = arith::MinSIOp::create(
              inner, loc, arith::MaxSIOp::create(inner, loc, args[0], zero), most);
          SmallVector<Value> at;
          for (int64_t i = 0; i < type.getRank(); ++i)
            at.push_back(i != dim ? linalg::IndexOp::create(inner, loc, i).getResult()
                                  : arith::IndexCastOp::create(inner, loc, inner.getIndexType(),
                                                               number)
                                        .getResult());
          Value update = tensor::ExtractOp::create(inner, loc, updates, at);
          return arith::SelectOp::create(inner, loc, updated, update, args[1]).getResult();
        });
  }

  /// Changes each element of `init` by `body` for the indices along `dim` that are its own, in
  /// order. The arguments of `body` are the index, the element of `values`, and the element.
  static Value scan(tcp::ScatterOp op, Value indices, ValueRange values, Value init,
                    OpBuilder &builder, ScalarBody body) {
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
    return reductionGeneric(
        builder, op.getLoc(), init, inputs, maps, iterators,
        [&](OpBuilder &inner, Location loc, ValueRange args) {
          Value mine = linalg::IndexOp::create(inner, loc, dim);
          Value wanted = arith::IndexCastOp::create(inner, loc, args[0].getType(), mine);
          Value same = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, args[0], wanted);
          return arith::SelectOp::create(inner, loc, same, body(inner, loc, args), args.back())
              .getResult();
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

void convoy::populateIndexingPatterns(RewritePatternSet &patterns) {
  patterns.add<IotaPattern, IndexSelectPattern, GatherPattern, ScatterPattern>(
      patterns.getContext());
}
