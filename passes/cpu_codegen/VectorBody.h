// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Vectorizes the body of an elementwise op.

#ifndef CONVOY_PASSES_CPU_CODEGEN_VECTORBODY_H
#define CONVOY_PASSES_CPU_CODEGEN_VECTORBODY_H

#include "mlir/IR/Builders.h"

namespace convoy {

/// Clones the ops of `body` with vectors of `lanes` and returns its first yielded value. `inputs`
/// replace its first arguments; scalars from above are broadcast. All ops must have one result and
/// accept vectors like scalars.
mlir::Value vectorizeBody(mlir::OpBuilder &builder, mlir::Block *body,
                          llvm::ArrayRef<mlir::Value> inputs, int64_t lanes);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_VECTORBODY_H
