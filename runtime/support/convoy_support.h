/* C code that is linked into every native library: what generated code calls beside libm. Not part of the ABI, because it never leaves the
   library. */

#ifndef CONVOY_SUPPORT_H
#define CONVOY_SUPPORT_H

#include <stdint.h>

/** Runs steps `begin` to `end` - 1 of a loop on all cores; `body(environment, first, last)` does steps `first` to `last` - 1. Returns when all
    are done. As many threads as CONVOY_NUM_THREADS says, else one for each core that the process may use. Two callers at once are safe: the
    second one works alone. */
void convoy_parallel_for(void (*body)(void *environment, int64_t first, int64_t last), void *environment, int64_t begin, int64_t end);

#endif
