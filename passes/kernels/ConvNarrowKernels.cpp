// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/ConvNarrowKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Number of variants that are offered.
static constexpr size_t kMostVariants = 3;
/// Products of the unrolled loop, whose instructions should stay in the instruction cache.
static constexpr int64_t kMostProducts = 1400;
/// Registers of a multiprocessor, and those of a thread besides its sums.
static constexpr int64_t kRegisters = 1 << 16, kOtherRegisters = 96, kMostRegisters = 255;
static constexpr int64_t kMostResidents = 8;
/// The cost model, in nanoseconds of one multiprocessor of an H100. 132 of them read 5.5 TB/s from
/// the L2 cache and write 3 TB/s; copies take a time until the first bytes arrive.
static constexpr double kReadBytesPerNs = 40, kWrittenBytesPerNs = 22, kLatencyNs = 1200,
                        kOverlappedNs = 200, kStartNs = 2000;
/// mma.m16n8k16, and 128 bytes of shared memory.
static constexpr double kProductNs = 0.95, kSharedNs = 0.57;
/// Warps per multiprocessor that hide the latency of products.
static constexpr int64_t kManyWarps = 8;
/// Entries of the kernel's table of pixels have 10 bits per dim.
static constexpr int64_t kMostOfDim = 1023;

namespace {

struct Candidate {
  ConvNarrowArguments arguments;
  int64_t residents;
  double cost;

  std::array<int, 6> key() const {
    return {arguments.tile[0], arguments.tile[1],  arguments.tile[2],
            arguments.filters, arguments.matrices, arguments.buffers};
  }
};

} // namespace

/// The arguments that are independent of the tile. Two spatial dims are three with a depth of 1.
static ConvNarrowArguments argumentsOf(const ConvGraph &form) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = conv.getW().getType().getShape(),
                    y = conv.getY().getType().getShape();
  ConvNarrowArguments arguments = {};
  arguments.images = word(x[0]);
  arguments.channels = word(x[1]);
  arguments.outChannels = word(y[1]);
  size_t rank = form.spatialRank(), missing = 3 - rank;
  for (size_t i = 0; i < 3; ++i) {
    bool isMissing = i < missing;
    size_t dim = i - missing;
    arguments.size[i] = isMissing ? 1 : word(x[2 + dim]);
    arguments.outSize[i] = isMissing ? 1 : word(y[2 + dim]);
    arguments.taps[i] = isMissing ? 1 : word(w[2 + dim]);
    arguments.stride[i] = isMissing ? 1 : word(conv.getSpatialStride()[dim]);
    arguments.pad[i] = isMissing ? 0 : word(conv.getPrePadding()[dim]);
    arguments.dilation[i] = isMissing ? 1 : word(conv.getDilation()[dim]);
  }
  arguments.epilogue = form.epilogue();
  return arguments;
}

/// Completes a candidate whose tile, filters and matrices are set. Returns false if it does not
/// fit.
static bool complete(Candidate &candidate) {
  ConvNarrowArguments &conv = candidate.arguments;
  ConvNarrowShared layout = {conv};
  int64_t pixels = int64_t(conv.tile[0]) * conv.tile[1] * conv.tile[2];
  conv.warps = word(llvm::divideCeil(pixels, 16 * conv.matrices));
  // Sizes of the patch may overflow an int before it is known to fit.
  double patch = 1;
  for (int dim = 0; dim < 3; ++dim)
    patch *= layout.patch(dim);
  if (conv.warps > 8 || patch * layout.quads() * kQuadBytes > kSharedBytes90 ||
      layout.allBytes() > kSharedBytes90)
    return false;
  int64_t shared = layout.allBytes() + 1024, columns = conv.filters / 8,
          registers = std::min(conv.matrices * columns * 4 + kOtherRegisters, kMostRegisters),
          parts = llvm::divideCeil(conv.outChannels, conv.filters),
          tiles = int64_t(conv.images) * layout.tiles(0) * layout.tiles(1) * layout.tiles(2);
  candidate.residents = std::min<int64_t>(
      {(kSharedBytes90 + 1024) / shared,
       kRegisters / static_cast<int64_t>(llvm::alignTo(registers, 8) * conv.warps * 32),
       kMostResidents});
  if (candidate.residents < 1)
    return false;
  int64_t most = std::max<int64_t>(kMultiprocessors90 * candidate.residents / parts, 1),
          each = llvm::divideCeil(tiles, most);
  conv.blocks = word(llvm::divideCeil(tiles, each));
  int64_t together = std::min<int64_t>(llvm::divideCeil(conv.blocks * parts, kMultiprocessors90),
                                       candidate.residents);
  double read = layout.patchBytes() / kReadBytesPerNs,
         written = pixels * conv.filters * 2 / kWrittenBytesPerNs,
         products = conv.warps * layout.steps() *
                    std::max(conv.matrices * columns * kProductNs,
                             (int64_t(4) * conv.matrices + 2 * columns) * kSharedNs);
  products *= std::max(1.0, static_cast<double>(kManyWarps) / (together * conv.warps));
  double work = std::max(products, read + written),
         latency = conv.buffers == 2 ? kOverlappedNs : kLatencyNs + written;
  candidate.cost = kStartNs + together * layout.filterBytes() / kReadBytesPerNs +
                   each * std::max(together * work, work + latency);
  return true;
}

