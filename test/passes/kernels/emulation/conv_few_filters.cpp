// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of conv_few_filters.cu on the host, for test_emulated_few_filters.py.

#include "conv_few_filters.cu"
#include "grid.h"

/// Runs a kernel for f16 or bf16. `scale` and `residual` may be null.
extern "C" void run(int isBf16, int sharedBytes, const void *x, const void *w, const void *bias,
                    const void *scale, const void *residual, void *y,
                    const ConvFewFiltersArguments *arguments) {
  const ConvFewFiltersArguments conv = *arguments;
  auto runAs = [&](auto kernel, auto element) {
    using T = decltype(element);
    auto in = [](const void *tensor) { return static_cast<const T *>(tensor); };
    runGrid(conv.blocks, conv.warps * 32, 1, sharedBytes, [&] {
      kernel(in(x), in(w), in(bias), in(scale), in(residual), static_cast<T *>(y), conv);
    });
  };
  if (isBf16)
    runAs(convoy_conv_few_filters_bf16, bf16());
  else
    runAs(convoy_conv_few_filters_f16, f16());
}
