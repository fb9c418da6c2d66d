// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/ConvKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Number of blocks that keeps a large GPU busy; an H200 has 132 multiprocessors. Sharing a sum
/// within a cluster costs 1.5 us there, so it is used only if fewer than half of them would be
/// busy.
static constexpr int64_t kManyBlocks = 128, kFewBlocks = 64, kLargestCluster = 8;
/// Limits in multiply-adds. In ResNet-50 with one image no convolution has more than 2^28, and
/// cuDNN's best plans take 1.0 to 2.1 times as long.
static constexpr int64_t kSmall = int64_t(1) << 28, kLargest = int64_t(1) << 30;

static int64_t multiplyAdds(const ConvGraph &form) {
  return form.rows() * form.columns() * form.depth();
}

bool isSmall(const ConvGraph &form) { return multiplyAdds(form) <= kSmall; }

namespace {

struct Shape {
  int64_t tileM, tileN, groups, split;
};

} // namespace

/// The number of tiles: a tile has filters of one group of the convolution.
static int64_t tilesOf(const ConvGraph &form, int64_t tileM, int64_t tileN) {
  cudnn::ConvolutionOp conv = form.conv;
  int64_t groups = conv.getX().getType().getShape()[1] / conv.getW().getType().getShape()[1];
  return llvm::divideCeil(form.rows(), tileM) * llvm::divideCeil(form.columns() / groups, tileN) *
         groups;
}

static Variant variantOf(const ConvGraph &form, Shape shape) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = conv.getW().getType().getShape(),
                    y = conv.getY().getType().getShape();
  auto [tileM, tileN, groups, split] = shape;
  Variant variant = form.variant();
  variant.suffix = llvm::formatv("{0}x{1}x{2}x{3}", tileM, tileN, groups, split);
  variant.function =
      llvm::formatv("convoy_conv_{0}_{1}x{2}", libraryName(form.element()), tileM, tileN);
  device::ConvArguments arguments = {};
  arguments.images = word(x[0]);
  form.setSizes(arguments);
  arguments.outChannels = word(y[1]);
  arguments.groupChannels = word(w[1]);
  arguments.groupFilters = word(w[0] / (x[1] / w[1]));
  arguments.groups = word(groups);
  arguments.split = word(split);
  arguments.epilogue = form.epilogue();
  variant.setArguments(arguments);
  variant.blocks = tilesOf(form, tileM, tileN) * split;
  variant.threads = kGroupThreads * groups;
  int64_t pipelines = groups * kConvStages * (tileM + tileN) * kConvStepBytes,
          results = groups * tileM * (tileN + 4) * 4;
  variant.sharedBytes = std::max(pipelines, results);
  variant.cluster = split;
  return variant;
}

SmallVector<Variant, 0> convVariants(const ConvGraph &form) {
  cudnn::ConvolutionOp conv = form.conv;
  cudnn::TensorDescType type = conv.getW().getType();
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = type.getShape();
  int64_t together = 128 / type.getElementType().getIntOrFloatBitWidth();
  if (form.hasGroups()) {
    // Copies of 16 bytes, and stores of four results. cuDNN's kernels for groups are slower at any
    // size.
    if (w[1] % together != 0 || w[0] / (x[1] / w[1]) % 4 != 0)
      return {};
  } else if (multiplyAdds(form) > kLargest) {
    return {};
  }
  int64_t steps =
      w[2] * w[3] *
      llvm::divideCeil(w[1] * type.getElementType().getIntOrFloatBitWidth(), kConvStepBytes * 8);
  SmallVector<Shape> shapes;
#define CONVOY_TILE(tileM, tileN) {tileM, tileN},
  constexpr std::pair<int64_t, int64_t> kTiles[] = {CONVOY_CONV_TILES(CONVOY_TILE)};
#undef CONVOY_TILE
  for (auto [tileM, tileN] : kTiles) {
    int64_t tiles = tilesOf(form, tileM, tileN), split = 1;
    if (tiles < kFewBlocks)
      while (split < kLargestCluster && tiles * split < kManyBlocks && 4 * split <= steps)
        split *= 2;
    // A second group, with its own pipeline in shared memory, only pays off if there are enough
    // steps to overlap.
    int64_t groups = split == 1 && steps >= 4 ? 2 : 1;
    shapes.push_back({tileM, tileN, groups, split});
    if (split > 1 && tileN == 32)
      shapes.push_back({tileM, tileN, std::min<int64_t>(4, steps / 2), 1});
  }
  SmallVector<Variant, 0> variants;
  for (Shape shape : shapes)
    if (Variant variant = variantOf(form, shape); variant.sharedBytes <= kSharedBytes90)
      variants.push_back(std::move(variant));
  return variants;
}

} // namespace convoy
