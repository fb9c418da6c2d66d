// Where in the user's program an op comes from, as the text that messages and the manifest show.

#ifndef CONVOY_PASSES_COMMON_LOCATIONS_H
#define CONVOY_PASSES_COMMON_LOCATIONS_H

#include "mlir/IR/Location.h"
#include <string>

namespace convoy {

/// "model.py:12", the first place in a file that a location speaks of; "unknown location" when it
/// speaks of none.
inline std::string placeText(mlir::Location loc) {
  auto place = loc->findInstanceOf<mlir::FileLineColLoc>();
  return place ? place.getFilename().str() + ":" + std::to_string(place.getLine())
               : "unknown location";
}

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_LOCATIONS_H
