// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/normalize/WeightRounding.h"
#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/normalize/Weights.h"
#include <cmath>

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

/// The most changes in a filter; a larger filter has one for each index of its largest dim.
static constexpr int64_t kMaxChanges = 1024;

/// `count` numbers that are evenly spaced in (-1, 1), so that their mean is 0, in the order of the
/// multiples of the golden ratio modulo 1: neighbors are far apart.
static SmallVector<float> evenlySpread(int64_t count) {
  constexpr double kGoldenRatio = 0.61803398874989485;
  auto order = llvm::to_vector(llvm::seq(count));
  auto part = [](int64_t k) { return std::fmod(static_cast<double>(k) * kGoldenRatio, 1.0); };
  llvm::sort(order, [&](int64_t a, int64_t b) { return part(a) < part(b); });
  SmallVector<float> found(count);
  for (auto [rank, place] : llvm::enumerate(order))
    found[place] = static_cast<float>(
        (2.0 * static_cast<double>(rank) + 1.0) / static_cast<double>(count) - 1.0);
  return found;
}

Value withoutRoundingBias(OpBuilder &builder, Location loc, Value product, Value factor,
                          FloatType type, int64_t channel) {
  auto polynomial = [&](Value x, ArrayRef<double> coefficients) -> Value {
    return PolynomialOp::create(builder, loc, x.getType(), x,
                                builder.getDenseF64ArrayAttr(coefficients));
  };
  SmallVector<int64_t> shape(shapeOf(product));
  shape[channel] = 1;
  if (llvm::product_of(shape) > kMaxChanges) {
    int64_t largest = std::distance(shape.begin(), llvm::max_element(shape));
    int64_t size = shape[largest];
    shape.assign(shape.size(), 1);
    shape[largest] = size;
  }

  // The unit in the last place of x is between x * 2^-precision and twice that.
  int precision = static_cast<int>(llvm::APFloat::semanticsPrecision(type.getFloatSemantics()));
  double most = std::exp2(-precision - 0.5), low = std::exp2(-precision - 4),
         high = std::exp2(2 - precision);
  // How much a factor's products change: `most` if its distance from 1 is between `low` and `high`.
  // Below, the bias is small; above, products are between several units. The parabola is positive
  // between the two, and steep.
  constexpr double kSteep = 1 << 14;
  Value magnitude = AbsOp::create(builder, loc, factor.getType(), factor);
  Value difference = polynomial(magnitude, {-1.0, 1.0});
  Value distance = AbsOp::create(builder, loc, factor.getType(), difference);
  Value inside = polynomial(distance, {-kSteep * low * high, kSteep * (low + high), -kSteep});
  Value range = ClampOp::create(builder, loc, inside.getType(), inside, builder.getF32FloatAttr(0),
                                builder.getF32FloatAttr(static_cast<float>(most)));

  Value spread = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(withShape(product.getType(), shape),
                             ArrayRef(evenlySpread(llvm::product_of(shape)))));
  Value change = MulOp::create(
      builder, loc,
      withShape(product.getType(), *broadcastShape({shapeOf(spread), shapeOf(range)})), spread,
      range);
  return MulOp::create(builder, loc, product.getType(), product, polynomial(change, {1.0, 1.0}));
}

} // namespace convoy
