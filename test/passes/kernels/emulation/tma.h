// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Takes the place of runtime/device/tma.h: barriers that count bytes (grid.cpp), and copies by the
// tensor memory accelerator, which are complete at once.

#ifndef CONVOY_EMULATION_TMA_H
#define CONVOY_EMULATION_TMA_H

#include "device.h"

void initBarrier(u32 address, int arrivals);
void waitBarrier(u32 address, u32 parity);
void arriveWithBytes(u32 address, int bytes);
void completeBytes(u32 address, int bytes);
DEVICE void arrive(u32 address) { arriveWithBytes(address, 0); }
DEVICE void fenceBarriers() {}
void giveTurn(u32 group);
void waitForTurn(u32 group);

/// What the driver writes into a tensor map, from the innermost dim on; `pitches` are in bytes.
/// Windows have corners and steps.
struct EmulatedMap {
  const char *address;
  int rank, isWindows;
  u64 sizes[5], pitches[5];
  int first[3], last[3], steps[3], box[5];
};
using TensorMap = const void *;

/// Places of chunks of 16 bytes with the 128-byte swizzle.
DEVICE u32 swizzled(u32 address) { return address ^ (address >> 7 & 7) << 4; }

/// Copies 64 numbers from `coordinates` to a row of 128 bytes. Those outside of the tensor are
/// zeros.
DEVICE void copyRow(u32 to, const EmulatedMap &map, const int *coordinates) {
  for (int i = 0; i < 64; i += 8) {
    bool inside = true;
    u64 offset = 0;
    for (int dim = 0; dim < map.rank; ++dim) {
      const long at = coordinates[dim] + (dim == 0 ? i : 0);
      inside = inside && at >= 0 && at < (long)map.sizes[dim];
      offset += at * map.pitches[dim];
    }
    copyAsync(swizzled(to + i * 2), map.address + offset, inside);
  }
}

DEVICE void copyBox(u32 to, TensorMap tensor, int column, int row, int plane, u32 barrier) {
  const EmulatedMap &map = *static_cast<const EmulatedMap *>(tensor);
  int count = 0;
  for (int i = 0; i < map.box[2]; ++i)
    for (int j = 0; j < map.box[1]; ++j, ++count) {
      const int coordinates[] = {column, row + j, plane + i};
      copyRow(to + count * 128, map, coordinates);
    }
  completeBytes(barrier, count * 128);
}

/// The pixels of windows are those of the box between the corners, in steps, the innermost dim
/// first, then those of the next image.
template <int kDims>
DEVICE void copyWindows(u32 to, TensorMap tensor, int (&at)[kDims + 2], const int (&offset)[kDims],
                        u32 barrier) {
  const EmulatedMap &map = *static_cast<const EmulatedMap *>(tensor);
  for (int pixel = 0; pixel < map.box[1]; ++pixel) {
    int coordinates[kDims + 2];
    std::memcpy(coordinates, at, sizeof at);
    for (int dim = 0; dim < kDims; ++dim)
      coordinates[1 + dim] += offset[dim];
    copyRow(to + pixel * 128, map, coordinates);
    int dim = 0;
    for (; dim < kDims; ++dim) {
      at[1 + dim] += map.steps[dim];
      if (at[1 + dim] < (long)map.sizes[1 + dim] + map.last[dim])
        break;
      at[1 + dim] = map.first[dim];
    }
    if (dim == kDims)
      ++at[1 + kDims];
  }
  completeBytes(barrier, map.box[1] * 128);
}
DEVICE void copyWindows(u32 to, TensorMap map, int channel, int column, int row, int image,
                        int columnOffset, int rowOffset, u32 barrier) {
  int at[] = {channel, column, row, image};
  copyWindows<2>(to, map, at, {columnOffset, rowOffset}, barrier);
}
DEVICE void copyWindows(u32 to, TensorMap map, int channel, int column, int row, int plane,
                        int image, int columnOffset, int rowOffset, int planeOffset, u32 barrier) {
  int at[] = {channel, column, row, plane, image};
  copyWindows<3>(to, map, at, {columnOffset, rowOffset, planeOffset}, barrier);
}

struct RingPlace {
  u32 slot = 0, parity = 0;

  void advance(u32 count, u32 slots) {
    for (u32 i = 0; i < count; ++i)
      if (++slot == slots) {
        slot = 0;
        parity ^= 1;
      }
  }
};

#endif // CONVOY_EMULATION_TMA_H
