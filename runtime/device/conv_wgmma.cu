// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolution with stride 1 for the tensor cores of sm_90a, with an epilogue. For
// convolutions whose 64 filters fit into shared memory: many pixels and few channels, as in the
// first blocks of a network. Filters are read once per block, the image once per tile.

#include "epilogue.h"
#include "wgmma.h"

namespace {

/// y[m, n] = epilogue(sum over taps and channels of x * w, bias[n], scale[n], residual[m, n]), in
/// channels-last memory: m is a pixel of the result, n a channel. A pixel of the input has a power
/// of two of bytes from 32 to 2048; channels of the result are a multiple of 64.
using Conv = ConvWgmmaArguments;

/// Loads 16 bytes, or returns zeros without reading if not `inside`. With a branch instead of a
/// predicate only one load at a time would be in flight.
DEVICE u32x4 loadInside(const void *from, bool inside) {
  u32x4 value;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %5, 0;\n\tmov.b32 %0, 0;\n\tmov.b32 %1, "
               "0;\n\tmov.b32 %2, 0;\n\tmov.b32 %3, 0;\n\t"
               "@p ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];\n\t}"
               : "=&r"(value.x), "=&r"(value.y), "=&r"(value.z), "=&r"(value.w)
               : "l"(from), "r"((int)inside));
  return value;
}

