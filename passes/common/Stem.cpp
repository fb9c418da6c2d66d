// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/Stem.h"
#include "dialect/tcp/TcpShapes.h"

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

/// Maximum filters: for each 32 or 64 of them, a kernel reads the image again.
static constexpr int64_t kMostFilters = 128;
/// Maximum columns of the convolution's result. A kernel has two threads for each.
static constexpr int64_t kMostColumns = 256;
/// Bits of the vectors that a kernel writes to the result.
static constexpr int64_t kVectorBits = 128;

SmallVector<Operation *> Stem::ops() {
  SmallVector<Operation *> list;
  if (cast)
    list.push_back(cast);
  if (transpose)
    list.push_back(transpose);
  list.append({conv, add, relu, pool});
  return list;
}

/// The op of type `Op` that defines `value`, if `value` has one use.
template <typename Op> static Op producerWithOneUse(Value value) {
  return value.hasOneUse() ? value.getDefiningOp<Op>() : Op();
}

static bool all(ArrayRef<int64_t> numbers, int64_t value) {
  return llvm::all_of(numbers, [&](int64_t number) { return number == value; });
}

/// Finds the ops without checking their attributes and shapes.
static bool findOps(Stem &stem) {
  stem.relu = producerWithOneUse<ClampOp>(stem.pool.getInput());
  stem.add = stem.relu ? producerWithOneUse<AddOp>(stem.relu.getInput()) : AddOp();
  stem.conv = stem.add && stem.add.getLhs().hasOneUse()
                  ? stem.add.getLhs().getDefiningOp<ConvOpInterface>()
                  : ConvOpInterface();
  if (!stem.conv)
    return false;
  stem.transpose = producerWithOneUse<TransposeOp>(stem.conv.getInput());
  stem.cast =
      producerWithOneUse<CastOp>(stem.transpose ? stem.transpose.getInput() : stem.conv.getInput());
  return true;
}

std::optional<Stem> matchStem(MaxPoolOp pool, bool allowTf32, std::string &reason) {
  auto refuse = [&](StringRef why) {
    reason = ("not a stem: " + why).str();
    return std::nullopt;
  };
  Stem stem;
  stem.pool = pool;
  if (!findOps(stem))
    return refuse("expects convolution, bias and relu before the pooling");
  ConvOpInterface conv = stem.conv;
  if (conv.getSpatialRank() != 2 || !conv.getChannelsLast() || conv.getGroups() != 1 ||
      !all(conv.getStride(), 2) || !all(conv.getDilation(), 1))
    return refuse(
        "expects a convolution over two channels-last spatial dims with stride 2, without "
        "dilation and groups");
  ArrayRef<int64_t> w = shapeOf(conv.getWeights()), y = shapeOf(conv.getOutput());
  Type element = getElementTypeOrSelf(conv.getInput().getType()),
       image = getElementTypeOrSelf(stem.image().getType());
  if (!(element.isF16() || element.isBF16() || element.isF32()) ||
      !(image == element || image.isF32()))
    return refuse("expects element type f16, bf16 or f32, and an image of that type or f32");
  if (element.isF32() && !allowTf32)
    return refuse("its kernel rounds f32 to TF32, which allow-tf32=false forbids");
  int64_t taps = std::min(w[1], w[2]), widest = std::max(w[1], w[2]), pad = conv.getPad()[0];
  if (widest > 7 || pad != conv.getPad()[2] || pad > taps / 2 || w[3] > 4)
    return refuse("expects a window of up to 7 x 7, the same padding of at most half of it on the "
                  "left and top, and at most 4 input channels");
  if (w[0] > kMostFilters || w[0] * element.getIntOrFloatBitWidth() % kVectorBits != 0 ||
      y[2] > kMostColumns)
    return refuse("expects at most 128 filters, a multiple of 16 bytes, and a convolution with at "
                  "most 256 columns");
  if (stem.transpose && stem.transpose.getPerm() != ArrayRef<int64_t>{0, 2, 3, 1})
    return refuse("expects a transposition from channels-first to channels-last");
  if (shapeOf(stem.bias()) != ArrayRef<int64_t>{1, 1, 1, y[3]} || !stem.relu.getMinFloat() ||
      !stem.relu.getMinFloat()->isZero())
    return refuse("expects one number per channel to be added after the convolution, and relu");
  // A window without any element has the result minus infinity, and the kernel's zero.
  ArrayRef<int64_t> pooled = shapeOf(pool.getOutput());
  int64_t before = pool.getPad()[0];
  auto isInside = [&](int64_t dim) { return 2 * (pooled[dim] - 1) - before < y[dim]; };
  if (!all(pool.getKernel(), 3) || !all(pool.getStride(), 2) || !all(pool.getDilation(), 1) ||
      !pool.getChannelsLast() || before != pool.getPad()[2] || before > 1 || !isInside(1) ||
      !isInside(2))
    return refuse("expects a channels-last pooling with windows of 3 that begin inside of their "
                  "operand or its padding, stride 2, the same padding of 0 or 1 on the left and "
                  "top, and no dilation");
  return stem;
}

std::optional<Stem> matchStemGroup(IsolatedGroupOp group, std::string &reason) {
  Block &body = group.getBody().front();
  auto pool = body.getTerminator()->getNumOperands() == 1
                  ? body.getTerminator()->getOperand(0).getDefiningOp<MaxPoolOp>()
                  : MaxPoolOp();
  if (!pool) {
    reason = "not a stem: expects the result of max pooling as the only result";
    return std::nullopt;
  }
  std::optional<Stem> stem = matchStem(pool, /*allowTf32=*/true, reason);
  if (stem && stem->ops().size() != llvm::range_size(body.without_terminator())) {
    reason = "not a stem: the group has other ops";
    return std::nullopt;
  }
  return stem;
}

} // namespace convoy
