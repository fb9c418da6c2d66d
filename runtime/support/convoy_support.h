// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* C code that is linked into every native library: the functions that generated code calls besides
   libm. It is internal to the library, except for `convoy_share_threads` of convoy_abi.h. */

#ifndef CONVOY_SUPPORT_H
#define CONVOY_SUPPORT_H

#include "../abi/convoy_abi.h"

/** Runs iterations `begin` to `end` - 1 of a loop on all cores; `body(environment, first, last)`
   runs iterations `first` to `last` - 1. Returns when all are done. Uses the threads of this
   library (CONVOY_NUM_THREADS of them, by default one for each core that the process may use), or
   the function passed to `convoy_share_threads`. A call from a body, or while the threads run
   another loop, is safe: it runs on the calling thread until the threads are free. */
void convoy_parallel_for(void (*body)(void *environment, int64_t first, int64_t last),
                         void *environment, int64_t begin, int64_t end);

#endif
