// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Views of a buffer whose layout changes.

#ifndef CONVOY_PASSES_PLAN_VIEWS_H
#define CONVOY_PASSES_PLAN_VIEWS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace convoy {

/// Calls `visit` with each op that uses `memref` or a view of it and is no view itself, until one
/// call returns false. Returns whether none did.
bool walkUsers(mlir::Value memref, llvm::function_ref<bool(mlir::Operation *)> visit);

/// Whether `op`, or an op in its regions, may write `root` or a view of it.
bool writes(mlir::Operation *op, mlir::Value root);

/// Whether all views of `memref` exist if its type is `type`, which has the same shape: subviews,
/// reshapes whose dims can be merged, and casts.
bool areViewsValid(mlir::Value memref, mlir::MemRefType type);

/// The type of the memref of which `view`, a reshape or a cast, would be of `type`, or nullopt if
/// its dims cannot be merged.
std::optional<mlir::MemRefType> inverseViewType(mlir::Operation *view, mlir::MemRefType type);

/// The memref whose `view` is `value`.
mlir::Value inverseView(mlir::OpBuilder &builder, mlir::Operation *view, mlir::Value value);

/// Replaces `view` by `value`, which has another layout, and updates the layouts of its views.
void replaceView(mlir::Value view, mlir::Value value);

} // namespace convoy

#endif // CONVOY_PASSES_PLAN_VIEWS_H
