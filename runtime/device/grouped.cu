// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 2D convolution with groups and an epilogue, in channels-last memory. With few channels per group
// it is bound by memory: the part of the image that a block needs is read once into shared memory,
// where the tensor cores find the windows, and so are the filters.

#include "epilogue.h"

namespace {

using Grouped = GroupedArguments;

/// Whether one of the numbers of 16 bytes is infinite or NaN.
template <typename T> DEVICE bool isSpecial(u32x4 four) {
  constexpr u32 kExponent = Element<T>::kExponent;
  const u32 words[] = {four.x, four.y, four.z, four.w};
  bool special = false;
#pragma unroll
  for (u32 word : words) {
    special |= (word & kExponent) == kExponent;
    if (sizeof(T) == 2)
      special |= (word >> 16 & kExponent) == kExponent;
  }
  return special;
}

/// A block computes a rectangle of pixels of the result for some bundles of groups. A warp computes
/// `matrices` times 16 pixels and `wide` times 8 filters of a bundle at a time, over steps of two
/// chunks of 16 bytes of the channels of a window.
template <typename T>
DEVICE void convolveGroups(const T *x, const T *w, const T *bias, const T *scale, const T *residual,
                           T *y, const Grouped conv) {
  using Pair = Element<T>::Pair;
  constexpr int kChunk = 16 / sizeof(T);
  const int threads = conv.warps * 32, thread = threadId(), warp = thread / 32, lane = thread % 32;
  const int taps = conv.tapsH * conv.tapsW, chunks = conv.together * conv.groupChannels / kChunk,
            filters = conv.together * conv.groupFilters, steps = (taps * chunks + 1) / 2;
  const int perPixel = conv.bundles * chunks, slices = conv.channels / (perPixel * kChunk),
            across = (conv.outWidth + conv.columns - 1) / conv.columns,
            down = (conv.outHeight + conv.rows - 1) / conv.rows;
  const int slice = blockId() % slices, firstColumn = blockId() / slices % across * conv.columns,
            firstRow = blockId() / (slices * across) % down * conv.rows,
            image = blockId() / (slices * across * down);
  const int firstFilter = slice * conv.bundles * filters;

  // Rows of filters and pixels are an odd number of 16 bytes apart, so that the eight rows of a
  // matrix are in different banks.
  const int filterPitch = (2 * steps + 1) * 16, pixelPitch = (perPixel | 1) * 16,
            resultPitch = conv.wide * 8 * sizeof(T) + 16;
  const int patchRows = (conv.rows - 1) * conv.strideH + (conv.tapsH - 1) * conv.dilationH + 1,
            patchColumns =
                (conv.columns - 1) * conv.strideW + (conv.tapsW - 1) * conv.dilationW + 1;
  const u32 zeros = sharedAddress(shared), filterBase = zeros + kGroupedHeaderBytes,
            patchBase = filterBase + conv.bundles * filters * filterPitch,
            own = patchBase + patchRows * patchColumns * pixelPitch + warp * 16 * resultPitch;

  const int top = firstRow * conv.strideH - conv.padH,
            left = firstColumn * conv.strideW - conv.padW;
  const T *const source =
      x + (long)image * conv.height * conv.width * conv.channels + slice * perPixel * kChunk;
  for (int i = thread; i < patchRows * patchColumns * perPixel; i += threads) {
    const int pixel = i / perPixel, chunk = i % perPixel, row = top + pixel / patchColumns,
              column = left + pixel % patchColumns;
    const bool inside = (u32)row < (u32)conv.height && (u32)column < (u32)conv.width;
    copyAsync(patchBase + pixel * pixelPitch + chunk * 16,
              inside ? source + ((long)row * conv.width + column) * conv.channels + chunk * kChunk
                     : x,
              inside);
  }
  // A filter of a group is contiguous. In a bundle of several groups it has zeros for the channels
  // of the others.
  if (conv.together == 1) {
    for (int i = thread; i < conv.bundles * filters * 2 * steps; i += threads) {
      const int filter = i / (2 * steps), chunk = i % (2 * steps);
      const bool inside = chunk < taps * chunks;
      copyAsync(filterBase + filter * filterPitch + chunk * 16,
                inside ? w + ((long)(firstFilter + filter) * taps * chunks + chunk) * kChunk : w,
                inside);
    }
  } else {
    for (int i = thread; i < conv.bundles * filters * 2 * steps * kChunk; i += threads) {
      const int filter = i / (2 * steps * kChunk), number = i % (2 * steps * kChunk);
      const int tap = number / (chunks * kChunk), channel = number % (chunks * kChunk);
      const bool inside =
          tap < taps && channel / conv.groupChannels == filter % filters / conv.groupFilters;
      T value = 0;
      if (inside)
        value = w[((long)(firstFilter + filter) * taps + tap) * conv.groupChannels +
                  channel % conv.groupChannels];
      ((T *)sharedPointer(filterBase + filter * filterPitch))[number] = value;
    }
  }
  commitCopies();
  u32 *const isAnySpecial = (u32 *)shared + 4;
  if (thread < kGroupedHeaderBytes / 4)
    ((u32 *)shared)[thread] = 0;
  waitCopies<0>();
  sync();

  const auto placeOf = [&](int pixel, int filter) __attribute__((always_inline)) {
    const int row = firstRow + pixel / conv.columns, column = firstColumn + pixel % conv.columns;
    return (((long)image * conv.outHeight + row) * conv.outWidth + column) * conv.outChannels +
           firstFilter + filter;
  };
  const auto isInside = [&](int pixel) __attribute__((always_inline)) {
    return pixel < conv.rows * conv.columns && firstRow + pixel / conv.columns < conv.outHeight &&
           firstColumn + pixel % conv.columns < conv.outWidth;
  };

  // Zero times infinity is NaN: a special number of one group must not reach the others of its
  // bundle.
  if (conv.together > 1) {
    bool special = false;
    for (int i = thread; i < patchRows * patchColumns * perPixel; i += threads)
      special |=
          isSpecial<T>(loadShared(patchBase + i / perPixel * pixelPitch + i % perPixel * 16));
    if (special)
      atomicOr(sharedAddress(isAnySpecial), 1);
    sync();
    if (*isAnySpecial) {
      for (int i = thread; i < conv.rows * conv.columns * conv.bundles * filters; i += threads) {
        const int pixel = i / (conv.bundles * filters), filter = i % (conv.bundles * filters);
        if (!isInside(pixel))
          continue;
        const int channel =
            (filter / filters * conv.together + filter % filters / conv.groupFilters) *
            conv.groupChannels;
        float sum = 0;
        for (int tap = 0; tap < taps; ++tap) {
          const int row = pixel / conv.columns * conv.strideH + tap / conv.tapsW * conv.dilationH,
                    column =
                        pixel % conv.columns * conv.strideW + tap % conv.tapsW * conv.dilationW;
          const T *const numbers =
              (const T *)sharedPointer(patchBase + (row * patchColumns + column) * pixelPitch) +
              channel;
          const T *const factors =
              w + ((long)(firstFilter + filter) * taps + tap) * conv.groupChannels;
          for (int i = 0; i < conv.groupChannels; ++i)
            sum += (float)numbers[i] * (float)factors[i];
        }
        const long place = placeOf(pixel, filter);
        const int result = firstFilter + filter;
        y[place] = (T)finish(sum, bias ? (float)bias[result] : 0, scale ? (float)scale[result] : 1,
                             residual ? (float)residual[place] : 0, conv.epilogue);
      }
      return;
    }
  }

  // The address of a chunk, from the first one of the window on. After unrolling it is constant,
  // apart from the choice between the two chunks of a step.
  const auto offsetOf = [&](int chunk) __attribute__((always_inline)) {
    const int tap = chunk / chunks;
    return (tap / conv.tapsW * conv.dilationH * patchColumns + tap % conv.tapsW * conv.dilationW) *
               pixelPitch +
           chunk % chunks * 16;
  };
  const int parts = filters / 8 / conv.wide, pixelsTogether = conv.matrices * 16,
            items = conv.bundles * parts *
                    ((conv.rows * conv.columns + pixelsTogether - 1) / pixelsTogether);
#pragma unroll 1
  for (int item = warp; item < items; item += conv.warps) {
    const int part = item % parts, bundle = item / parts % conv.bundles,
              firstPixel = item / (parts * conv.bundles) * pixelsTogether,
              filter = bundle * filters + part * conv.wide * 8;
    u32 windows[kGroupedMostMatrices];
#pragma unroll
    for (int i = 0; i < conv.matrices; ++i) {
      int pixel = firstPixel + i * 16 + lane % 16;
      pixel = pixel < conv.rows * conv.columns ? pixel : 0;
      windows[i] = patchBase +
                   (pixel / conv.columns * conv.strideH * patchColumns +
                    pixel % conv.columns * conv.strideW) *
                       pixelPitch +
                   bundle * chunks * 16;
    }
    const u32 factors = filterBase + (filter + lane % 8) * filterPitch + lane / 8 % 2 * 16;
    float sums[kGroupedMostMatrices][kGroupedMostWide][4] = {};
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const bool isSecond = lane / 16, isBeyond = 2 * step + 1 == taps * chunks;
      const int offset = isSecond && !isBeyond ? offsetOf(2 * step + 1) : offsetOf(2 * step);
      u32 right[kGroupedMostWide / 2][4];
#pragma unroll
      for (int j = 0; j < (conv.wide + 1) / 2; ++j) {
        // There is no second matrix after the last one of an odd number.
        const int row = j * 16 + (2 * j + 1 < conv.wide ? lane / 16 * 8 : 0);
        loadMatrices(right[j], factors + row * filterPitch + step * 32);
        round<T>(right[j]);
      }
#pragma unroll
      for (int i = 0; i < conv.matrices; ++i) {
        u32 four[4];
        loadMatrices(four, isSecond && isBeyond ? zeros : windows[i] + offset);
        round<T>(four);
#pragma unroll
        for (int j = 0; j < conv.wide; ++j)
          Element<T>::multiply(sums[i][j], four, right[j / 2][j % 2 * 2],
                               right[j / 2][j % 2 * 2 + 1]);
      }
    }

    // Store via shared memory, so that a thread writes 16 bytes.
#pragma unroll
    for (int i = 0; i < conv.matrices; ++i) {
#pragma unroll
      for (int j = 0; j < conv.wide; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = lane / 4 + half * 8, column = j * 8 + lane % 4 * 2,
                    channel = firstFilter + filter + column, pixel = firstPixel + i * 16 + row;
          float biases[2] = {}, scales[2] = {1, 1}, residuals[2] = {}, results[2];
          if (bias)
            Element<T>::unpack(*(const Pair *)(bias + channel), biases[0], biases[1]);
          if (scale)
            Element<T>::unpack(*(const Pair *)(scale + channel), scales[0], scales[1]);
          if (residual && isInside(pixel))
            Element<T>::unpack(*(const Pair *)(residual + placeOf(pixel, filter + column)),
                               residuals[0], residuals[1]);
#pragma unroll
          for (int k = 0; k < 2; ++k)
            results[k] =
                finish(sums[i][j][half * 2 + k], biases[k], scales[k], residuals[k], conv.epilogue);
          *(Pair *)sharedPointer(own + row * resultPitch + column * sizeof(T)) =
              Element<T>::pack(results[0], results[1]);
        }
      syncWarp();
      const int perRow = conv.wide * 8 / kChunk;
#pragma unroll
      for (int number = lane; number < 16 * perRow; number += 32) {
        const int row = number / perRow, chunk = number % perRow, pixel = firstPixel + i * 16 + row;
        if (isInside(pixel))
          *(u32x4 *)(y + placeOf(pixel, filter + chunk * kChunk)) =
              loadShared(own + row * resultPitch + chunk * 16);
      }
      syncWarp();
    }
  }
}

} // namespace

#define CONVOY_GROUPED(T, name)                                                                    \
  LIBRARY void convoy_grouped_##name(const T *x, const T *w, const T *bias, const T *scale,        \
                                     const T *residual, T *y, Grouped conv) {                      \
    convolveGroups<T>(x, w, bias, scale, residual, y, conv);                                       \
  }
CONVOY_GROUPED(f16, f16)
CONVOY_GROUPED(bf16, bf16)
CONVOY_GROUPED(float, f32)
