// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// When loops are distributed over threads.

#ifndef CONVOY_PASSES_CPU_CODEGEN_PARALLELWORK_H
#define CONVOY_PASSES_CPU_CODEGEN_PARALLELWORK_H

#include <cstdint>

namespace convoy {

/// Loop nests with fewer iterations run on the calling thread: distributing them costs some
/// microseconds.
inline constexpr int64_t kMinParallelWork = 1 << 14;

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_PARALLELWORK_H
