// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 2D convolutions for the tensor cores of sm_90a, as the product of all windows and the filters.
// The tensor memory accelerator copies windows from the image (its im2col mode): 64 channels of one
// tap for neighboring pixels of the result. It writes zeros for padding, and for channels beyond
// the last one.

#include "product.h"

namespace {

/// The left factor has a row for each pixel of the result, the right one a column for each filter.
struct Windows {
  static constexpr bool kByColumns = true;

  TensorMap image, filters;
  const ConvTmaArguments &conv;
  /// The first pixel's window: its image, and the place of its first tap.
  int number, top, left;
  int filter;

  METHOD void begin(int row, int column) {
    const u32 pixels = conv.outHeight * conv.outWidth, pixel = (u32)row % pixels;
    number = (u32)row / pixels;
    top = (int)(pixel / conv.outWidth) * conv.strideH - conv.padH;
    left = (int)(pixel % conv.outWidth) * conv.strideW - conv.padW;
    filter = column;
  }
  METHOD u32 stepsPerTap() const {
    return (conv.channels + kMatmulWgmmaStep - 1) / kMatmulWgmmaStep;
  }
  METHOD void copyLeft(u32 to, u32 step, u32 barrier) const {
    const u32 tap = step / stepsPerTap(), channel = step % stepsPerTap() * kMatmulWgmmaStep;
    copyWindows(to, image, channel, left, top, number, tap % conv.tapsW * conv.dilationW,
                tap / conv.tapsW * conv.dilationH, barrier);
  }
  template <int kSlabs> METHOD void copyRight(u32 to, u32 step, u32 barrier) const {
    copyBox(to, filters, step % stepsPerTap() * kMatmulWgmmaStep, step / stepsPerTap(), filter,
            barrier);
  }
};

} // namespace

#define CONVOY_CONV(T, name, sharing, blocks, columns)                                             \
  LIBRARY void convoy_conv_tma_##name##_##sharing##x##blocks##x##columns(                          \
      const T *bias, const T *scale, const T *residual, T *y, TensorMap image, TensorMap filters,  \
      ConvTmaArguments conv) {                                                                     \
    multiply<T, sharing, blocks, columns>(                                                         \
        bias, scale, residual, y, Windows{image, filters, conv, 0, 0, 0, 0}, conv.product);        \
  }
#define CONVOY_CONVS(sharing, blocks, columns)                                                     \
  CONVOY_CONV(f16, f16, sharing, blocks, columns)                                                  \
  CONVOY_CONV(bf16, bf16, sharing, blocks, columns)
CONVOY_MATMUL_WGMMA_TILES(CONVOY_CONVS)
