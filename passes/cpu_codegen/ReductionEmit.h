// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits reductions whose neighbouring results reduce neighbouring elements, such as poolings and
// means over the pixels of channels-last images.

#ifndef CONVOY_PASSES_CPU_CODEGEN_REDUCTIONEMIT_H
#define CONVOY_PASSES_CPU_CODEGEN_REDUCTIONEMIT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/cpu_codegen/VectorUnit.h"

namespace convoy {

/// Emits `reduction`, an op on f32 memrefs, before it: vectors of results stay in registers over
/// the whole reduction. Returns false, and emits nothing, if the op has another form. The initial
/// values are those in memory, or the number that a fill directly before writes, which is then
/// erased.
bool emitReduction(mlir::OpBuilder &builder, mlir::linalg::LinalgOp reduction, VectorUnit unit);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_REDUCTIONEMIT_H
