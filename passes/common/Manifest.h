// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The manifest of the artifact: phases add entries to the module attribute `tcp.manifest`, which is
// written as JSON at the end.

#ifndef CONVOY_PASSES_COMMON_MANIFEST_H
#define CONVOY_PASSES_COMMON_MANIFEST_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace convoy {

/// Name of the module attribute, a dictionary with the keys of manifest.json, and `alternatives`,
/// the contents of alternatives.json (docs/manifest.md).
inline constexpr llvm::StringLiteral kManifestAttr = "tcp.manifest";

/// PyTorch's name of an element type (`float32`, `bool`, ...); empty for a type that PyTorch lacks.
llvm::StringRef torchDtype(mlir::Type type);

/// `{name, shape, dtype}` of an input, output or weight. PyTorch must have the element type. `type`
/// is the packed tensor in memory, whose dim i is dim dimOrder[i] of the model's tensor. A null
/// `dimOrder` is the identity. If another one moves elements, the description also has `strides`.
/// `origin` is that of a prepared weight, or null.
mlir::DictionaryAttr describeTensor(llvm::StringRef name, mlir::ShapedType type,
                                    mlir::DenseI64ArrayAttr dimOrder = {},
                                    mlir::StringAttr origin = {});

/// Sets `key` of the manifest, replacing any previous value.
void setManifest(mlir::ModuleOp module, llvm::StringRef key, mlir::Attribute value);

/// The value of `key`, or null.
mlir::Attribute getManifest(mlir::ModuleOp module, llvm::StringRef key);

/// The manifest as JSON text with sorted keys. Emits an error on the module when it has no manifest
/// or an attribute has no JSON form.
mlir::FailureOr<std::string> manifestToJson(mlir::ModuleOp module);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_MANIFEST_H
