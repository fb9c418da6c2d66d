// Constants all of whose elements are equal, for the folders of the tcp ops.

#ifndef CONVOY_DIALECT_TCP_TCPSPLATS_H
#define CONVOY_DIALECT_TCP_TCPSPLATS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/APFloat.h"
#include <optional>

namespace convoy::tcp {

/// A constant of equal elements; null when it is none.
inline mlir::SplatElementsAttr splat(mlir::Attribute attribute) {
  return mlir::dyn_cast_if_present<mlir::SplatElementsAttr>(attribute);
}

/// The element of a splat of floats.
inline std::optional<llvm::APFloat> floatSplat(mlir::Attribute attribute) {
  auto constant = splat(attribute);
  if (!constant || !mlir::isa<mlir::FloatType>(constant.getElementType()))
    return std::nullopt;
  return constant.getSplatValue<llvm::APFloat>();
}

/// `number` in the type of `value`: the bounds of a clamp are f32, the value of a pad f64, whatever
/// the element type.
inline llvm::APFloat convert(llvm::APFloat number, const llvm::APFloat &value) {
  bool losesInfo = false;
  number.convert(value.getSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number;
}

} // namespace convoy::tcp

#endif // CONVOY_DIALECT_TCP_TCPSPLATS_H
