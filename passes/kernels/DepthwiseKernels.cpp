// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/DepthwiseKernels.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Threads per block, and threads that keep a large GPU busy: fewer pixels per thread load the
/// columns between them more often.
static constexpr int64_t kMostThreads = 256, kManyThreads = kMultiprocessors90 * 256;
/// Blocks that keep it busy: fewer rows per block share less of the input.
static constexpr int64_t kManyBlocks = 4 * kMultiprocessors90;
/// Most registers of a thread for what registersOf counts, and how many others there are, without
/// and with several parts of a row or planes of the window.
static constexpr int64_t kMostRegisters = 112, kOtherRegisters = 20, kOtherRegistersOfParts = 32;
/// Taps of a part of a row that does not fit into registers as a whole: with seven pixels and four
/// 16-bit channels per thread, registersOf is 92 then.
static constexpr int64_t kPartTaps = 5;
/// A window of so many taps has work for fewer threads.
static constexpr int64_t kManyTaps = 50, kManyTapsThreads = kManyThreads / 4;
/// Registers of each of the four parts of a multiprocessor, for a whole warp, and bounds of what a
/// kernel asks for: four warps for each part, and the blocks that any GPU can hold.
static constexpr int64_t kPartRegisters = 512, kFewWarps = 4, kMostResidents = 16;

/// Channels of a thread.
static int64_t channelsOf(const ConvGraph &form) {
  return *llvm::find_if(kDepthwiseChannels,
                        [&](int channels) { return form.columns() % channels == 0; });
}

/// Divides the pieces of channels. Eight pieces of four 16-bit channels are 64 bytes of memory;
/// wider blocks have fewer pixels, which share less of the input, and four fill a sector. If no
/// such number divides them, the last block has fewer, as few as possible.
static int64_t chooseLanes(int64_t pieces) {
  for (int64_t lanes : {8, 12, 16, 4, 6, 10, 14})
    if (pieces % lanes == 0)
      return lanes;
  constexpr int64_t kMostLanes = 32;
  if (pieces <= kMostLanes)
    return pieces;
  int64_t best = 8;
  for (int64_t lanes = best; lanes <= kMostLanes; ++lanes)
    if (llvm::alignTo(pieces, lanes) < llvm::alignTo(pieces, best))
      best = lanes;
  return best;
}

/// Taps of a row of the window that a thread reads at a time: all, or about kPartTaps.
static int64_t partTapsOf(const ConvGraph &form) {
  int64_t taps = cudnn::ConvolutionOp(form.conv).getW().getType().getShape().back();
  return taps <= kDepthwiseMostTaps ? taps
                                    : llvm::divideCeil(taps, llvm::divideCeil(taps, kPartTaps));
}

/// The columns of the image that `pixels` pixels of a thread use in a part of the window.
static int64_t columnsOf(const ConvGraph &form, int64_t pixels) {
  cudnn::ConvolutionOp conv = form.conv;
  llvm::SmallDenseSet<int64_t> columns;
  for (int64_t pixel = 0; pixel < pixels; ++pixel)
    for (int64_t tap = 0; tap < partTapsOf(form); ++tap)
      columns.insert(pixel * conv.getSpatialStride().back() + tap * conv.getDilation().back());
  return columns.size();
}

/// Registers of a thread for the sums of `pixels` pixels, the filters of a part of the window, and
/// the columns of two parts.
static int64_t registersOf(const ConvGraph &form, int64_t pixels) {
  int64_t bits = form.element().getIntOrFloatBitWidth();
  return channelsOf(form) * (2 * columnsOf(form, pixels) * bits / 32 + partTapsOf(form) + pixels);
}

/// Whether the sums, filters and columns of `pixels` pixels are in registers.
static bool fitsRegisters(const ConvGraph &form, int64_t pixels) {
  return columnsOf(form, pixels) <= kDepthwiseMostColumns &&
         registersOf(form, pixels) <= kMostRegisters;
}

/// The number of blocks that fit into a multiprocessor if a thread has `registers` registers.
static int64_t residentsOf(int64_t threads, int64_t registers) {
  int64_t warps = llvm::divideCeil(threads, 32), residents = 1;
  while (residents < kMostResidents &&
         registers <= kPartRegisters / llvm::divideCeil((residents + 1) * warps, 4))
    ++residents;
  return residents;
}

