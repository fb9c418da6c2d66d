// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Means over all pixels of an image in channels-last memory, i.e. global average pooling. An image
// has few channels compared with the threads of a GPU, so its pixels are divided among lanes,
// warps, and the blocks of a cluster.

#include "strips.h"

namespace {

/// y[n, c] = mean over p of x[n, p, c]. Pixels are a multiple of 16 bytes.
using Mean = MeanArguments;

/// A block computes a strip of one image's channels.
template <typename T> DEVICE void average(const T *x, T *y, const Mean mean) {
  constexpr int kWidth = 16 / sizeof(T), kTurn = 4;
  const int lane = threadId() % 32, warp = threadId() / 32, lanes = mean.lanes, groups = 32 / lanes;
  const int pitch = lanes * kWidth, strips = (mean.channels + pitch - 1) / pitch;
  const int rank = blockId() % mean.split, strip = blockId() / mean.split % strips,
            image = blockId() / mean.split / strips;
  // Lanes beyond the last channel read the last channel and store nothing; iterations beyond the
  // last pixel read the last pixel and add nothing. Without branches all loads can be in flight.
  const int channel = min(strip * pitch + lane % lanes * kWidth, mean.channels - kWidth);
  const T *from = x + (long)image * mean.pixels * mean.channels + channel;
  const int shares = mean.split * mean.warps * groups;
  float sums[kWidth] = {};
  for (int pixel = (rank * mean.warps + warp) * groups + lane / lanes; pixel < mean.pixels;
       pixel += kTurn * shares) {
    Elements<T, kWidth> values[kTurn];
#pragma unroll
    for (int i = 0; i < kTurn; ++i)
      values[i] =
          *(const Elements<T, kWidth> *)(from + (long)min(pixel + i * shares, mean.pixels - 1) *
                                                    mean.channels);
#pragma unroll
    for (int i = 0; i < kTurn; ++i)
#pragma unroll
      for (int j = 0; j < kWidth; ++j)
        sums[j] += pixel + i * shares < mean.pixels ? (float)values[i][j] : 0.0f;
  }

  float *const partial = (float *)shared, *own = partial + warp * pitch + lane % lanes * kWidth;
  const int place = shareSums(sums, lanes, lane);
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    if (i == 0 || i < kWidth / groups)
      own[place + i] = sums[i];
  const int result = resultOf(pitch, rank, mean.split), to = strip * pitch + result;
  const Floats sum = addShares(partial, pitch, result, mean.warps, mean.split) / (float)mean.pixels;
  if (result < pitch && to < mean.channels)
    *(Elements<T, 4> *)(y + (long)image * mean.channels + to) =
        __builtin_convertvector(sum, Elements<T, 4>);
  // The other blocks may still read this block's part.
  if (mean.split > 1)
    syncCluster();
}

} // namespace

#define CONVOY_MEAN(T, name)                                                                       \
  LIBRARY void convoy_mean_##name(const T *x, T *y, Mean mean) { average<T>(x, y, mean); }
CONVOY_MEAN(f16, f16)
CONVOY_MEAN(bf16, bf16)
CONVOY_MEAN(float, f32)
