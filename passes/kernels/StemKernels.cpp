// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/StemKernels.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

/// Maximum shared memory of a block of stem.cu: on sm_80 two blocks fit on a multiprocessor, on
/// later GPUs at least one.
static constexpr int64_t kSharedBytes = 99 << 10;
/// Maximum rows of the result per strip of the image in shared memory.
static constexpr int64_t kMostRows = 4;
/// Number of blocks that keeps a large GPU busy, two per multiprocessor.
static constexpr int64_t kManyBlocks = 200;
/// Up to this number of rows per block stem.cu is preferred to stem_wgmma.cu: with 5 rows
/// stem_wgmma.cu took 38.5 us and stem.cu 39.2, with one row 16 and 7.
static constexpr int64_t kFewRows = 4;

namespace {

/// The ops of a stem's graph.
struct StemOps {
  PointwiseOp identity, add, relu;
  ConvolutionOp conv;
  ResampleOp pool;

  TensorDescType imageType() { return cast<TensorDescType>(identity.getInputs()[0].getType()); }
  Type element() { return conv.getW().getType().getElementType(); }
  int64_t bytes() { return element().getIntOrFloatBitWidth() / 8; }
  int64_t images() { return imageType().getShape()[0]; }
  int64_t width() { return imageType().getShape()[3]; }
  int64_t filters() { return conv.getW().getType().getShape()[0]; }
  int64_t taps() { return conv.getW().getType().getShape()[2]; }
  ArrayRef<int64_t> convShape() { return conv.getY().getType().getShape(); }
  ArrayRef<int64_t> shape() { return pool.getY().getType().getShape(); }
  /// Whether every window of the pooling consists of a padding or the end of the previous one, and
  /// two rows and columns of the convolution.
  bool isRegular() {
    return pool.getPrePadding()[0] == 1 && convShape()[2] == 2 * shape()[2] &&
           convShape()[3] == 2 * shape()[3] && width() == 2 * convShape()[3];
  }
  /// Rows of the result per block. A block reuses the previous row, so it should compute many rows,
  /// but there should also be many blocks.
  int64_t rows(int64_t parts);
  /// Rows of the result per block of stem_wgmma.cu: minimizes the work of the multiprocessor with
  /// the most blocks.
  int64_t wgmmaRows();
};

} // namespace

int64_t StemOps::rows(int64_t parts) {
  int64_t rows = 1, height = shape()[2];
  for (int64_t candidate = 1; candidate <= height; ++candidate) {
    int64_t blocks = llvm::divideCeil(height, candidate);
    // The fewest rows with this number of blocks.
    if (images() * blocks * parts >= kManyBlocks && llvm::divideCeil(height, blocks) == candidate)
      rows = candidate;
  }
  return rows;
}

int64_t StemOps::wgmmaRows() {
  int64_t outHeight = shape()[2], best = 1;
  auto cost = [&](int64_t rows) {
    int64_t blocks = images() * outHeight / rows;
    // The pooling needs one additional row. A single block per multiprocessor cannot hide latency.
    return llvm::divideCeil(blocks, kMultiprocessors90) * (rows + 1) *
           (blocks <= kMultiprocessors90 ? 3 : 2);
  };
  for (int64_t rows = 1; rows <= outHeight; ++rows)
    if (outHeight % rows == 0 && cost(rows) < cost(best))
      best = rows;
  return best;
}

static bool match(GraphOp graph, StemOps &ops) {
  SmallVector<Operation *> list = llvm::map_to_vector(graph.getBody().front().without_terminator(),
                                                      [](Operation &op) { return &op; });
  if (list.size() != 5)
    return false;
  ops = {dyn_cast<PointwiseOp>(list[0]), dyn_cast<PointwiseOp>(list[2]),
         dyn_cast<PointwiseOp>(list[3]), dyn_cast<ConvolutionOp>(list[1]),
         dyn_cast<ResampleOp>(list[4])};
  return ops.identity && ops.conv && ops.add && ops.relu && ops.pool &&
         ops.identity.getMode() == PointwiseMode::Identity &&
         ops.add.getMode() == PointwiseMode::Add && ops.relu.getMode() == PointwiseMode::ReluFwd &&
         ops.pool.getMode() == ResampleMode::Maxpool && ops.conv.getX() == ops.identity.getY() &&
         ops.add.getInputs()[0] == ops.conv.getY() && ops.relu.getInputs()[0] == ops.add.getY() &&
         ops.pool.getX() == ops.relu.getY() && isa<BlockArgument>(ops.identity.getInputs()[0]) &&
         isa<BlockArgument>(ops.conv.getW()) && isa<BlockArgument>(ops.add.getInputs()[1]);
}

