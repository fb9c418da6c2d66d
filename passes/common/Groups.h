// Groups: `tcp.isolated_group`s that become one graph each.

#ifndef CONVOY_PASSES_COMMON_GROUPS_H
#define CONVOY_PASSES_COMMON_GROUPS_H

#include "dialect/tcp/TcpOps.h"

namespace convoy {

/// Attributes of a `tcp.isolated_group`: the name of its anchor, and the roles of its ops in order,
/// joined by '+'.
inline constexpr llvm::StringLiteral kAnchorAttr = "anchor";
inline constexpr llvm::StringLiteral kPatternAttr = "pattern";
/// On an op that is in no group: why.
inline constexpr llvm::StringLiteral kOutsideAttr = "tcp.outside";

/// The number that every element of `value`, a constant, is; null when there is none.
mlir::FloatAttr numberOf(mlir::Value value);

/// Moves `ops` of one block, of which only the last one's result is used elsewhere, into a group
/// where that one stands. Constants of one number are cloned into it.
void outlineGroup(llvm::ArrayRef<mlir::Operation *> ops, mlir::Location loc, llvm::StringRef anchor,
                  const llvm::Twine &pattern);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_GROUPS_H
