// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Takes the place of runtime/device/wgmma.h: products whose factors are in shared memory with the
// 128-byte swizzle, of which each thread computes its own sums. A factor is its address. The
// products of four warps are complete when all of them have started theirs.

#ifndef CONVOY_EMULATION_WGMMA_H
#define CONVOY_EMULATION_WGMMA_H

#include "tma.h"

DEVICE u64 swizzledFactorAt(u32 address, int) { return address; }
DEVICE u64 further(u64 factor, int bytes) { return factor + bytes; }
DEVICE void fenceProducts() {}
DEVICE void commitProducts() {}
void waitForGroup();
template <int pending> DEVICE void waitProducts() { waitForGroup(); }
template <int count> DEVICE void take(float (&)[count][4]) {}

template <typename T> DEVICE void loadNumbers(T (&to)[16], u64 line) {
  for (int half = 0; half < 2; ++half)
    std::memcpy(to + half * 8, sharedMemory(-1, swizzled((u32)line + half * 16)), 16);
}

template <typename T, int columns> struct Products {
  static void start(float (&sums)[columns / 8][4], u64 a, u64 b, bool first) {
    const int warp = threadId() % kGroupThreads / 32, lane = threadId() % 32;
    for (int half = 0; half < 2; ++half) {
      T row[16], column[16];
      loadNumbers(row, a + (warp * 16 + half * 8 + lane / 4) * 128);
      for (int i = 0; i < columns / 8; ++i)
        for (int j = 0; j < 2; ++j) {
          loadNumbers(column, b + (i * 8 + lane % 4 * 2 + j) * 128);
          float &sum = sums[i][half * 2 + j];
          if (first)
            sum = 0;
          for (int k = 0; k < 16; ++k)
            sum += (float)row[k] * (float)column[k];
        }
    }
  }
};
template <typename T, int columns> struct ProductsOfRows;

#endif // CONVOY_EMULATION_WGMMA_H
