// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The target of a module, for tools and passes that see the module before its target is set.

#ifndef CONVOY_PASSES_COMMON_PROGRAM_H
#define CONVOY_PASSES_COMMON_PROGRAM_H

#include "dialect/tcp/TcpOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace convoy {

/// `tcp.target` of `@main` or of the module; nothing if both have none.
std::optional<tcp::Target> declaredTarget(mlir::ModuleOp module);

/// The first op that only a GPU can run, or null.
mlir::Operation *findGpuOp(mlir::ModuleOp module);

/// The declared target; without one, `cuda` if an op needs a GPU or there are groups, else nothing.
std::optional<tcp::Target> programTarget(mlir::ModuleOp module);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_PROGRAM_H
