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

} // namespace convoy

#endif // CONVOY_PASSES_PLAN_ACCESSES_H
