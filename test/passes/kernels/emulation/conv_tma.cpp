// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of conv_tma.cu on the host, for test_emulated_conv.py, which uses these tiles.

#include "kernel_abi.h"
#undef CONVOY_MATMUL_WGMMA_TILES
#define CONVOY_MATMUL_WGMMA_TILES(X) X(1, 1, 64) X(1, 2, 96) X(2, 1, 128)
#include "conv_tma.cu"
#include "grid.h"

namespace {
template <typename T>
using Kernel = void(const T *, const T *, const T *, T *, TensorMap, TensorMap, ConvTmaArguments);

template <typename T>
void runAs(void *kernel, int sharedBytes, const void *bias, const void *residual, void *y,
           TensorMap images, TensorMap filters, const ConvTmaArguments &conv) {
  runGrid(conv.product.blocks, kMatmulWgmmaThreads, 1, sharedBytes, [&] {
    reinterpret_cast<Kernel<T> *>(kernel)(static_cast<const T *>(bias), nullptr,
                                          static_cast<const T *>(residual), static_cast<T *>(y),
                                          images, filters, conv);
  });
}
} // namespace

/// Runs a kernel for f16 or bf16.
extern "C" void run(int isBf16, void *kernel, int sharedBytes, const void *bias,
                    const void *residual, void *y, const EmulatedMap *images,
                    const EmulatedMap *filters, const ConvTmaArguments *conv) {
  (isBf16 ? runAs<bf16> : runAs<f16>)(kernel, sharedBytes, bias, residual, y, images, filters,
                                      *conv);
}
