// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Values that are views of others: reshapes, transposes and slices.

#ifndef CONVOY_PASSES_FUSION_STRIDEDVIEW_H
#define CONVOY_PASSES_FUSION_STRIDEDVIEW_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace convoy {

/// Whether `op` can be a view: a reshape, a transpose or a slice.
bool isView(mlir::Operation *op);

/// A value as elements of another, packed one.
struct StridedView {
  mlir::Value base;
  int64_t offset = 0; ///< in elements, like the strides
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<mlir::Operation *> ops; ///< the ops between, in order
};

/// `value` as a view of the first value, going upwards through ops for which `isIncluded` is true,
/// that strides can express it of.
StridedView stridedViewOf(mlir::Value value,
                          llvm::function_ref<bool(mlir::Operation *)> isIncluded);

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_STRIDEDVIEW_H
