// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 2D and 3D convolutions for the tensor cores of sm_90a, as the product of all windows and the
// filters. The tensor memory accelerator copies windows from the image (its im2col mode): 64
// channels of one tap for neighboring pixels of the result. It writes zeros for padding, and for
// channels beyond the last one of a group.

#include "product.h"

namespace {

/// The left factor has a row for each pixel of the result, the right one a column for each filter.
struct Windows {
  static constexpr bool kByColumns = true;

  TensorMap image, filters;
  const ConvTmaArguments &conv;
  /// The first pixel's window: its image or group, and the place of its first tap.
  int number, front, top, left;
  int filter;

  METHOD void begin(int row, int group, int column) {
    const u32 line = (u32)row / conv.size[2], plane = line / conv.size[1];
    // With groups, all images are inside of the group.
    number = plane / conv.size[0] + group;
    front = (int)(plane % conv.size[0]) * conv.stride[0] - conv.pad[0];
    top = (int)(line % conv.size[1]) * conv.stride[1] - conv.pad[1];
    left = (int)((u32)row % conv.size[2]) * conv.stride[2] - conv.pad[2];
    filter = column;
  }
  METHOD u32 stepsPerTap() const {
    return (conv.channels + kMatmulWgmmaStep - 1) / kMatmulWgmmaStep;
  }
  METHOD void copyLeft(u32 to, u32 step, u32 barrier) const {
    const u32 tap = step / stepsPerTap(), channel = step % stepsPerTap() * kMatmulWgmmaStep,
              line = tap / conv.taps[2];
    const int right = tap % conv.taps[2] * conv.dilation[2],
              down = line % conv.taps[1] * conv.dilation[1],
              back = line / conv.taps[1] * conv.dilation[0];
    if (conv.dims == 3)
      copyWindows(to, image, channel, left, top, front, number, right, down, back, barrier);
    else
      copyWindows(to, image, channel, left, top, number, right, down, barrier);
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
        bias, scale, residual, y, Windows{image, filters, conv, 0, 0, 0, 0, 0}, conv.product);     \
  }
#define CONVOY_CONVS(sharing, blocks, columns)                                                     \
  CONVOY_CONV(f16, f16, sharing, blocks, columns)                                                  \
  CONVOY_CONV(bf16, bf16, sharing, blocks, columns)
CONVOY_MATMUL_WGMMA_TILES(CONVOY_CONVS)
