// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu_codegen/Contraction.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace convoy {
namespace {

/// Adds the coefficient of each dim in `expr`, a sum of dims times constants, to `result`. Returns
/// false for other expressions.
bool coefficients(AffineExpr expr, MutableArrayRef<int64_t> result) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    result[dim.getPosition()] += 1;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return coefficients(binary.getLHS(), result) && coefficients(binary.getRHS(), result);
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !dim || !factor)
    return false;
  result[dim.getPosition()] += factor.getValue();
  return true;
}

} // namespace

FailureOr<SmallVector<int64_t>> stridesOfLoops(unsigned loops, ArrayRef<AffineExpr> indices,
                                               ArrayRef<int64_t> strides) {
  SmallVector<int64_t> result(loops, 0);
  for (auto [expr, stride] : llvm::zip_equal(indices, strides)) {
    SmallVector<int64_t> part(loops, 0);
    if (!coefficients(expr, part))
      return failure();
    for (auto [sum, coefficient] : llvm::zip_equal(result, part))
      if (coefficient != 0)
        sum = ShapedType::isDynamic(stride) ? stride : sum + coefficient * stride;
  }
  return result;
}

FailureOr<SmallVector<int64_t>> staticStrides(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || !type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || llvm::any_of(strides, ShapedType::isDynamic))
    return failure();
  return strides;
}

FailureOr<SmallVector<int64_t>> loopStrides(Value value, AffineMap map) {
  auto type = dyn_cast<MemRefType>(value.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return failure();
  return stridesOfLoops(map.getNumDims(), map.getResults(), strides);
}

void refoldPixels(Contraction &contraction, int64_t pixels) {
  int64_t total = contraction.rows * contraction.columns;
  auto tiles = [&](int64_t rows, int64_t columns) {
    int64_t wide = std::min(columns, pixels), high = std::max<int64_t>(1, pixels / wide);
    return llvm::divideCeil(rows, std::min(high, rows)) * llvm::divideCeil(columns, wide);
  };
  SmallVector<PixelBuffer *> buffers = {&contraction.input, &contraction.output};
  for (PixelBuffer &operand : contraction.operands)
    if (operand.buffer)
      buffers.push_back(&operand);
  if (contraction.rows == 1 || llvm::any_of(buffers, [&](const PixelBuffer *each) {
        return each->h != contraction.columns * each->w;
      }))
    if (contraction.rows != 1)
      return;
  int64_t best = contraction.columns, bestTiles = tiles(contraction.rows, contraction.columns);
  for (int64_t columns = pixels; columns >= 1; --columns)
    if (total % columns == 0 && tiles(total / columns, columns) < bestTiles) {
      best = columns;
      bestTiles = tiles(total / columns, columns);
    }
  // One row of many tiles would be a single iteration of the parallel loop: make the tiles rows.
  if (best == contraction.columns && contraction.rows == 1 && total > pixels && total % pixels == 0)
    best = pixels;
  for (PixelBuffer *each : buffers)
    each->h = best * each->w;
  contraction.columns = best;
  contraction.rows = total / best;
}

} // namespace convoy
