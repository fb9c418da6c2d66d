// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/GroupedKernels.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// The unrolled loop has about 20 instructions per step.
static constexpr int64_t kMostSteps = 48;
/// Channels of a bundle up to which the kernel is preferred without tuning: it does not use wgmma,
/// so that many channels per group are faster on cuDNN's kernels.
static constexpr int64_t kFewChannels = 48;
static constexpr int64_t kMostWarps = 8, kMostVariants = 3;
/// Shared memory of a block: two blocks overlap their copies and products.
static constexpr int64_t kMostShared = kSharedBytes90 / 2 - 1024;
/// The cost model, in nanoseconds of one multiprocessor of an H200. 132 of them read 5.5 TB/s from
/// the L2 cache; a wave of blocks starts, waits for its first bytes and stores its last ones.
static constexpr double kBytesPerNs = 40, kWaveNs = 2000;
/// mma.m16n8k16, and ldmatrix.x4 of 512 bytes at 128 bytes per clock.
static constexpr double kProductNs = 1.0, kLoadNs = 2.3;
/// Warps per multiprocessor that hide the latency of products.
static constexpr int64_t kManyWarps = 8;
/// Global memory is read and written in sectors of 32 bytes.
static constexpr int64_t kSectorBytes = 32;

namespace {

/// Sizes of a convolution that are independent of the tile.
struct Shape {
  int64_t images, outHeight, outWidth, strideH, strideW, reachH, reachW, bytes;
  int64_t bundles; ///< in all
  int64_t together, chunks, filters, steps;
};

struct Tile {
  int64_t rows, columns, bundles, matrices, wide;
  int64_t warps, shared, blocks;
  double cost;
};

} // namespace

static std::optional<Shape> shapeOf(const ConvGraph &form, std::string &reason) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = conv.getW().getType().getShape(),
                    y = conv.getY().getType().getShape();
  Shape shape;
  shape.bytes = form.element().getIntOrFloatBitWidth() / 8;
  int64_t chunk = 16 / shape.bytes, groups = x[1] / w[1], groupFilters = w[0] / groups;
  // The fewest groups whose channels are whole pieces of 16 bytes, and whose filters are whole
  // matrices. They are powers of two, which divide the groups, since the sums over all groups do.
  shape.together = std::max(chunk / std::gcd(chunk, w[1]), 8 / std::gcd(int64_t(8), groupFilters));
  if (w[0] % 8 != 0) {
    reason = "its filters are not a multiple of 8";
    return std::nullopt;
  }
  shape.bundles = groups / shape.together;
  shape.chunks = shape.together * w[1] / chunk;
  shape.filters = shape.together * groupFilters;
  shape.steps = llvm::divideCeil(w[2] * w[3] * shape.chunks, 2);
  if (shape.steps > kMostSteps) {
    reason =
        llvm::formatv("a window of a bundle of groups has more than {0} bytes", kMostSteps * 32);
    return std::nullopt;
  }
  shape.images = x[0];
  shape.outHeight = y[2];
  shape.outWidth = y[3];
  shape.strideH = conv.getSpatialStride()[0];
  shape.strideW = conv.getSpatialStride()[1];
  shape.reachH = (w[2] - 1) * conv.getDilation()[0] + 1;
  shape.reachW = (w[3] - 1) * conv.getDilation()[1] + 1;
  return shape;
}

/// Completes the sizes of a tile, and estimates its cost.
static Tile tileOf(const Shape &shape, int64_t rows, int64_t columns, int64_t bundles,
                   int64_t matrices, int64_t wide) {
  int64_t items = bundles * (shape.filters / 8 / wide) *
                  llvm::divideCeil(rows * columns, 16 * matrices),
          warps = std::min(items, kMostWarps);
  int64_t patch = ((rows - 1) * shape.strideH + shape.reachH) *
                  ((columns - 1) * shape.strideW + shape.reachW),
          filterBytes = bundles * shape.filters * (2 * shape.steps + 1) * 16,
          patchBytes = patch * ((bundles * shape.chunks) | 1) * 16,
          resultBytes = warps * 16 * (wide * 8 * shape.bytes + 16);
  Tile tile = {rows, columns, bundles, matrices, wide, warps};
  tile.shared = kGroupedHeaderBytes + filterBytes + patchBytes + resultBytes;
  tile.blocks = shape.images * llvm::divideCeil(shape.outHeight, rows) *
                llvm::divideCeil(shape.outWidth, columns) * (shape.bundles / bundles);
  int64_t residents =
              std::clamp<int64_t>(kSharedBytes90 / (tile.shared + 1024), 1, 64 / kMostWarps),
          each = llvm::divideCeil(tile.blocks, kMultiprocessors90),
          waves = llvm::divideCeil(each, residents);
  auto sectors = [](int64_t bytes) {
    return static_cast<double>(llvm::alignTo(bytes, kSectorBytes));
  };
  double copies = (filterBytes + patch * sectors(bundles * shape.chunks * 16) +
                   rows * columns * sectors(bundles * shape.filters * shape.bytes)) /
                  kBytesPerNs,
         products = items * shape.steps *
                    std::max(matrices * wide * kProductNs,
                             (matrices + llvm::divideCeil(wide, 2)) * kLoadNs);
  int64_t active = std::min(each, residents) * warps;
  products *= std::max(1.0, static_cast<double>(kManyWarps) / active);
  tile.cost = waves * kWaveNs + each * (copies + products);
  return tile;
}

