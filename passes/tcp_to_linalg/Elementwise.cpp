// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Elementwise ops: one pattern for all of them, whose scalar code is in ScalarCode.cpp.

#include "dialect/tcp/TcpOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"
#include "passes/tcp_to_linalg/ScalarCode.h"

using namespace mlir;
using namespace convoy;

namespace {

/// Lowers an elementwise op to a linalg.generic with an identity map on the result. Splat constants
/// become scalars in the body.
struct ElementwisePattern : public OpTraitConversionPattern<tcp::Elementwise> {
  using OpTraitConversionPattern<tcp::Elementwise>::OpTraitConversionPattern;

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const final {
    if (!whyUnsupported(op).empty())
      return rewriter.notifyMatchFailure(op, whyUnsupported(op));
    auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<TypedAttr> splats;
    SmallVector<Value> inputs;
    for (Value operand : operands) {
      DenseElementsAttr constant;
      bool isSplat = matchPattern(operand, m_Constant(&constant)) && constant.isSplat();
      splats.push_back(isSplat ? cast<TypedAttr>(constant.getSplatValue<Attribute>())
                               : TypedAttr());
      if (!isSplat)
        inputs.push_back(operand);
    }
    // A cast rounds as the model specifies; for every other op narrow floats are only a storage
    // format.
    bool isCast = isa<tcp::CastOp>(op);
    Value result = broadcastGeneric(
        rewriter, op->getLoc(), resultType, inputs,
        [&](OpBuilder &builder, Location loc, ValueRange elements) {
          SmallVector<Value> args;
          for (TypedAttr splat : splats) {
            Value arg = splat ? Value(arith::ConstantOp::create(builder, loc, widened(splat)))
                              : elements.take_front().front();
            if (!splat)
              elements = elements.drop_front();
            Type compute = computeType(arg.getType());
            if (compute == arg.getType())
              args.push_back(arg);
            else
              args.push_back(isCast ? Value(arith::ExtFOp::create(builder, loc, compute, arg))
                                    : convertFloat(builder, loc, arg, compute));
          }
          Value value = scalarCode(builder, loc, op, args);
          assert(value && "an op of the trait without scalar code");
          allowApproximation(op, builder.getInsertionBlock(), resultType.getElementType());
          if (!isa<FloatType>(value.getType()) || value.getType() == resultType.getElementType())
            return value;
          if (isCast)
            return Value(arith::TruncFOp::create(builder, loc, resultType.getElementType(), value));
          return convertFloat(builder, loc, value, resultType.getElementType());
        });
    rewriter.replaceOp(op, result);
    return success();
  }

  /// A float constant in the compute type, which represents it exactly.
  static TypedAttr widened(TypedAttr attr) {
    auto number = dyn_cast<FloatAttr>(attr);
    if (!number || computeType(number.getType()) == number.getType())
      return attr;
    return FloatAttr::get(computeType(number.getType()), number.getValueAsDouble());
  }
};

} // namespace

void convoy::populateElementwisePatterns(RewritePatternSet &patterns) {
  patterns.add<ElementwisePattern>(patterns.getContext());
}
