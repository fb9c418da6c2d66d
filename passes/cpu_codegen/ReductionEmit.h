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

/// Whether `value` is a memref of f32 with a static shape, strides and offset.
bool isStaticF32(mlir::Value value);

/// The fill of the output of `op`, which has `results` results, if it is directly before and `op`
/// overwrites all of it; null otherwise.
mlir::linalg::FillOp fillBefore(mlir::linalg::LinalgOp op, int64_t results);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_REDUCTIONEMIT_H
