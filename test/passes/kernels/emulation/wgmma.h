// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Takes the place of runtime/device/wgmma.h: products whose factors are in shared memory with the
// 128-byte swizzle, of which each thread computes its own sums. A factor is its address, and the
// distance of its next columns. The products of four warps are complete when all of them have
// started theirs.

#ifndef CONVOY_EMULATION_WGMMA_H
#define CONVOY_EMULATION_WGMMA_H

#include "tma.h"

DEVICE u64 swizzledFactorAt(u32 address, int next) { return (u64)next << 32 | address; }
DEVICE u64 further(u64 factor, int bytes) { return factor + bytes; }
DEVICE void fenceProducts() {}
DEVICE void fenceFactors() {}
DEVICE u32 again(u32 value) { return value; }
DEVICE u32 zero() { return 0; }
DEVICE void commitProducts() {}
void waitForGroup();
template <int pending> DEVICE void waitProducts() { waitForGroup(); }
template <int count> DEVICE void take(float (&)[count][4]) {}
template <typename T, int count> DEVICE void settle(T (&)[count][4]) {}

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

/// The rows of a warp are in the registers of its lanes.
template <typename T, int columns> struct ProductsFromRegisters {
  static void start(float (&sums)[columns / 8][4], const u32 (&a)[4], u64 b) {
    T rows[2][16];
    // A lane of each four has two numbers of each eight.
    for (int i = 0; i < 4; ++i)
      for (int lane = 0; lane < 4; ++lane) {
        const u32 word = laneOfFour(a[i], lane);
        std::memcpy(&rows[i % 2][i / 2 * 8 + lane * 2], &word, sizeof word);
      }
    const u32 lane = threadId() % 32, next = b >> 32;
    for (int i = 0; i < columns / 8; ++i)
      for (int k = 0; k < 16; ++k) {
        T line[8];
        const u32 place = (u32)b + i / 8 * next + k * 128 + i % 8 * 16;
        std::memcpy(line, sharedMemory(-1, swizzled(place)), 16);
        for (int half = 0; half < 2; ++half)
          for (int j = 0; j < 2; ++j)
            sums[i][half * 2 + j] += (float)rows[half][k] * (float)line[lane % 4 * 2 + j];
      }
  }
};

#endif // CONVOY_EMULATION_WGMMA_H
