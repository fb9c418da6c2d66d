// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Limits the sizes of buffers, so that sizes, strides and offsets fit into 64 bits.

#ifndef CONVOY_PASSES_COMMON_SIZES_H
#define CONVOY_PASSES_COMMON_SIZES_H

#include "dialect/tcp/TcpOps.h"

namespace convoy {

/// Emits an error for the first op inside `root` with an operand or result of more than
/// `tcp::kMaxElements` elements.
inline llvm::LogicalResult verifySizes(mlir::Operation *root) {
  mlir::WalkResult walk = root->walk([](mlir::Operation *op) {
    for (mlir::TypeRange types :
         {mlir::TypeRange(op->getOperandTypes()), mlir::TypeRange(op->getResultTypes())})
      for (mlir::Type type : types) {
        auto shaped = llvm::dyn_cast<mlir::ShapedType>(type);
        if (!shaped || !shaped.hasRank() || tcp::hasTensorSize(shaped))
          continue;
        op->emitOpError("expects tensors and buffers of at most 2^40 elements, but got ") << type;
        return mlir::WalkResult::interrupt();
      }
    return mlir::WalkResult::advance();
  });
  return llvm::failure(walk.wasInterrupted());
}

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_SIZES_H
