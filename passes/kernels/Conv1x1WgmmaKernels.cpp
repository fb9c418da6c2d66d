// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/Conv1x1WgmmaKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Maximum number of channels for which it is faster than cuDNN. With 256 filters and a residual in
/// f16, batch 32: 64 channels of 56x56 pixels take 36 us, cuDNN's best plan 42 us; 128 channels of
/// 28x28 pixels to 512 filters take 24 us, cuDNN's best plan 20 us.
static constexpr int64_t kMostChannels = 64;

namespace {

/// Pixels per tile, and groups per block.
struct Shape {
  int64_t pixels, groups;
};

} // namespace

static std::optional<Variant> variantOf(const ConvGraph &form, Shape shape, int64_t blockFilters) {
  int64_t chunks = form.depth() * form.element().getIntOrFloatBitWidth() / 128,
          fetched = shape.pixels * chunks / kGroupThreads;
  int64_t tiles = llvm::divideCeil(form.rows(), shape.pixels),
          filterBlocks = form.columns() / blockFilters;
  Variant variant = form.variant();
  variant.sharedBytes =
      chunks * (blockFilters * 16 + 16) + shape.groups * chunks * (shape.pixels * 16 + 16);
  if (fetched < 1 || fetched > kConv1x1WgmmaFetched || variant.sharedBytes > kSharedBytes90)
    return std::nullopt;
  int64_t blocks = std::min<int64_t>(tiles, llvm::divideCeil(kMultiprocessors90, filterBlocks));
  variant.suffix = llvm::formatv("wgmma_{0}x{1}", shape.pixels, shape.groups);
  variant.function =
      llvm::formatv("convoy_conv1x1_wgmma_{0}_{1}", libraryName(form.element()), shape.pixels);
  Conv1x1WgmmaArguments arguments = {};
  arguments.pixels = word(form.rows());
  arguments.depth = word(form.depth());
  arguments.filters = word(form.columns());
  arguments.groups = word(shape.groups);
  arguments.blocksPerFilter = word(blocks);
  arguments.epilogue = form.epilogue();
  variant.setArguments(arguments);
  variant.blocks = blocks * filterBlocks;
  variant.threads = kGroupThreads * shape.groups;
  variant.onlyChip = kWgmmaChip;
  return variant;
}

SmallVector<Variant, 0> conv1x1WgmmaVariants(const ConvGraph &form) {
  if (!form.isProduct())
    return {};
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> w = conv.getW().getType().getShape();
  // A thread computes 16 bytes of a pixel, two elements per product.
  int64_t bytes = form.element().getIntOrFloatBitWidth() / 8, blockFilters = 512 / bytes,
          chunks = w[1] * bytes / 16;
  if (form.columns() % blockFilters != 0 || w[1] * bytes % 32 != 0 || kGroupThreads % chunks != 0 ||
      w[1] > kMostChannels)
    return {};
  SmallVector<Variant, 0> variants;
  // 56x56x64 to 256 filters, 256 images, in us: f16 249, 240 and 269, f32 484, 522 and 462.
  for (Shape shape : {Shape{32, 3}, bytes == 2 ? Shape{64, 2} : Shape{32, 4}})
    if (std::optional<Variant> variant = variantOf(form, shape, blockFilters))
      variants.push_back(std::move(*variant));
  return variants;
}

} // namespace convoy
