// Writes the loops of one contraction.

#ifndef CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEMIT_H
#define CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEMIT_H

#include "passes/cpu_codegen/Contraction.h"

namespace convoy {

/// The vector unit: f32 elements of a register, and how many registers there are.
struct VectorUnit {
  int64_t lanes, registers;
};

/// Channels of a block of a packed filter for which tiles of this unit are made: two registers.
inline int64_t packedBlock(int64_t lanes) { return 2 * lanes; }

/// Emits the whole of `contraction` at the builder's place: `scf.parallel` over tiles, vectors
/// inside.
void emitContraction(mlir::OpBuilder &builder, Contraction contraction, VectorUnit unit);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEMIT_H
