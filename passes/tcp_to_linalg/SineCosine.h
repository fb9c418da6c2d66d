// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The expansions of sin and cos.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_SINECOSINE_H
#define CONVOY_PASSES_TCP_TO_LINALG_SINECOSINE_H

#include "passes/tcp_to_linalg/Number.h"

namespace convoy {

/// sin (`shift` 0) or cos (`shift` 1) of any number; NaN for infinities and NaN. `onGpu`, small
/// numbers of type f32 take a shorter branch.
Number sinOrCos(Number x, int64_t shift, bool onGpu);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_SINECOSINE_H
