// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The index along a dim, and ops that read at positions given by another tensor: one generic each,
// which loads from the input at a computed position.

#include "dialect/tcp/TcpOps.h"
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
  // `index` may have 32 bits in a kernel, where a longer number would become one in range.
  Type indexType = builder.getIndexType(),
       type = index.getType().isInteger(64) ? index.getType() : indexType;
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  auto cast = [&](Type to, Value value) -> Value {
    return value.getType() == to ? value : arith::IndexCastOp::create(builder, loc, to, value);
  };
  Value position = cast(type, index), last = number(shapeOf(input)[dim] - 1);
  SmallVector<Value> indices;
  for (int64_t i = 0, rank = shapeOf(input).size(); i < rank; ++i)
    if (i != dim)
      indices.push_back(linalg::IndexOp::create(builder, loc, loopOf(i)));
    else
      indices.push_back(
          cast(indexType,
               arith::MinSIOp::create(
                   builder, loc, arith::MaxSIOp::create(builder, loc, position, number(0)), last)));
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

} // namespace

void convoy::populateIndexingPatterns(RewritePatternSet &patterns) {
  patterns.add<IotaPattern, IndexSelectPattern, GatherPattern>(patterns.getContext());
}
