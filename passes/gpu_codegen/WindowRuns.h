// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loads of a payload whose elements, for neighboring results and all iterations of a short
// reduction, are neighbors in memory: the windows of a pooling that slide along a row. A thread
// loads such a run in a few wide loads, and elements that windows share only once.

#ifndef CONVOY_PASSES_GPU_CODEGEN_WINDOWRUNS_H
#define CONVOY_PASSES_GPU_CODEGEN_WINDOWRUNS_H

#include "passes/gpu_codegen/KernelMapping.h"

namespace convoy::gpu_codegen {

/// Sets the runs of the payload of `plan`, and the reduction loops that a thread unrolls for them.
/// May lower `lanes`, so that the runs of neighboring threads stay close together.
void findRuns(KernelMapping &plan);

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_WINDOWRUNS_H
