// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared code of the stem kernels: the image in shared memory, the filters, and the pooling of a
// row.

#ifndef CONVOY_DEVICE_STEM_H
#define CONVOY_DEVICE_STEM_H

#include "device.h"

/// x is [images, channels, height, width], or with `channelsLast` [images, height, width,
/// channels], of any float type, w [filters, tapsH, tapsW, weightChannels], y [images, outHeight,
/// outWidth, filters]. Convolution and pooling have stride 2; outside of their operands is padding,
/// at the bottom and right as far as windows reach. A block computes `rows` rows of y, with the
/// part of the image for `strip` rows in shared memory at a time.
using Stem = StemArguments;

/// A pixel of four channels; the last ones may be zeros.
template <typename T> struct alignas(4 * sizeof(T)) Pixel {
  T channel[4];
};
/// Bytes of a row of eight taps; the first one is zero for odd padding, the last ones for narrow
/// filters.
template <typename T> constexpr int kTapBytes = 8 * sizeof(Pixel<T>);

/// The work of a block: rows `begin` to `end` of an image's result, for the filters from `filter`
/// on.
struct Place {
  int image, begin, end, filter;
  METHOD Place(const Stem &stem, int filters) {
    const int blocks = stem.blocks(), parts = (stem.filters + filters - 1) / filters,
              block = blockId() / parts;
    image = block / blocks;
    begin = block % blocks * stem.rows;
    end = min(begin + stem.rows, stem.outHeight);
    filter = blockId() % parts * filters;
  }
  /// The first element of row `row` of the result.
  METHOD long at(const Stem &stem, int row) const {
    return ((long)image * stem.outHeight + row) * stem.outWidth * stem.filters + filter;
  }
};

/// Tap `tap` of row `down` of a filter; zero outside of it.
template <typename T>
DEVICE Pixel<T> loadTap(const T *w, const Stem &stem, int filter, int down, int tap) {
  // Clamped loads followed by a select need no branch, so that several can be in flight.
  bool inside = (u32)tap < (u32)stem.tapsW;
  const T *from =
      w + ((filter * stem.tapsH + down) * stem.tapsW + (inside ? tap : 0)) * stem.weightChannels;
  Pixel<T> pixel = {};
  if (stem.weightChannels == 4)
    pixel = *(const Pixel<T> *)from;
  else
#pragma unroll
    for (int c = 0; c < 4; ++c)
      if (c < stem.channels)
        pixel.channel[c] = from[c];
  if constexpr (sizeof(T) == 4)
    storeFour(pixel.channel, toFactors<T>(loadFloats(pixel.channel)));
  return inside ? pixel : Pixel<T>{};
}

/// Loads four pixels of `kChannels` adjacent channels.
template <int kChannels, typename Image>
DEVICE void loadPixels(Floats (&channel)[4], const Image *from) {
  Floats flat[kChannels];
#pragma unroll
  for (int i = 0; i < kChannels; ++i)
    flat[i] = loadFloats(from + 4 * i);
  auto at = [&](int i) { return flat[i / 4][i % 4]; };
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    channel[c] = {at(c), at(kChannels + c), at(2 * kChannels + c), at(3 * kChannels + c)};
}

