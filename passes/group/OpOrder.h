// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The order of the ops of a block, and the bytes that are live at the same time in it.

#ifndef CONVOY_PASSES_GROUP_OPORDER_H
#define CONVOY_PASSES_GROUP_OPORDER_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace convoy {

/// Ops, and the buffers that they access. Ops are numbered in the order of their block.
struct OrderProblem {
  /// The live range of a buffer is from its writer to its last reader.
  struct Buffer {
    int64_t bytes;
    unsigned writer;
    llvm::SmallVector<unsigned> readers; ///< ascending
  };

  struct Op {
    llvm::SmallVector<unsigned> after; ///< the ops that it must follow
    /// The buffers whose bytes its results take if no later op reads them.
    llvm::SmallVector<unsigned> overwrites;
  };

  llvm::SmallVector<Op, 0> ops;
  llvm::SmallVector<Buffer, 0> buffers;
};

/// The numbers of the ops, first to last.
using OpOrder = llvm::SmallVector<unsigned, 0>;

/// The most bytes that are live at the same time in the order of the block, or in `order`.
int64_t peakOf(const OrderProblem &problem);
int64_t peakOf(const OrderProblem &problem, const OpOrder &order);

/// An order with a lower peak, or nullopt if none is found. Only ops that read or write a buffer
/// which lives through the peak move: what reads it is computed before the peak, or what writes it
/// after the peak. All other ops keep their order. The time is linear in the number of ops.
std::optional<OpOrder> lowerPeak(const OrderProblem &problem);

} // namespace convoy

#endif // CONVOY_PASSES_GROUP_OPORDER_H
