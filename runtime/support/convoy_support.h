/* C code that is linked into every native library: what generated code calls beside libm. It never
   leaves the library; what the loader sees of it is `convoy_share_threads` of convoy_abi.h. */

#ifndef CONVOY_SUPPORT_H
#define CONVOY_SUPPORT_H

#include "../abi/convoy_abi.h"

/** Runs steps `begin` to `end` - 1 of a loop on all cores; `body(environment, first, last)` does
   steps `first` to `last` - 1. Returns when all are done. The threads are those of this library, as
   many as CONVOY_NUM_THREADS says, else one for each core that the process may use, or those that
   `convoy_share_threads` was given. A call from a body, and a call while the threads run another
   loop, is safe: that loop runs on the calling thread, until the threads are free. */
void convoy_parallel_for(void (*body)(void *environment, int64_t first, int64_t last),
                         void *environment, int64_t begin, int64_t end);

#endif
