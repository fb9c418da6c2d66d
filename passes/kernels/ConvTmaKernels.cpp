// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/ConvTmaKernels.h"
#include "passes/kernels/WgmmaProduct.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Number of variants that are offered.
static constexpr size_t kOffered = 2;
/// Fewest pixels: half of the rows of a tile.
static constexpr int64_t kFewestPixels = 64;
/// Bounds of cuTensorMapEncodeIm2col for two spatial dims: strides, offsets of taps, and corners.
static constexpr int64_t kMostStride = 8, kMostOffset = 255, kLeastCorner = -128;

static bool fitsMaps(const ConvGraph &form) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> w = conv.getW().getType().getShape();
  for (size_t i = 0; i < 2; ++i) {
    int64_t reach = (w[2 + i] - 1) * conv.getDilation()[i];
    if (conv.getSpatialStride()[i] > kMostStride || reach > kMostOffset ||
        -conv.getPrePadding()[i] < kLeastCorner ||
        conv.getPostPadding()[i] - reach < kLeastCorner ||
        conv.getPostPadding()[i] - reach > -kLeastCorner - 1)
      return false;
  }
  return true;
}

static TensorMap windowsOf(const ConvGraph &form, int64_t pixels) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = conv.getW().getType().getShape();
  TensorMap map = {*form.tensors()[0], {x[0], x[2], x[3], x[1]}, {pixels, kMatmulWgmmaStep}};
  for (size_t i = 0; i < 2; ++i) {
    map.low.push_back(conv.getPrePadding()[i]);
    map.high.push_back(conv.getPostPadding()[i]);
    map.reach.push_back((w[2 + i] - 1) * conv.getDilation()[i]);
    map.strides.push_back(conv.getSpatialStride()[i]);
  }
  return map;
}

static Variant variantOf(const ConvGraph &form, const WgmmaProduct &product,
                         const MatmulWgmmaTile &tile) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> w = conv.getW().getType().getShape(), y = conv.getY().getType().getShape();
  ConvTmaArguments arguments = {};
  Variant variant = variantOf(product, tile, "convoy_conv_tma", arguments.product);
  variant.suffix = llvm::formatv("tma_{0}x{1}x{2}", tile.rows(), tile.columns, tile.sharing);
  arguments.channels = word(w[1]);
  arguments.outHeight = word(y[2]);
  arguments.outWidth = word(y[3]);
  arguments.tapsH = word(w[2]);
  arguments.tapsW = word(w[3]);
  arguments.strideH = word(conv.getSpatialStride()[0]);
  arguments.strideW = word(conv.getSpatialStride()[1]);
  arguments.padH = word(conv.getPrePadding()[0]);
  arguments.padW = word(conv.getPrePadding()[1]);
  arguments.dilationH = word(conv.getDilation()[0]);
  arguments.dilationW = word(conv.getDilation()[1]);
  variant.setArguments(arguments);
  variant.maps = {windowsOf(form, tile.rows()),
                  {*form.tensors()[1],
                   {w[0], w[2] * w[3], w[1]},
                   {int64_t(tile.slabs()) * kMatmulWgmmaSlabColumns, 1, kMatmulWgmmaStep}}};
  return variant;
}

SmallVector<Variant, 0> convTmaVariants(const ConvGraph &form) {
  if (form.element().isF32() || form.rows() < kFewestPixels || !fitsMaps(form))
    return {};
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> w = conv.getW().getType().getShape();
  // A tap is whole steps.
  constexpr int64_t kStep = kMatmulWgmmaStep;
  int64_t depth = w[2] * w[3] * llvm::divideCeil(w[1], kStep) * kStep;
  WgmmaProduct product = {form,           form.rows(),    depth,
                          form.columns(), form.element(), form.epilogueTensors()};
  return llvm::map_to_vector<0>(bestTiles(product, kOffered), [&](const MatmulWgmmaTile &tile) {
    return variantOf(form, product, tile);
  });
}

} // namespace convoy
