// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/WgmmaProduct.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Most steps of a reduction in shared memory.
static constexpr int kMostStages = 8;

static constexpr MatmulWgmmaTile kTiles[] = {
#define CONVOY_TILE(sharing, blocks, columns) {sharing, blocks, columns},
    CONVOY_MATMUL_WGMMA_TILES(CONVOY_TILE)
#undef CONVOY_TILE
};

static int64_t tilesOf(const WgmmaProduct &product, const MatmulWgmmaTile &tile) {
  return llvm::divideCeil(product.rows, int64_t(tile.rows())) *
         llvm::divideCeil(product.columns, int64_t(tile.columns)) * product.groups;
}

/// Cycles of an epilogue per element of a group, measured: activations are bound by the latency of
/// their instructions.
static double epilogueOf(const WgmmaProduct &product) {
  constexpr double kActivation = 0.5, kResidual = 0.35, kOther = 0.2;
  return product.activation != kIdentity ? kActivation : product.residual ? kResidual : kOther;
}

/// The cycles of the product: the tiles of the multiprocessor that has most of them. The first copy
/// of a multiprocessor and its last epilogue overlap with nothing.
static double costOf(const WgmmaProduct &product, const MatmulWgmmaTile &tile) {
  // Per cycle: multiply-adds, bytes of shared memory, and bytes from the L2 cache. Cycles until the
  // first step is in shared memory.
  constexpr double kProducts = 2048, kSharedBytes = 128, kCacheBytes = 64, kLatency = 2500;
  double elements = tile.rows() * tile.columns,
         steps = llvm::divideCeil(product.depth, int64_t(kMatmulWgmmaStep)),
         // Each product of 64 rows reads all columns.
      bytes = tile.stageBytes() + tile.leftBytes() +
              double(tile.sharing * tile.blocks * tile.slabs() * tile.slabBytes()),
         step = std::max({elements * kMatmulWgmmaStep / kProducts, bytes / kSharedBytes,
                          tile.stageBytes() / kCacheBytes}),
         products = steps * step, epilogue = elements / tile.sharing * epilogueOf(product);
  int64_t most = llvm::divideCeil(tilesOf(product, tile), kMultiprocessors90);
  if (tile.sharing > 1 || most == 1)
    return kLatency + most * (products + epilogue);
  // Two tiles take as long as the products of both, or as products and epilogue of one.
  return kLatency + epilogue + most * std::max(products, (products + epilogue) / 2);
}

Variant variantOf(const WgmmaProduct &product, const MatmulWgmmaTile &tile, StringRef function,
                  MatmulWgmmaArguments &arguments) {
  Variant variant;
  variant.function = llvm::formatv("{0}_{1}_{2}x{3}x{4}", function, libraryName(product.element),
                                   tile.sharing, tile.blocks, tile.columns);
  variant.tensors = product.tensors;
  variant.blocks = std::min(tilesOf(product, tile), kMultiprocessors90);
  bool hasResidual = product.residual.has_value();
  int stages = kMostStages;
  while (tile.sharedBytes(stages, hasResidual) > kSharedBytes90)
    --stages;
  arguments.rows = word(product.rows);
  arguments.depth = word(product.depth);
  arguments.columns = word(product.columns);
  arguments.groups = word(product.groups);
  arguments.blocks = word(variant.blocks);
  arguments.stages = stages;
  arguments.epilogue = product.epilogue();
  variant.threads = kMatmulWgmmaThreads;
  variant.sharedBytes = tile.sharedBytes(stages, hasResidual);
  variant.residents = 1;
  variant.onlyChip = kWgmmaChip;
  return variant;
}

SmallVector<MatmulWgmmaTile> bestTiles(const WgmmaProduct &product, size_t count) {
  SmallVector<std::pair<double, const MatmulWgmmaTile *>> byCost;
  for (const MatmulWgmmaTile &tile : kTiles)
    byCost.emplace_back(costOf(product, tile), &tile);
  llvm::sort(byCost);
  byCost.resize(count);
  return llvm::map_to_vector(byCost, [](const auto &entry) { return *entry.second; });
}

} // namespace convoy
