// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds the ops that a compilation keeps in f32, by their names on the command line.

#ifndef CONVOY_PASSES_NORMALIZE_KEPTOPS_H
#define CONVOY_PASSES_NORMALIZE_KEPTOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace convoy {

/// Finds the ops of a function with one block that each of `names` selects:
///
///   - `tcp.softmax` or `softmax`: the ops of this type;
///   - `model.py:12`: the ops of this line; the file may be the end of a path;
///   - `layer1.0.conv1`: the ops that use a weight of this module, or this weight.
///
/// Fails with an error, which lists the nearest names, for a name that selects none.
mlir::FailureOr<llvm::DenseSet<mlir::Operation *>> findKeptOps(mlir::func::FuncOp function,
                                                               llvm::ArrayRef<std::string> names);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_KEPTOPS_H
