// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of convoy_copy_kernels: they copy arrays into the windows of static buffers, and
// write zeros around them. Unlike the kernel library they are compiled once, for any GPU.

#include "../abi/convoy_abi.h"
#include "device.h"

namespace {

/// Copies in units that divide the addresses, the width and the pitches. Buffers have less than
/// 2^31 bytes: a division of 64-bit numbers is a hundred instructions.
template <typename Unit> DEVICE void copyUnits(const ConvoyCopy &copy) {
  // Small units are for small or odd arrays. The driver compiles this code when an artifact is
  // loaded.
  constexpr u32 kTurn = sizeof(Unit) == sizeof(u32x4) ? 4 : 1;
  const u32 across = (u32)copy.to_pitch / sizeof(Unit), filled = (u32)copy.width / sizeof(Unit),
            pitch = (u32)copy.from_pitch / sizeof(Unit), units = (u32)copy.rows * across,
            step = __nvvm_read_ptx_sreg_nctaid_x() * CONVOY_COPY_THREADS;
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
      if (first + i * step < units)
        to[first + i * step] = values[i];
  }
}

DEVICE void copyWindow(const ConvoyCopy &copy) {
  const u64 places =
      copy.to | copy.from | (u64)copy.width | (u64)copy.to_pitch | (u64)copy.from_pitch;
  if (places % sizeof(u32x4) == 0)
    copyUnits<u32x4>(copy);
  else if (places % sizeof(u32) == 0)
    copyUnits<u32>(copy);
  else
    copyUnits<unsigned char>(copy);
}

template <int kMost> struct Copies {
  ConvoyCopy of[kMost];
};

} // namespace

#define CONVOY_COPY(most)                                                                          \
  extern "C" __attribute__((global, launch_bounds(CONVOY_COPY_THREADS))) void convoy_copy_##most(  \
      const Copies<most> copies) {                                                                 \
    copyWindow(copies.of[__nvvm_read_ptx_sreg_ctaid_y()]);                                         \
  }
CONVOY_COPY(8)
CONVOY_COPY(80)
