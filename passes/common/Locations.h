// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Formats the source location of an op for messages and the manifest.

#ifndef CONVOY_PASSES_COMMON_LOCATIONS_H
#define CONVOY_PASSES_COMMON_LOCATIONS_H

#include "mlir/IR/Location.h"
#include <string>

namespace convoy {

/// The first file location in `loc`, e.g. "model.py:12", or "unknown location".
inline std::string placeText(mlir::Location loc) {
  auto place = loc->findInstanceOf<mlir::FileLineColLoc>();
  return place ? place.getFilename().str() + ":" + std::to_string(place.getLine())
               : "unknown location";
}

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_LOCATIONS_H
