// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of many rows and a matrix for the tensor cores of sm_90a, with an epilogue. The tensor
// memory accelerator copies the factors. Two groups of warps share the rows of a tile, or take
// turns: one of them stores its tile while the other multiplies, which cuDNN's kernels for these
// graphs do not do.

#ifndef CONVOY_DEVICE_PRODUCT_H
#define CONVOY_DEVICE_PRODUCT_H

#include "epilogue.h"
#include "tma.h"
#include "wgmma.h"

namespace {

/// y[m, n] = epilogue(sum over k of x[m, k] * w[k, n], bias[n], scale[n], residual[m, n]) with rows
/// of y in order, in 16-bit floats. The columns are multiples of 8. Of several groups, each has its
/// own x and w, and the columns of y from a multiple of `columns` on.
using Product = MatmulWgmmaArguments;

constexpr int kAcross = kMatmulWgmmaSlabColumns, kLine = kAcross * 2, kPitch = kMatmulWgmmaPitch;

/// The first row and column of a tile in y, its group, and the end of the group's columns.
struct TilePlace {
  int row, column, group, end;
};

/// The place of a tile. Tiles of a column follow each other, in strips of `kMatmulWgmmaTogether`
/// rows, so that they share columns of w in the L2 cache. Divides by constants only: a function
/// call for a division would make the compiler serialize all products.
DEVICE TilePlace locate(u32 number, const Product &product, int rows, int columns) {
  constexpr u32 kTogether = kMatmulWgmmaTogether;
  const u32 down = (product.rows + rows - 1) / rows,
            acrossGroup = (product.columns + columns - 1) / columns,
            across = acrossGroup * product.groups;
  const u32 strip = number / (kTogether * across), inStrip = number % (kTogether * across);
  const bool isWhole = strip < down / kTogether;
  const u32 rest = down % kTogether == 0 ? 1 : down % kTogether;
  const u32 row = strip * kTogether + (isWhole ? inStrip % kTogether : inStrip % rest),
            column = isWhole ? inStrip / kTogether : inStrip / rest,
            group = product.groups == 1 ? 0 : column / acrossGroup;
  return {(int)row * rows,
          (int)(group * product.columns + (column - group * acrossGroup) * columns), (int)group,
          (int)(group + 1) * product.columns};
}

/// The epilogue of 16 rows of a tile, which one warp computes in strips of 64 columns. Its memory
/// has the bias and the scale of all columns of the tile, and then one or two buffers for a strip.
/// Residuals of the next strip are copied during the computation of this one.
template <typename T, int kColumns> struct Store {
  using Factor = Element<T>;

  const T *bias, *scale, *residual;
  T *y;
  const Product &product;
  u32 memory, lane;
  int column, end;

  METHOD u32 vectorPlace(bool ofScale) const { return memory + ofScale * kColumns * 2; }
  /// Strips alternate between the buffers.
  METHOD u32 buffer(int number) const {
    return memory + kColumns * 4 + (residual ? number % 2 * 16 * kPitch : 0);
  }
  template <int kChunks>
  METHOD void forEachChunk(u32 buffer, int row, int strip, auto visit) const {
#pragma unroll
    for (int i = 0; i < kChunks / 2; ++i) {
      const int number = i * 32 + lane, down = number / kChunks, across = number % kChunks * 8,
                at = column + strip * kAcross + across;
      if (row + down < product.rows && at < end)
        visit(buffer + down * kPitch + across * 2,
              (long)(row + down) * (product.groups * product.columns) + at);
    }
  }
  /// Starts to copy the bias and the scale.
  METHOD void copyVectors() const {
    const int first = lane * 8;
    if (first < kColumns && column + first < end) {
      if (bias)
        copyAsync(vectorPlace(false) + first * 2, bias + column + first, true);
      if (scale)
        copyAsync(vectorPlace(true) + first * 2, scale + column + first, true);
    }
  }
  template <int kChunks> METHOD void copyResidual(u32 buffer, int row, int strip) const {
    if (residual)
      forEachChunk<kChunks>(buffer, row, strip,
                            [&](u32 place, long at) __attribute__((always_inline)) {
                              copyAsync(place, residual + at, true);
                            });
  }
  /// Computes and stores a strip of `kChunks` times 8 columns.
  template <int kChunks>
  METHOD void finishStrip(float (*sums)[4], u32 buffer, int row, int strip) const {
    const u32 place = buffer + lane % 16 * kPitch + lane / 16 * 16;
    // All at first, so that their latencies overlap.
    u32 biases[kChunks], scales[kChunks];
#pragma unroll
    for (int j = 0; j < kChunks; ++j) {
      const u32 at = (strip * kAcross + j * 8 + lane % 4 * 2) * 2;
      if (bias)
        biases[j] = loadWord(vectorPlace(false) + at);
      if (scale)
        scales[j] = loadWord(vectorPlace(true) + at);
    }
#pragma unroll
    for (int j = 0; j < kChunks; j += 2) {
      u32 four[4];
      if (residual)
        loadMatrices(four, place + j * 16);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int matrix = j + i / 2;
        // Adding -0 changes nothing.
        float summands[2] = {-0.f, -0.f}, factors[2] = {1, 1}, residuals[2] = {-0.f, -0.f},
              results[2];
        if (bias)
          Factor::unpack(biases[matrix], summands[0], summands[1]);
        if (scale)
          Factor::unpack(scales[matrix], factors[0], factors[1]);
        if (residual)
          Factor::unpack(four[i], residuals[0], residuals[1]);
#pragma unroll
        for (int k = 0; k < 2; ++k)
          results[k] = finish(sums[matrix][i % 2 * 2 + k], summands[k], factors[k], residuals[k],
                              product.epilogue);
        four[i] = Factor::pack(results[0], results[1]);
      }
      storeMatrices(place + j * 16, four);
    }
    syncWarp();
    forEachChunk<kChunks>(buffer, row, strip,
                          [&](u32 place, long at) __attribute__((always_inline)) {
                            *(u32x4 *)(y + at) = loadShared(place);
                          });
    // The strip after the next one is in the same memory.
    syncWarp();
  }
};

