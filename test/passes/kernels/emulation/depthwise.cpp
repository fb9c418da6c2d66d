// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of depthwise.cu on the host, for test_emulated_depthwise.py.

#include "depthwise.cu"
#include "grid.h"

/// Pointers to input, filter, bias, scale, residual and result. Scale and residual may be null.
struct Tensors {
  const void *x, *w, *bias, *scale, *residual;
  void *y;
};

#define CONVOY_RUN(channels, T, name, pixels)                                                      \
  extern "C" void run_##name##_##channels##x##pixels(                                              \
      int blocks, int sharedBytes, const Tensors *tensors, const DepthwiseArguments *arguments) {  \
    const DepthwiseArguments conv = *arguments;                                                    \
    auto in = [](const void *tensor) { return static_cast<const T *>(tensor); };                   \
    runGrid(blocks, conv.lanes * conv.strips * conv.rows, 1, sharedBytes, [&] {                    \
      convoy_depthwise_##name##_##channels##x##pixels(                                             \
          in(tensors->x), in(tensors->w), in(tensors->bias), in(tensors->scale),                   \
          in(tensors->residual), static_cast<T *>(tensors->y), conv);                              \
    });                                                                                            \
  }
#define CONVOY_RUN_F16(pixels) CONVOY_DEPTHWISE_CHANNELS(CONVOY_RUN, f16, f16, pixels)
#define CONVOY_RUN_BF16(pixels) CONVOY_DEPTHWISE_CHANNELS(CONVOY_RUN, bf16, bf16, pixels)
#define CONVOY_RUN_F32(pixels) CONVOY_DEPTHWISE_CHANNELS(CONVOY_RUN, float, f32, pixels)
CONVOY_DEPTHWISE_PIXELS(CONVOY_RUN_F16)
CONVOY_DEPTHWISE_PIXELS(CONVOY_RUN_BF16)
CONVOY_DEPTHWISE_PIXELS(CONVOY_RUN_F32)
