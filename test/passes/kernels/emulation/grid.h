// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs the grid of a kernel on the host.

#ifndef CONVOY_EMULATION_GRID_H
#define CONVOY_EMULATION_GRID_H

#include <functional>

/// Runs `kernel` once for each thread of `blocks` blocks of `threads` threads, in clusters of
/// `cluster` blocks with `sharedBytes` bytes of shared memory each. Threads take turns at barriers,
/// in an order that changes, so that a missing barrier changes results. Shared memory begins with
/// NaN. Stops the process if no thread can go on.
void runGrid(int blocks, int threads, int cluster, int sharedBytes,
             const std::function<void()> &kernel);

#endif // CONVOY_EMULATION_GRID_H
