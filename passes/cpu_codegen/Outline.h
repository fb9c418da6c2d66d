// Loops become functions, and those that do the same become one: layers of one shape share their
// code, and no function grows with the number of layers, which LLVM's time for it would do faster.

#ifndef CONVOY_PASSES_CPU_CODEGEN_OUTLINE_H
#define CONVOY_PASSES_CPU_CODEGEN_OUTLINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

namespace convoy {

/// Outlines loops of one function into private functions before it, which are named after it and
/// `kind`.
class LoopOutliner {
public:
  LoopOutliner(mlir::func::FuncOp parent, llvm::StringRef kind, mlir::SymbolTable &symbols)
      : parent(parent), kind(kind), symbols(symbols) {}

  /// Replaces `loop`, which has no results, with a call of a function. The function's arguments are
  /// `leading`, whatever the loop's regions use of the outside, and `used`, but no constants, which
  /// it has itself. `fill` writes its body: it is given the arguments that stand for `leading`, and
  /// the values inside for those outside.
  mlir::func::CallOp
  outline(mlir::Operation *loop, mlir::ValueRange leading, mlir::ValueRange used,
          llvm::function_ref<void(mlir::OpBuilder &builder, mlir::ValueRange leading,
                                  mlir::IRMapping &mapping)>
              fill);

private:
  /// `body`, or the function that was made before and does the same.
  mlir::func::FuncOp share(mlir::func::FuncOp body);

  mlir::func::FuncOp parent;
  llvm::StringRef kind;
  mlir::SymbolTable &symbols;
  llvm::SmallVector<mlir::func::FuncOp> bodies;
};

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_OUTLINE_H
