// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which generics move elements, or compute so little that their readers may do it themselves.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_MOVES_H
#define CONVOY_PASSES_TCP_TO_LINALG_MOVES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace convoy {

/// Whether `op` reads tensors by index, with `tensor.extract`.
bool readsByIndex(mlir::linalg::LinalgOp op);

/// Whether `op` moves elements, or adds and multiplies them, each of which is computed from its
/// index alone. An op that reads along another dim than it writes is faster as a kernel of its own.
bool isMove(mlir::linalg::LinalgOp op);

/// Whether `move`, which may compute, is not computed more often, or from more bytes, than a reader
/// would read, or interpolates for a reader that interpolates too. The input of a concat stays,
/// because its kernel may write into the concat.
bool isWorthwhile(mlir::linalg::LinalgOp move, mlir::ArrayRef<mlir::OpOperand *> uses);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_MOVES_H
