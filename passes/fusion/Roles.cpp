// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/fusion/Roles.h"
#include "passes/fusion/OpsToCudnn.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using convoy::cudnn::PointwiseMode;

namespace convoy {

static constexpr StringLiteral kAnchors[] = {
    "conv1d",  "conv2d",  "conv3d", "dgrad1d",  "dgrad2d",  "dgrad3d", "wgrad1d",
    "wgrad2d", "wgrad3d", "matmul", "max_pool", "avg_pool", "mean"};
static constexpr StringLiteral kExtents[] = {"",    "full",      "channel", "gate",   "pixels",
                                             "one", "broadcast", "scalar",  "virtual"};
static constexpr StringLiteral kPositions[] = {"prologue", "operand", "epilogue"};
static constexpr StringLiteral kRelus[] = {"relu", "relu_clip", "clamp", "leaky_relu"};

StringRef stringifyAnchor(Anchor anchor) { return kAnchors[static_cast<int>(anchor)]; }

StringRef stringifyExtent(Extent extent) { return kExtents[static_cast<int>(extent)]; }

StringRef stringifyPosition(Position position) { return kPositions[static_cast<int>(position)]; }

std::optional<Anchor> parseAnchor(StringRef name) {
  const auto *found = llvm::find(kAnchors, name);
  if (found == std::end(kAnchors))
    return std::nullopt;
  return static_cast<Anchor>(found - kAnchors);
}

/// The name without the position. Common sums and products have the names that networks use.
static std::string baseName(const Role &role) {
  if (role.mode == PointwiseMode::ReluFwd)
    return kRelus[static_cast<int>(role.relu)].str();
  if (role.mode == PointwiseMode::Identity)
    return "cast";
  bool isSum = role.mode == PointwiseMode::Add, isProduct = role.mode == PointwiseMode::Mul;
  if (role.extent == Extent::Full && (isSum || isProduct))
    return isSum ? "residual" : "product";
  if (role.extent == Extent::Channel && (isSum || isProduct))
    return isSum ? "bias" : "scale";
  if (role.extent == Extent::Gate && isProduct)
    return "gate";
  StringRef mode = cudnn::stringifyPointwiseMode(role.mode);
  mode.consume_back("_fwd");
  return role.extent == Extent::None ? mode.str()
                                     : (mode + "_" + stringifyExtent(role.extent)).str();
}

std::string Role::name() const {
  return (position == Position::Epilogue ? "" : stringifyPosition(position).str() + "_") +
         baseName(*this);
}

static std::vector<Role> listRoles() {
  std::vector<Role> roles;
  for (Position position : {Position::Prologue, Position::Operand, Position::Epilogue})
    for (PointwiseMode mode : groupModes()) {
      if (mode == PointwiseMode::ReluFwd) {
        for (ReluKind relu : {ReluKind::Relu, ReluKind::Clip, ReluKind::Clamp, ReluKind::Leaky})
          roles.push_back({position, mode, Extent::None, relu});
      } else if (cudnn::pointwiseArity(mode) == 1) {
        roles.push_back({position, mode});
      } else {
        for (Extent extent : {Extent::Full, Extent::Channel, Extent::Gate, Extent::Pixels,
                              Extent::One, Extent::Broadcast, Extent::Scalar, Extent::Virtual})
          roles.push_back({position, mode, extent});
      }
    }
  return roles;
}

ArrayRef<Role> allRoles() {
  static const std::vector<Role> roles = listRoles();
  return roles;
}

std::optional<Role> parseRole(StringRef name) {
  static const llvm::StringMap<Role> byName = [] {
    llvm::StringMap<Role> map;
    for (const Role &role : allRoles())
      map.try_emplace(role.name(), role);
    return map;
  }();
  auto found = byName.find(name);
  return found == byName.end() ? std::nullopt : std::optional(found->second);
}

} // namespace convoy
