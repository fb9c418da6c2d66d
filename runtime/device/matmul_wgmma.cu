// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of matrices of many rows for the tensor cores of sm_90a.

#include "product.h"

namespace {

/// Both factors are row-major. The depth is a multiple of 8.
struct Rows {
  static constexpr bool kByColumns = false;

  TensorMap left, right;
  int row, column;

  METHOD void begin(int tileRow, int, int tileColumn) {
    row = tileRow;
    column = tileColumn;
  }
  METHOD void copyLeft(u32 to, int step, u32 barrier) const {
    copyBox(to, left, step * kMatmulWgmmaStep, row, barrier);
  }
  template <int kSlabs> METHOD void copyRight(u32 to, int step, u32 barrier) const {
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab)
      copyBox(to + slab * kMatmulWgmmaStep * kLine, right, column + slab * kAcross,
              step * kMatmulWgmmaStep, barrier);
  }
};

} // namespace

#define CONVOY_MATMUL(T, name, sharing, blocks, columns)                                           \
  LIBRARY void convoy_matmul_wgmma_##name##_##sharing##x##blocks##x##columns(                      \
      const T *bias, const T *scale, const T *residual, T *y, TensorMap left, TensorMap right,     \
      Product product) {                                                                           \
    multiply<T, sharing, blocks, columns>(bias, scale, residual, y, Rows{left, right, 0, 0},       \
                                          product);                                                \
  }
#define CONVOY_MATMULS(sharing, blocks, columns)                                                   \
  CONVOY_MATMUL(f16, f16, sharing, blocks, columns)                                                \
  CONVOY_MATMUL(bf16, bf16, sharing, blocks, columns)
CONVOY_MATMUL_WGMMA_TILES(CONVOY_MATMULS)
