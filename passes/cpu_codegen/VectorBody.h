// The body of an elementwise op on whole vectors.

#ifndef CONVOY_PASSES_CPU_CODEGEN_VECTORBODY_H
#define CONVOY_PASSES_CPU_CODEGEN_VECTORBODY_H

#include "mlir/IR/Builders.h"

namespace convoy {

/// What `body` yields first, on vectors of `lanes`: each of its ops once, with `inputs` for its
/// first arguments. Scalars from outside are broadcast. Its ops have one result each and take
/// vectors as they take scalars.
mlir::Value vectorizeBody(mlir::OpBuilder &builder, mlir::Block *body,
                          llvm::ArrayRef<mlir::Value> inputs, int64_t lanes);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_VECTORBODY_H
