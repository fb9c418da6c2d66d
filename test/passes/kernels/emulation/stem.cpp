// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of stem.cu on the host, for test_emulated_stem.py.

#include "stem.cu"
#include "grid.h"

extern "C" void run(void *kernel, int blocks, int threads, int sharedBytes, const void *x,
                    const void *w, const void *bias, void *y, const StemArguments *arguments) {
  auto *const function =
      reinterpret_cast<void (*)(const void *, const void *, const void *, void *, StemArguments)>(
          kernel);
  runGrid(blocks, threads, 1, sharedBytes, [&] { function(x, w, bias, y, *arguments); });
}
