// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Views whose offset depends on the step of a loop.

#ifndef CONVOY_PASSES_PLAN_LOOPSLICES_H
#define CONVOY_PASSES_PLAN_LOOPSLICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace convoy {

/// The `memref.subview`s of `memref` and of its views whose offset is not constant.
llvm::SmallVector<mlir::memref::SubViewOp> loopSlices(mlir::Value memref);

/// Makes loop slices of the arena views of the arena, with a static layout and a byte shift that
/// depends on the step: generated code and kernels have bare pointers as arguments.
void shiftLoopSlices(mlir::func::FuncOp function);

} // namespace convoy

#endif // CONVOY_PASSES_PLAN_LOOPSLICES_H
