// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of conv_narrow.cu on the host, for test_emulated_narrow.py.

#include "conv_narrow.cu"
#include "grid.h"

/// Runs a kernel for f16 or bf16. `scale` and `residual` may be null.
extern "C" void run(int isBf16, int sharedBytes, const void *x, const void *w, const void *bias,
                    const void *scale, const void *residual, void *y,
                    const ConvNarrowArguments *arguments) {
  const ConvNarrowArguments conv = *arguments;
  const int parts = (conv.outChannels + conv.filters - 1) / conv.filters;
  auto runAs = [&](auto kernel, auto element) {
    using T = decltype(element);
    auto in = [](const void *tensor) { return static_cast<const T *>(tensor); };
    runGrid(conv.blocks * parts, conv.warps * 32, 1, sharedBytes, [&] {
      kernel(in(x), in(w), in(bias), in(scale), in(residual), static_cast<T *>(y), conv);
    });
  };
  if (isBf16)
    runAs(convoy_conv_narrow_bf16, bf16());
  else
    runAs(convoy_conv_narrow_f16, f16());
}
