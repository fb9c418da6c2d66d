// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/MatmulWgmmaKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Number of variants that are offered for a product and for a convolution, which has other
/// kernels too, and most steps of a reduction in shared memory.
static constexpr size_t kOffered = 3, kOfferedForConv = 2;
static constexpr int kMostStages = 8;
/// Fewest pixels of a convolution: half of a tile's rows.
static constexpr int64_t kFewestPixels = 64;

namespace {

/// A product of row-major matrices, of which the right one may be column-major.
struct Product : Epilogue {
  int64_t rows, depth, columns;
  Type element;
  bool byColumns;
  SmallVector<std::optional<unsigned>> tensors;
};

} // namespace

static constexpr MatmulWgmmaTile kTiles[] = {
#define CONVOY_TILE(sharing, blocks, columns) {sharing, blocks, columns},
    CONVOY_MATMUL_WGMMA_TILES(CONVOY_TILE)
#undef CONVOY_TILE
};

static int64_t tilesOf(const Product &form, const MatmulWgmmaTile &tile) {
  return llvm::divideCeil(form.rows, int64_t(tile.rows())) *
         llvm::divideCeil(form.columns, int64_t(tile.columns));
}

/// Cycles of an epilogue per element of a group, measured: activations are bound by the latency of
/// their instructions.
static double epilogueOf(const Product &form) {
  constexpr double kActivation = 0.5, kResidual = 0.35, kOther = 0.2;
  return form.activation != kIdentity ? kActivation : form.residual ? kResidual : kOther;
}

/// The cycles of the product: the tiles of the multiprocessor that has most of them. The first copy
/// of a multiprocessor and its last epilogue overlap with nothing.
static double costOf(const Product &form, const MatmulWgmmaTile &tile) {
  // Per cycle: multiply-adds, bytes of shared memory, and bytes from the L2 cache. Cycles until the
  // first step is in shared memory.
  constexpr double kProducts = 2048, kSharedBytes = 128, kCacheBytes = 64, kLatency = 2500;
  double elements = tile.rows() * tile.columns,
         steps = llvm::divideCeil(form.depth, int64_t(kMatmulWgmmaStep)),
         // Each product of 64 rows reads all columns.
      bytes = tile.stageBytes() + tile.leftBytes() +
              double(tile.sharing * tile.blocks * tile.slabs() * tile.slabBytes()),
         step = std::max({elements * kMatmulWgmmaStep / kProducts, bytes / kSharedBytes,
                          tile.stageBytes() / kCacheBytes}),
         products = steps * step, epilogue = elements / tile.sharing * epilogueOf(form);
  int64_t most = llvm::divideCeil(tilesOf(form, tile), kMultiprocessors90);
  if (tile.sharing > 1 || most == 1)
    return kLatency + most * (products + epilogue);
  // Two tiles take as long as the products of both, or as products and epilogue of one.
  return kLatency + epilogue + most * std::max(products, (products + epilogue) / 2);
}

static Variant variantOf(const Product &form, const MatmulWgmmaTile &tile) {
  Variant variant;
  variant.suffix = llvm::formatv("wgmma_{0}x{1}x{2}", tile.rows(), tile.columns, tile.sharing);
  variant.function =
      llvm::formatv("convoy_matmul_{0}wgmma_{1}_{2}x{3}x{4}", form.byColumns ? "by_columns_" : "",
                    libraryName(form.element), tile.sharing, tile.blocks, tile.columns);
  llvm::append_range(variant.tensors, llvm::drop_begin(form.tensors, 2));
  variant.maps = {{*form.tensors[0], {form.rows, form.depth}, {tile.rows(), kMatmulWgmmaStep}}};
  if (form.byColumns)
    variant.maps.push_back({*form.tensors[1],
                            {form.columns, form.depth},
                            {tile.slabs() * kMatmulWgmmaSlabColumns, kMatmulWgmmaStep}});
  else
    variant.maps.push_back({*form.tensors[1],
                            {form.depth, form.columns},
                            {kMatmulWgmmaStep, kMatmulWgmmaSlabColumns}});
  variant.blocks = std::min(tilesOf(form, tile), kMultiprocessors90);
  bool hasResidual = form.residual.has_value();
  int stages = kMostStages;
  while (tile.sharedBytes(stages, hasResidual) > kSharedBytes90)
    --stages;
  MatmulWgmmaArguments arguments = {};
  arguments.rows = word(form.rows);
  arguments.depth = word(form.depth);
  arguments.columns = word(form.columns);
  arguments.blocks = word(variant.blocks);
  arguments.stages = stages;
  arguments.epilogue = form.epilogue();
  variant.setArguments(arguments);
  variant.threads = kMatmulWgmmaThreads;
  variant.sharedBytes = tile.sharedBytes(stages, hasResidual);
  variant.residents = 1;
  variant.onlyChip = kWgmmaChip;
  return variant;
}

static SmallVector<Variant, 0> variantsOf(const Product &form, size_t count) {
  SmallVector<std::pair<double, const MatmulWgmmaTile *>> byCost;
  for (const MatmulWgmmaTile &tile : kTiles)
    byCost.emplace_back(costOf(form, tile), &tile);
  llvm::sort(byCost);
  byCost.resize(count);
  return llvm::map_to_vector<0>(byCost,
                                [&](const auto &entry) { return variantOf(form, *entry.second); });
}

SmallVector<Variant, 0> matmulWgmmaVariants(const MatmulGraph &form, std::string &reason) {
  if (form.element().isF32() || form.resultType != form.element()) {
    reason = "the kernel for many rows is for 16-bit floats";
    return {};
  }
  Product product = {form,           form.rows(), form.depth(),  form.columns(),
                     form.element(), false,       form.tensors()};
  return variantsOf(product, kOffered);
}

SmallVector<Variant, 0> convProductVariants(const ConvGraph &form) {
  if (!form.isProduct() || form.element().isF32() || form.rows() < kFewestPixels)
    return {};
  Product product = {form,           form.rows(), form.depth(),  form.columns(),
                     form.element(), true,        form.tensors()};
  return variantsOf(product, kOfferedForConv);
}

} // namespace convoy
