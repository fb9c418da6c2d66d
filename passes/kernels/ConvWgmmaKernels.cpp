// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/ConvWgmmaKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Bytes per chunk: 16 bytes of each filter, and 16 bytes of padding so that the next chunk is in
/// other banks. Banks repeat after 128 bytes.
static constexpr int64_t kFilterPitch = kConvWgmmaFilters * 16 + 16, kBankBytes = 128;
/// With three groups a thread has 168 registers, with two 255; about 40 are used for addresses.
static constexpr int64_t kMostGroups = 3, kRegistersOfThree = 130, kRegistersOfTwo = 215;
/// Above this use of shared memory the remaining L1 cache supports too few loads in flight to hide
/// the latency of global memory, so tiles are prefetched into the L2 cache. 56x56x64, 256 images:
/// 241 to 215 us with 228 kB of shared memory, 103 to 115 us with 164.
static constexpr int64_t kMuchShared = 200 << 10;
/// Maximum number of channels for which it is faster than cuDNN: 64 channels take 103 us, cuDNN's
/// best plan 133 us; 128 channels of 28x28 pixels take 113 us, cuDNN's best plan 87 us.
static constexpr int64_t kMostChannels = 64;
/// Bytes of a pixel that one product multiplies.
static constexpr int64_t kStepBytes = 32;

namespace {

/// Sizes of a convolution.
struct Shape {
  int64_t images, height, width, channels, outHeight, outWidth, outChannels, tapsH, tapsW, padH,
      padW, bytes;
  bool hasResidual = false;

  int64_t chunks() const { return channels * bytes / 16; }
  int64_t filterBlocks() const { return outChannels / kConvWgmmaFilters; }
};

/// The split of its result into tiles.
struct Tiling {
  int64_t rows, columns, groups; ///< pixels per tile, groups per block
  int64_t product, fetched, plane,
      shared;            ///< columns of a product, and its use of registers and shared memory
  int64_t tiles, blocks; ///< tiles of all images, and blocks with the same filters
  int64_t cost;          ///< columns of products per multiprocessor
};

} // namespace

/// The first of `sizes` that is at least `size`.
static std::optional<int64_t> atLeast(ArrayRef<int> sizes, int64_t size) {
  const int *found = llvm::find_if(sizes, [&](int each) { return each >= size; });
  return found == sizes.end() ? std::nullopt : std::optional<int64_t>(*found);
}

static std::optional<Tiling> tilingOf(const Shape &shape, int64_t rows, int64_t columns,
                                      int64_t groups) {
  int64_t pitch = columns + shape.tapsW - 1, pixels = (rows + shape.tapsH - 1) * pitch;
  std::optional<int64_t> product = atLeast(kConvWgmmaColumns, (rows - 1) * pitch + columns);
  std::optional<int64_t> fetched =
      atLeast(kConvWgmmaFetched, llvm::divideCeil(pixels * shape.chunks(), kGroupThreads));
  if (!product || !fetched)
    return std::nullopt;
  // Registers of the sums, the pieces of the next tile, and the residual of this tile.
  int64_t registers =
      *product / 2 + *fetched * 4 + (shape.hasResidual ? *product * shape.bytes / 8 : 0);
  if (registers > (groups == kMostGroups ? kRegistersOfThree : kRegistersOfTwo))
    return std::nullopt;
  Tiling tiling = {rows, columns, groups, *product, *fetched};
  tiling.plane = llvm::alignTo(pixels * 16, kBankBytes, 16);
  // The last columns of a product, which are not stored, read beyond the last chunk's plane.
  // compute-sanitizer treats the two chunks of a product as one piece of memory, whose end is
  // farther if a chunk has more columns than its plane has pixels.
  int64_t first = ((shape.tapsH - 1) * pitch + shape.tapsW - 1) * 16,
          behind = *product * 16 - tiling.plane;
  tiling.shared = shape.tapsH * shape.tapsW * shape.chunks() * kFilterPitch +
                  groups * shape.chunks() * tiling.plane +
                  std::max<int64_t>(0, first + std::max(behind, 2 * behind));
  if (tiling.shared > kSharedBytes90)
    return std::nullopt;
  tiling.tiles = shape.images * llvm::divideCeil(shape.outHeight, rows) *
                 llvm::divideCeil(shape.outWidth, columns);
  // There must not be more blocks than multiprocessors, because a block may use all of a
  // multiprocessor's shared memory.
  tiling.blocks =
      std::min(tiling.tiles, std::max<int64_t>(1, kMultiprocessors90 / shape.filterBlocks()));
  tiling.cost = llvm::divideCeil(tiling.tiles, tiling.blocks) * *product;
  return tiling;
}

