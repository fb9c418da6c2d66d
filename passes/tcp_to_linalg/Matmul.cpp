// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix products. Batch dims are collapsed to one, or into the rows if the right operand has no
// batch.

#include "dialect/tcp/TcpOps.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"

using namespace mlir;
using namespace convoy;

namespace {

int64_t product(ArrayRef<int64_t> values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

/// A product whose batch dims broadcast.
Value broadcastMatmul(OpBuilder &builder, Location loc, Value lhs, Value rhs, Value init) {
  ArrayRef<int64_t> shape = shapeOf(init);
  int64_t batch = shape.size() - 2;
  // Loops: batch..., M, N, K.
  auto map = [&](Value value, AffineExpr row, AffineExpr column) {
    SmallVector<AffineExpr> results;
    for (int64_t i = 0; i < batch; ++i)
      results.push_back(shapeOf(value)[i] == 1 && shape[i] != 1 ? builder.getAffineConstantExpr(0)
                                                                : builder.getAffineDimExpr(i));
    results.append({row, column});
    return AffineMap::get(batch + 3, 0, results, builder.getContext());
  };
  AffineExpr m = builder.getAffineDimExpr(batch), n = builder.getAffineDimExpr(batch + 1),
             k = builder.getAffineDimExpr(batch + 2);
  SmallVector<utils::IteratorType> iterators(batch + 2, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  return reductionGeneric(
      builder, loc, init, {lhs, rhs}, {map(lhs, m, k), map(rhs, k, n), map(init, m, n)}, iterators,
      [](OpBuilder &inner, Location innerLoc, ValueRange args) {
        Type type = args[2].getType();
        Value product =
            arith::MulFOp::create(inner, innerLoc, convertFloat(inner, innerLoc, args[0], type),
                                  convertFloat(inner, innerLoc, args[1], type));
        return arith::AddFOp::create(inner, innerLoc, args[2], product).getResult();
      });
}

struct MatmulPattern : public OpConversionPattern<tcp::MatmulOp> {
  using OpConversionPattern<tcp::MatmulOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::MatmulOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    Value lhs = productOperand(rewriter, loc, adaptor.getLhs(), isCuda(op)),
          rhs = productOperand(rewriter, loc, adaptor.getRhs(), isCuda(op));
    ArrayRef<int64_t> shape = op.getType().getShape();
    int64_t m = shape[shape.size() - 2], n = shape.back(), k = shapeOf(lhs).back();
    ArrayRef<int64_t> lhsBatch = shapeOf(lhs).drop_back(2), rhsBatch = shapeOf(rhs).drop_back(2);
    int64_t batch = product(shape.drop_back(2));
    Type elementType = op.getType().getElementType();
    Value zero = zeroOf(rewriter, loc, computeType(elementType));

    Value result;
    if (product(rhsBatch) == 1) {
      lhs = reshapeTo(rewriter, loc, lhs, {batch * m, k});
      rhs = reshapeTo(rewriter, loc, rhs, {k, n});
      Value init = filled(rewriter, loc, {batch * m, n}, zero);
      result = linalg::MatmulOp::create(rewriter, loc, ValueRange{lhs, rhs}, ValueRange(init))
                   .getResult(0);
    } else if (lhsBatch == rhsBatch) {
      lhs = reshapeTo(rewriter, loc, lhs, {batch, m, k});
      rhs = reshapeTo(rewriter, loc, rhs, {batch, k, n});
      Value init = filled(rewriter, loc, {batch, m, n}, zero);
      result = linalg::BatchMatmulOp::create(rewriter, loc, ValueRange{lhs, rhs}, ValueRange(init))
                   .getResult(0);
    } else {
      result = broadcastMatmul(rewriter, loc, lhs, rhs, filled(rewriter, loc, shape, zero));
    }
    result = convertElements(rewriter, loc, result, elementType);
    rewriter.replaceOp(op, reshapeTo(rewriter, loc, result, shape));
    return success();
  }
};

} // namespace

void convoy::populateMatmulPatterns(RewritePatternSet &patterns) {
  patterns.add<MatmulPattern>(patterns.getContext());
}
