// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of attention_wgmma.cu on the host, for test_emulated_attention.py.

#include "attention_wgmma.cu"
#include "grid.h"

/// Runs a kernel for f16 or bf16. `mask` may be null.
extern "C" void run(void *kernel, int blocks, int threads, int sharedBytes, const void *q,
                    const void *k, const void *v, const void *mask, void *y, float *stats,
                    const AttentionWgmmaArguments *arguments) {
  auto *const function =
      reinterpret_cast<void (*)(const void *, const void *, const void *, const void *, void *,
                                float *, AttentionWgmmaArguments)>(kernel);
  runGrid(blocks, threads, 1, sharedBytes, [&] { function(q, k, v, mask, y, stats, *arguments); });
}
