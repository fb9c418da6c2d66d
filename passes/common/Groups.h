// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Groups: `tcp.isolated_group`s, each of which becomes one graph.

#ifndef CONVOY_PASSES_COMMON_GROUPS_H
#define CONVOY_PASSES_COMMON_GROUPS_H

#include "dialect/tcp/TcpOps.h"

namespace convoy {

/// Attributes of a `tcp.isolated_group`: the name of its anchor, and the roles of its ops in order,
/// joined by '+'.
inline constexpr llvm::StringLiteral kAnchorAttr = "anchor";
inline constexpr llvm::StringLiteral kPatternAttr = "pattern";
/// Of a group that cuDNN has no engine for, and a kernel of Convoy computes.
inline constexpr llvm::StringLiteral kOnlyKernelAttr = "only_kernel";
/// The reason why an op is in no group.
inline constexpr llvm::StringLiteral kOutsideAttr = "tcp.outside";

/// The value of all elements if `value` is a splat constant of floats, else null.
mlir::FloatAttr numberOf(mlir::Value value);
/// The number of an operand of an elementwise op, which is a constant inside of a group. Other ops
/// read tensors, even if all elements are one number.
mlir::FloatAttr numberOf(const mlir::OpOperand &operand);

/// Moves `ops` of one block into a group at the position of the last op. Only the last op's result
/// may be used elsewhere. Scalar constants are cloned into the group. Returns the group.
tcp::IsolatedGroupOp outlineGroup(llvm::ArrayRef<mlir::Operation *> ops, mlir::Location loc,
                                  llvm::StringRef anchor, const llvm::Twine &pattern);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_GROUPS_H
