// The roles of operations in a graph that cuDNN fuses: the one vocabulary of groups, of the support
// table and of its generator. A role is a pointwise mode of ODS and what distinguishes its uses.

#ifndef CONVOY_PASSES_FUSION_ROLES_H
#define CONVOY_PASSES_FUSION_ROLES_H

#include "dialect/cudnn/CudnnOps.h"
#include <optional>
#include <string>
#include <tuple>

namespace convoy {

/// The operation that the others of a graph surround. A convolution over one spatial dim is one
/// over two with a height of 1.
enum class Anchor { Conv1d, Conv2d, Conv3d, Matmul, MaxPool, AvgPool, Mean };

/// Where a pointwise operation is: before the anchor, after it, or on a tensor that an operation
/// after the anchor reads.
enum class Position { Prologue, Operand, Epilogue };

/// What the second operand of an operation is: a tensor of the result's shape, of one number a
/// channel, of one number an image and channel, of one number a pixel, of one number, of another
/// shape that is broadcast, a number that is part of the graph, or a value of the graph that
/// depends on the same value as the first operand.
enum class Extent { None, Full, Channel, Gate, Pixels, One, Broadcast, Scalar, Virtual };

/// The bounds of `relu_fwd`: `lower_clip` 0 alone, an `upper_clip` too, another `lower_clip`, or a
/// slope below it.
enum class ReluKind { Relu, Clip, Clamp, Leaky };

struct Role {
  Position position = Position::Epilogue;
  cudnn::PointwiseMode mode = cudnn::PointwiseMode::Identity; ///< identity: a change of type
  Extent extent = Extent::None;
  ReluKind relu = ReluKind::Relu;

  bool operator==(const Role &other) const {
    return std::tie(position, mode, extent, relu) ==
           std::tie(other.position, other.mode, other.extent, other.relu);
  }
  /// The name in the support table and in patterns, e.g. `bias`, `sub_full`, `prologue_relu`.
  std::string name() const;
};

/// Every role that an operation of a group can have, each with its own name.
llvm::ArrayRef<Role> allRoles();
/// The role of that name.
std::optional<Role> parseRole(llvm::StringRef name);

llvm::StringRef stringifyAnchor(Anchor anchor);
std::optional<Anchor> parseAnchor(llvm::StringRef name);
llvm::StringRef stringifyExtent(Extent extent);
llvm::StringRef stringifyPosition(Position position);

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_ROLES_H
