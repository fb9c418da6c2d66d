// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolution with few filters, as the last layer of a network that makes images has, in
// channels-last memory and 16-bit floats, with an epilogue. A matrix of a tensor core has eight
// columns, which few filters do not fill, and each pixel would be read once per tap. So a column is
// a filter's row of factors of one tap: a pixel's products with all taps are computed together, and
// each result is the sum of the products of its taps with different pixels.

#include "epilogue.h"

namespace {

using FewFilters = ConvFewFiltersArguments;

/// 16 bytes at `from`, or zeros.
DEVICE u32x4 loadPiece(const void *from, bool inside) {
  return inside ? *(const u32x4 *)from : u32x4{0, 0, 0, 0};
}

/// A warp computes the products of 16 pixels with all columns at a time. The order of a sum is
/// free: over two steps of 16 channels a thread has eight adjacent ones, 16 bytes of a pixel, which
/// it reads from memory, and of a column.
template <typename T>
DEVICE void convolveFewFilters(const T *x, const T *w, const T *bias, const T *scale,
                               const T *residual, T *y, const FewFilters conv) {
  const int threads = conv.warps * 32, thread = threadId(), warp = thread / 32, lane = thread % 32;
  const ConvFewFiltersShared layout = {conv};
  const int columns = layout.columns(), matrices = layout.matrices(), turns = layout.turns(),
            steps = layout.steps(), patchW = layout.patchW(), pitch = layout.pitch();
  const int down = layout.tilesH(), across = layout.tilesW(), tiles = conv.images * down * across;
  const u32 filterBase = sharedAddress(shared);
  float *const products = (float *)sharedPointer(filterBase + layout.filterBytes());

  // 16 bytes for each turn, step, matrix of eight columns, and lane.
  for (int i = thread; i < turns * steps * matrices * 32; i += threads) {
    const int column = i / 32 % matrices * 8 + i % 32 / 4,
              channel = i / (32 * matrices) % steps * kFewFiltersStep + i % 4 * 8,
              filter = column % conv.outChannels, tapW = column / conv.outChannels % conv.tapsW,
              tapH = column / (conv.outChannels * conv.tapsW) + i / (32 * matrices * steps);
    const bool inside = column < columns && channel < conv.channels;
    const T *const from =
        w + ((long)(filter * conv.tapsH + tapH) * conv.tapsW + tapW) * conv.channels + channel;
    storeShared(filterBase + i * 16, loadPiece(from, inside));
  }
  sync();

#pragma unroll 1
  for (int tile = blockId(); tile < tiles; tile += conv.blocks) {
    const int image = tile / (down * across), firstRow = tile / across % down * conv.tileH,
              firstColumn = tile % across * conv.tileW,
              left = firstColumn * conv.strideW - conv.padW;
    const T *const pixels = x + (long)image * conv.height * conv.width * conv.channels;

#pragma unroll 1
    for (int group = warp; group < layout.groups(); group += conv.warps) {
      float sums[kFewFiltersMostColumns / 8][4] = {};
#pragma unroll 1
      for (int turn = 0; turn < turns; ++turn) {
        const T *from[2];
        bool inside[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int pixel = group * 16 + half * 8 + lane / 4, line = pixel / patchW,
                    column = left + pixel % patchW;
          const int row = layout.isWhole() ? firstRow * conv.strideH - conv.padH + line
                                           : (firstRow + line) * conv.strideH - conv.padH +
                                                 turn * conv.dilationH;
          inside[half] = line < layout.patchH() && (u32)row < (u32)conv.height &&
                         (u32)column < (u32)conv.width;
          from[half] = pixels + ((long)row * conv.width + column) * conv.channels + lane % 4 * 8;
        }
        u32 factors = filterBase + (turn * steps * matrices * 32 + lane) * 16;
#pragma unroll 1
        for (int first = 0; first < steps; first += kFewFiltersStepsAtOnce) {
          u32x4 pieces[kFewFiltersStepsAtOnce][2];
#pragma unroll
          for (int i = 0; i < kFewFiltersStepsAtOnce; ++i)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
              const int channel = (first + i) * kFewFiltersStep;
              pieces[i][half] = loadPiece(from[half] + channel,
                                          inside[half] && channel + lane % 4 * 8 < conv.channels);
            }
#pragma unroll
          for (int i = 0; i < kFewFiltersStepsAtOnce; ++i) {
            if (first + i >= steps)
              break;
            const u32x4 low = pieces[i][0], high = pieces[i][1];
            const u32 even[4] = {low.x, high.x, low.y, high.y},
                      odd[4] = {low.z, high.z, low.w, high.w};
#pragma unroll
            for (int j = 0; j < matrices; ++j) {
              const u32x4 right = loadShared(factors + j * 32 * 16);
              Element<T>::multiply(sums[j], even, right.x, right.y);
              Element<T>::multiply(sums[j], odd, right.z, right.w);
            }
            factors += matrices * 32 * 16;
          }
        }
      }
#pragma unroll
      for (int j = 0; j < matrices; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int pixel = group * 16 + i / 2 * 8 + lane / 4,
                    column = j * 8 + lane % 4 * 2 + i % 2;
          if (column < columns)
            products[pixel * pitch + column] = sums[j][i];
        }
    }
    sync();

    for (int i = thread; i < conv.tileH * conv.tileW * conv.outChannels; i += threads) {
      const int filter = i % conv.outChannels, column = i / conv.outChannels % conv.tileW,
                line = i / (conv.outChannels * conv.tileW);
      if (firstRow + line >= conv.outHeight || firstColumn + column >= conv.outWidth)
        continue;
      float value = 0;
#pragma unroll 1
      for (int tapH = 0; tapH < layout.tapsTogether(); ++tapH) {
        const int row = layout.isWhole() ? line * conv.strideH + tapH * conv.dilationH : line;
        const float *const from = products + (row * patchW + column * conv.strideW) * pitch +
                                  tapH * conv.tapsW * conv.outChannels + filter;
#pragma unroll
        for (int tapW = 0; tapW < conv.tapsW; ++tapW)
          value += from[tapW * (conv.dilationW * pitch + conv.outChannels)];
      }
      const long result = (((long)image * conv.outHeight + firstRow + line) * conv.outWidth +
                           firstColumn + column) *
                              conv.outChannels +
                          filter;
      y[result] = (T)finish(value, bias ? (float)bias[filter] : 0, scale ? (float)scale[filter] : 1,
                            residual ? (float)residual[result] : 0, conv.epilogue);
    }
    sync();
  }
}

} // namespace

#define CONVOY_FEW_FILTERS(T, name)                                                                \
  LIBRARY void convoy_conv_few_filters_##name(const T *x, const T *w, const T *bias,               \
                                              const T *scale, const T *residual, T *y,             \
                                              FewFilters conv) {                                   \
    convolveFewFilters<T>(x, w, bias, scale, residual, y, conv);                                   \
  }
CONVOY_FEW_FILTERS(f16, f16)
CONVOY_FEW_FILTERS(bf16, bf16)
