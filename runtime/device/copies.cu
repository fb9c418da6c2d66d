// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of convoy_copy_kernels: they copy arrays into the windows of static buffers, with
// zeros around them, and windows into arrays. Unlike the kernel library they are compiled once, for
// any GPU.

#include "../abi/convoy_abi.h"
#include "device.h"

namespace {

constexpr u32 kChunk = sizeof(u32x4);

DEVICE u32 blockCount() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE u32 copyNumber() { return __nvvm_read_ptx_sreg_ctaid_y(); }

/// Copies rows in units that divide the addresses and, of several rows, the width and the pitches.
/// Of one row it skips the unit that has both bytes of the array and zeros, and that which is only
/// partly in the row. Buffers have less than 2^31 bytes: a division of 64-bit numbers is a hundred
/// instructions.
template <typename Unit> DEVICE void copyUnits(const ConvoyCopy &copy) {
  constexpr u32 kTurn = 4;
  const u32 across = (u32)copy.to_pitch / sizeof(Unit), filled = (u32)copy.width / sizeof(Unit),
            pitch = (u32)copy.from_pitch / sizeof(Unit), units = (u32)copy.rows * across,
            skipped = (u32)copy.width % sizeof(Unit) ? filled : ~0u,
            step = blockCount() * CONVOY_COPY_THREADS;
  const auto *from = (const Unit *)copy.from;
  auto *to = (Unit *)copy.to;
  for (u32 first = blockId() * CONVOY_COPY_THREADS + threadId(); first < units;
       first += kTurn * step) {
    // All loads are in flight before the first store.
    Unit values[kTurn];
#pragma unroll
    for (u32 i = 0; i < kTurn; ++i) {
      const u32 unit = first + i * step, row = unit / across, column = unit - row * across;
      values[i] = unit < units && column < filled ? from[row * pitch + column] : Unit{};
    }
#pragma unroll
    for (u32 i = 0; i < kTurn; ++i)
      if (first + i * step < units && first + i * step != skipped)
        to[first + i * step] = values[i];
  }
}

/// Copies the bytes of a row that copyUnits skips: threads of the first block, a byte each.
DEVICE void copyEdges(const ConvoyCopy &copy) {
  if (blockId() != 0 || threadId() >= 2 * kChunk)
    return;
  const u32 width = (u32)copy.width, pitch = (u32)copy.to_pitch,
            edge = threadId() < kChunk ? width : pitch,
            byte = edge / kChunk * kChunk + threadId() % kChunk;
  if (byte < pitch)
    ((char *)copy.to)[byte] = byte < width ? ((const char *)copy.from)[byte] : 0;
}

DEVICE void copyWindow(const ConvoyCopy &copy) {
  const bool isRow = copy.rows == 1;
  const u64 sizes = (u64)copy.width | (u64)copy.to_pitch | (u64)copy.from_pitch;
  if ((copy.to | copy.from | (isRow ? 0 : sizes)) % kChunk != 0) {
    copyUnits<unsigned char>(copy);
    return;
  }
  copyUnits<u32x4>(copy);
  if (isRow)
    copyEdges(copy);
}

template <int kMost> struct Copies {
  ConvoyCopy of[kMost];
};

} // namespace

#define CONVOY_COPY(most)                                                                          \
  extern "C" __attribute__((global, launch_bounds(CONVOY_COPY_THREADS))) void convoy_copy_##most(  \
      const Copies<most> copies) {                                                                 \
    copyWindow(copies.of[copyNumber()]);                                                           \
  }
CONVOY_COPY(8)
CONVOY_COPY(80)
