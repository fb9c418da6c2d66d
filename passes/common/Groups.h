// What the ops of a group are to its anchor. The former grows groups by these questions, the check
// asks them again of every group, and the conversion to cudnn builds what they answer.

#ifndef CONVOY_PASSES_COMMON_GROUPS_H
#define CONVOY_PASSES_COMMON_GROUPS_H

#include "dialect/tcp/TcpOps.h"
#include "passes/common/SupportTable.h"

namespace convoy {

/// Attributes of a `tcp.isolated_group`: the name of its anchor, and all its parts in order, joined
/// by '+'.
inline constexpr llvm::StringLiteral kAnchorAttr = "anchor";
inline constexpr llvm::StringLiteral kPatternAttr = "pattern";
/// On an op that is in no group: why.
inline constexpr llvm::StringLiteral kOutsideAttr = "tcp.outside";

/// The op that a group is built around.
struct Anchor {
  mlir::Operation *op = nullptr;
  llvm::StringRef name;          ///< conv1d, conv2d, conv3d, matmul, max_pool, avg_pool or mean
  llvm::StringRef layout;        ///< channels_last, channels_first or row_major
  llvm::StringRef channelGroups; ///< none, grouped, depthwise; empty for anchors without
  int64_t channels = 0;          ///< input channels of a group, or K of a matrix product

  bool isLinear() const { return name.starts_with("conv") || name == "matmul"; }
  /// The question of the table for one role. `after` are the roles between the anchor and this one,
  /// joined by '+'.
  SupportQuery query(llvm::StringRef role, llvm::StringRef after = "") const;
};

/// `op` as an anchor. Nothing when it is none; with `reason` set when it is one of a form that no
/// cuDNN operation has.
std::optional<Anchor> matchAnchor(mlir::Operation *op, std::string &reason);

/// What one operand is to the running value of a group: of its shape, one number a channel, one an
/// image and channel, or else.
enum class Extent { Full, Channel, Gate, Other };
Extent extentOf(llvm::ArrayRef<int64_t> other, llvm::ArrayRef<int64_t> running, int64_t channelDim);

/// The role of an elementwise op, as `add`, with an operand of this extent: bias, residual, scale,
/// sub_channel, ...
std::string binaryRole(llvm::StringRef name, Extent extent);

/// One op beside the anchor.
struct Step {
  mlir::Operation *op = nullptr;
  std::string role;  ///< as the table calls it, prologues with "prologue_"
  mlir::Value other; ///< the operand that is not the running value, if there is one
};

/// `op` as the next step after `running`, a value that the anchor's result flows into. Nothing with
/// `reason` set when it can be none.
std::optional<Step> matchEpilogue(const Anchor &anchor, mlir::Operation *op, mlir::Value running,
                                  std::string &reason);

/// `op` as the step before the anchor, or before a prologue that has been matched.
std::optional<Step> matchPrologue(const Anchor &anchor, mlir::Operation *op, std::string &reason);

/// A whole group, in the order of computation.
struct GroupForm {
  Anchor anchor;
  llvm::SmallVector<Step> prologue, epilogue;

  /// Roles after the anchor joined by '+'.
  std::string epilogueRoles() const;
  /// Parts joined by '+': relu+conv2d+bias+residual+relu.
  std::string pattern() const;
  /// Nothing when the table takes every part, else the reason.
  std::optional<std::string> refuse(const SupportTable &table) const;
};

/// The form of a group's body: one anchor, one chain of steps before it and one after, whose end is
/// the only result.
std::optional<GroupForm> matchGroup(tcp::IsolatedGroupOp group, std::string &reason);

/// Moves `ops` of one block, of which only the last one's result is used elsewhere, into a group
/// where that one stands.
void outlineGroup(llvm::ArrayRef<mlir::Operation *> ops, mlir::Location loc, llvm::StringRef anchor,
                  const llvm::Twine &pattern);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_GROUPS_H
