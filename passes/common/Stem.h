// The first layers of many convolutional networks, which one kernel of our own computes:
// convolution of an image with few channels, bias, relu, max pooling. cuDNN has no graph for them,
// and each alone moves the largest tensors of the network.

#ifndef CONVOY_PASSES_COMMON_STEM_H
#define CONVOY_PASSES_COMMON_STEM_H

#include "dialect/tcp/TcpOps.h"
#include <optional>
#include <string>

namespace convoy {

/// The anchor of a group that is a stem.
inline constexpr llvm::StringLiteral kStemAnchor = "stem";

struct Stem {
  tcp::CastOp cast; ///< of the image to the type of the network; null when it has that type
  tcp::TransposeOp transpose;
  tcp::ConvOpInterface conv;
  tcp::AddOp add;
  tcp::ClampOp relu;
  tcp::MaxPoolOp pool;

  mlir::Value image() { return cast ? cast.getInput() : transpose.getInput(); }
  mlir::Value bias() { return add.getRhs(); }
  /// The ops in order.
  llvm::SmallVector<mlir::Operation *> ops();
  /// What they are, joined by '+'.
  std::string pattern() {
    return std::string(cast ? "cast+" : "") + "transpose+conv2d+bias+relu+max_pool";
  }
};

/// The stem that `pool` ends: an image in planes, of at most 4 channels, whose height is a multiple
/// of 4 and whose width one of 32, up to 512; a convolution to 32 or 64 channels in f16, bf16, or
/// with `allowTf32` f32, with stride 2 and an odd window of up to 7, padded to keep half the size;
/// a vector added; relu; windows of 3 with stride 2 and padding 1. Nothing, with the reason, when
/// `pool` ends something else.
std::optional<Stem> matchStem(tcp::MaxPoolOp pool, bool allowTf32, std::string &reason);

/// The stem that is all of a group's body.
std::optional<Stem> matchStemGroup(tcp::IsolatedGroupOp group, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_STEM_H
