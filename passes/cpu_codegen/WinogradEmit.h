// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the loops of a 3x3 convolution by Winograd's algorithm.

#ifndef CONVOY_PASSES_CPU_CODEGEN_WINOGRADEMIT_H
#define CONVOY_PASSES_CPU_CODEGEN_WINOGRADEMIT_H

#include "passes/cpu_codegen/Contraction.h"
#include "passes/cpu_codegen/VectorUnit.h"

namespace convoy {

/// Emits `contraction`, for which canUseWinograd (WinogradTiles.h) is true, at the builder's
/// insertion point: `scf.parallel` over blocks of tiles, with scratch buffers on the stack.
void emitWinograd(mlir::OpBuilder &builder, Contraction contraction, VectorUnit unit);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_WINOGRADEMIT_H
