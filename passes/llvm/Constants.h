// Constants that generated code reads by address: payloads and texts.

#ifndef CONVOY_PASSES_LLVM_CONSTANTS_H
#define CONVOY_PASSES_LLVM_CONSTANTS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace convoy {

/// Private constants of one module, each content once.
class Constants {
public:
  /// The address of a constant of the given type.
  mlir::Value get(mlir::OpBuilder &builder, mlir::Operation *user, mlir::Type type, mlir::Attribute value);
  /// The address of a text that ends with a null.
  mlir::Value getText(mlir::OpBuilder &builder, mlir::Operation *user, std::string text);

private:
  llvm::DenseMap<std::pair<mlir::Type, mlir::Attribute>, mlir::LLVM::GlobalOp> globals;
  llvm::StringSet<> names;
  int64_t next = 0;
};

} // namespace convoy

#endif // CONVOY_PASSES_LLVM_CONSTANTS_H
