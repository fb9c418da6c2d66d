// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The roles of operations in a graph that cuDNN fuses, used by groups, the support table and its
// generator. A role is a pointwise mode with a position, an extent and bounds.

#ifndef CONVOY_PASSES_FUSION_ROLES_H
#define CONVOY_PASSES_FUSION_ROLES_H

#include "dialect/cudnn/CudnnOps.h"
#include <optional>
#include <string>
#include <tuple>

namespace convoy {

/// The operation that a graph is built around. A convolution over one spatial dim is a convolution
/// over two with a height of 1. `Dgrad` and `Wgrad` are the gradients of a convolution with respect
/// to its input and its filter.
enum class Anchor {
  Conv1d,
  Conv2d,
  Conv3d,
  Dgrad1d,
  Dgrad2d,
  Dgrad3d,
  Wgrad1d,
  Wgrad2d,
  Wgrad3d,
  Matmul,
  MaxPool,
  AvgPool,
  Mean
};

/// The position of a pointwise operation: before the anchor, on an operand of an operation after
/// the anchor, or after the anchor.
enum class Position { Prologue, Operand, Epilogue };

/// The second operand of an operation: a tensor of the result's shape, with one number per channel,
/// per image and channel, or per pixel, of one number, or of another shape that is broadcast; a
/// scalar constant of the graph; or a value of the graph that depends on the same value as the
/// first operand.
enum class Extent { None, Full, Channel, Gate, Pixels, One, Broadcast, Scalar, Virtual };

/// The bounds of `relu_fwd`: `lower_clip` 0, also an `upper_clip`, another `lower_clip`, or a
/// `lower_clip_slope`.
enum class ReluKind { Relu, Clip, Clamp, Leaky };

struct Role {
  Position position = Position::Epilogue;
  cudnn::PointwiseMode mode = cudnn::PointwiseMode::Identity; ///< identity: a cast
  Extent extent = Extent::None;
  ReluKind relu = ReluKind::Relu;

  bool operator==(const Role &other) const {
    return std::tie(position, mode, extent, relu) ==
           std::tie(other.position, other.mode, other.extent, other.relu);
  }
  /// The name in the support table and in patterns, e.g. `bias`, `sub_full`, `prologue_relu`.
  std::string name() const;
};

/// Every role that an operation of a group can have. Their names are distinct.
llvm::ArrayRef<Role> allRoles();
/// The role with the given name.
std::optional<Role> parseRole(llvm::StringRef name);

llvm::StringRef stringifyAnchor(Anchor anchor);
std::optional<Anchor> parseAnchor(llvm::StringRef name);
llvm::StringRef stringifyExtent(Extent extent);
llvm::StringRef stringifyPosition(Position position);

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_ROLES_H