static Variant variantOf(const ConvGraph &form, int64_t pixels) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = conv.getW().getType().getShape(),
                    y = conv.getY().getType().getShape();
  bool hasDepth = form.spatialRank() == 3;
  int64_t planes = hasDepth ? y[0] * y[2] : y[0], height = y[y.size() - 2], width = y.back();
  int64_t channels = channelsOf(form), pieces = x[1] / channels, lanes = chooseLanes(pieces);
  // In f32, and as they are in memory.
  auto filterBytes = [&] {
    return llvm::product_of(w.drop_front(2)) * lanes * channels *
           (4 + form.element().getIntOrFloatBitWidth() / 8);
  };
  while (lanes > 1 && filterBytes() > kSharedBytes90)
    lanes = llvm::divideCeil(lanes, 2);
  // Blocks of one image have about the same number of pixels.
  auto balanced = [](int64_t size, int64_t most) {
    return llvm::divideCeil(size, llvm::divideCeil(size, std::min(size, most)));
  };
  int64_t strips = balanced(llvm::divideCeil(width, pixels), kMostThreads / lanes),
          across = llvm::divideCeil(width, pixels * strips),
          rows = balanced(height, std::max<int64_t>(kMostThreads / (lanes * strips), 1));
  auto blocks = [&] {
    return planes * llvm::divideCeil(pieces, lanes) * across * llvm::divideCeil(height, rows);
  };
  while (rows > 1 && blocks() < kManyBlocks)
    rows = llvm::divideCeil(rows, 2);

  Variant variant = form.variant();
  variant.suffix = llvm::formatv("{0}x{1}x{2}x{3}", pixels, lanes, strips, rows);
  variant.function =
      llvm::formatv("convoy_depthwise_{0}_{1}x{2}", libraryName(form.element()), channels, pixels);
  device::DepthwiseArguments arguments = {};
  arguments.images = word(x[0]);
  form.setSizes(arguments);
  arguments.depth = hasDepth ? word(x[2]) : 1;
  arguments.outDepth = hasDepth ? word(y[2]) : 1;
  arguments.tapsD = hasDepth ? word(w[2]) : 1;
  arguments.strideD = hasDepth ? word(conv.getSpatialStride()[0]) : 1;
  arguments.padD = hasDepth ? word(conv.getPrePadding()[0]) : 0;
  arguments.dilationD = hasDepth ? word(conv.getDilation()[0]) : 1;
  arguments.partTaps = word(partTapsOf(form));
  arguments.lanes = word(lanes);
  arguments.strips = word(strips);
  arguments.rows = word(rows);
  arguments.epilogue = form.epilogue();
  variant.setArguments(arguments);
  variant.blocks = blocks();
  variant.threads = lanes * strips * rows;
  // Without a bound, the loads of a row take more registers than they need.
  if (int64_t registers = registersOf(form, pixels); registers <= kMostRegisters) {
    bool hasParts = arguments.partTaps < arguments.tapsW || arguments.tapsD > 1;
    registers += hasParts ? kOtherRegistersOfParts : kOtherRegisters;
    variant.residents =
        residentsOf(variant.threads, std::min(registers, kPartRegisters / kFewWarps));
  }
  variant.sharedBytes = filterBytes();
  return variant;
}

SmallVector<Variant, 0> depthwiseVariants(const ConvGraph &form, std::string &reason) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> w = conv.getW().getType().getShape(), y = conv.getY().getType().getShape();
  // More pixels per thread read less of the input and of the filter, but leave fewer threads.
  SmallVector<int64_t> most;
  for (int64_t pixels : kDepthwisePixels)
    if (pixels == 1 || (pixels < 2 * y.back() && fitsRegisters(form, pixels)))
      most.push_back(pixels);
  auto threads = [&](int64_t pixels) {
    return form.rows() / y.back() * llvm::divideCeil(y.back(), pixels) * (y[1] / channelsOf(form));
  };
  int64_t wanted = llvm::product_of(w.drop_front(2)) < kManyTaps ? kManyThreads : kManyTapsThreads;
  size_t best = most.size() - 1;
  while (best > 0 && threads(most[best]) < wanted)
    --best;
  SmallVector<Variant, 0> variants;
  for (size_t place : {best, best > 0 ? best - 1 : best + 1})
    if (place < most.size())
      if (Variant variant = variantOf(form, most[place]); variant.sharedBytes <= kSharedBytes90)
        variants.push_back(std::move(variant));
  if (variants.empty())
    reason = "its filters do not fit into shared memory";
  return variants;
}

} // namespace convoy
