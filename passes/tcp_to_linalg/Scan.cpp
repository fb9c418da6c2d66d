// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops: a scan becomes one scf.for over its steps, whose body is compiled once.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"

using namespace mlir;
using namespace convoy;

namespace {

/// Element `index` along dim 0 of a tensor of `type`, as offsets, sizes and strides.
struct Element {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  Element(OpBuilder &builder, RankedTensorType type, Value index)
      : offsets(type.getRank(), builder.getIndexAttr(0)),
        sizes(getAsIndexOpFoldResult(builder.getContext(), type.getShape())),
        strides(type.getRank(), builder.getIndexAttr(1)) {
    offsets.front() = index;
    sizes.front() = builder.getIndexAttr(1);
  }
};

/// `value`, or for a splat constant, which would be copied, a new tensor.
Value writable(OpBuilder &builder, Location loc, Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return value;
  Value element = arith::ConstantOp::create(builder, loc, splat.getSplatValue<TypedAttr>());
  return filled(builder, loc, shapeOf(value), element);
}

/// The state and the stacked outputs are the values that the loop carries. Phase `plan` keeps each
/// in one buffer.
struct ScanPattern : public OpConversionPattern<tcp::ScanOp> {
  using OpConversionPattern<tcp::ScanOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::ScanOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    SmallVector<Value> inits;
    for (Value value : adaptor.getCarried())
      inits.push_back(writable(rewriter, loc, value));
    for (Type type : op.getStacked().getTypes())
      inits.push_back(tensor::EmptyOp::create(
          rewriter, loc, cast<RankedTensorType>(type).getShape(), getElementTypeOrSelf(type)));
    auto loop =
        scf::ForOp::create(rewriter, loc, number(0), number(op.getTrips()), number(1), inits);
    Block *steps = loop.getBody();
    rewriter.setInsertionPointToEnd(steps);
    Value index = loop.getInductionVar();
    if (op.getReverse())
      index = arith::SubIOp::create(rewriter, loc, number(op.getTrips() - 1), index);

    ValueRange state = loop.getRegionIterArgs();
    SmallVector<Value> arguments(state.take_front(op.getCarried().size()));
    for (auto [value, argument] : llvm::zip_equal(adaptor.getSliced(), op.getSlicedArgs())) {
      Element element(rewriter, cast<RankedTensorType>(value.getType()), index);
      arguments.push_back(
          tensor::ExtractSliceOp::create(rewriter, loc, cast<RankedTensorType>(argument.getType()),
                                         value, element.offsets, element.sizes, element.strides));
    }
    llvm::append_range(arguments, adaptor.getInvariant());

    Operation *yield = op.getYield();
    SmallVector<Value> next(op.getNextState()), outputs(op.getStepOutputs());
    rewriter.inlineBlockBefore(&op.getBody().front(), steps, steps->end(), arguments);
    rewriter.eraseOp(yield);
    rewriter.setInsertionPointToEnd(steps);
    for (auto [output, stacked] :
         llvm::zip_equal(outputs, state.drop_front(op.getCarried().size()))) {
      Element element(rewriter, cast<RankedTensorType>(stacked.getType()), index);
      next.push_back(tensor::InsertSliceOp::create(rewriter, loc, output, stacked, element.offsets,
                                                   element.sizes, element.strides));
    }
    scf::YieldOp::create(rewriter, loc, next);
    rewriter.replaceOp(op, loop.getResults());
    return success();
  }
};

} // namespace

void convoy::populateScanPatterns(RewritePatternSet &patterns) {
  patterns.add<ScanPattern>(patterns.getContext());
}
