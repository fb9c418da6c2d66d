// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is known of the elements of a table of positions, e.g. of those that resizing reads.

#ifndef CONVOY_DIALECT_TCP_TCPSTEPS_H
#define CONVOY_DIALECT_TCP_TCPSTEPS_H

#include "mlir/IR/BuiltinAttributes.h"
#include <optional>

namespace convoy::tcp {

/// Of a weight, or of a prepared weight that is one: `array<i64: shift, divisor, last>`. The weight
/// has one dim, and its element i is floor((i + shift) / divisor), but at least 0 and at most
/// `last`.
inline constexpr llvm::StringLiteral kStepsAttr = "tcp.steps";

struct Steps {
  int64_t shift, divisor, last;

  /// Nullopt if `attribute` does not have the form of `kStepsAttr`.
  static std::optional<Steps> from(mlir::Attribute attribute) {
    auto numbers = llvm::dyn_cast_if_present<mlir::DenseI64ArrayAttr>(attribute);
    if (!numbers || numbers.size() != 3 || numbers[1] < 1 || numbers[2] < 0)
      return std::nullopt;
    return Steps{numbers[0], numbers[1], numbers[2]};
  }
};

} // namespace convoy::tcp

#endif // CONVOY_DIALECT_TCP_TCPSTEPS_H
