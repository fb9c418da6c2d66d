// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The vector unit that code is generated for.

#ifndef CONVOY_PASSES_CPU_CODEGEN_VECTORUNIT_H
#define CONVOY_PASSES_CPU_CODEGEN_VECTORUNIT_H

#include <cstdint>

namespace convoy {

/// The vector unit: f32 elements per register, and the number of registers.
struct VectorUnit {
  int64_t lanes, registers;
};

/// Channels per block of a packed filter for this vector unit: two registers.
inline int64_t packedBlock(int64_t lanes) { return 2 * lanes; }

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_VECTORUNIT_H
