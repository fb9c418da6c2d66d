// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolution of images with few channels, over two or three spatial dims, with an epilogue, in
// channels-last memory and 16-bit floats. It is bound by memory: the part of the image that a tile
// of the result needs is read once into shared memory, where the tensor cores find the windows, and
// a block keeps its filters there for all of its tiles.

#include "epilogue.h"

namespace {

using Narrow = ConvNarrowArguments;

/// The numbers of a quad, four channels of a pixel.
template <typename T> struct alignas(8) Quad {
  T number[4];
};

/// A warp computes `matrices` times 16 pixels for all filters of the block, over steps of four
/// quads. The order of a sum is free: a thread has the four channels of one quad of a step, which
/// are 8 contiguous bytes for pixels and for filters, so that windows need no alignment beyond a
/// quad. The order of filters is free too: over four matrices of filters a thread has 8 adjacent
/// channels of the result.
template <typename T>
DEVICE void convolveNarrow(const T *x, const T *w, const T *bias, const T *scale, const T *residual,
                           T *y, const Narrow conv) {
  const int threads = conv.warps * 32, thread = threadId(), warp = thread / 32, lane = thread % 32;
  const ConvNarrowShared layout = {conv};
  const int quads = layout.quads(), taps = layout.allTaps(), steps = layout.steps(),
            pixelBytes = quads * kQuadBytes, matricesOfFilters = conv.filters / 8;
  const int patchRows = layout.patch(1), patchColumns = layout.patchColumns(),
            together = layout.together();
  const u32 zeros = sharedAddress(shared), table = zeros + kQuadBytes * 2,
            filterBase = table + layout.tableBytes(), patchBase = filterBase + layout.filterBytes();

  const int parts = (conv.outChannels + conv.filters - 1) / conv.filters,
            firstFilter = blockId() % parts * conv.filters, firstTile = blockId() / parts;
  const int across = layout.tiles(2), down = layout.tiles(1), deep = layout.tiles(0),
            tiles = conv.images * deep * down * across,
            pixels = conv.tile[0] * conv.tile[1] * conv.tile[2];

  // The offset of each pixel's window, and the pixel's place in the tile.
  if (thread < 4)
    ((u32 *)shared)[thread] = 0;
  for (int i = thread; i < layout.tableEntries(); i += threads) {
    const int pixel = i < pixels ? i : 0, column = pixel % conv.tile[2],
              row = pixel / conv.tile[2] % conv.tile[1],
              slice = pixel / (conv.tile[2] * conv.tile[1]);
    const int window = ((slice * conv.stride[0] * patchRows + row * conv.stride[1]) * patchColumns +
                        column * conv.stride[2]) *
                       pixelBytes;
    *(u32x2 *)sharedPointer(table + i * 8) = {(u32)window, (u32)(slice << 20 | row << 10 | column) |
                                                               (i < pixels ? 0 : kNarrowOutside)};
  }
  // Of a step, a thread reads 16 bytes: one quad of two filters.
  for (int i = thread; i < steps * matricesOfFilters * 32; i += threads) {
    const int step = i / (matricesOfFilters * 32), matrix = i / 32 % matricesOfFilters,
              column = i / 4 % 8, quad = step * 4 + i % 4;
    const int filter = firstFilter + matrix / 4 * 32 + column / 2 * 8 + matrix % 4 * 2 + column % 2;
    const bool inside = quad < taps * quads && filter < conv.outChannels;
    const u32 to = filterBase + ((step * (matricesOfFilters / 2) + matrix / 2) * 32 + i % 32) * 16 +
                   matrix % 2 * kQuadBytes;
    const T *const from =
        w + ((long)filter * taps + quad / quads) * conv.channels + quad % quads * 4;
    if (conv.channels % 4 == 0) {
      copyQuadAsync(to, inside ? from : w, inside);
    } else {
      Quad<T> four = {};
#pragma unroll
      for (int c = 0; c < 4; ++c)
        if (inside && quad % quads * 4 + c < conv.channels)
          four.number[c] = from[c];
      *(Quad<T> *)sharedPointer(to) = four;
    }
  }

  const auto placeOf = [&](int tile, int dim) __attribute__((always_inline)) {
    const int index = dim == 2   ? tile % across
                      : dim == 1 ? tile / across % down
                                 : tile / (across * down) % deep;
    return index * conv.tile[dim];
  };
  const auto imageOf = [&](int tile)
                           __attribute__((always_inline)) { return tile / (across * down * deep); };
  // The column of the image where a tile's patch begins: a multiple of the pixels that are copied
  // together.
  const auto leftOf = [&](int tile) __attribute__((always_inline)) {
    const int left = placeOf(tile, 2) * conv.stride[2] - conv.pad[2];
    return together == 2 ? left & ~1 : left;
  };
  const auto startCopies = [&](int tile, int buffer) __attribute__((always_inline)) {
    const u32 to = patchBase + buffer * layout.patchBytes();
    const int top = placeOf(tile, 1) * conv.stride[1] - conv.pad[1],
              front = placeOf(tile, 0) * conv.stride[0] - conv.pad[0], left = leftOf(tile);
    const T *const image =
        x + (long)imageOf(tile) * conv.size[0] * conv.size[1] * conv.size[2] * conv.channels;
    const int pieceBytes = conv.channels % 4 == 0 ? layout.pieceBytes() : kQuadBytes,
              perRow = patchColumns * pixelBytes / pieceBytes;
    for (int i = thread; i < layout.patch(0) * patchRows * perRow; i += threads) {
      const int byte = i % perRow * pieceBytes, column = left + byte / pixelBytes,
                row = top + i / perRow % patchRows, slice = front + i / (perRow * patchRows);
      const bool inside = (u32)column < (u32)conv.size[2] && (u32)row < (u32)conv.size[1] &&
                          (u32)slice < (u32)conv.size[0];
      const T *const from =
          image + ((long)(slice * conv.size[1] + row) * conv.size[2] + column) * conv.channels +
          byte % pixelBytes / (int)sizeof(T);
      if (conv.channels % 4 != 0) {
        Quad<T> four = {};
#pragma unroll
        for (int c = 0; c < 4; ++c)
          if (inside && byte % pixelBytes / (int)sizeof(T) + c < conv.channels)
            four.number[c] = from[c];
        *(Quad<T> *)sharedPointer(to + i * kQuadBytes) = four;
      } else if (pieceBytes == 16) {
        copyAsync(to + i * 16, inside ? from : x, inside);
      } else {
        copyQuadAsync(to + i * kQuadBytes, inside ? from : x, inside);
      }
    }
    commitCopies();
  };

  // The offset of a quad of a window. After unrolling it is constant for each lane of four, and
  // mostly a multiple of the lane's number.
  const auto offsetOf = [&](int quad) __attribute__((always_inline)) {
    const int tap = quad / quads;
    return ((tap / (conv.taps[1] * conv.taps[2]) * conv.dilation[0] * patchRows +
             tap / conv.taps[2] % conv.taps[1] * conv.dilation[1]) *
                patchColumns +
            tap % conv.taps[2] * conv.dilation[2]) *
               pixelBytes +
           quad % quads * kQuadBytes;
  };
  const int between = quads == 1 ? conv.dilation[2] * kQuadBytes : kQuadBytes;

  if (firstTile < tiles)
    startCopies(firstTile, 0);
  int buffer = 0;
#pragma unroll 1
  for (int tile = firstTile; tile < tiles; tile += conv.blocks) {
    waitCopies<0>();
    sync();
    const int next = tile + conv.blocks;
    if (conv.buffers == 2 && next < tiles)
      startCopies(next, 1 - buffer);

    // Hidden from the compiler, which would keep the offsets of all steps in registers.
    const u32 number = hidden(lane % 4), entries = table + hidden(warp * conv.matrices * 16) * 8;
    const int shift = placeOf(tile, 2) * conv.stride[2] - conv.pad[2] - leftOf(tile);
    const u32 patch =
        patchBase + buffer * layout.patchBytes() + shift * pixelBytes + number * between;
    u32 windows[kNarrowMostMatrices][2];
#pragma unroll
    for (int i = 0; i < conv.matrices; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        windows[i][half] = patch + loadTwo(entries + (i * 16 + half * 8 + lane / 4) * 8).x;
    float sums[kNarrowMostMatrices][kNarrowMostFilters / 8][4] = {};
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      int offset = offsetOf(step * 4);
#pragma unroll
      for (int i = 1; i < 4; ++i) {
        const int other = offsetOf(step * 4 + i) - i * between;
        offset = (int)number >= i ? other : offset;
      }
      const bool isBeyond = step * 4 + (int)number >= taps * quads;
      u32x4 right[kNarrowMostFilters / 16];
#pragma unroll
      for (int j = 0; j < matricesOfFilters / 2; ++j)
        right[j] = loadShared(filterBase + ((step * (matricesOfFilters / 2) + j) * 32 + lane) * 16);
#pragma unroll
      for (int i = 0; i < conv.matrices; ++i) {
        const u32x2 low = loadTwo(isBeyond ? zeros : windows[i][0] + offset),
                    high = loadTwo(isBeyond ? zeros : windows[i][1] + offset);
        const u32 left[4] = {low.x, high.x, low.y, high.y};
#pragma unroll
        for (int j = 0; j < matricesOfFilters / 2; ++j) {
          Element<T>::multiply(sums[i][2 * j], left, right[j].x, right[j].y);
          Element<T>::multiply(sums[i][2 * j + 1], left, right[j].z, right[j].w);
        }
      }
    }
    if (conv.buffers == 1 && next < tiles) {
      sync();
      startCopies(next, 0);
    }

    const int slice = placeOf(tile, 0), row = placeOf(tile, 1), column = placeOf(tile, 2);
#pragma unroll
    for (int i = 0; i < conv.matrices; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const u32 place = loadTwo(entries + (i * 16 + half * 8 + lane / 4) * 8).y;
        const int ownSlice = slice + (int)(place >> 20 & 1023),
                  ownRow = row + (int)(place >> 10 & 1023),
                  ownColumn = column + (int)(place & 1023);
        if (place & kNarrowOutside || ownSlice >= conv.outSize[0] || ownRow >= conv.outSize[1] ||
            ownColumn >= conv.outSize[2])
          continue;
        const long pixel =
            (((long)imageOf(tile) * conv.outSize[0] + ownSlice) * conv.outSize[1] + ownRow) *
                conv.outSize[2] +
            ownColumn;
#pragma unroll
        for (int group = 0; group < conv.filters / 32; ++group) {
          const int filter = firstFilter + group * 32 + lane % 4 * 8;
          if (filter >= conv.outChannels)
            continue;
          using Eight = Elements<T, 8>;
          Eight biases = {}, scales = {}, residuals = {};
          const long result = pixel * conv.outChannels + filter;
          if (bias)
            biases = *(const Eight *)(bias + filter);
          if (scale)
            scales = *(const Eight *)(scale + filter);
          if (residual)
            residuals = *(const Eight *)(residual + result);
          u32 words[4];
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            float numbers[2];
#pragma unroll
            for (int k = 0; k < 2; ++k)
              numbers[k] = finish(sums[i][group * 4 + j][half * 2 + k], (float)biases[2 * j + k],
                                  scale ? (float)scales[2 * j + k] : 1, (float)residuals[2 * j + k],
                                  conv.epilogue);
            words[j] = Element<T>::pack(numbers[0], numbers[1]);
          }
          *(u32x4 *)(y + result) = {words[0], words[1], words[2], words[3]};
        }
      }
    if (conv.buffers == 2)
      buffer = 1 - buffer;
  }
}

} // namespace

#define CONVOY_NARROW(T, name)                                                                     \
  LIBRARY void convoy_conv_narrow_##name(const T *x, const T *w, const T *bias, const T *scale,    \
                                         const T *residual, T *y, Narrow conv) {                   \
    convolveNarrow<T>(x, w, bias, scale, residual, y, conv);                                       \
  }
CONVOY_NARROW(f16, f16)
CONVOY_NARROW(bf16, bf16)