/// Sizes of a dim's tiles: those of equal tiles.
static SmallVector<int64_t> sizesOf(int64_t size, int64_t most) {
  SmallVector<int64_t> sizes;
  for (int64_t number = 1; number <= size; ++number) {
    int64_t each = llvm::divideCeil(size, number);
    if (each <= std::min(most, kMostOfDim) && (sizes.empty() || sizes.back() != each))
      sizes.push_back(each);
  }
  return sizes;
}

static SmallVector<Candidate> candidatesOf(const ConvNarrowArguments &shape) {
  SmallVector<Candidate> candidates;
  SmallVector<int64_t> columns = sizesOf(shape.outSize[2], 256),
                       rows = sizesOf(shape.outSize[1], 64), slices = sizesOf(shape.outSize[0], 4);
  int64_t all = llvm::alignTo(shape.outChannels, 32);
  for (int64_t filters : {32, 64, 96}) {
    if (all % filters != 0)
      continue;
    for (int64_t matrices : {1, 2, 4}) {
      // Sums are in registers.
      int64_t products = ConvNarrowShared{shape}.steps() * matrices * filters / 8;
      if (matrices * filters > 256 || products > kMostProducts)
        continue;
      for (int64_t buffers : {1, 2})
        for (int64_t slice : slices)
          for (int64_t row : rows)
            for (int64_t column : columns) {
              if (slice * row * column > matrices * 128)
                continue;
              Candidate candidate = {shape, 0, 0};
              candidate.arguments.tile[0] = word(slice);
              candidate.arguments.tile[1] = word(row);
              candidate.arguments.tile[2] = word(column);
              candidate.arguments.filters = word(filters);
              candidate.arguments.matrices = word(matrices);
              candidate.arguments.buffers = word(buffers);
              if (complete(candidate))
                candidates.push_back(candidate);
            }
    }
  }
  return candidates;
}

static Variant variantOf(const ConvGraph &form, const Candidate &candidate) {
  const ConvNarrowArguments &conv = candidate.arguments;
  Variant variant = form.variant();
  variant.suffix = llvm::formatv("narrow_{0}x{1}x{2}x{3}x{4}x{5}", conv.tile[0], conv.tile[1],
                                 conv.tile[2], conv.filters, conv.matrices, conv.buffers);
  variant.function = llvm::formatv("convoy_conv_narrow_{0}", libraryName(form.element()));
  variant.setArguments(conv);
  variant.blocks = int64_t(conv.blocks) * llvm::divideCeil(conv.outChannels, conv.filters);
  variant.threads = int64_t(conv.warps) * 32;
  variant.sharedBytes = ConvNarrowShared{conv}.allBytes();
  variant.residents = candidate.residents;
  return variant;
}

/// The best candidates, no two of which have the same filters, matrices and buffers.
SmallVector<Variant, 0> convNarrowVariants(const ConvGraph &form, std::string &reason) {
  SmallVector<Candidate> candidates = candidatesOf(argumentsOf(form));
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::tuple(a.cost, a.key()) < std::tuple(b.cost, b.key());
  });
  SmallVector<Candidate> chosen;
  for (const Candidate &each : candidates) {
    auto isAlike = [&](const Candidate &other) {
      return other.arguments.filters == each.arguments.filters &&
             other.arguments.matrices == each.arguments.matrices &&
             other.arguments.buffers == each.arguments.buffers;
    };
    if (chosen.size() < kMostVariants && llvm::none_of(chosen, isAlike))
      chosen.push_back(each);
  }
  if (chosen.empty())
    reason = "the filters and windows of few channels do not fit into shared memory, or into an "
             "unrolled loop";
  return llvm::map_to_vector<0>(chosen,
                                [&](const Candidate &each) { return variantOf(form, each); });
}

} // namespace convoy
