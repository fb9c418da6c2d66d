// From a plan to a gpu.func: one thread an output element (or a few), several an output of a long
// reduction.

#ifndef CONVOY_PASSES_HOST_GPUKERNELEMIT_H
#define CONVOY_PASSES_HOST_GPUKERNELEMIT_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "passes/host/GpuKernelPlan.h"

namespace convoy::host {

struct Kernel {
  mlir::gpu::GPUFuncOp func;
  llvm::SmallVector<mlir::Value>
      arguments; ///< roots of memrefs, in the order of the kernel's arguments
};

/// Builds `plan` at `builder`, which stands in a gpu.module. The kernel is launched with
/// `plan.threads()` threads in blocks of kBlockThreads. Emits an error and builds nothing when the
/// payload uses a value that is neither constant nor loaded from a static memref.
mlir::FailureOr<Kernel> emitKernel(const KernelPlan &plan, mlir::OpBuilder &builder,
                                   llvm::StringRef name);

} // namespace convoy::host

#endif // CONVOY_PASSES_HOST_GPUKERNELEMIT_H
