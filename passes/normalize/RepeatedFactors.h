// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products with a weight that a model repeats for each matrix of a batch, as for each sentence.

#ifndef CONVOY_PASSES_NORMALIZE_REPEATEDFACTORS_H
#define CONVOY_PASSES_NORMALIZE_REPEATEDFACTORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace convoy {

/// Multiplies all rows that have an equal right factor by one copy of it.
void mergeRepeatedFactors(mlir::func::FuncOp function);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_REPEATEDFACTORS_H
