// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of many rows and a matrix for the tensor cores of sm_90a, with an epilogue. cuDNN's
// kernels for these graphs do not overlap an epilogue with products; here two blocks share a
// multiprocessor, so that one stores its results while the other multiplies.

#include "epilogue.h"
#include "wgmma.h"

namespace {

/// y[m, n] = epilogue(sum over k of x[m, k] * w[k, n], bias[n], scale[n], residual[m, n]),
/// everything row-major, in 16-bit floats. The depth and the columns are multiples of 8.
using Product = MatmulWgmmaArguments;

/// A block computes a tile of `groups` times 64 rows and `kColumns` columns. Steps of 64 numbers of
/// both factors pass through a ring in shared memory: a line of the left factor is 64 numbers of a
/// row of x, a line of the right one 64 columns of a row of w, both with the 128-byte swizzle.
template <typename T, int kColumns>
DEVICE void multiply(const T *x, const T *w, const T *bias, const T *scale, const T *residual, T *y,
                     const Product product) {
  using Factor = Element<T>;
  constexpr int kStep = kMatmulWgmmaStep, kRows = kMatmulWgmmaRows, kStages = kMatmulWgmmaStages,
                kSlab = kMatmulWgmmaSlab, kAcross = kMatmulWgmmaSlabColumns,
                kSlabs = (kColumns + kAcross - 1) / kAcross, kMatrices = kColumns / 8;
  const int threads = product.groups * kGroupThreads, rows = product.groups * kRows;
  const int leftBytes = rows * 128, stageBytes = leftBytes + kSlabs * kSlab;
  const u32 thread = threadId(), lane = thread % 32, warp = thread / 32,
            group = shuffle(thread / kGroupThreads, 0);

  // Tiles of a column follow each other, in strips of `together` rows of tiles.
  const u32 tilesDown = (product.rows + rows - 1) / rows,
            tilesAcross = (product.columns + kColumns - 1) / kColumns;
  const u32 strip = blockId() / (kMatmulWgmmaTogether * tilesAcross),
            inStrip = blockId() % (kMatmulWgmmaTogether * tilesAcross);
  const u32 together = min(kMatmulWgmmaTogether, tilesDown - strip * kMatmulWgmmaTogether);
  const int firstRow = (strip * kMatmulWgmmaTogether + inStrip % together) * rows,
            firstColumn = inStrip / together * kColumns;

  // A thread copies the same chunk of 16 bytes of every `lines`th line.
  const u32 base = (sharedAddress(shared) + 1023) & ~1023u;
  const int chunk = thread % 8, line = thread / 8, lines = threads / 8;
  const u32 place = line * 128 + ((chunk ^ line % 8) << 4);
  const T *const leftFrom = x + (long)(firstRow + line) * product.depth + chunk * 8;
  const T *const rightFrom = w + (long)line * product.columns + firstColumn + chunk * 8;
  auto copy = [&](int step, u32 slot) __attribute__((always_inline)) {
    const int k = step * kStep;
    const u32 to = base + slot * stageBytes + place;
    const bool inside = product.depth % kStep == 0 || k + chunk * 8 < product.depth;
#pragma unroll
    for (int i = 0; i < rows / lines; ++i)
      copyAsync(to + i * lines * 128, leftFrom + (long)i * lines * product.depth + k,
                inside && firstRow + line + i * lines < product.rows);
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab)
#pragma unroll
      for (int i = 0; i < kStep / lines; ++i)
        if (kColumns % kAcross == 0 || slab * kAcross + chunk * 8 < kColumns)
          copyAsync(to + leftBytes + slab * kSlab + i * lines * 128,
                    rightFrom + (long)(k + i * lines) * product.columns + slab * kAcross,
                    (product.depth % kStep == 0 || k + line + i * lines < product.depth) &&
                        (product.columns % kColumns == 0 ||
                         firstColumn + slab * kAcross + chunk * 8 < product.columns));
  };
  const int steps = (product.depth + kStep - 1) / kStep;
#pragma unroll
  for (int step = 0; step < kStages - 1; ++step) {
    if (step < steps)
      copy(step, step);
    commitCopies();
  }

