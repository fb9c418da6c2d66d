// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of copies.cu on the host, for test_emulated_copies.py.

#include "grid.h"

static unsigned blocks, number;
static unsigned __nvvm_read_ptx_sreg_nctaid_x() { return blocks; }
static unsigned __nvvm_read_ptx_sreg_ctaid_y() { return number; }

#pragma clang diagnostic ignored "-Wunknown-attributes"
#pragma clang diagnostic ignored "-Wignored-attributes"
#include "copies.cu"

/// Runs `count` copies, at most 8, with `perCopy` blocks each.
extern "C" void run(const ConvoyCopy *copies, unsigned count, unsigned perCopy) {
  Copies<8> all;
  for (unsigned i = 0; i < count; ++i)
    all.of[i] = copies[i];
  blocks = perCopy;
  for (number = 0; number < count; ++number)
    runGrid(static_cast<int>(perCopy), CONVOY_COPY_THREADS, 1, 0, [&] { convoy_copy_8(all); });
}
