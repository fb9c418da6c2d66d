// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The first layers of many convolutional networks, which one kernel of the artifact computes:
// convolution of an image with few channels, bias, relu, max pooling. cuDNN has no graph for them,
// and as separate kernels they move the largest tensors of the network.

#ifndef CONVOY_PASSES_COMMON_STEM_H
#define CONVOY_PASSES_COMMON_STEM_H

#include "dialect/tcp/TcpOps.h"
#include <optional>
#include <string>

namespace convoy {

/// The anchor of a group that is a stem.
inline constexpr llvm::StringLiteral kStemAnchor = "stem";

struct Stem {
  tcp::CastOp cast; ///< of the image to the type of the network; null if the types are equal
  tcp::TransposeOp transpose; ///< to channels-last; null if the image is channels-last
  tcp::ConvOpInterface conv;
  tcp::AddOp add;
  tcp::ClampOp relu;
  tcp::MaxPoolOp pool;

  mlir::Value image() {
    return cast ? cast.getInput() : transpose ? transpose.getInput() : conv.getInput();
  }
  mlir::Value bias() { return add.getRhs(); }
  /// The ops in order.
  llvm::SmallVector<mlir::Operation *> ops();
  /// The roles of the ops in order, joined by '+'.
  std::string pattern() {
    return std::string(cast ? "cast+" : "") + (transpose ? "transpose+" : "") +
           "conv2d+bias+relu+max_pool";
  }
};

/// Matches the stem whose last op is `pool`:
/// * an image of at most 4 channels;
/// * a convolution in f16, bf16, or with `allowTf32` f32, with stride 2, a window of up to 7 x 7, a
///   padding of at most half of it on the left and top, at most 256 columns, and up to 128 filters
///   that are a multiple of 16 bytes;
/// * a bias, and a relu;
/// * a max pooling with windows of 3, stride 2 and a padding of 0 or 1 on the left and top.
/// Returns std::nullopt with the reason in `reason` if the ops are different.
std::optional<Stem> matchStem(tcp::MaxPoolOp pool, bool allowTf32, std::string &reason);

/// Matches a stem that consists of all ops in the body of `group`.
std::optional<Stem> matchStemGroup(tcp::IsolatedGroupOp group, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_STEM_H
