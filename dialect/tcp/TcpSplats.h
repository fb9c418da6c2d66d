// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Splat constants, for the folders of the tcp ops.

#ifndef CONVOY_DIALECT_TCP_TCPSPLATS_H
#define CONVOY_DIALECT_TCP_TCPSPLATS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/APFloat.h"
#include <optional>

namespace convoy::tcp {

/// `attribute` as a splat constant, or null.
inline mlir::SplatElementsAttr splat(mlir::Attribute attribute) {
  return mlir::dyn_cast_if_present<mlir::SplatElementsAttr>(attribute);
}

/// The element of a float splat.
inline std::optional<llvm::APFloat> floatSplat(mlir::Attribute attribute) {
  auto constant = splat(attribute);
  if (!constant || !mlir::isa<mlir::FloatType>(constant.getElementType()))
    return std::nullopt;
  return constant.getSplatValue<llvm::APFloat>();
}

/// Converts `number` to the type of `value`. The bounds of a clamp are always f32, the value of a
/// pad f64.
inline llvm::APFloat convert(llvm::APFloat number, const llvm::APFloat &value) {
  bool losesInfo = false;
  number.convert(value.getSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number;
}

} // namespace convoy::tcp

#endif // CONVOY_DIALECT_TCP_TCPSPLATS_H