/// The best tilings for three and for two groups, the better one first. A single group could not
/// overlap products and stores.
static SmallVector<Tiling> tilingsOf(const Shape &shape) {
  SmallVector<Tiling> best;
  for (int64_t groups = kMostGroups; groups > 1; --groups) {
    std::optional<Tiling> found;
    for (int64_t columns = std::min<int64_t>(shape.outWidth, ArrayRef(kConvWgmmaColumns).back());
         columns > 0; --columns) {
      // Skip if fewer columns give the same number of tiles.
      if (llvm::divideCeil(shape.outWidth, llvm::divideCeil(shape.outWidth, columns)) != columns)
        continue;
      for (int64_t rows = 1; rows <= shape.outHeight; ++rows) {
        std::optional<Tiling> each = tilingOf(shape, rows, columns, groups);
        // More rows need more resources.
        if (!each)
          break;
        if (!found || each->cost < found->cost)
          found = each;
      }
    }
    if (found)
      best.push_back(*found);
  }
  llvm::sort(best, [](const Tiling &a, const Tiling &b) { return a.cost < b.cost; });
  return best;
}

static Variant variantOf(const ConvGraph &form, const Shape &shape, const Tiling &tiling) {
  Variant variant = form.variant();
  variant.suffix = llvm::formatv("wgmma_{0}x{1}x{2}", tiling.rows, tiling.columns, tiling.groups);
  variant.function = llvm::formatv("convoy_conv_wgmma_{0}_{1}_{2}", libraryName(form.element()),
                                   tiling.product, tiling.fetched);
  ConvWgmmaArguments arguments = {};
  arguments.images = word(shape.images);
  arguments.height = word(shape.height);
  arguments.width = word(shape.width);
  arguments.channels = word(shape.channels);
  arguments.outHeight = word(shape.outHeight);
  arguments.outWidth = word(shape.outWidth);
  arguments.outChannels = word(shape.outChannels);
  arguments.tapsH = word(shape.tapsH);
  arguments.tapsW = word(shape.tapsW);
  arguments.padH = word(shape.padH);
  arguments.padW = word(shape.padW);
  arguments.rows = word(tiling.rows);
  arguments.columns = word(tiling.columns);
  arguments.plane = word(tiling.plane);
  arguments.groups = word(tiling.groups);
  arguments.blocksPerFilter = word(tiling.blocks);
  arguments.ahead = tiling.shared > kMuchShared ? 1 : 0;
  arguments.epilogue = form.epilogue();
  variant.setArguments(arguments);
  variant.blocks = tiling.blocks * shape.filterBlocks();
  variant.threads = kGroupThreads * tiling.groups;
  variant.sharedBytes = tiling.shared;
  variant.onlyChip = kWgmmaChip;
  return variant;
}

SmallVector<Variant, 0> convWgmmaVariants(const ConvGraph &form, std::string &reason) {
  auto refuse = [&](const Twine &why) {
    reason = why.str();
    return SmallVector<Variant, 0>();
  };
  cudnn::ConvolutionOp conv = form.conv;
  auto isOne = [](int64_t each) { return each == 1; };
  if (!llvm::all_of(conv.getSpatialStride(), isOne) || !llvm::all_of(conv.getDilation(), isOne))
    return refuse("its stride or dilation is not 1");
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = conv.getW().getType().getShape(),
                    y = conv.getY().getType().getShape();
  int64_t bytes = form.element().getIntOrFloatBitWidth() / 8;
  Shape shape = {x[0],
                 x[2],
                 x[3],
                 x[1],
                 y[2],
                 y[3],
                 y[1],
                 w[2],
                 w[3],
                 conv.getPrePadding()[0],
                 conv.getPrePadding()[1],
                 bytes};
  shape.hasResidual = form.residual.has_value();
  int64_t fewestChannels = kStepBytes / bytes;
  if (!llvm::isPowerOf2_64(shape.channels) || shape.channels < fewestChannels ||
      shape.channels > kMostChannels)
    return refuse("its channels are not a power of two from " + Twine(fewestChannels) + " to " +
                  Twine(kMostChannels));
  if (shape.outChannels % kConvWgmmaFilters != 0)
    return refuse("its filters are not a multiple of " + Twine(kConvWgmmaFilters));
  SmallVector<Tiling> tilings = tilingsOf(shape);
  if (tilings.empty())
    return refuse(Twine(kConvWgmmaFilters) +
                  " filters and a part of the image do not fit into shared memory");
  return llvm::map_to_vector<0>(
      tilings, [&](const Tiling &tiling) { return variantOf(form, shape, tiling); });
}

} // namespace convoy
