// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/llvm/GpuQuotients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace {

/// Computes the quotient x / c by a constant c as x * high + x * low, where high + low is 1 / c to
/// 48 bits. Unless the result is below 2^-98, the quotient by an integer below 2^20 is correctly
/// rounded, and the error of any other is at most 0.5000005 units in the last place. `high` is
/// rounded toward zero, so that the products with an infinity have the same sign. A division takes
/// eight instructions and a branch.
void divideByConstant(arith::DivFOp op) {
  constexpr double kLargest = 0x1p60;
  FloatAttr attribute;
  if (!op.getType().isF32() || !matchPattern(op.getRhs(), m_Constant(&attribute)))
    return;
  double divisor = attribute.getValueAsDouble(), magnitude = std::abs(divisor);
  // LLVM multiplies by the reciprocal of a power of two.
  int exponent = 0;
  if (!(magnitude <= kLargest && magnitude >= 1 / kLargest) ||
      std::frexp(magnitude, &exponent) == 0.5)
    return;
  double reciprocal = 1 / divisor;
  float high = static_cast<float>(reciprocal);
  if (std::abs(high) > std::abs(reciprocal))
    high = std::nextafter(high, 0.0F);
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  Value x = op.getLhs(),
        rest = arith::MulFOp::create(b, x, constant(static_cast<float>(reciprocal - high)));
  op.replaceAllUsesWith(LLVM::FMAOp::create(b, x, constant(high), rest).getResult());
  op.erase();
}

/// The approximate 2^x of a sum 2^x + c with a constant c of at least 1, or null.
math::Exp2Op exponentialOf(arith::AddFOp sum) {
  FloatAttr added;
  if (!sum || !sum.getType().isF32() || !matchPattern(sum.getRhs(), m_Constant(&added)) ||
      added.getValueAsDouble() < 1)
    return nullptr;
  auto power = sum.getLhs().getDefiningOp<math::Exp2Op>();
  return power && arith::bitEnumContainsAll(power.getFastmath(), arith::FastMathFlags::afn)
             ? power
             : nullptr;
}

/// Computes the quotient q / (2^x + c) by the reciprocal that flushes subnormals, which takes an
/// instruction instead of eight for the quotient. A quarter of any finite denominator has a normal
/// reciprocal.
void useReciprocal(arith::DivFOp op) {
  constexpr double kQuarter = 0.25;
  auto sum = op.getRhs().getDefiningOp<arith::AddFOp>();
  auto added = cast<FloatAttr>(sum.getRhs().getDefiningOp<arith::ConstantOp>().getValue());
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(static_cast<float>(value)));
  };
  Value quarter = constant(kQuarter);
  Value denominator =
      math::FmaOp::create(b, sum.getLhs(), quarter, constant(kQuarter * added.getValueAsDouble()));
  Value reciprocal =
      LLVM::CallIntrinsicOp::create(b, op.getType(), b.getStringAttr("llvm.nvvm.rcp.approx.ftz.f"),
                                    denominator)
          .getResult(0);
  Value numerator = arith::MulFOp::create(b, op.getLhs(), quarter);
  op.replaceAllUsesWith(arith::MulFOp::create(b, numerator, reciprocal).getResult());
  op.erase();
}

/// Computes 2^x + c and quotients by it, as in sigmoid, swish and tanh, by instructions that flush
/// subnormals: the sum is the same, and the power takes one instruction instead of four.
void flushSubnormals(gpu::GPUModuleOp module) {
  SmallVector<arith::DivFOp> quotients;
  SmallVector<math::Exp2Op> powers;
  module.walk([&](Operation *op) {
    if (auto quotient = dyn_cast<arith::DivFOp>(op)) {
      if (arith::bitEnumContainsAll(quotient.getFastmath(), arith::FastMathFlags::afn) &&
          exponentialOf(quotient.getRhs().getDefiningOp<arith::AddFOp>()))
        quotients.push_back(quotient);
    } else if (auto power = dyn_cast<math::Exp2Op>(op)) {
      if (llvm::all_of(power->getUsers(), [&](Operation *user) {
            return exponentialOf(dyn_cast<arith::AddFOp>(user)) == power;
          }))
        powers.push_back(power);
    }
  });
  llvm::for_each(quotients, useReciprocal);
  for (math::Exp2Op power : powers) {
    OpBuilder b(power);
    power.replaceAllUsesWith(LLVM::CallIntrinsicOp::create(
                                 b, power.getLoc(), power.getType(),
                                 b.getStringAttr("llvm.nvvm.ex2.approx.ftz"), power.getOperand())
                                 .getResult(0));
    power.erase();
  }
}

} // namespace

void convoy::simplifyQuotients(gpu::GPUModuleOp module) {
  SmallVector<arith::DivFOp> quotients;
  module.walk([&](arith::DivFOp op) { quotients.push_back(op); });
  llvm::for_each(quotients, divideByConstant);
  flushSubnormals(module);
}
