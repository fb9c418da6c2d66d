// What the dialects say of shapes in the same words: broadcasting, and the checks of lists of
// numbers.

#ifndef CONVOY_DIALECT_COMMON_SHAPES_H
#define CONVOY_DIALECT_COMMON_SHAPES_H

#include "mlir/IR/Operation.h"
#include <string>

namespace convoy {

/// `array` in the form in which shapes are printed in messages, as [1, 64, 56, 56].
std::string str(llvm::ArrayRef<int64_t> array);

/// Broadcast of shapes of equal rank; failure when two dims differ and neither is 1.
mlir::FailureOr<llvm::SmallVector<int64_t>>
broadcastShape(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// Checks that the attribute `name` has `count` numbers, none below `minimum`.
llvm::LogicalResult expectCount(mlir::Operation *op, llvm::StringRef name,
                                llvm::ArrayRef<int64_t> values, int64_t count, int64_t minimum);

} // namespace convoy

#endif // CONVOY_DIALECT_COMMON_SHAPES_H