  float sums[kMatrices][4];
  u32 slot = 0, next = kStages - 1;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    waitCopies<kStages - 2>();
    fenceFactors();
    // The slot of the previous step is filled next.
    waitProducts<0>();
    sync();
    const u32 at = base + slot * stageBytes;
    const u64 left = swizzledFactorAt(shuffle(at + group * kRows * 128, 0), 0),
              right = swizzledFactorAt(shuffle(at + leftBytes, 0), kSlab);
    fenceProducts();
#pragma unroll
    for (int i = 0; i < kStep / 16; ++i)
      ProductsOfRows<T, kColumns>::start(sums, further(left, i * 32), further(right, i * 16 * 128),
                                         step + i == 0);
    commitProducts();
    if (step + kStages - 1 < steps)
      copy(step + kStages - 1, next);
    commitCopies();
    slot = slot + 1 == kStages ? 0 : slot + 1;
    next = next + 1 == kStages ? 0 : next + 1;
  }
  waitProducts<0>();
  take(sums);
  waitCopies<0>();
  // The ring is free: each warp has space for its 16 rows of the result.
  sync();

  // 16 additional bytes, so that neighboring rows are in different banks.
  constexpr int kPitch = kColumns * 2 + 16;
  const u32 own = base + warp * 16 * kPitch;
  const u32 matrixPlace = own + lane % 16 * kPitch + lane / 16 * 16;
  const int top = firstRow + warp * 16;
  auto forEachChunk = [&](auto visit) __attribute__((always_inline)) {
#pragma unroll
    for (int i = 0; i < kMatrices / 2; ++i) {
      const int number = i * 32 + lane, row = number / kMatrices, column = number % kMatrices * 8;
      if (top + row < product.rows &&
          (product.columns % kColumns == 0 || firstColumn + column < product.columns))
        visit(own + row * kPitch + column * 2,
              (long)(top + row) * product.columns + firstColumn + column);
    }
  };
  if (residual) {
    forEachChunk([&](u32 place, long at)
                     __attribute__((always_inline)) { copyAsync(place, residual + at, true); });
    commitCopies();
    waitCopies<0>();
    syncWarp();
  }
#pragma unroll
  for (int j = 0; j < kMatrices; j += 2) {
    u32 four[4] = {};
    if (residual)
      loadMatrices(four, matrixPlace + j * 16);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int matrix = j + i / 2;
      const int column = min(firstColumn + matrix * 8 + (int)(lane % 4) * 2, product.columns - 2);
      float biases[2] = {}, scales[2] = {1, 1}, residuals[2] = {};
      if (bias)
        Factor::unpack(*(const u32 *)(bias + column), biases[0], biases[1]);
      if (scale)
        Factor::unpack(*(const u32 *)(scale + column), scales[0], scales[1]);
      if (residual)
        Factor::unpack(four[i], residuals[0], residuals[1]);
      float results[2];
#pragma unroll
      for (int k = 0; k < 2; ++k)
        results[k] = finish(sums[matrix][i % 2 * 2 + k], biases[k], scales[k], residuals[k],
                            product.epilogue);
      four[i] = Factor::pack(results[0], results[1]);
    }
    storeMatrices(matrixPlace + j * 16, four);
  }
  syncWarp();
  forEachChunk([&](u32 place, long at)
                   __attribute__((always_inline)) { *(u32x4 *)(y + at) = loadShared(place); });
}

} // namespace

#define CONVOY_MATMUL(T, name, columns)                                                            \
  LIBRARY void convoy_matmul_wgmma_##name##_##columns(const T *x, const T *w, const T *bias,       \
                                                      const T *scale, const T *residual, T *y,     \
                                                      Product product) {                           \
    multiply<T, columns>(x, w, bias, scale, residual, y, product);                                 \
  }
#define CONVOY_MATMULS(columns)                                                                    \
  CONVOY_MATMUL(f16, f16, columns)                                                                 \
  CONVOY_MATMUL(bf16, bf16, columns)
CONVOY_MATMUL_WGMMA_COLUMNS(CONVOY_MATMULS)
