// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 2D depthwise convolution with an epilogue, in channels-last memory. It is
// bound by memory, so that it needs no tensor cores: a thread computes 16 bytes of channels of some
// neighboring pixels of a row, and reads each element of a row of their windows once.

#include "epilogue.h"

namespace {

using Depthwise = DepthwiseArguments;

/// A thread computes `pixels` pixels. The threads of a block are `lanes` pieces of 16 bytes of
/// channels, times `strips` strips of pixels of a row, times `rows` rows, which share rows of the
/// input in the L1 cache.
template <typename T, int pixels>
DEVICE void depthwise(const T *x, const T *w, const T *bias, const T *scale, const T *residual,
                      T *y, const Depthwise conv) {
  constexpr int kWidth = 16 / sizeof(T);
  using Piece = Elements<T, kWidth>;
  using Sums = Elements<float, kWidth>;
  const int channels = conv.lanes * kWidth, taps = conv.tapsH * conv.tapsW,
            threads = conv.lanes * conv.strips * conv.rows;
  const int slices = conv.channels / channels,
            across = (conv.outWidth + pixels * conv.strips - 1) / (pixels * conv.strips),
            bands = (conv.outHeight + conv.rows - 1) / conv.rows;
  const int slice = blockId() % slices, tile = blockId() / slices % across,
            band = blockId() / (slices * across) % bands,
            image = blockId() / (slices * across * bands);

  // The filter has one row for each channel. In shared memory a tap of neighboring channels is
  // contiguous.
  float *filters = (float *)shared;
  for (int i = threadId(); i < channels * taps; i += threads)
    filters[i % taps * channels + i / taps] = (float)w[slice * channels * taps + i];
  sync();

  const int lane = threadId() % conv.lanes, strip = threadId() / conv.lanes % conv.strips,
            row = band * conv.rows + threadId() / (conv.lanes * conv.strips),
            column = (tile * conv.strips + strip) * pixels;
  if (row >= conv.outHeight || column >= conv.outWidth)
    return;
  const int channel = slice * channels + lane * kWidth, top = row * conv.strideH - conv.padH,
            left = column * conv.strideW - conv.padW;
  const T *source = x + (long)image * conv.height * conv.width * conv.channels + channel;

  Sums sums[pixels] = {};
  for (int i = 0; i < conv.tapsH; ++i) {
    const int down = top + i * conv.dilationH;
    if ((u32)down >= (u32)conv.height)
      continue;
    Sums filter[kDepthwiseMostTaps];
#pragma unroll
    for (int j = 0; j < conv.tapsW; ++j)
      filter[j] = *(const Sums *)(filters + (i * conv.tapsW + j) * channels + lane * kWidth);
    const int reach = (pixels - 1) * conv.strideW + (conv.tapsW - 1) * conv.dilationW;
#pragma unroll
    for (int k = 0; k <= reach; ++k) {
      // After unrolling it is known which pixels use the column, and with which tap.
      auto tapOf = [&](int pixel) {
        int distance = k - pixel * conv.strideW;
        bool isTap = distance >= 0 && distance % conv.dilationW == 0 &&
                     distance / conv.dilationW < conv.tapsW;
        return isTap ? distance / conv.dilationW : -1;
      };
      bool isUsed = false;
#pragma unroll
      for (int pixel = 0; pixel < pixels; ++pixel)
        isUsed |= tapOf(pixel) >= 0;
      if (!isUsed)
        continue;
      Piece piece = {};
      if ((u32)(left + k) < (u32)conv.width)
        piece = *(const Piece *)(source + ((long)down * conv.width + left + k) * conv.channels);
      Sums value = __builtin_convertvector(piece, Sums);
#pragma unroll
      for (int pixel = 0; pixel < pixels; ++pixel)
        if (tapOf(pixel) >= 0)
          sums[pixel] += value * filter[tapOf(pixel)];
    }
  }

#pragma unroll
  for (int pixel = 0; pixel < pixels; ++pixel) {
    if (column + pixel >= conv.outWidth)
      break;
    const long at =
        (((long)image * conv.outHeight + row) * conv.outWidth + column + pixel) * conv.channels +
        channel;
    Sums sum = sums[pixel], biases = {}, scales = {}, residuals = {};
    if (bias)
      biases = __builtin_convertvector(*(const Piece *)(bias + channel), Sums);
    if (scale)
      scales = __builtin_convertvector(*(const Piece *)(scale + channel), Sums);
    if (residual)
      residuals = __builtin_convertvector(*(const Piece *)(residual + at), Sums);
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      sum[i] = finish(sum[i], biases[i], scale ? scales[i] : 1, residuals[i], conv.epilogue);
    *(Piece *)(y + at) = __builtin_convertvector(sum, Piece);
  }
}

} // namespace

#define CONVOY_DEPTHWISE(T, name, pixels)                                                          \
  LIBRARY void convoy_depthwise_##name##_##pixels(const T *x, const T *w, const T *bias,           \
                                                  const T *scale, const T *residual, T *y,         \
                                                  Depthwise conv) {                                \
    depthwise<T, pixels>(x, w, bias, scale, residual, y, conv);                                    \
  }
#define CONVOY_DEPTHWISE_F16(pixels) CONVOY_DEPTHWISE(f16, f16, pixels)
#define CONVOY_DEPTHWISE_BF16(pixels) CONVOY_DEPTHWISE(bf16, bf16, pixels)
#define CONVOY_DEPTHWISE_F32(pixels) CONVOY_DEPTHWISE(float, f32, pixels)
CONVOY_DEPTHWISE_PIXELS(CONVOY_DEPTHWISE_F16)
CONVOY_DEPTHWISE_PIXELS(CONVOY_DEPTHWISE_BF16)
CONVOY_DEPTHWISE_PIXELS(CONVOY_DEPTHWISE_F32)
