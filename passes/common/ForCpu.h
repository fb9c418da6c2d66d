// Selects functions that run on the CPU: all functions of a cpu program, and @prepare_weights of
// every program.

#ifndef CONVOY_PASSES_COMMON_FORCPU_H
#define CONVOY_PASSES_COMMON_FORCPU_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace convoy {

/// Whether a function's `tcp.target` is the CPU.
inline bool isForCpu(mlir::Operation *function) {
  auto target = function->getAttrOfType<mlir::StringAttr>("tcp.target");
  return target && target.getValue() == "cpu";
}

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_FORCPU_H
