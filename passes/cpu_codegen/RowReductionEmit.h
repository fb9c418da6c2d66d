// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits reductions of contiguous elements, such as the maximum and the sum of a softmax over the
// last dim.

#ifndef CONVOY_PASSES_CPU_CODEGEN_ROWREDUCTIONEMIT_H
#define CONVOY_PASSES_CPU_CODEGEN_ROWREDUCTIONEMIT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/cpu_codegen/VectorUnit.h"

namespace convoy {

/// Emits `reduction`, an op on f32 memrefs, before it: sums in any order, maxima and minima over
/// dims of which the innermost is contiguous. Returns false, and emits nothing, if the op has
/// another form. The initial values are those in memory, or the number that a fill directly before
/// writes, which is then erased.
bool emitRowReduction(mlir::OpBuilder &builder, mlir::linalg::LinalgOp reduction, VectorUnit unit);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_ROWREDUCTIONEMIT_H
