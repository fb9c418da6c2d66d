// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu_codegen/WinogradTiles.h"
#include "passes/common/WinogradFilter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace convoy {
namespace {

/// The transformed inputs of a block of tiles stay in the L2 cache. With many channels a task has
/// two groups of tiles all the same, or as much as fits into the larger size: it is on the stack.
constexpr int64_t kTransformedBytes = 128 << 10, kMaxTransformedBytes = 512 << 10;

/// With fewer tasks the channels are split too, into parts of at least kMinPartBlocks blocks: each
/// part transforms the inputs again.
constexpr int64_t kMinTasks = 16, kMinPartBlocks = 4;

/// The size of each part of `all`, with at most `most`. Parts are of equal size, so that each core
/// gets the same work.
int64_t partSize(int64_t all, int64_t most) {
  return llvm::divideCeil(all, llvm::divideCeil(all, most));
}

/// The transform of a filter up to this size stays in the L2 cache between the groups of tiles.
constexpr int64_t kSmallFilterBytes = 2 << 20;

/// How many units of `bytes` a task has: at least `least`, as far as they fit into the stack.
int64_t unitsOfTask(int64_t bytes, int64_t least) {
  return std::min(std::max(kTransformedBytes / bytes, least), kMaxTransformedBytes / bytes);
}

} // namespace

bool canUseWinograd(const Contraction &contraction, VectorUnit unit) {
  return contraction.transformed && contraction.block == packedBlock(unit.lanes) &&
         contraction.depth % unit.lanes == 0 &&
         contraction.depth * contraction.taps.trips <= kMaxTransformedBytes / (kWinogradPoints * 4);
}

WinogradTiles::WinogradTiles(const Contraction &contraction, VectorUnit unit)
    : columns(winogradTiles(contraction.columns, contraction.dilation)),
      count(winogradTiles(contraction.rows, contraction.dilation) * columns) {
  int64_t bytesPerTile = kWinogradPoints * contraction.depth * 4, taps = contraction.taps.trips,
          vectors = contraction.block / unit.lanes;
  int64_t most = std::min((unit.registers - 1 - vectors) / vectors,
                          kMaxTransformedBytes / (bytesPerTile * taps));
  // Groups are of equal size, and an even number of them if there are few, as cores are.
  int64_t all = llvm::divideCeil(count, most);
  if (all > 1 && all < kMinTasks)
    all = llvm::alignTo(all, 2);
  group = llvm::divideCeil(count, all);
  int64_t bytesPerGroup = bytesPerTile * group;
  // Frames first: they share inputs with the next ones.
  frames = 1;
  if (taps > 1 && contraction.input.g == contraction.taps.inputStep) {
    int64_t even = contraction.images * contraction.groups * all / kMinTasks;
    frames =
        partSize(contraction.groups, std::min(std::max(even, taps + 1),
                                              unitsOfTask(bytesPerGroup, taps + 1) - (taps - 1)));
  }
  inputFrames = frames + taps - 1;
  int64_t groups = unitsOfTask(bytesPerGroup * inputFrames, llvm::divideCeil(2, frames));
  frameBlocks = llvm::divideCeil(contraction.groups, frames);
  if (bytesPerTile * taps * contraction.channels <= kSmallFilterBytes)
    groups = std::clamp<int64_t>(all * frameBlocks * contraction.images / kMinTasks, 1, groups);
  block = group * partSize(llvm::divideCeil(count, group), groups);
  blocks = llvm::divideCeil(count, block);

  int64_t channelBlocks = contraction.channels / contraction.block;
  parts = 1;
  for (int64_t each = 1; each * kMinPartBlocks <= channelBlocks; ++each)
    if (channelBlocks % each == 0) {
      parts = each;
      if (blocks * frameBlocks * contraction.images * each >= kMinTasks)
        break;
    }
}

} // namespace convoy