/// Returns the arguments of a stem kernel whose blocks compute `rows` rows of the result, `strip`
/// rows at a time.
static device::StemArguments argumentsOf(StemOps &ops, int64_t rows, int64_t strip) {
  ArrayRef<int64_t> x = ops.imageType().getShape(), w = ops.conv.getW().getType().getShape(),
                    conv = ops.convShape(), y = ops.shape();
  device::StemArguments arguments = {};
  arguments.images = word(x[0]);
  arguments.height = word(x[2]);
  arguments.width = word(x[3]);
  arguments.channels = word(x[1]);
  arguments.channelsLast = ops.imageType().isChannelsLast() ? 1 : 0;
  arguments.filters = word(w[0]);
  arguments.weightChannels = word(w[1]);
  arguments.tapsH = word(w[2]);
  arguments.tapsW = word(w[3]);
  arguments.pad = word(ops.conv.getPrePadding()[0]);
  arguments.convHeight = word(conv[2]);
  arguments.convWidth = word(conv[3]);
  arguments.outHeight = word(y[2]);
  arguments.outWidth = word(y[3]);
  arguments.poolPad = word(ops.pool.getPrePadding()[0]);
  arguments.rows = word(rows);
  arguments.strip = word(strip);
  arguments.upper = ops.relu.getUpperClip()
                        ? static_cast<float>(ops.relu.getUpperClip()->convertToDouble())
                        : std::numeric_limits<float>::infinity();
  return arguments;
}

/// A call of `function` for `number` filters or columns.
static Variant variantOf(GraphOp graph, StemOps &ops, StringRef function, int64_t number,
                         const device::StemArguments &arguments) {
  Variant variant;
  variant.function = llvm::formatv("convoy_{0}_{1}_{2}_{3}", function, libraryName(ops.element()),
                                   libraryName(ops.imageType().getElementType()), number);
  variant.tensors = {placeOf(ops.identity.getInputs()[0]), placeOf(ops.conv.getW()),
                     placeOf(ops.add.getInputs()[1]), graph.getNumArguments()};
  variant.setArguments(arguments);
  variant.tf32 = ops.element().isF32();
  return variant;
}

/// The kernel of runtime/device/stem.cu for `filters` filters per block.
static Variant anyVariant(GraphOp graph, StemOps &ops, int64_t filters) {
  int64_t bytes = ops.bytes(), parts = llvm::divideCeil(ops.filters(), filters),
          rows = ops.rows(parts);
  auto sharedBytes = [&](int64_t strip) {
    device::StemArguments stem = argumentsOf(ops, rows, strip);
    return (4 * strip + ops.taps()) * stem.pixels() * 4 * bytes +
           filters * (ops.taps() * 32 * bytes + 16 + 2 * bytes * stem.lineColumns());
  };
  int64_t strip = std::min(rows, kMostRows);
  while (strip > 1 && sharedBytes(strip) > kSharedBytes)
    --strip;
  device::StemArguments stem = argumentsOf(ops, rows, strip);
  Variant variant = variantOf(graph, ops, "stem", filters, stem);
  variant.suffix = llvm::formatv("{0}x{1}", rows, strip);
  variant.blocks = ops.images() * stem.blocks() * parts;
  variant.threads = int64_t{2} * stem.columns();
  variant.sharedBytes = sharedBytes(strip);
  variant.residents = variant.blocks > kMultiprocessors90 ? 2 : 1;
  return variant;
}

/// The kernel of runtime/device/stem_wgmma.cu; nothing if it does not support the number of filters
/// or columns, or the padding.
static std::optional<Variant> wgmmaVariant(GraphOp graph, StemOps &ops) {
  int64_t bytes = ops.bytes(), filters = ops.filters(), columns = ops.convShape()[3],
          rows = ops.wgmmaRows();
  if (filters != device::kStemWgmmaFilters || !ops.isRegular() ||
      !llvm::is_contained(device::kStemWgmmaColumns, columns))
    return std::nullopt;
  device::StemArguments stem = argumentsOf(ops, rows, /*strip=*/1);
  Variant variant = variantOf(graph, ops, "stem_wgmma", columns, stem);
  variant.suffix = llvm::formatv("wgmma_{0}", rows);
  variant.blocks = ops.images() * stem.blocks();
  variant.threads = 128;
  variant.sharedBytes =
      (ops.taps() + 6) * stem.pixels() * 4 * bytes + filters * ops.taps() * 32 * bytes;
  variant.residents =
      variant.blocks > kMultiprocessors90 && 2 * variant.sharedBytes <= kSharedBytes90 ? 2 : 1;
  variant.onlyChip = kWgmmaChip;
  return variant;
}

SmallVector<Variant, 0> stemVariants(GraphOp graph, std::string &reason) {
  StemOps ops;
  if (!match(graph, ops)) {
    reason = "it is not a chain of identity, convolution, sum, relu and max pooling";
    return {};
  }
  // Fewer filters fit into shared memory with wider elements.
  int64_t filters = ops.bytes() == 2 && ops.filters() > 32 ? 64 : 32;
  SmallVector<Variant, 0> variants = {anyVariant(graph, ops, filters)};
  // Nor do many columns fit on some GPUs.
  if (filters == 64 && variants.front().sharedBytes > kSharedBytes) {
    variants.push_back(anyVariant(graph, ops, /*filters=*/32));
    variants.back().suffix += "x32";
  }
  // Preparing the filters for wgmma is slow and pays off only with many rows.
  if (std::optional<Variant> variant = wgmmaVariant(graph, ops))
    variants.insert(ops.wgmmaRows() > kFewRows ? variants.begin() : variants.end(),
                    std::move(*variant));
  return variants;
}

} // namespace convoy
