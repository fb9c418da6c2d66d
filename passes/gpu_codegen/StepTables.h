// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_PASSES_GPU_CODEGEN_STEPTABLES_H
#define CONVOY_PASSES_GPU_CODEGEN_STEPTABLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace convoy::gpu_codegen {

/// Computes the elements of tables with `tcp.steps` in the payloads that read them, as
/// (index + shift) / divisor: an unsigned division, which tells the mapping and the emitter which
/// neighboring iterations have the same positions.
void computeSteps(mlir::func::FuncOp func);

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_STEPTABLES_H
