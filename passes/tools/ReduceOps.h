// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The pass `reduce-ops` of convoy-reduce.

#ifndef CONVOY_PASSES_TOOLS_REDUCEOPS_H
#define CONVOY_PASSES_TOOLS_REDUCEOPS_H

namespace convoy {

/// Registers `reduce-ops`, which erases and replaces ops one by one as long as the module remains
/// interesting. Its options `test` and `test-arg` are those of MLIR's reduction passes.
void registerReduceOpsPass();

} // namespace convoy

#endif // CONVOY_PASSES_TOOLS_REDUCEOPS_H
