// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Infers the shapes of all values of a function from those that are bound to symbols.

#ifndef CONVOY_PASSES_COMMON_SYMBOLICSHAPES_H
#define CONVOY_PASSES_COMMON_SYMBOLICSHAPES_H

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

namespace convoy {

/// The symbols that a function declares, in order.
llvm::SmallVector<tcp::SymbolicIntOp> symbolsOf(mlir::func::FuncOp function);

/// The shape that a `tcp.bind_symbolic_shape` gives `value`, or null.
tcp::BindSymbolicShapeOp bindingOf(mlir::Value value);

/// The shapes of values. Dims that do not follow from bound shapes are unknown.
using SymbolicShapes = llvm::DenseMap<mlir::Value, tcp::Dims>;

/// Infers the shapes of all arguments, results and block arguments inside of a function.
///
/// `values` has what stands for each of its symbols: an expression of `symbols`, or a number. Emits
/// an error if the operands of an op contradict each other, or an op its result's type or bound
/// shape.
llvm::FailureOr<SymbolicShapes> inferSymbolicShapes(mlir::func::FuncOp function,
                                                    const tcp::Symbols &symbols,
                                                    llvm::ArrayRef<mlir::AffineExpr> values);

/// While it exists, errors have a note at `place`.
class NotedErrors {
public:
  NotedErrors(mlir::Location place, std::string note);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_SYMBOLICSHAPES_H
