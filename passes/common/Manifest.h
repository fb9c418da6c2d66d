// What the artifact says about itself, collected in the module attribute `tcp.manifest` as phases
// learn it, and written as JSON at the end.

#ifndef CONVOY_PASSES_COMMON_MANIFEST_H
#define CONVOY_PASSES_COMMON_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"

namespace convoy {

/// Name of the module attribute, a dictionary with the keys of manifest.json and `alternatives`,
/// what alternatives.json is to hold (docs/architecture.md).
inline constexpr llvm::StringLiteral kManifestAttr = "tcp.manifest";

/// torch's name of an element type (`float32`, `bool`, ...); empty for a type that torch has no
/// name for.
llvm::StringRef torchDtype(mlir::Type type);

/// `{name, shape, dtype}` of a tensor at the program's border. The element type has a name in
/// torch.
mlir::DictionaryAttr describeTensor(llvm::StringRef name, mlir::ShapedType type);

/// Sets `key` of the manifest, over what was there.
void setManifest(mlir::ModuleOp module, llvm::StringRef key, mlir::Attribute value);

/// The value of `key`, or null.
mlir::Attribute getManifest(mlir::ModuleOp module, llvm::StringRef key);

/// The manifest as JSON text with sorted keys. Fails, with an error on the module, when there is
/// none or an attribute has no JSON form.
mlir::FailureOr<std::string> manifestToJson(mlir::ModuleOp module);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_MANIFEST_H
