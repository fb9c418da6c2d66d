// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 1x1 convolution for the tensor cores of sm_90a, with an epilogue. For convolutions that are
// limited by reading the residual and writing the result, such as the last convolution of a
// bottleneck. Every thread reads and writes 16 bytes of a pixel at a time.

#include "epilogue.h"
#include "wgmma.h"

namespace {

/// y[m, n] = epilogue(sum over k of x[m, k] * w[n, k], bias[n], scale[n], residual[m, n]),
/// everything row-major: m is a pixel, k and n are channels. The depth is a multiple of 32 bytes,
/// and a power of two of chunks of 16 bytes.
using Conv = Conv1x1WgmmaArguments;

/// The filters are the left factor, permuted so that a thread gets 16 bytes of neighboring channels
/// of a pixel. Each group of four warps computes separate tiles of `kPixels`. The pixels and the
/// residual of its next tile are read while the current tile is computed and stored.
template <typename T, int kPixels>
DEVICE void convolve(const T *x, const T *w, const T *bias, const T *scale, const T *residual, T *y,
                     const Conv conv) {
  using Pair = typename Element<T>::Pair;
  constexpr int kGroup = kGroupThreads, kChunk = 16 / sizeof(T), kProducts = kChunk / 2,
                kFilters = 64 * kProducts, kMatrices = kPixels / 8;
  constexpr int kMatrixBytes = 128, kFetched = kConv1x1WgmmaFetched, kStored = kPixels / 4;
  // 16 additional bytes, so that neighboring chunks are in different banks.
  constexpr int kFilterPitch = kFilters * 16 + 16, kPlane = kPixels * 16 + 16;
  const u32 thread = threadId() % kGroup, group = threadId() / kGroup, warp = thread / 32,
            lane = thread % 32;
  const int chunks = conv.depth / kChunk, fetches = kPixels * chunks / kGroup;
  const u32 together = kGroup / chunks;
  const int tiles = (conv.pixels + kPixels - 1) / kPixels,
            stride = conv.blocksPerFilter * conv.groups;
  const int firstFilter = blockId() / conv.blocksPerFilter * kFilters;
  char *const filters = shared, *const image =
                                    shared + chunks * kFilterPitch + group * chunks * kPlane;

  int tile = blockId() % conv.blocksPerFilter + group * conv.blocksPerFilter;
  u32x4 fetched[kFetched];
  auto fetch = [&]() __attribute__((always_inline)) {
#pragma unroll
    for (int i = 0; i < kFetched; ++i)
      if (i < fetches) {
        const int pixel =
            min(tile * kPixels + (int)(thread / chunks + i * together), conv.pixels - 1);
        fetched[i] = *(const u32x4 *)(x + (long)pixel * conv.depth + thread % chunks * kChunk);
      }
  };
  auto store = [&]() __attribute__((always_inline)) {
#pragma unroll
    for (int i = 0; i < kFetched; ++i)
      if (i < fetches)
        *(u32x4 *)(image + thread % chunks * kPlane + (thread / chunks + i * together) * 16) =
            round<T>(fetched[i]);
  };
  // The thread computes the filters from `first` on, and two of every eight pixels.
  const int first = firstFilter + (warp * 8 + lane / 4) * kChunk;
  auto pixelOf = [&](int j, int i) { return tile * kPixels + j * 8 + (int)(lane % 4) * 2 + i; };
  u32x4 residuals[kStored];
  auto fetchResidual = [&]() __attribute__((always_inline)) {
#pragma unroll
    for (int j = 0; j < kMatrices; ++j)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        residuals[j * 2 + i] =
            *(const u32x4 *)(residual + (long)min(pixelOf(j, i), conv.pixels - 1) * conv.filters +
                             first);
  };

  const bool works = tile < tiles;
  if (works) {
    fetch();
    if (residual)
      fetchResidual();
  }
  // A chunk is 16 bytes of every filter.
#pragma unroll 8
  for (int i = threadId(); i < kFilters * chunks; i += kGroup * conv.groups) {
    const int filter = i / chunks, chunk = i % chunks, pair = filter % kChunk;
    const int row = pair / 2 * 64 + filter / (8 * kChunk) * 16 + pair % 2 * 8 + filter / kChunk % 8;
    *(u32x4 *)(filters + chunk * kFilterPitch + row * 16) =
        round<T>(*(const u32x4 *)(w + (long)(firstFilter + filter) * conv.depth + chunk * kChunk));
  }
  float biases[kChunk] = {}, scales[kChunk];
#pragma unroll
  for (int i = 0; i < kProducts; ++i) {
    scales[2 * i] = scales[2 * i + 1] = 1;
    if (bias)
      Element<T>::unpack(((const Pair *)(bias + first))[i], biases[2 * i], biases[2 * i + 1]);
    if (scale)
      Element<T>::unpack(((const Pair *)(scale + first))[i], scales[2 * i], scales[2 * i + 1]);
  }
  if (works)
    store();
  fenceFactors();
  sync();

  const u64 filterFactor = factorAt(sharedAddress(filters), kFilterPitch, kMatrixBytes);
  const u64 imageFactor = factorAt(sharedAddress(image), kPlane, kMatrixBytes);
  float sums[kProducts][kMatrices][4];
  while (tile < tiles) {
    const u64 left = again(filterFactor), right = again(imageFactor);
    fenceProducts();
#pragma unroll
    for (int step = 0; step < chunks / 2; ++step)
#pragma unroll
      for (int product = 0; product < kProducts; ++product)
        Products<T, kPixels>::start(sums[product],
                                    further(left, 2 * step * kFilterPitch + product * 64 * 16),
                                    further(right, 2 * step * kPlane), step == 0);
    commitProducts();
    const int now = tile;
    tile += stride;
    const bool goesOn = tile < tiles;
    if (goesOn)
      fetch();
    waitProducts<0>();
#pragma unroll
    for (auto &each : sums)
      take(each);
    syncGroup(group);
    if (goesOn) {
      store();
      fenceFactors();
    }
#pragma unroll
    for (int j = 0; j < kMatrices; ++j)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        union {
          u32x4 four;
          Pair pairs[kProducts];
        } from, to;
        if (residual)
          from.four = residuals[j * 2 + i];
#pragma unroll
        for (int product = 0; product < kProducts; ++product) {
          float summands[2] = {}, results[2];
          if (residual)
            Element<T>::unpack(from.pairs[product], summands[0], summands[1]);
#pragma unroll
          for (int k = 0; k < 2; ++k)
            results[k] = finish(sums[product][j][i + 2 * k], biases[2 * product + k],
                                scales[2 * product + k], summands[k], conv.epilogue);
          to.pairs[product] = Element<T>::pack(results[0], results[1]);
        }
        const int pixel = now * kPixels + j * 8 + (int)(lane % 4) * 2 + i;
        if (conv.pixels % kPixels == 0 || pixel < conv.pixels)
          *(u32x4 *)(y + (long)pixel * conv.filters + first) = to.four;
      }
    if (residual && goesOn)
      fetchResidual();
    syncGroup(group);
  }
}

} // namespace

#define CONVOY_CONV(T, name, pixels)                                                               \
  LIBRARY void convoy_conv1x1_wgmma_##name##_##pixels(                                             \
      const T *x, const T *w, const T *bias, const T *scale, const T *residual, T *y, Conv conv) { \
    convolve<T, pixels>(x, w, bias, scale, residual, y, conv);                                     \
  }
#define CONVOY_CONVS(pixels)                                                                       \
  CONVOY_CONV(f16, f16, pixels)                                                                    \
  CONVOY_CONV(bf16, bf16, pixels)                                                                  \
  CONVOY_CONV(float, f32, pixels)
CONVOY_CONV1X1_WGMMA_PIXELS(CONVOY_CONVS)