/// Rows of an image in shared memory. 16 bytes of a window's row are two adjacent pixels with 2
/// bytes per channel, or one pixel with 4 bytes per channel. In the second case even and odd
/// columns are stored separately, so that the pixels of neighboring windows are adjacent.
template <typename T> struct Patch {
  /// Offsets between rows, between the two halves of 32 bytes of a window's row, and between
  /// consecutive 32 bytes.
  int rowBytes, next, step;
  int quads; ///< number of groups of four neighboring pixels of a row

  METHOD explicit Patch(const Stem &stem)
      : rowBytes(stem.pixels() * sizeof(Pixel<T>)), next(sizeof(T) == 2 ? 16 : rowBytes / 2),
        step(sizeof(T) == 2 ? 32 : 16), quads(stem.pixels() / 4) {}

  /// Loads the channels of the four pixels `quad` of a row; zeros outside of the image. Needs an
  /// image whose width is a multiple of four.
  template <typename Image>
  METHOD void load(Floats (&channel)[4], const Image *x, const Stem &stem, int image, int row,
                   int quad) const {
    const int column = quad * 4 - kStemLeft;
    const bool inside = (u32)row < (u32)stem.height && (u32)column < (u32)stem.width;
    const int plane = stem.height * stem.width, pixel = inside ? row * stem.width + column : 0;
    const Image *from = x + (long)image * stem.channels * plane;
#pragma unroll
    for (int c = 0; c < 4; ++c)
      channel[c] = {};
    if (!stem.channelsLast) {
#pragma unroll
      for (int c = 0; c < 4; ++c)
        if (c < stem.channels)
          channel[c] = loadFloats(from + pixel + c * plane);
    } else if (stem.channels == 3) {
      loadPixels<3>(channel, from + pixel * 3);
    } else if (stem.channels == 4) {
      loadPixels<4>(channel, from + pixel * 4);
    } else if (stem.channels == 1) {
      loadPixels<1>(channel, from + pixel);
    } else {
      loadPixels<2>(channel, from + pixel * 2);
    }
#pragma unroll
    for (int c = 0; c < 4; ++c)
      channel[c] = inside ? toFactors<T>(channel[c]) : Floats{};
  }

  /// The same for an image of any width.
  template <typename Image>
  METHOD void loadAny(Floats (&channel)[4], const Image *x, const Stem &stem, int image, int row,
                      int quad) const {
    const int plane = stem.height * stem.width, between = stem.channelsLast ? 1 : plane;
    const Image *from = x + (long)image * stem.channels * plane;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = quad * 4 - kStemLeft + i;
      const bool inside = (u32)row < (u32)stem.height && (u32)column < (u32)stem.width;
      const int pixel =
          inside ? (row * stem.width + column) * (stem.channelsLast ? stem.channels : 1) : 0;
#pragma unroll
      for (int c = 0; c < 4; ++c)
        channel[c][i] = inside && c < stem.channels ? (float)from[pixel + c * between] : 0;
    }
#pragma unroll
    for (int c = 0; c < 4; ++c)
      channel[c] = toFactors<T>(channel[c]);
  }

  /// Stores four pixels in the row at `to`.
  METHOD void store(char *to, int quad, const Floats (&c)[4]) const {
    Pixel<T> pixel[4];
    storeFour(pixel[0].channel, Floats{c[0].x, c[1].x, c[2].x, c[3].x});
    storeFour(pixel[1].channel, Floats{c[0].y, c[1].y, c[2].y, c[3].y});
    storeFour(pixel[2].channel, Floats{c[0].z, c[1].z, c[2].z, c[3].z});
    storeFour(pixel[3].channel, Floats{c[0].w, c[1].w, c[2].w, c[3].w});
    u32x4 *first = (u32x4 *)(to + quad * 32), *second = (u32x4 *)(to + quad * 32 + next);
    first[0] = *(const u32x4 *)&pixel[0];
    if (sizeof(T) == 2) {
      second[0] = *(const u32x4 *)&pixel[2];
    } else {
      first[1] = *(const u32x4 *)&pixel[2];
      second[0] = *(const u32x4 *)&pixel[1];
      second[1] = *(const u32x4 *)&pixel[3];
    }
  }
};

/// Applies relu to two elements.
template <typename T> DEVICE typename Element<T>::Pair relu(float p, float q, float upper) {
  return Element<T>::pack(clamp(p, 0, upper), clamp(q, 0, upper));
}

/// A row of `K` channels of the convolution, already pooled over rows, in shared memory.
template <typename T, int K> struct Line {
  static constexpr int kPixelBytes = K * sizeof(T), kMatrices = K / 8, kMatrixBytes = 8 * sizeof(T),
                       kParts = kPixelBytes / 16;
  char *line;

  /// Alternates between two lines, so that threads may still read the previous one.
  METHOD Line(char *lines, const Stem &stem, int turn)
      : line(lines + turn % 2 * stem.lineColumns() * kPixelBytes) {}

  /// Chunks are swizzled within a pixel, so that neighbors are in different banks. The first column
  /// and the last two are padding.
  METHOD char *chunk(int column, int matrix) const {
    return line + column * kPixelBytes + (matrix ^ column % kMatrices) * kMatrixBytes;
  }
  /// Two channels of a column of the convolution.
  METHOD typename Element<T>::Pair *pair(int column, int matrix, int number) const {
    return (typename Element<T>::Pair *)chunk(column + 1, matrix) + number;
  }

  /// Waits until all threads have written the line, and writes `filters` channels of the row of the
  /// result at `to`.
  METHOD void pool(T *to, const Stem &stem, int filters, int threads) const {
    constexpr int kPartChannels = 16 / sizeof(T);
    const int thread = threadId(), first = 1 - stem.poolPad;
    if (thread < 3 * kParts)
      *(u32x4 *)(line + (thread / kParts + (thread < kParts ? 0 : stem.columns())) * kPixelBytes +
                 thread % kParts * 16) = {};
    sync();
    for (int i = thread; i < stem.outWidth * kParts; i += threads) {
      int column = i / kParts * 2 + first, part = i % kParts;
      if (part * kPartChannels >= filters)
        continue;
      auto at = [&](int c) {
        return ((const u32x4 *)chunk(c, part * kMatrices / kParts))[part % (kParts / kMatrices)];
      };
      u32x4 most = max<T>(max<T>(at(column), at(column + 1)), at(column + 2));
      *(u32x4 *)(to + i / kParts * stem.filters + part * kPartChannels) = most;
    }
  }
};

#endif // CONVOY_DEVICE_STEM_H
