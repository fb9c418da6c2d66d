// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The first layers of a convolutional network in one kernel: convolution with stride 2 of an image
// of at most four channels, bias, relu, and 3x3 max pooling with stride 2. The result of the
// convolution, the largest tensor of such a network, is never stored.

#include "stem.h"

namespace {

/// A warp computes 16 neighboring columns of the two rows of the convolution that a row of the
/// pooling adds; the row above is in registers from the previous iteration.
template <typename T, typename Image, int K>
DEVICE void run(const Image *x, const T *w, const T *bias, T *y, const Stem stem) {
  using Pair = typename Element<T>::Pair;
  constexpr int kMatrices = K / 8;
  const Patch<T> patch(stem);
  const int threads = stem.columns() * 2, weightBytes = stem.tapsH * kTapBytes<T> + 16;
  const int firstTap = stem.firstTap(), shift = (kStemLeft - stem.pad) % 2;
  // Steps of 32 bytes of a row of taps; the last ones may have no tap.
  const int steps = ((shift + stem.tapsW) * (int)sizeof(Pixel<T>) + 31) / 32;
  const int thread = threadId(), warp = thread / 32, lane = thread % 32;
  const int rows = 4 * stem.strip + stem.tapsH;
  char *filters = shared + rows * patch.rowBytes, *lines = filters + K * weightBytes;
  const Place place(stem, K);
  // Filters beyond the last one are computed like the last one, and not stored.
  const int filtersLeft = stem.filters - place.filter;

#pragma unroll 4
  for (int i = thread; i < K * stem.tapsH * 8; i += threads) {
    int filter = i / (8 * stem.tapsH), down = i / 8 % stem.tapsH;
    *(Pixel<T> *)(filters + filter * weightBytes + down * kTapBytes<T> + i % 8 * sizeof(Pixel<T>)) =
        loadTap(w, stem, place.filter + min(filter, filtersLeft - 1), down, i % 8 - shift);
  }
  float start[2 * kMatrices] = {};
#pragma unroll
  for (int j = 0; j < kMatrices; ++j)
    if (bias)
      Element<T>::unpack(
          *(const Pair *)(bias + place.filter + min(j * 8 + lane % 4 * 2, filtersLeft - 2)),
          start[2 * j], start[2 * j + 1]);
  const u32 a =
      sharedAddress(shared) + (warp * 16 + lane % 16 + firstTap) * 16 + lane / 16 * patch.next;
  const u32 b =
      sharedAddress(filters) + (lane % 8 + lane / 16 * 8) * weightBytes + lane / 8 % 2 * 16;
  // Pixels beside a window are in its first or last step. Their weights are zero, but they may be
  // infinite.
  auto removeOutside = [&](u32(&pixels)[4], int step) __attribute__((always_inline)) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int tap = sizeof(T) == 2 ? step * 4 + i / 2 * 2 + lane % 4 / 2 : step * 2 + i / 2;
      if ((u32)(tap - shift) >= (u32)stem.tapsW)
        pixels[i] = 0;
    }
  };
  Pair above[2 * kMatrices] = {};
  for (int firstRow = place.begin; firstRow < place.end; firstRow += stem.strip) {
    if (firstRow > place.begin)
      sync();
    const int top = 2 * (2 * firstRow - stem.poolPad) - stem.pad, quads = rows * patch.quads;
    if (stem.width % 4 == 0) {
      // Two iterations at a time.
      for (int first = thread; first < quads; first += 2 * threads) {
        Floats channels[2][4];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          int quad = min(first + i * threads, quads - 1);
          patch.load(channels[i], x, stem, place.image, top + quad / patch.quads,
                     quad % patch.quads);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i)
          if (int quad = first + i * threads; quad < quads)
            patch.store(shared + quad / patch.quads * patch.rowBytes, quad % patch.quads,
                        channels[i]);
      }
    } else {
      for (int quad = thread; quad < quads; quad += threads) {
        Floats channels[4];
        patch.loadAny(channels, x, stem, place.image, top + quad / patch.quads, quad % patch.quads);
        patch.store(shared + quad / patch.quads * patch.rowBytes, quad % patch.quads, channels);
      }
    }
    sync();
    for (int turn = firstRow > place.begin; turn <= stem.strip && firstRow + turn <= place.end;
         ++turn) {
      // The first iteration of a block only computes the row above the block.
      const u32 even = a + (turn * 4 - 2) * patch.rowBytes;
      float sums[2][kMatrices][4];
#pragma unroll
      for (int j = 0; j < kMatrices; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sums[0][j][i] = sums[1][j][i] = start[2 * j + i % 2];
#pragma unroll
      for (int down = 0; down < stem.tapsH; ++down)
#pragma unroll
        for (int step = 0; step < steps; ++step) {
          u32 evenA[4] = {}, oddA[4], matrices[kMatrices / 2][4];
          if (turn > 0)
            loadMatrices(evenA, even + down * patch.rowBytes + step * patch.step);
          loadMatrices(oddA, even + (down + 2) * patch.rowBytes + step * patch.step);
          removeOutside(evenA, step);
          removeOutside(oddA, step);
#pragma unroll
          for (int j = 0; j < kMatrices / 2; ++j)
            loadMatrices(matrices[j], b + j * 16 * weightBytes + down * kTapBytes<T> + step * 32);
#pragma unroll
          for (int j = 0; j < kMatrices; ++j) {
            if (turn > 0)
              Element<T>::multiply(sums[0][j], evenA, matrices[j / 2][j % 2 * 2],
                                   matrices[j / 2][j % 2 * 2 + 1]);
            Element<T>::multiply(sums[1][j], oddA, matrices[j / 2][j % 2 * 2],
                                 matrices[j / 2][j % 2 * 2 + 1]);
          }
        }
      Line<T, K> line(lines, stem, turn);
      const int oddRow = 2 * (firstRow + turn) - stem.poolPad;
#pragma unroll
      for (int j = 0; j < kMatrices; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          // After relu no value is negative, so padding with zeros equals minus infinity.
          const int column = warp * 16 + half * 8 + lane / 4;
          auto at = [&](int isOdd) __attribute__((always_inline)) {
            const float *sum = sums[isOdd][j] + 2 * half;
            return (u32)(oddRow - 1 + isOdd) < (u32)stem.convHeight && column < stem.convWidth
                       ? relu<T>(sum[0], sum[1], stem.upper)
                       : Pair{};
          };
          const Pair odd = at(1);
          if (turn > 0)
            *line.pair(column, j, lane % 4) = max<T>(max<T>(at(0), odd), above[2 * j + half]);
          above[2 * j + half] = odd;
        }
      if (turn > 0)
        line.pool(y + place.at(stem, firstRow + turn - 1), stem, filtersLeft, threads);
    }
  }
}

} // namespace

#define CONVOY_STEM(T, name, Image, imageName, K)                                                  \
  LIBRARY void convoy_stem_##name##_##imageName##_##K(const Image *x, const T *w, const T *bias,   \
                                                      T *y, Stem stem) {                           \
    run<T, Image, K>(x, w, bias, y, stem);                                                         \
  }
CONVOY_STEM(f16, f16, float, f32, 32)
CONVOY_STEM(f16, f16, float, f32, 64)
CONVOY_STEM(f16, f16, f16, f16, 32)
CONVOY_STEM(f16, f16, f16, f16, 64)
CONVOY_STEM(bf16, bf16, float, f32, 32)
CONVOY_STEM(bf16, bf16, float, f32, 64)
CONVOY_STEM(bf16, bf16, bf16, bf16, 32)
CONVOY_STEM(bf16, bf16, bf16, bf16, 64)
CONVOY_STEM(float, f32, float, f32, 32)
