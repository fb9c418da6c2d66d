// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The scalar code of elementwise ops.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_SCALARCODE_H
#define CONVOY_PASSES_TCP_TO_LINALG_SCALARCODE_H

#include "mlir/IR/Builders.h"

namespace convoy {

/// Builds the scalar code of an elementwise op. Float operands have the compute type; the result
/// has the compute type of the op's result. It is null if the op does not support the element type.
mlir::Value scalarCode(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *op,
                       mlir::ValueRange args);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_SCALARCODE_H
