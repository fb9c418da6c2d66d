// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Depthwise convolution over up to three spatial dims with an epilogue, in channels-last memory. It
// has too few products for tensor cores: a thread computes some channels of neighboring pixels of a
// row, and reads each element of a row of their windows once. Long rows are read by parts.

#include "epilogue.h"

namespace {

using Depthwise = DepthwiseArguments;

/// Starts to copy `count` elements to shared memory, by pieces of 16 bytes if they are `whole`.
template <typename T>
DEVICE void startCopy(T *to, const T *from, int count, int threads, bool whole) {
  const int piece = whole ? 16 / (int)sizeof(T) : 1;
  for (int i = threadId() * piece; i < count; i += threads * piece)
    if (whole)
      copyAsync(sharedAddress(to + i), from + i, true);
    else
      to[i] = from[i];
  commitCopies();
}

/// A part of a row of the window: its plane, its row, and `part` times `partTaps` taps from the
/// left.
struct Part {
  int plane, row, part;
};

/// A thread computes `kChannels` channels of `pixels` pixels. The threads of a block are `lanes`
/// pieces of channels, times `strips` strips of pixels of a row, times `rows` rows, which share
/// rows of the input in the L1 cache.
template <typename T, int kChannels, int pixels>
DEVICE void depthwise(const T *x, const T *w, const T *bias, const T *scale, const T *residual,
                      T *y, const Depthwise conv) {
  using Piece = Elements<T, kChannels>;
  using Sums = Elements<float, kChannels>;
  const int channels = conv.lanes * kChannels, taps = conv.tapsD * conv.tapsH * conv.tapsW,
            threads = conv.lanes * conv.strips * conv.rows;
  const int slices = (conv.channels + channels - 1) / channels,
            across = (conv.outWidth + pixels * conv.strips - 1) / (pixels * conv.strips),
            bands = (conv.outHeight + conv.rows - 1) / conv.rows;
  const int slice = blockId() % slices, tile = blockId() / slices % across,
            band = blockId() / (slices * across) % bands,
            plane = blockId() / (slices * across * bands), image = plane / conv.outDepth;
  const int parts = (conv.tapsW + conv.partTaps - 1) / conv.partTaps,
            lastTaps = conv.tapsW - (parts - 1) * conv.partTaps;

  // The filters of a slice are contiguous. They arrive while the first part of the window does. The
  // last slice may have fewer channels.
  float *filters = (float *)shared;
  T *rawFilters = (T *)(filters + channels * taps);
  const int first = slice * channels;
  startCopy(rawFilters, w + first * taps, min(channels, conv.channels - first) * taps, threads,
            channels * taps * sizeof(T) % 16 == 0 && conv.channels % channels == 0);

  const int lane = threadId() % conv.lanes, strip = threadId() / conv.lanes % conv.strips,
            row = band * conv.rows + threadId() / (conv.lanes * conv.strips),
            column = (tile * conv.strips + strip) * pixels;
  const int channel = first + lane * kChannels,
            front = plane % conv.outDepth * conv.strideD - conv.padD,
            top = row * conv.strideH - conv.padH, left = column * conv.strideW - conv.padW;
  const bool hasChannel = channel < conv.channels,
             isInside = hasChannel && row < conv.outHeight && column < conv.outWidth;

  // Planes and rows of the window from `begin` to `end` are in the image.
  auto beginOf = [](int start, int dilation) { return max(0, (dilation - 1 - start) / dilation); };
  auto endOf = [](int start, int dilation, int size, int taps) {
    return min(taps, (size - start + dilation - 1) / dilation);
  };
  const int beginPlane = beginOf(front, conv.dilationD),
            endPlane = endOf(front, conv.dilationD, conv.depth, conv.tapsD),
            begin = beginOf(top, conv.dilationH),
            end = endOf(top, conv.dilationH, conv.height, conv.tapsH);
  const int count = isInside ? max(0, endPlane - beginPlane) * max(0, end - begin) * parts : 0;
  const T *source = x + channel +
                    ((((long)image * conv.depth + front) * conv.height + top) * conv.width + left) *
                        conv.channels;
  auto next = [&](Part part) {
    if (parts > 1 && ++part.part < parts)
      return part;
    part.part = 0;
    ++part.row;
    if (conv.tapsD > 1 && part.row == end) {
      part.row = begin;
      ++part.plane;
    }
    return part;
  };

  // After unrolling it is known which pixels use a column of a part of the window, and with which
  // tap. If there is one strip and one part, the columns outside of the image are known, too.
  const int reach = (pixels - 1) * conv.strideW + (conv.partTaps - 1) * conv.dilationW;
  auto tapOf = [&](int k, int pixel, int taps) {
    int distance = k - pixel * conv.strideW;
    bool isTap =
        distance >= 0 && distance % conv.dilationW == 0 && distance / conv.dilationW < taps;
    return isTap ? distance / conv.dilationW : -1;
  };
  auto isUsed = [&](int k) {
    if (parts == 1 && conv.outWidth <= pixels && (u32)(k - conv.padW) >= (u32)conv.width)
      return false;
    bool isUsed = false;
#pragma unroll
    for (int pixel = 0; pixel < pixels; ++pixel)
      isUsed |= tapOf(k, pixel, conv.partTaps) >= 0;
    return isUsed;
  };

  // Loads the columns of a part of the window, if there is one. Those outside of the image stay
  // zero.
  auto load = [&] METHOD(Part part, bool isPart, Piece *columns) {
    const int shift = part.part * conv.partTaps * conv.dilationW;
    const T *from =
        source + (((long)part.plane * conv.dilationD * conv.height + part.row * conv.dilationH) *
                      conv.width +
                  shift) *
                     conv.channels;
#pragma unroll
    for (int k = 0; k <= reach; ++k)
      if (isUsed(k)) {
        if (isPart && (u32)(left + shift + k) < (u32)conv.width)
          *columns = *(const Piece *)(from + k * conv.channels);
        else if (parts > 1)
          *columns = {};
        ++columns;
      }
  };
  Sums sums[pixels] = {};
  auto addTaps = [&] METHOD(Part part, const Piece *columns, int taps) {
    const float *from =
        filters +
        ((part.plane * conv.tapsH + part.row) * conv.tapsW + part.part * conv.partTaps) * channels +
        lane * kChannels;
    Sums filter[kDepthwiseMostTaps];
#pragma unroll
    for (int j = 0; j < taps; ++j)
      filter[j] = *(const Sums *)(from + j * channels);
#pragma unroll
    for (int k = 0; k <= reach; ++k) {
      if (!isUsed(k))
        continue;
      Sums value = __builtin_convertvector(*columns++, Sums);
#pragma unroll
      for (int pixel = 0; pixel < pixels; ++pixel)
        if (tapOf(k, pixel, taps) >= 0)
          sums[pixel] += value * filter[tapOf(k, pixel, taps)];
    }
  };
  auto addProducts = [&] METHOD(Part part, const Piece *columns) {
    if (lastTaps < conv.partTaps && part.part == parts - 1)
      addTaps(part, columns, lastTaps);
    else
      addTaps(part, columns, conv.partTaps);
  };

  Part part = {beginPlane, begin, 0};
  Piece even[kDepthwiseMostColumns] = {}, odd[kDepthwiseMostColumns] = {};
  load(part, count > 0, even);
  Piece biases = {}, scales = {};
  if (bias && hasChannel)
    biases = *(const Piece *)(bias + channel);
  if (scale && hasChannel)
    scales = *(const Piece *)(scale + channel);

  // The first barrier is for ptxas, which would wait for the filters before it loads columns. Then
  // a tap of neighboring channels becomes contiguous.
  sync();
  waitCopies<0>();
  sync();
  constexpr int kTurn = 4;
  for (int start = threadId(); start < channels * taps; start += kTurn * threads) {
    T some[kTurn];
#pragma unroll
    for (int j = 0, i = start; j < kTurn && i < channels * taps; ++j, i += threads)
      some[j] = rawFilters[i % channels * taps + i / channels];
#pragma unroll
    for (int j = 0, i = start; j < kTurn && i < channels * taps; ++j, i += threads)
      filters[i] = (float)some[j];
  }
  sync();
  if (!isInside)
    return;

  // A part of the window arrives during the products of the one before it.
  auto step = [&] METHOD(int i, const Piece *columns, Piece *nextColumns) {
    const Part following = next(part);
    load(following, i + 1 < count, nextColumns);
    addProducts(part, columns);
    part = following;
  };
#pragma nounroll
  for (int i = 0; i < count; ++i) {
    step(i, even, odd);
    if (++i == count)
      break;
    step(i, odd, even);
  }

  // All residuals are loaded before the first result is stored, which might overwrite them.
  const long at =
      (((long)plane * conv.outHeight + row) * conv.outWidth + column) * conv.channels + channel;
  Piece residuals[pixels] = {};
  if (residual)
#pragma unroll
    for (int pixel = 0; pixel < pixels; ++pixel)
      if (column + pixel < conv.outWidth)
        residuals[pixel] = *(const Piece *)(residual + at + pixel * conv.channels);
#pragma unroll
  for (int pixel = 0; pixel < pixels; ++pixel) {
    if (column + pixel >= conv.outWidth)
      break;
    Sums sum = sums[pixel];
#pragma unroll
    for (int i = 0; i < kChannels; ++i)
      sum[i] = finish(sum[i], (float)biases[i], scale ? (float)scales[i] : 1,
                      (float)residuals[pixel][i], conv.epilogue);
    *(Piece *)(y + at + pixel * conv.channels) = __builtin_convertvector(sum, Piece);
  }
}

} // namespace

#define CONVOY_DEPTHWISE(channels, T, name, pixels)                                                \
  LIBRARY void convoy_depthwise_##name##_##channels##x##pixels(                                    \
      const T *x, const T *w, const T *bias, const T *scale, const T *residual, T *y,              \
      Depthwise conv) {                                                                            \
    depthwise<T, channels, pixels>(x, w, bias, scale, residual, y, conv);                          \
  }
#define CONVOY_DEPTHWISE_F16(pixels) CONVOY_DEPTHWISE_CHANNELS(CONVOY_DEPTHWISE, f16, f16, pixels)
#define CONVOY_DEPTHWISE_BF16(pixels)                                                              \
  CONVOY_DEPTHWISE_CHANNELS(CONVOY_DEPTHWISE, bf16, bf16, pixels)
#define CONVOY_DEPTHWISE_F32(pixels) CONVOY_DEPTHWISE_CHANNELS(CONVOY_DEPTHWISE, float, f32, pixels)
CONVOY_DEPTHWISE_PIXELS(CONVOY_DEPTHWISE_F16)
CONVOY_DEPTHWISE_PIXELS(CONVOY_DEPTHWISE_BF16)
CONVOY_DEPTHWISE_PIXELS(CONVOY_DEPTHWISE_F32)
