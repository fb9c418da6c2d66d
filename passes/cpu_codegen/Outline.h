// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Outlines loops to functions and merges equal functions: layers of equal shape share their code,
// and no function grows with the number of layers, which would make LLVM's compile time
// superlinear.

#ifndef CONVOY_PASSES_CPU_CODEGEN_OUTLINE_H
#define CONVOY_PASSES_CPU_CODEGEN_OUTLINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

namespace convoy {

/// Outlines loops of one function to private functions before it, named after it and `kind`.
class LoopOutliner {
public:
  LoopOutliner(mlir::func::FuncOp parent, llvm::StringRef kind, mlir::SymbolTable &symbols)
      : parent(parent), kind(kind), symbols(symbols) {}

  /// Replaces `loop`, which has no results, with a call of a function. The function's arguments are
  /// `leading`, the values from above that the loop's regions use, and `used`; constants are cloned
  /// instead. `fill` builds the body from the arguments for `leading` and a mapping of the captured
  /// values.
  mlir::func::CallOp
  outline(mlir::Operation *loop, mlir::ValueRange leading, mlir::ValueRange used,
          llvm::function_ref<void(mlir::OpBuilder &builder, mlir::ValueRange leading,
                                  mlir::IRMapping &mapping)>
              fill);

private:
  /// `body`, or an equal function that exists already.
  mlir::func::FuncOp share(mlir::func::FuncOp body);

  mlir::func::FuncOp parent;
  llvm::StringRef kind;
  mlir::SymbolTable &symbols;
  llvm::SmallVector<mlir::func::FuncOp> bodies;
};

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_OUTLINE_H
