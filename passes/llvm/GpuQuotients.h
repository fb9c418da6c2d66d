// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Computes quotients in kernels by fewer instructions than a division.

#ifndef CONVOY_PASSES_LLVM_GPUQUOTIENTS_H
#define CONVOY_PASSES_LLVM_GPUQUOTIENTS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace convoy {

/// Rewrites f32 quotients by constants, and those by a sum of an exponential and a constant, as in
/// sigmoid, swish and tanh.
void simplifyQuotients(mlir::gpu::GPUModuleOp module);

} // namespace convoy

#endif // CONVOY_PASSES_LLVM_GPUQUOTIENTS_H
