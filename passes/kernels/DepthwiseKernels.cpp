// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/DepthwiseKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Threads per block, and threads that keep a large GPU busy: with half as many pixels per thread
/// an H100 is 1.3 to 1.6 times slower at small images (384x14x14 and 768x7x7, 7x7, 32 images).
static constexpr int64_t kMostThreads = 256, kManyThreads = kMultiprocessors90 * 512;
/// Blocks that keep it busy: fewer rows per block share less of the input.
static constexpr int64_t kManyBlocks = 2 * kMultiprocessors90;
/// Pieces of 16 bytes of channels per block. An even number fills sectors of 32 bytes.
static constexpr int64_t kMostLanes = 16;

/// The largest divisor of `pieces` up to kMostLanes, even if there is one.
static int64_t chooseLanes(int64_t pieces) {
  for (int64_t step : {2, 1})
    for (int64_t lanes = kMostLanes; lanes > 0; --lanes)
      if (lanes % step == 0 && pieces % lanes == 0)
        return lanes;
  return 1;
}

static Variant variantOf(const ConvGraph &form, int64_t pixels) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = conv.getW().getType().getShape(),
                    y = conv.getY().getType().getShape();
  int64_t width = 128 / form.element().getIntOrFloatBitWidth(), pieces = x[1] / width,
          lanes = chooseLanes(pieces), strips = llvm::divideCeil(y[3], pixels);
  strips = std::min(strips, kMostThreads / lanes);
  int64_t across = llvm::divideCeil(y[3], pixels * strips),
          rows = std::clamp<int64_t>(kMostThreads / (lanes * strips), 1, y[2]);
  auto blocks = [&] { return y[0] * (pieces / lanes) * across * llvm::divideCeil(y[2], rows); };
  while (rows > 1 && blocks() < kManyBlocks)
    rows = llvm::divideCeil(rows, 2);

  Variant variant = form.variant();
  variant.suffix = llvm::formatv("{0}x{1}x{2}x{3}", pixels, lanes, strips, rows);
  variant.function = llvm::formatv("convoy_depthwise_{0}_{1}", libraryName(form.element()), pixels);
  device::DepthwiseArguments arguments = {};
  arguments.images = word(x[0]);
  form.setSizes(arguments);
  arguments.lanes = word(lanes);
  arguments.strips = word(strips);
  arguments.rows = word(rows);
  arguments.epilogue = form.epilogue();
  variant.setArguments(arguments);
  variant.blocks = blocks();
  variant.threads = lanes * strips * rows;
  variant.sharedBytes = w[2] * w[3] * lanes * width * 4;
  return variant;
}

SmallVector<Variant, 0> depthwiseVariants(const ConvGraph &form, std::string &reason) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> w = conv.getW().getType().getShape(), y = conv.getY().getType().getShape();
  if (w[3] > kDepthwiseMostTaps) {
    reason = "its window has more than " + std::to_string(kDepthwiseMostTaps) + " columns";
    return {};
  }
  // More pixels per thread read less of the input and of the filter, but leave fewer threads.
  int64_t pieces = y[1] * form.element().getIntOrFloatBitWidth() / 128;
  SmallVector<int64_t> most;
  for (int64_t pixels : kDepthwisePixels)
    if (pixels < 2 * y[3])
      most.push_back(pixels);
  auto threads = [&](int64_t pixels) {
    return y[0] * y[2] * llvm::divideCeil(y[3], pixels) * pieces;
  };
  size_t best = most.size() - 1;
  while (best > 0 && threads(most[best]) < kManyThreads)
    --best;
  SmallVector<Variant, 0> variants;
  // In 18 shapes one of these two was the fastest.
  for (size_t place : {best, best > 0 ? best - 1 : best + 1})
    if (place < most.size())
      if (Variant variant = variantOf(form, most[place]); variant.sharedBytes <= kSharedBytes90)
        variants.push_back(std::move(variant));
  if (variants.empty())
    reason = "its filters do not fit into shared memory";
  return variants;
}

} // namespace convoy
