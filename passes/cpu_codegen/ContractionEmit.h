// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the loops of a contraction.

#ifndef CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEMIT_H
#define CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEMIT_H

#include "passes/cpu_codegen/Contraction.h"
#include "passes/cpu_codegen/VectorUnit.h"

namespace convoy {

/// Emits `contraction` at the builder's insertion point: `scf.parallel` over tiles, with vector ops
/// inside.
void emitContraction(mlir::OpBuilder &builder, Contraction contraction, VectorUnit unit);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEMIT_H