/// A group of four warps computes `kBlocks` times 64 rows and `kColumns` columns; `kSharing` groups
/// share a tile. Steps of 64 numbers of both factors pass through a ring in shared memory, both
/// with the 128-byte swizzle. A line of the left factor is 64 numbers of a row. `Factors` copies
/// them: `begin` is called before the first step of a tile, and `copyLeft` and `copyRight` for each
/// step. If it has columns (`kByColumns`), a line of the right factor is 64 numbers of a column,
/// else 64 columns of a row.
template <typename T, int kSharing, int kBlocks, int kColumns, typename Factors>
DEVICE void multiply(const T *bias, const T *scale, const T *residual, T *y, Factors factors,
                     const Product product) {
  constexpr bool kByColumns = Factors::kByColumns;
  constexpr MatmulWgmmaTile kTile = {kSharing, kBlocks, kColumns};
  constexpr int kStep = kMatmulWgmmaStep, kSlab = kTile.slabBytes(), kChunks = kColumns / 8,
                kTeams = kMatmulWgmmaGroups / kSharing, kStageBytes = kTile.stageBytes();
  // Strips of an epilogue, and chunks of 8 columns of the last one and of the others.
  constexpr int kStrips = kTile.slabs(), kLast = kChunks - (kStrips - 1) * 8,
                kWhole = kStrips == 1 ? kLast : 8;
  const int stages = product.stages, steps = (product.depth + kStep - 1) / kStep;
  const u32 tiles = (u32)((product.rows + kTile.rows() - 1) / kTile.rows()) *
                    (u32)((product.columns + kColumns - 1) / kColumns) * product.groups;
  const u32 thread = threadId(), warp = thread / 32, group = shuffle(thread / kGroupThreads, 0);
  const u32 ring = (sharedAddress(shared) + 1023) & ~1023u, barriers = ring + stages * kStageBytes,
            staging = barriers + stages * 16;
  auto full = [&](u32 slot) { return barriers + slot * 16; };
  auto empty = [&](u32 slot) { return barriers + slot * 16 + 8; };
  if (thread == 0) {
    for (int slot = 0; slot < stages; ++slot) {
      initBarrier(full(slot), 1);
      initBarrier(empty(slot), kSharing);
    }
    fenceBarriers();
  }
  sync();

  RingPlace place;
  if (group == kMatmulWgmmaGroups) {
    if (thread == kMatmulWgmmaGroups * kGroupThreads)
      for (u32 tile = blockId(); tile < tiles; tile += product.blocks) {
        const TilePlace first = locate(tile, product, kTile.rows(), kColumns);
        factors.begin(first.row, first.group, first.column);
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
          const u32 to = ring + place.slot * kStageBytes, barrier = full(place.slot);
          waitBarrier(empty(place.slot), place.parity ^ 1);
          arriveWithBytes(barrier, kStageBytes);
          factors.copyLeft(to, step, barrier);
          factors.template copyRight<kTile.slabs()>(to + kTile.leftBytes(), step, barrier);
          place.advance(1, stages);
        }
      }
    return;
  }

  const u32 team = kTeams == 1 ? 0 : group, part = kTeams == 1 ? group : 0;
  Store<T, kColumns> store = {bias, scale, residual, y, product, 0, thread % 32, 0, 0};
  store.memory = staging + warp * kTile.warpBytes(residual != nullptr);
  place.advance(team * steps, stages);
  // The team whose turn it is reads the ring. Without turns, it would be several rounds of the ring
  // behind the other one, which the parity of a phase does not show.
  if (kTeams == 2 && team == 1)
    giveTurn(0);
  for (u32 tile = blockId() + team * product.blocks; tile < tiles;
       tile += kTeams * product.blocks) {
    const TilePlace first = locate(tile, product, kTile.rows(), kColumns);
    store.column = first.column;
    store.end = first.end;
    const int row = first.row + part * kBlocks * 64 + warp % 4 * 16;
    store.copyVectors();
    store.template copyResidual<kWhole>(store.buffer(0), row, 0);
    commitCopies();

    float sums[kBlocks][kChunks][4];
    u32 previous = 0;
    auto release = [&](u32 slot) __attribute__((always_inline)) {
      if (thread % kGroupThreads == 0)
        arrive(empty(slot));
    };
    if (kTeams == 2)
      waitForTurn(team);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const u32 at = ring + place.slot * kStageBytes;
      waitBarrier(full(place.slot), place.parity);
      const u64 left = swizzledFactorAt(shuffle(at + part * kBlocks * 64 * kLine, 0), 0),
                right =
                    swizzledFactorAt(shuffle(at + kTile.leftBytes(), 0), kByColumns ? 0 : kSlab);
      fenceProducts();
#pragma unroll
      for (int i = 0; i < kStep / 16; ++i)
#pragma unroll
        for (int block = 0; block < kBlocks; ++block)
          if constexpr (kByColumns)
            Products<T, kColumns>::start(sums[block], further(left, block * 64 * kLine + i * 32),
                                         further(right, i * 32), step + i == 0);
          else
            ProductsOfRows<T, kColumns>::start(sums[block],
                                               further(left, block * 64 * kLine + i * 32),
                                               further(right, i * 16 * kLine), step + i == 0);
      commitProducts();
      waitProducts<1>();
      if (step > 0)
        release(previous);
      previous = place.slot;
      place.advance(1, stages);
    }
    if (kTeams == 2)
      giveTurn(1 - team);
    waitProducts<0>();
    release(previous);
    // The other team computes the next tile.
    place.advance((kTeams - 1) * steps, stages);

#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      take(sums[block]);
#pragma unroll
      for (int strip = 0; strip < kStrips; ++strip) {
        const int number = block * kStrips + strip, top = row + block * 64;
        // The next strip, of this block or of the next one.
        const int next = (strip + 1) % kStrips, nextTop = row + (number + 1) / kStrips * 64;
        if (number + 1 < kBlocks * kStrips) {
          if (kStrips > 1 && next == kStrips - 1)
            store.template copyResidual<kLast>(store.buffer(number + 1), nextTop, next);
          else
            store.template copyResidual<kWhole>(store.buffer(number + 1), nextTop, next);
        }
        commitCopies();
        waitCopies<1>();
        syncWarp();
        if (strip == kStrips - 1)
          store.template finishStrip<kLast>(sums[block] + strip * 8, store.buffer(number), top,
                                            strip);
        else
          store.template finishStrip<kWhole>(sums[block] + strip * 8, store.buffer(number), top,
                                             strip);
      }
    }
  }
}

} // namespace

#endif // CONVOY_DEVICE_PRODUCT_H