/// The filters are the left factor, so that the number of pixels need not be a multiple of 64. The
/// right factor is the tile's part of the image, in which eight neighboring pixels are a matrix, so
/// the windows of a tap are the image at an offset of pixels. A product continues from one row of
/// pixels to the next across the border between them, whose columns are not stored. Each group of
/// four warps has its own tiles and shared memory, so that one group computes while another stores;
/// the pixels of its next tile are in registers.
template <typename T, int kColumns, int kFetched>
DEVICE void convolve(const T *x, const T *w, const T *bias, const T *scale, const T *residual, T *y,
                     const Conv conv) {
  using Pair = typename Element<T>::Pair;
  constexpr int kFilters = kConvWgmmaFilters, kGroup = kGroupThreads, kChunk = 16 / sizeof(T),
                kMatrices = kColumns / 8, kMatrixBytes = 128;
  // 16 additional bytes, so that neighboring chunks are in different banks.
  constexpr int kFilterPitch = kFilters * 16 + 16;
  const int thread = threadId() % kGroup, group = threadId() / kGroup, warp = thread / 32,
            lane = thread % 32;
  const int chunks = conv.channels / kChunk, taps = conv.tapsH * conv.tapsW,
            pitch = conv.columns + conv.tapsW - 1;
  const int pixels = (conv.rows + conv.tapsH - 1) * pitch;
  const int tilesH = (conv.outHeight + conv.rows - 1) / conv.rows,
            tilesW = (conv.outWidth + conv.columns - 1) / conv.columns;
  const int tiles = conv.images * tilesH * tilesW, stride = conv.blocksPerFilter * conv.groups;
  const int firstFilter = blockId() / conv.blocksPerFilter * kFilters;
  char *const filters = shared, *const image = shared + taps * chunks * kFilterPitch +
                                               group * chunks * conv.plane;

  struct Tile {
    int image, top, left;
  };
  auto tileAt = [&](int tile) -> Tile {
    return {tile / (tilesH * tilesW), tile / tilesW % tilesH * conv.rows,
            tile % tilesW * conv.columns};
  };
  u32x4 fetched[kFetched];
  // A piece is 16 bytes of a pixel: the pixel in the tile's part of the image, its row and column.
  struct Piece {
    int pixel, row, column;
  };
  const u32 together = kGroup / chunks;
  auto pieceOf = [&](u32 thread, u32 i) -> Piece {
    const u32 first = i * together, across = first % pitch + thread / chunks;
    return {(int)(first + thread / chunks), (int)(first / pitch + across / pitch),
            (int)(across % pitch)};
  };
  auto fetch = [&](const Tile &tile) __attribute__((always_inline)) {
    const u32 thread = again(threadId()) % kGroup;
    const int top = tile.top - conv.padH, left = tile.left - conv.padW;
    const T *from = x +
                    (((long)tile.image * conv.height + top) * conv.width + left) * conv.channels +
                    thread % chunks * kChunk;
#pragma unroll
    for (int i = 0; i < kFetched; ++i) {
      const Piece piece = pieceOf(thread, i);
      const bool inside = (piece.pixel < pixels) & ((u32)(top + piece.row) < (u32)conv.height) &
                          ((u32)(left + piece.column) < (u32)conv.width);
      fetched[i] =
          loadInside(from + (piece.row * conv.width + piece.column) * conv.channels, inside);
    }
  };
  // A lane prefetches a row of a tile's part of the image into the L2 cache, to shorten the latency
  // of its loads, whose number in flight is limited.
  auto bring = [&](int number) {
    if (conv.ahead == 0 || warp > 0 || number >= tiles || lane >= conv.rows + conv.tapsH - 1)
      return;
    const Tile tile = tileAt(number);
    const int row = tile.top - conv.padH + lane, left = max(tile.left - conv.padW, 0);
    const int right = min(tile.left - conv.padW + pitch, conv.width);
    // With padding wider than the window a tile may have no pixel.
    if ((u32)row < (u32)conv.height && left < right)
      prefetch(x + (((long)tile.image * conv.height + row) * conv.width + left) * conv.channels,
               (right - left) * conv.channels * (int)sizeof(T));
  };
  auto store = [&]() __attribute__((always_inline)) {
    const u32 thread = again(threadId()) % kGroup;
    char *const to = image + thread % chunks * conv.plane + thread / chunks * 16;
#pragma unroll
    for (int i = 0; i < kFetched; ++i)
      if (pieceOf(thread, i).pixel < pixels)
        *(u32x4 *)(to + i * together * 16) = round<T>(fetched[i]);
  };

  int number = blockId() % conv.blocksPerFilter + group * conv.blocksPerFilter;
  const bool works = number < tiles;
  Tile tile = tileAt(number);
  if (works)
    fetch(tile);
  // A chunk is 16 bytes of every filter. Of 16 rows, those of even filters come first, because a
  // thread has rows i and i + 8 of the product.
#pragma unroll 8
  for (int i = threadId(); i < kFilters * taps * chunks; i += kGroup * conv.groups) {
    const int filter = i / (taps * chunks), chunk = i % (taps * chunks),
              row = filter / 16 * 16 + filter % 2 * 8 + filter % 16 / 2;
    *(u32x4 *)(filters + chunk * kFilterPitch + row * 16) = round<T>(
        *(const u32x4 *)(w + ((long)(firstFilter + filter) * taps * chunks + chunk) * kChunk));
  }
  const int filter = firstFilter + warp * 16 + lane / 4 * 2;
  float biases[2] = {}, scales[2] = {1, 1};
  if (bias)
    Element<T>::unpack(*(const Pair *)(bias + filter), biases[0], biases[1]);
  if (scale)
    Element<T>::unpack(*(const Pair *)(scale + filter), scales[0], scales[1]);
  if (works)
    store();
  fenceFactors();
  sync();

  const u64 filterFactor = factorAt(sharedAddress(filters), kFilterPitch, kMatrixBytes);
  const u64 imageFactor = factorAt(sharedAddress(image), conv.plane, kMatrixBytes);
  float sums[kMatrices][4];
  // The offset of a column's pixel in the result, relative to the tile's first pixel; -1 if it is
  // outside of the tile or the result.
  auto placeOf = [&](const Tile &tile, u32 lane, u32 j, u32 i) {
    const u32 across = j * 8 % pitch + lane % 4 * 2 + i, row = j * 8 / pitch + across / pitch,
              column = across % pitch;
    const bool inside =
        (row < (u32)conv.rows) & (column < (u32)conv.columns) &
        ((conv.outHeight % conv.rows == 0) | (tile.top + (int)row < conv.outHeight)) &
        ((conv.outWidth % conv.columns == 0) | (tile.left + (int)column < conv.outWidth));
    return inside ? (int)(row * conv.outWidth + column) * conv.outChannels : -1;
  };
  while (number < tiles) {
    const Tile next = tileAt(number + stride);
    const bool goesOn = number + stride < tiles;
    bring(number + (conv.ahead + 1) * stride);
    if (goesOn)
      fetch(next);
    const long first =
        ((long)(tile.image * conv.outHeight + tile.top) * conv.outWidth + tile.left) *
            conv.outChannels +
        filter;
    const u32 pixelLane = again(threadId()) % 32;
    Pair residuals[kMatrices][2];
    if (residual)
#pragma unroll
      for (int j = 0; j < kMatrices; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int place = placeOf(tile, pixelLane, j, i);
          residuals[j][i] = *(const Pair *)(residual + (place >= 0 ? first + place : 0));
        }
    const u64 left = again(filterFactor), right = again(imageFactor);
    fenceProducts();
#pragma unroll
    for (int tap = 0; tap < taps; ++tap)
#pragma unroll
      for (int step = 0; step < chunks / 2; ++step)
        Products<T, kColumns>::start(
            sums, further(left, (tap * chunks + 2 * step) * kFilterPitch),
            further(right,
                    (tap / conv.tapsW * pitch + tap % conv.tapsW) * 16 + 2 * step * conv.plane),
            tap + step == 0);
    commitProducts();
    waitProducts<0>();
    take(sums);
    syncGroup(group);
    if (goesOn) {
      store();
      fenceFactors();
    }
#pragma unroll
    for (int j = 0; j < kMatrices; ++j)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        float summands[2] = {}, results[2];
        if (residual)
          Element<T>::unpack(residuals[j][i], summands[0], summands[1]);
#pragma unroll
        for (int k = 0; k < 2; ++k)
          results[k] = finish(sums[j][i + 2 * k], biases[k], scales[k], summands[k], conv.epilogue);
        if (const int place = placeOf(tile, pixelLane, j, i); place >= 0)
          *(Pair *)(y + first + place) = Element<T>::pack(results[0], results[1]);
      }
    syncGroup(group);
    number += stride;
    tile = next;
  }
}

} // namespace

#define CONVOY_CONV(T, name, columns, fetched)                                                     \
  LIBRARY void convoy_conv_wgmma_##name##_##columns##_##fetched(                                   \
      const T *x, const T *w, const T *bias, const T *scale, const T *residual, T *y, Conv conv) { \
    convolve<T, columns, fetched>(x, w, bias, scale, residual, y, conv);                           \
  }
#define CONVOY_CONV_TYPES(columns, fetched)                                                        \
  CONVOY_CONV(f16, f16, columns, fetched)                                                          \
  CONVOY_CONV(bf16, bf16, columns, fetched)                                                        \
  CONVOY_CONV(float, f32, columns, fetched)
#define CONVOY_CONV_FETCHED_16(columns) CONVOY_CONV_TYPES(columns, 16)
#define CONVOY_CONV_FETCHED_20(columns) CONVOY_CONV_TYPES(columns, 20)
#define CONVOY_CONV_FETCHED_24(columns) CONVOY_CONV_TYPES(columns, 24)
#define CONVOY_CONVS(fetched) CONVOY_CONV_WGMMA_COLUMNS(CONVOY_CONV_FETCHED_##fetched)
CONVOY_CONV_WGMMA_FETCHED(CONVOY_CONVS)
