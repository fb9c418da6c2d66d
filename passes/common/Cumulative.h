// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The form of running totals in linalg: a generic with one reduced dim and two results. The first
// one, the totals, varies along that dim; the second one, the total of the row, does not:
//
//   ^bb0(%x, %y, %total):
//     %next = combine %total, %x
//     yield %next, %next
//
// where %x may be extended before, and the first %next truncated.

#ifndef CONVOY_PASSES_COMMON_CUMULATIVE_H
#define CONVOY_PASSES_COMMON_CUMULATIVE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace convoy {

/// On such an op: one thread has all elements of a row, so that each total is the sum of the one
/// before it and an element, after rounding too.
inline constexpr llvm::StringLiteral kInOrderAttr = "tcp.in_order";

/// The op that combines a total and an element if `op` computes running totals, else null.
mlir::Operation *cumulativeCombiner(mlir::linalg::LinalgOp op);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_CUMULATIVE_H
