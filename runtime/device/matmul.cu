// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of a few rows and a matrix, with an epilogue, as in the last layers of a network for few
// images. They are limited by reading the matrix, so every thread has several loads
// in flight, and sums are shared by lanes, warps, and the blocks of a cluster.

#include "epilogue.h"
#include "strips.h"

namespace {

/// y[m, n] = epilogue(sum over k of x[m, k] * w[k, n], bias[n], scale[n], residual[m, n]),
/// everything row-major. Rows of w are a multiple of 16 bytes, the depth is a multiple of 8.
using Product = MatmulArguments;

constexpr int kMostRows = kMatmulMostRows, kTurn = kMatmulTurn;

/// A block computes a strip of columns, `lanes` chunks of 16 bytes wide. The remaining bits of the
/// lane, the warp and the block of the cluster select the groups of eight rows of w that a thread
/// reads.
template <typename T, typename Out>
DEVICE void multiply(const T *x, const T *w, const T *bias, const T *scale, const T *residual,
                     Out *y, const Product product) {
  constexpr int kWidth = 16 / sizeof(T);
  const int lane = threadId() % 32, warp = threadId() / 32, lanes = product.lanes,
            groups = 32 / lanes;
  const int rank = blockId() % product.split, pitch = lanes * kWidth,
            firstColumn = blockId() / product.split * pitch;
  // Lanes beyond the last column read the last column and store nothing.
  const T *from = w + min(firstColumn + lane % lanes * kWidth, product.columns - kWidth);

  // Load the operands of the epilogue while the sums are computed.
  const int results = product.rows * pitch, result = resultOf(results, rank, product.split);
  const int row = result / pitch, column = firstColumn + result % pitch;
  const bool stores = result < results && column < product.columns;
  Elements<T, 4> biases = {}, scales = {1, 1, 1, 1}, residuals = {};
  if (bias && stores)
    biases = loadFour(bias + column);
  if (scale && stores)
    scales = loadFour(scale + column);
  if (residual && stores)
    residuals = loadFour(residual + (long)row * product.columns + column);

  float sums[kMostRows][kWidth] = {};
  const int stride = product.split * product.warps * groups * kTurn;
  for (int k = ((rank * product.warps + warp) * groups + lane / lanes) * kTurn; k < product.depth;
       k += stride) {
    Elements<T, kWidth> weights[kTurn];
    Elements<T, kTurn> factors[kMostRows];
#pragma unroll
    for (int i = 0; i < kTurn; ++i)
      weights[i] = *(const Elements<T, kWidth> *)(from + (long)(k + i) * product.columns);
#pragma unroll
    for (int m = 0; m < kMostRows; ++m)
      if (m < product.rows)
        factors[m] = *(const Elements<T, kTurn> *)(x + (long)m * product.depth + k);
#pragma unroll
    for (int i = 0; i < kTurn; ++i)
#pragma unroll
      for (int j = 0; j < kWidth; ++j)
#pragma unroll
        for (int m = 0; m < kMostRows; ++m)
          if (m < product.rows)
            sums[m][j] += (float)factors[m][i] * (float)weights[i][j];
  }

  float *const partial = (float *)shared, *own = partial + warp * results + lane % lanes * kWidth;
#pragma unroll
  for (int m = 0; m < kMostRows; ++m)
    if (m < product.rows) {
      int place = shareSums(sums[m], lanes, lane);
#pragma unroll
      for (int i = 0; i < kWidth; ++i)
        if (i == 0 || i < kWidth / groups)
          own[m * pitch + place + i] = sums[m][i];
    }
  Floats sum = addShares(partial, results, result, product.warps, product.split);
  if (stores) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sum[i] =
          finish(sum[i], (float)biases[i], (float)scales[i], (float)residuals[i], product.epilogue);
    *(Elements<Out, 4> *)(y + (long)row * product.columns + column) =
        __builtin_convertvector(sum, Elements<Out, 4>);
  }
  // The other blocks may still read this block's part.
  if (product.split > 1)
    syncCluster();
}

} // namespace

#define CONVOY_MATMUL(T, Out, inName, outName)                                                     \
  LIBRARY void convoy_matmul_##inName##_##outName(const T *x, const T *w, const T *bias,           \
                                                  const T *scale, const T *residual, Out *y,       \
                                                  Product product) {                               \
    multiply<T, Out>(x, w, bias, scale, residual, y, product);                                     \
  }
CONVOY_MATMUL(f16, f16, f16, f16)
CONVOY_MATMUL(f16, float, f16, f32)
CONVOY_MATMUL(bf16, bf16, bf16, bf16)
CONVOY_MATMUL(bf16, float, bf16, f32)
CONVOY_MATMUL(float, float, f32, f32)
