// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/ConvFewFiltersKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Number of variants that are offered.
static constexpr size_t kMostVariants = 3;
static constexpr int64_t kMostWarps = 8, kMostResidents = 8;
/// Registers of a multiprocessor, and those of a thread besides its sums.
static constexpr int64_t kRegisters = 1 << 16, kOtherRegisters = 88;
/// The cost model, in nanoseconds of one multiprocessor of an H200. 132 of them read 4.5 TB/s from
/// memory and 5.5 from the L2 cache; a group of 16 pixels waits for its first bytes.
static constexpr double kBytesPerNs = 34, kAgainBytesPerNs = 42, kLatencyNs = 1000;
/// mma.m16n8k16, 128 bytes of shared memory, and storing or adding 32 products.
static constexpr double kProductNs = 0.95, kSharedNs = 0.57, kSumNs = 1.7;

namespace {

struct Candidate {
  ConvFewFiltersArguments arguments;
  int64_t residents;
  double cost;

  std::array<int, 3> key() const { return {arguments.whole, arguments.tileH, arguments.tileW}; }
};

} // namespace

/// Completes a candidate whose tile is set. Returns false if it does not fit.
static bool complete(Candidate &candidate) {
  ConvFewFiltersArguments &conv = candidate.arguments;
  ConvFewFiltersShared layout = {conv};
  // Sizes of the patch may overflow an int before it is known to fit.
  double products = double(layout.patchH()) * layout.patchW() * layout.pitch() * 4;
  if (layout.columns() > kFewFiltersMostColumns || products > kSharedBytes90 ||
      layout.allBytes() > kSharedBytes90)
    return false;
  int64_t groups = layout.groups(), matrices = layout.matrices();
  conv.warps = word(std::min(kMostWarps, groups));
  int64_t registers = std::min<int64_t>(4 * matrices + kOtherRegisters, 255);
  candidate.residents = std::min<int64_t>(
      {(kSharedBytes90 + 1024) / (layout.allBytes() + 1024),
       kRegisters / static_cast<int64_t>(llvm::alignTo(registers, 8) * conv.warps * 32),
       kMostResidents});
  if (candidate.residents < 1)
    return false;
  int64_t tiles = int64_t(conv.images) * layout.tilesH() * layout.tilesW(),
          turns = llvm::divideCeil(tiles, kMultiprocessors90 * candidate.residents),
          together =
              std::min<int64_t>(llvm::divideCeil(tiles, kMultiprocessors90), candidate.residents);
  conv.blocks = word(llvm::divideCeil(tiles, turns));
  double bytes = double(groups) * 16 * conv.channels * 2,
         read = bytes / kBytesPerNs + bytes * (layout.turns() - 1) / kAgainBytesPerNs,
         multiplied = double(groups) * layout.turns() * layout.steps() * matrices *
                      std::max(2 * kProductNs, 4 * kSharedNs),
         sums = (double(groups) * 16 * layout.columns() + double(conv.tileH) * conv.tileW *
                                                              conv.outChannels *
                                                              layout.tapsTogether() * conv.tapsW) /
                32 * kSumNs,
         waits =
             kLatencyNs * (1 + double(llvm::divideCeil(groups, conv.warps)) * layout.turns() *
                                   llvm::divideCeil(layout.steps(), kFewFiltersStepsAtOnce) / 2);
  candidate.cost = together * layout.filterBytes() / kAgainBytesPerNs +
                   turns * std::max(together * (std::max(read, multiplied) + sums), waits);
  return true;
}

static SmallVector<Candidate> candidatesOf(const ConvFewFiltersArguments &shape) {
  SmallVector<Candidate> candidates;
  for (int whole : {1, 0}) {
    if (!whole && shape.tapsH == 1)
      continue;
    for (int height : {1, 2, 4, 8, 16, 32})
      for (int width : {8, 16, 32, 64, 128}) {
        if (height >= 2 * shape.outHeight || width >= 2 * shape.outWidth)
          continue;
        Candidate candidate = {shape, 0, 0};
        candidate.arguments.whole = whole;
        candidate.arguments.tileH = height;
        candidate.arguments.tileW = width;
        if (complete(candidate))
          candidates.push_back(candidate);
      }
  }
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::tuple(a.cost, a.key()) < std::tuple(b.cost, b.key());
  });
  return candidates;
}

static Variant variantOf(const ConvGraph &form, const Candidate &candidate) {
  const ConvFewFiltersArguments &conv = candidate.arguments;
  Variant variant = form.variant();
  variant.suffix = llvm::formatv("few_filters_{0}x{1}x{2}", conv.tileH, conv.tileW,
                                 ConvFewFiltersShared{conv}.tapsTogether());
  variant.function = llvm::formatv("convoy_conv_few_filters_{0}", libraryName(form.element()));
  variant.setArguments(conv);
  variant.blocks = conv.blocks;
  variant.threads = int64_t(conv.warps) * 32;
  variant.sharedBytes = ConvFewFiltersShared{conv}.allBytes();
  variant.residents = candidate.residents;
  return variant;
}

SmallVector<Variant, 0> convFewFiltersVariants(const ConvGraph &form, std::string &reason) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), y = conv.getY().getType().getShape();
  ConvFewFiltersArguments shape = {};
  shape.images = word(x[0]);
  form.setSizes(shape);
  if (form.spatialRank() == 3) { // a product: slices are further rows
    shape.height *= word(x[2]);
    shape.outHeight *= word(y[2]);
  }
  shape.outChannels = word(y[1]);
  shape.epilogue = form.epilogue();
  SmallVector<Candidate> candidates = candidatesOf(shape);
  if (candidates.empty()) {
    reason = "the filters and products of few filters do not fit into shared memory or registers";
    return {};
  }
  // The candidates of least cost, and among those that multiply another number of taps at once the
  // one of least cost.
  auto isOther = [&](const Candidate &each) {
    return each.arguments.whole != candidates.front().arguments.whole;
  };
  SmallVector<Variant, 0> variants;
  for (const Candidate &each : candidates)
    if (variants.size() + 1 < kMostVariants && !isOther(each))
      variants.push_back(variantOf(form, each));
  if (const Candidate *other = llvm::find_if(candidates, isOther); other != candidates.end())
    variants.push_back(variantOf(form, *other));
  return variants;
}

} // namespace convoy
