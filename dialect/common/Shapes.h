// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shape utilities shared by the dialects: broadcasting, and checks of integer lists.

#ifndef CONVOY_DIALECT_COMMON_SHAPES_H
#define CONVOY_DIALECT_COMMON_SHAPES_H

#include "mlir/IR/Operation.h"
#include <string>

namespace convoy {

/// Formats `array` for messages, e.g. `[1, 64, 56, 56]`, with `?` for dynamic sizes.
std::string str(llvm::ArrayRef<int64_t> array);

/// Broadcast of shapes of equal rank; failure when two dims differ and neither is 1.
mlir::FailureOr<llvm::SmallVector<int64_t>>
broadcastShape(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// Checks that the attribute `name` has `count` numbers of at least `minimum`.
llvm::LogicalResult expectCount(mlir::Operation *op, llvm::StringRef name,
                                llvm::ArrayRef<int64_t> values, int64_t count, int64_t minimum);

} // namespace convoy

#endif // CONVOY_DIALECT_COMMON_SHAPES_H
