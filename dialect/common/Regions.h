// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Assembly format of regions that are isolated from above.

#ifndef CONVOY_DIALECT_COMMON_REGIONS_H
#define CONVOY_DIALECT_COMMON_REGIONS_H

#include "mlir/IR/OpImplementation.h"

namespace convoy {

/// Parses the region of an op that is IsolatedFromAbove, for `custom<IsolatedRegion>($body)`.
///
/// The region has its own scope of value names. The default parser of `$body` shares the enclosing
/// scope: a use before the op would resolve to a value inside it, and dangle when parsing the op
/// fails and the region is destroyed.
inline mlir::ParseResult parseIsolatedRegion(mlir::OpAsmParser &parser, mlir::Region &region) {
  return parser.parseRegion(region, /*arguments=*/{}, /*enableNameShadowing=*/true);
}

inline void printIsolatedRegion(mlir::OpAsmPrinter &printer, mlir::Operation *,
                                mlir::Region &region) {
  printer.printRegion(region);
}

} // namespace convoy

#endif // CONVOY_DIALECT_COMMON_REGIONS_H
