// The text of regions that use no value from above.

#ifndef CONVOY_DIALECT_COMMON_REGIONS_H
#define CONVOY_DIALECT_COMMON_REGIONS_H

#include "mlir/IR/OpImplementation.h"

namespace convoy {

/// Parses the region of an op that is IsolatedFromAbove, for `custom<IsolatedRegion>($body)`.
///
/// Its values have names of their own. With the parser of `$body` they share the names of what is
/// around the op: a use in front of it would be one of a value inside, and remain when the op
/// cannot be parsed and the region is gone.
inline mlir::ParseResult parseIsolatedRegion(mlir::OpAsmParser &parser, mlir::Region &region) {
  return parser.parseRegion(region, /*arguments=*/{}, /*enableNameShadowing=*/true);
}

inline void printIsolatedRegion(mlir::OpAsmPrinter &printer, mlir::Operation *,
                                mlir::Region &region) {
  printer.printRegion(region);
}

} // namespace convoy

#endif // CONVOY_DIALECT_COMMON_REGIONS_H
