// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The memory that an op reads and writes, for passes that move ops.

#ifndef CONVOY_PASSES_PLAN_ACCESSES_H
#define CONVOY_PASSES_PLAN_ACCESSES_H

#include "passes/common/Buffers.h"

namespace convoy {

/// The bytes behind `memref`, all steps of a loop included. Fails if they are unknown.
mlir::FailureOr<ByteRange> rangeOf(mlir::Value memref);

/// The memrefs that `op` may write.
llvm::SmallVector<mlir::Value> memrefsWrittenBy(mlir::Operation *op);

/// An op and the bytes that it accesses. A failure stands for any bytes.
struct Access {
  mlir::Operation *op = nullptr;
  llvm::SmallVector<mlir::FailureOr<ByteRange>> touched, written;

  /// Whether the order of the two matters.
  bool conflictsWith(const Access &other) const;
};

/// The ops of `block` in order, with the memory that they access. Views and allocations are left
/// out: they move with the ops that use them.
llvm::SmallVector<Access, 0> accessesOf(mlir::Block &block);

} // namespace convoy

#endif // CONVOY_PASSES_PLAN_ACCESSES_H
