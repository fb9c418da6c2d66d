// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the loops of a contraction.

#ifndef CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEMIT_H
#define CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEMIT_H

#include "passes/cpu_codegen/Contraction.h"

namespace convoy {

/// The vector unit: f32 elements per register, and the number of registers.
struct VectorUnit {
  int64_t lanes, registers;
};

/// Channels per block of a packed filter for this vector unit: two registers.
inline int64_t packedBlock(int64_t lanes) { return 2 * lanes; }

/// Emits `contraction` at the builder's insertion point: `scf.parallel` over tiles, with vector ops
/// inside.
void emitContraction(mlir::OpBuilder &builder, Contraction contraction, VectorUnit unit);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEMIT_H