/// The best tiles, no two of which have the same number of matrices and bundles.
static SmallVector<Tile> chooseTiles(const Shape &shape) {
  SmallVector<Tile> tiles;
  int64_t matricesOfFilters = shape.filters / 8, wide = kGroupedMostWide;
  while (matricesOfFilters % wide != 0)
    --wide;
  for (int64_t bundles = 1; bundles <= shape.bundles; ++bundles) {
    if (shape.bundles % bundles != 0)
      continue;
    for (int64_t across = 1; across <= shape.outWidth; ++across) {
      int64_t columns = llvm::divideCeil(shape.outWidth, across);
      if (llvm::divideCeil(shape.outWidth, columns) != across)
        continue;
      for (int64_t down = 1; down <= shape.outHeight; ++down) {
        int64_t rows = llvm::divideCeil(shape.outHeight, down);
        if (llvm::divideCeil(shape.outHeight, rows) != down)
          continue;
        for (int64_t matrices : {1, 2, 4})
          if (Tile tile = tileOf(shape, rows, columns, bundles, matrices, wide);
              tile.shared <= kMostShared)
            tiles.push_back(tile);
      }
    }
  }
  llvm::sort(tiles, [](const Tile &a, const Tile &b) {
    return std::tie(a.cost, a.bundles, a.rows, a.columns, a.matrices) <
           std::tie(b.cost, b.bundles, b.rows, b.columns, b.matrices);
  });
  SmallVector<Tile> chosen;
  for (const Tile &tile : tiles) {
    auto isAlike = [&](const Tile &other) {
      return other.bundles == tile.bundles && other.matrices == tile.matrices;
    };
    if (chosen.size() < kMostVariants && llvm::none_of(chosen, isAlike))
      chosen.push_back(tile);
  }
  return chosen;
}

static Variant variantOf(const ConvGraph &form, const Shape &shape, const Tile &tile) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = conv.getW().getType().getShape(),
                    y = conv.getY().getType().getShape();
  Variant variant = form.variant();
  variant.suffix =
      llvm::formatv("{0}x{1}x{2}x{3}", tile.bundles, tile.rows, tile.columns, tile.matrices);
  variant.function = llvm::formatv("convoy_grouped_{0}", libraryName(form.element()));
  device::GroupedArguments arguments = {};
  form.setSizes(arguments);
  arguments.outChannels = word(y[1]);
  arguments.groupChannels = word(w[1]);
  arguments.groupFilters = word(w[0] / (x[1] / w[1]));
  arguments.together = word(shape.together);
  arguments.bundles = word(tile.bundles);
  arguments.rows = word(tile.rows);
  arguments.columns = word(tile.columns);
  arguments.matrices = word(tile.matrices);
  arguments.wide = word(tile.wide);
  arguments.warps = word(tile.warps);
  arguments.epilogue = form.epilogue();
  variant.setArguments(arguments);
  variant.blocks = tile.blocks;
  variant.threads = tile.warps * 32;
  variant.sharedBytes = tile.shared;
  return variant;
}

Offer groupedOffer(const ConvGraph &form, std::string &reason) {
  std::optional<Shape> shape = shapeOf(form, reason);
  if (!shape)
    return {};
  SmallVector<Variant, 0> variants;
  for (const Tile &tile : chooseTiles(*shape))
    variants.push_back(variantOf(form, *shape, tile));
  if (variants.empty())
    reason = "the filters and windows of a bundle of groups do not fit into shared memory";
  int64_t channels = shape->chunks * 16 / shape->bytes;
  return {std::move(variants), channels <= kFewChannels};
}

} // namespace convoy
