// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 2D convolution with an epilogue, as an implicit matrix product: the left matrix, the windows of
// the input, is never stored. A group of the convolution is a product of its own. For small
// problems, which leave most of a GPU idle: tiles are small, and the sum of a tile is shared by
// groups of four warps of a block, each with its own pipeline, and by the blocks of a cluster.

#include "epilogue.h"

namespace {

/// y[m, n] = epilogue(sum over taps and channels of x * w, bias[n], scale[n], residual[m, n]), in
/// channels-last memory: m is a pixel of the result, n a channel. The channels of a group are
/// multiples of 16 bytes in the input, and of 4 in the result.
using Conv = ConvArguments;

/// A step multiplies 128 bytes of factors.
constexpr int kGroup = kGroupThreads, kRowBytes = kConvStepBytes, kStages = kConvStages;

/// Computes tiles of `tileM` x `tileN`. A step adds a part of the channels of one tap; the warps of
/// a group are arranged two by two.
template <typename T, int tileM, int tileN>
DEVICE void convolve(const T *x, const T *w, const T *bias, const T *scale, const T *residual, T *y,
                     const Conv conv) {
  constexpr int kStep = kRowBytes / sizeof(T), kChunk = 16 / sizeof(T),
                kStageBytes = (tileM + tileN) * kRowBytes;
  constexpr int kMatricesM = tileM / 32, kMatricesN = tileN / 32, kRowsPerPass = kGroup / 8;
  const int threads = kGroup * conv.groups, group = conv.groups == 1 ? 0 : threadId() / kGroup,
            thread = threadId() % kGroup, warp = thread / 32, lane = thread % 32;
  const int pixels = conv.outHeight * conv.outWidth, rows = conv.images * pixels,
            tilesPerGroup = (conv.groupFilters + tileN - 1) / tileN,
            tilesN = conv.outChannels / conv.groupFilters * tilesPerGroup;
  // Neighboring blocks share rows of x, which they then read from the L2 cache.
  const int rank = blockId() % conv.split, tile = blockId() / conv.split,
            m0 = tile / tilesN * tileM, part = tile % tilesN / tilesPerGroup,
            n0 = part * conv.groupFilters + tile % tilesN % tilesPerGroup * tileN,
            end = (part + 1) * conv.groupFilters;
  const int stepsPerTap = (conv.groupChannels + kStep - 1) / kStep,
            steps = conv.tapsH * conv.tapsW * stepsPerTap;
  const int share = rank * conv.groups + group, shares = conv.split * conv.groups;
  const int firstStep = share * steps / shares, endStep = (share + 1) * steps / shares;
  const int weights = conv.tapsH * conv.tapsW * conv.groupChannels;

  // A thread copies the same chunk of 16 bytes of every kRowsPerPass-th row of a tile. Chunks are
  // swizzled within a row, so that the eight rows of a matrix are in different banks.
  const int chunk = thread % 8, row = thread / 8;
  const u32 base = sharedAddress(shared) + group * kStages * kStageBytes,
            target = base + row * kRowBytes + (chunk ^ row % 8) * 16;
  int top[tileM / kRowsPerPass], left[tileM / kRowsPerPass];
  const T *window[tileM / kRowsPerPass];
#pragma unroll
  for (int i = 0; i < tileM / kRowsPerPass; ++i) {
    int m = m0 + row + i * kRowsPerPass, pixel = m % pixels;
    // Rows beyond the result are treated as above the image, i.e. as padding.
    top[i] = m < rows ? pixel / conv.outWidth * conv.strideH - conv.padH : -(1 << 20);
    left[i] = pixel % conv.outWidth * conv.strideW - conv.padW;
    window[i] = x +
                ((long)(m / pixels * conv.height + top[i]) * conv.width + left[i]) * conv.channels +
                part * conv.groupChannels + chunk * kChunk;
  }
  const T *filter = w + (long)(n0 + row) * weights + chunk * kChunk;
  auto load = [&](int step, int stage) {
    int tap = step / stepsPerTap, channel = step % stepsPerTap * kStep;
    int down = tap / conv.tapsW * conv.dilationH, right = tap % conv.tapsW * conv.dilationW;
    bool inChannels = channel + chunk * kChunk < conv.groupChannels;
    u32 to = target + stage * kStageBytes;
#pragma unroll
    for (int i = 0; i < tileM / kRowsPerPass; ++i) {
      bool inside = inChannels && (u32)(top[i] + down) < (u32)conv.height &&
                    (u32)(left[i] + right) < (u32)conv.width;
      copyAsync(to + i * kRowsPerPass * kRowBytes,
                inside ? window[i] + (down * conv.width + right) * conv.channels + channel : x,
                inside);
    }
#pragma unroll
    for (int i = 0; i < tileN / kRowsPerPass; ++i) {
      bool inside = inChannels && n0 + row + i * kRowsPerPass < end;
      const T *from =
          filter + (long)i * kRowsPerPass * weights + tap * conv.groupChannels + channel;
      copyAsync(to + (tileM + i * kRowsPerPass) * kRowBytes, inside ? from : w, inside);
    }
  };
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i) {
    if (firstStep + i < endStep)
      load(firstStep + i, i);
    commitCopies();
  }

