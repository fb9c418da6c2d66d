// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* The kernels that copy the inputs of a run (runtime/device/copies.cu), as PTX. */

#include "../abi/convoy_abi.h"

static const char ptx[] = {
#embed "copies.ptx" suffix(, )
    0};

__attribute__((visibility("default"))) const char *convoy_copy_kernels(void) { return ptx; }
