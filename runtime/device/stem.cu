// The first layers of a convolutional network in one kernel: an image in planes, convolution with stride 2 from at most four channels,
// bias, relu, and 3x3 max pooling with stride 2. The result of the convolution, the largest tensor of such a network, is never stored.

#include "device.h"

namespace {

/// x is [images, channels, height, width] of any float, w [K, tapsH, tapsW, weightChannels], y [images, height / 4, width / 4, K]. Taps and
/// padding keep the size at half the image's; the pooling pads with one. A block makes `rows` rows of y, of which it has what `strip` need
/// of the image in shared memory at a time.
struct Stem {
  int images, height, width, channels, weightChannels, tapsH, tapsW, pad, rows, strip;
  float upper; ///< of the relu
};

DEVICE f32x4 loadRow(const float *from) { return *(const f32x4 *)from; }
template <typename T> DEVICE f32x4 loadRow(const T *from) {
  f32x4 row = {};
  add(row, from);
  return row;
}

/// A warp computes 16 neighbouring columns of two rows of the convolution, the two that a row of the pooling adds; the row above is in
/// registers from the turn before. An image row is kept with four channels a pixel, so that the 16 bytes of two pixels, of which a row of a
/// matrix consists, lie together: eight taps of a row are 32 products, the last channel and, for an odd padding, the first tap are zeros.
template <typename T, typename Image, int K> DEVICE void run(const Image *x, const T *w, const T *bias, T *y, const Stem stem) {
  constexpr int kMatrices = K / 8, kLeft = 4, kTapBytes = 64;
  const int columns = stem.width / 2, outHeight = stem.height / 4, outWidth = stem.width / 4, threads = columns * 2;
  const int rowBytes = (stem.width + 8) * 8, patchRows = 4 * stem.strip + stem.tapsH, weightBytes = stem.tapsH * kTapBytes + 16;
  const int lineBytes = (columns + 1) * K * 2, pixelBytes = K * 2;
  const int firstTap = (kLeft - stem.pad) / 2 * 2, shift = (kLeft - stem.pad) % 2;
  const int thread = threadId(), warp = thread / 32, lane = thread % 32;
  char *patch = shared, *filters = patch + patchRows * rowBytes, *lines = filters + K * weightBytes;
  const int blocks = outHeight / stem.rows, image = blockId() / blocks, begin = blockId() % blocks * stem.rows, end = begin + stem.rows;

#pragma unroll 4
  for (int i = thread; i < K * stem.tapsH * 8; i += threads) {
    int filter = i / (8 * stem.tapsH), down = i / 8 % stem.tapsH, tap = i % 8 - shift;
    // Reads that are always inside, and zeros afterwards, need no branch, so that several can be under way.
    bool inside = (u32)tap < (u32)stem.tapsW;
    const T *from = w + ((filter * stem.tapsH + down) * stem.tapsW + (inside ? tap : 0)) * stem.weightChannels;
    alignas(8) T quad[4] = {};
    if (stem.weightChannels == 4)
      *(u32x2 *)quad = *(const u32x2 *)from;
    else
#pragma unroll
      for (int c = 0; c < 4; ++c)
        if (c < stem.channels)
          quad[c] = from[c];
    *(u32x2 *)(filters + filter * weightBytes + down * kTapBytes + i % 8 * 8) = inside ? *(const u32x2 *)quad : u32x2{};
  }
  const Image *planes = x + (long)image * stem.channels * stem.height * stem.width;
  float start[2 * kMatrices] = {};
#pragma unroll
  for (int j = 0; j < kMatrices; ++j)
    if (bias)
      unpack<T>(*(const u32 *)(bias + j * 8 + lane % 4 * 2), start[2 * j], start[2 * j + 1]);
  const u32 a = sharedAddress(patch) + (warp * 16 + lane % 16) * 16 + firstTap * 8 + lane / 16 * 16;
  const u32 b = sharedAddress(filters) + (lane % 8 + lane / 16 * 8) * weightBytes + lane / 8 % 2 * 16;
  u32 above[2 * kMatrices] = {};
  const int groups = rowBytes / 32, quads = patchRows * groups;
  for (int firstRow = begin; firstRow < end; firstRow += stem.strip) {
    const int top = 2 * (2 * firstRow - 1) - stem.pad;
    if (firstRow > begin)
      sync();
    // Four pixels a turn, and two turns at a time.
    for (int first = thread; first < quads; first += 2 * threads) {
      f32x4 channel[2][4] = {};
#pragma unroll
      for (int turn = 0; turn < 2; ++turn) {
        int i = min(first + turn * threads, quads - 1), row = top + i / groups, column = i % groups * 4 - kLeft;
        bool inside = (u32)row < (u32)stem.height && (u32)column < (u32)stem.width;
        const Image *from = inside ? planes + row * stem.width + column : planes;
#pragma unroll
        for (int c = 0; c < 4; ++c)
          if (c < stem.channels) {
            channel[turn][c] = loadRow(from + c * stem.height * stem.width);
            channel[turn][c] = inside ? channel[turn][c] : f32x4{};
          }
      }
#pragma unroll
      for (int turn = 0; turn < 2; ++turn) {
        const int i = first + turn * threads;
        if (i >= quads)
          break;
        const f32x4 *c = channel[turn];
        auto pack = [](float p, float q) { return Element<T>::pack(p, q); };
        u32x4 *to = (u32x4 *)(patch + i / groups * rowBytes + i % groups * 32);
        to[0] = {pack(c[0].x, c[1].x), pack(c[2].x, c[3].x), pack(c[0].y, c[1].y), pack(c[2].y, c[3].y)};
        to[1] = {pack(c[0].z, c[1].z), pack(c[2].z, c[3].z), pack(c[0].w, c[1].w), pack(c[2].w, c[3].w)};
      }
    }
    sync();
    for (int turn = firstRow > begin; turn <= stem.strip && firstRow + turn <= end; ++turn) {
      // A block's first turn makes the row above its own alone.
      const u32 even = a + (turn * 4 - 2) * rowBytes;
      float sums[2][kMatrices][4];
#pragma unroll
      for (int j = 0; j < kMatrices; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sums[0][j][i] = sums[1][j][i] = start[2 * j + i % 2];
#pragma unroll
      for (int down = 0; down < stem.tapsH; ++down)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          u32 evenA[4] = {}, oddA[4], matrices[kMatrices / 2][4];
          if (turn > 0)
            loadMatrices(evenA, even + down * rowBytes + half * 32);
          loadMatrices(oddA, even + (down + 2) * rowBytes + half * 32);
#pragma unroll
          for (int j = 0; j < kMatrices / 2; ++j)
            loadMatrices(matrices[j], b + j * 16 * weightBytes + down * kTapBytes + half * 32);
#pragma unroll
          for (int j = 0; j < kMatrices; ++j) {
            if (turn > 0)
              Element<T>::multiply(sums[0][j], evenA, matrices[j / 2][j % 2 * 2], matrices[j / 2][j % 2 * 2 + 1]);
            Element<T>::multiply(sums[1][j], oddA, matrices[j / 2][j % 2 * 2], matrices[j / 2][j % 2 * 2 + 1]);
          }
        }
      auto clip = [&](float p, float q) { return Element<T>::pack(clamp(p, 0, stem.upper), clamp(q, 0, stem.upper)); };
      // After relu nothing is below zero, so zeros are as good a padding as minus infinity.
      bool isInside = firstRow + turn > 0;
      char *line = lines + turn % 2 * lineBytes;
#pragma unroll
      for (int j = 0; j < kMatrices; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          u32 odd = isInside ? clip(sums[1][j][2 * half], sums[1][j][2 * half + 1]) : 0;
          if (turn > 0) {
            u32 most = Element<T>::max(Element<T>::max(clip(sums[0][j][2 * half], sums[0][j][2 * half + 1]), odd), above[2 * j + half]);
            int column = 1 + warp * 16 + half * 8 + lane / 4;
            *(u32 *)(line + column * pixelBytes + (j ^ column % kMatrices) * 16 + lane % 4 * 4) = most;
          }
          above[2 * j + half] = odd;
        }
      if (turn == 0)
        continue;
      if (thread < kMatrices)
        ((u32x4 *)line)[thread] = {};
      // Two lines in turn: who is still reading one has all of the next in which to finish.
      sync();
      T *to = y + ((long)image * outHeight + firstRow + turn - 1) * outWidth * K;
      for (int i = thread; i < outWidth * kMatrices; i += threads) {
        int column = i / kMatrices * 2, part = i % kMatrices;
        auto at = [&](int c) { return *(const u32x4 *)(line + c * pixelBytes + (part ^ c % kMatrices) * 16); };
        auto max = [&](u32x4 p, u32x4 q) {
          return u32x4{Element<T>::max(p.x, q.x), Element<T>::max(p.y, q.y), Element<T>::max(p.z, q.z), Element<T>::max(p.w, q.w)};
        };
        ((u32x4 *)to)[i] = max(max(at(column), at(column + 1)), at(column + 2));
      }
    }
  }
}

} // namespace

#define CONVOY_STEM(T, Image, name, K)                                                                                                     \
  LIBRARY void convoy_stem_##T##_##name##_##K(const Image *x, const T *w, const T *bias, T *y, int images, int height, int width,          \
                                              int channels, int weightChannels, int tapsH, int tapsW, int pad, int rows, int strip,        \
                                              float upper) {                                                                               \
    run<T, Image, K>(x, w, bias, y, {images, height, width, channels, weightChannels, tapsH, tapsW, pad, rows, strip, upper});             \
  }
CONVOY_STEM(f16, float, f32, 32)
CONVOY_STEM(f16, float, f32, 64)
CONVOY_STEM(f16, f16, f16, 32)
CONVOY_STEM(f16, f16, f16, 64)
CONVOY_STEM(bf16, float, f32, 32)
CONVOY_STEM(bf16, float, f32, 64)
CONVOY_STEM(bf16, bf16, bf16, 32)
CONVOY_STEM(bf16, bf16, bf16, 64)