  float sums[kMatricesM][2 * kMatricesN][4] = {};
  const int warpM = warp % 2 * (tileM / 2), warpN = warp / 2 * (tileN / 2);
  const int rowA = warpM + lane % 16, halfA = lane / 16, rowB = warpN + lane % 8 + lane / 16 * 8,
            halfB = lane / 8 % 2;
  for (int step = firstStep, stage = 0; step < endStep;
       ++step, stage = stage + 1 == kStages ? 0 : stage + 1) {
    waitCopies<kStages - 2>();
    syncGroup(group);
    if (step + kStages - 1 < endStep)
      load(step + kStages - 1, stage == 0 ? kStages - 1 : stage - 1);
    commitCopies();
    const u32 a = base + stage * kStageBytes + rowA * kRowBytes,
              b = base + stage * kStageBytes + (tileM + rowB) * kRowBytes;
#pragma unroll
    for (int k = 0; k < kRowBytes / 32; ++k) {
      u32 matricesA[kMatricesM][4], matricesB[kMatricesN][4];
#pragma unroll
      for (int i = 0; i < kMatricesM; ++i) {
        loadMatrices(matricesA[i], a + i * 16 * kRowBytes + ((2 * k + halfA) ^ rowA % 8) * 16);
        round<T>(matricesA[i]);
      }
#pragma unroll
      for (int j = 0; j < kMatricesN; ++j) {
        loadMatrices(matricesB[j], b + j * 16 * kRowBytes + ((2 * k + halfB) ^ rowB % 8) * 16);
        round<T>(matricesB[j]);
      }
#pragma unroll
      for (int i = 0; i < kMatricesM; ++i)
#pragma unroll
        for (int j = 0; j < 2 * kMatricesN; ++j)
          Element<T>::multiply(sums[i][j], matricesA[i], matricesB[j / 2][j % 2 * 2],
                               matricesB[j / 2][j % 2 * 2 + 1]);
    }
  }

  // All groups execute the same number of barriers, even with different numbers of steps. Only
  // compute-sanitizer needs this: racecheck counts the barriers that a thread has passed, and
  // treats accesses of two threads with equal counts as unordered.
  if (endStep - firstStep < (steps + shares - 1) / shares)
    syncGroup(group);

  // Store via shared memory, so that neighboring threads write neighboring elements. A block of a
  // cluster adds up its rows of the tile.
  waitCopies<0>();
  sync();
  constexpr int kPitch = tileN + 4, kResults = tileM * kPitch;
  float *results = (float *)shared + group * kResults;
#pragma unroll
  for (int i = 0; i < kMatricesM; ++i)
#pragma unroll
    for (int j = 0; j < 2 * kMatricesN; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float *to = results + (warpM + i * 16 + half * 8 + lane / 4) * kPitch + warpN + j * 8 +
                    lane % 4 * 2;
        to[0] = sums[i][j][2 * half];
        to[1] = sums[i][j][2 * half + 1];
      }
  if (conv.split > 1)
    syncCluster();
  else
    sync();
  const int rowsOfBlock = tileM / conv.split;
#pragma unroll
  for (int i = threadId(); i < rowsOfBlock * (tileN / 4); i += threads) {
    int r = rank * rowsOfBlock + i / (tileN / 4), c = i % (tileN / 4) * 4;
    if (m0 + r >= rows || n0 + c >= end)
      continue;
    Floats sum = {};
#pragma unroll
    for (int other = 0; other < shares; ++other) {
      const int place = other % conv.groups * kResults + r * kPitch + c;
      Floats summand = conv.split == 1
                           ? loadFour((float *)shared + place)
                           : loadCluster(sharedAddress(shared) + place * 4, other / conv.groups);
      sum += summand;
    }
    const long at = (long)(m0 + r) * conv.outChannels + n0 + c;
    const Floats biases = bias ? loadFloats(bias + n0 + c) : Floats{},
                 scales = scale ? loadFloats(scale + n0 + c) : Floats{1, 1, 1, 1},
                 residuals = residual ? loadFloats(residual + at) : Floats{};
#pragma unroll
    for (int j = 0; j < 4; ++j)
      sum[j] = finish(sum[j], biases[j], scales[j], residuals[j], conv.epilogue);
    storeFour(y + at, sum);
  }
  // The other blocks may still read this block's part.
  if (conv.split > 1)
    syncCluster();
}

} // namespace

#define CONVOY_CONV(T, name, tileM, tileN)                                                         \
  LIBRARY void convoy_conv_##name##_##tileM##x##tileN(                                             \
      const T *x, const T *w, const T *bias, const T *scale, const T *residual, T *y, Conv conv) { \
    convolve<T, tileM, tileN>(x, w, bias, scale, residual, y, conv);                               \
  }
#define CONVOY_CONV_F16(tileM, tileN) CONVOY_CONV(f16, f16, tileM, tileN)
#define CONVOY_CONV_BF16(tileM, tileN) CONVOY_CONV(bf16, bf16, tileM, tileN)
#define CONVOY_CONV_F32(tileM, tileN) CONVOY_CONV(float, f32, tileM, tileN)
CONVOY_CONV_TILES(CONVOY_CONV_F16)
CONVOY_CONV_TILES(CONVOY_CONV_BF16)
CONVOY_CONV_TILES(CONVOY_CONV_F32)
