// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The base class of passes on static shapes.

#ifndef CONVOY_PASSES_COMMON_STATICSHAPES_H
#define CONVOY_PASSES_COMMON_STATICSHAPES_H

#include "mlir/Pass/Pass.h"

namespace convoy {

/// Emits an error for the first op inside `root` that has a tensor with a `?`, or that declares or
/// uses symbols.
llvm::LogicalResult verifyStaticShapes(mlir::Operation *root);

/// A pass that fails, without a change, if a tensor has a `?`.
template <typename OpT> class StaticShapesPass : public mlir::OperationPass<OpT> {
public:
  using mlir::OperationPass<OpT>::OperationPass;

  void runOnOperation() final {
    if (failed(verifyStaticShapes(this->getOperation())))
      return this->signalPassFailure();
    runOnStaticShapes();
  }

  /// `runOnOperation` of a pass whose op has static shapes only.
  virtual void runOnStaticShapes() = 0;
};

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_STATICSHAPES_H
