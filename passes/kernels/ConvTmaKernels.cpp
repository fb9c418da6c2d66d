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
/// Fewest channels and filters of a group: half of a step, and half of the columns of a tile.
static constexpr int64_t kFewestOfGroup = 32;
/// Bound of cuTensorMapEncodeIm2col for strides. Offsets of taps have 8 bits for two spatial dims
/// and 5 bits for three, and the corners of the windows have as many with a sign.
static constexpr int64_t kMostStride = 8, kMostDims = 3;
static constexpr int64_t offsetBits(size_t dims) { return dims == kMostDims ? 5 : 8; }

namespace {

/// A spatial dim of a convolution.
struct Dim {
  int64_t size, results, taps, stride, dilation, low, high;

  int64_t reach() const { return (taps - 1) * dilation; }
  /// Whether each of its elements is the only one of a window.
  bool isPlain() const { return taps == 1 && stride == 1 && low == 0 && high == 0; }
};

/// What the windows are copied from.
struct Images {
  int64_t number, groups, channels; ///< `channels` per group
  SmallVector<Dim, kMostDims> dims; ///< two or three

  /// Spatial dims of the tensor map. Its last dim is that of groups, if there are some: then copies
  /// end with a group's last channel, and the number of images is a spatial dim.
  size_t mapDims() const { return dims.size() + (groups > 1 ? 1 : 0); }
};

} // namespace

static Dim plainDim(int64_t size) { return {size, size, 1, 1, 1, 0, 0}; }

/// Three spatial dims become two, if the window has one element in the depth, or in height and
/// width, as those of R(2+1)D do.
static Images imagesOf(const ConvGraph &form) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = conv.getW().getType().getShape(),
                    y = conv.getY().getType().getShape();
  Images images = {x[0], form.groups(), w[1], {}};
  for (size_t i = 0; i < conv.getSpatialStride().size(); ++i)
    images.dims.push_back({x[2 + i], y[2 + i], w[2 + i], conv.getSpatialStride()[i],
                           conv.getDilation()[i], conv.getPrePadding()[i],
                           conv.getPostPadding()[i]});
  SmallVectorImpl<Dim> &dims = images.dims;
  if (dims.size() == kMostDims) {
    if (dims[0].isPlain()) {
      images.number *= dims[0].size;
      dims.erase(dims.begin());
    } else if (dims[1].isPlain() && dims[2].isPlain()) {
      dims[1] = plainDim(dims[1].size * dims[2].size);
      dims.pop_back();
    }
  }
  return images;
}

static bool fitsMaps(const Images &images) {
  int64_t bits = offsetBits(images.mapDims()), most = (int64_t(1) << (bits - 1)) - 1,
          least = -most - 1;
  return images.mapDims() <= kMostDims && llvm::all_of(images.dims, [&](const Dim &dim) {
           int64_t upper = dim.high - dim.reach();
           return dim.stride <= kMostStride && dim.reach() < (int64_t(1) << bits) &&
                  -dim.low >= least && upper >= least && upper <= most;
         });
}

static TensorMap windowsOf(const ConvGraph &form, const Images &images, int64_t pixels) {
  TensorMap map = {*form.tensors()[0], {images.number}, {pixels, kMatmulWgmmaStep}};
  for (const Dim &dim : images.dims) {
    map.shape.push_back(dim.size);
    map.low.push_back(dim.low);
    map.high.push_back(dim.high);
    map.reach.push_back(dim.reach());
    map.strides.push_back(dim.stride);
  }
  if (images.groups > 1)
    map.shape.push_back(images.groups);
  map.shape.push_back(images.channels);
  return map;
}

static Variant variantOf(const ConvGraph &form, const Images &images, const WgmmaProduct &product,
                         const MatmulWgmmaTile &tile) {
  ConvTmaArguments arguments = {};
  Variant variant = variantOf(product, tile, "convoy_conv_tma", arguments.product);
  variant.suffix = llvm::formatv("tma_{0}x{1}x{2}", tile.rows(), tile.columns, tile.sharing);
  arguments.dims = word(images.mapDims());
  arguments.channels = word(images.channels);
  SmallVector<Dim, kMostDims> dims = images.dims;
  if (dims.size() < kMostDims)
    dims.insert(dims.begin(), plainDim(images.groups > 1 ? images.number : 1));
  int64_t taps = 1;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    taps *= dim.taps;
    arguments.size[i] = word(dim.results);
    arguments.taps[i] = word(dim.taps);
    arguments.stride[i] = word(dim.stride);
    arguments.pad[i] = word(dim.low);
    arguments.dilation[i] = word(dim.dilation);
  }
  variant.setArguments(arguments);
  variant.maps = {windowsOf(form, images, tile.rows()),
                  {*form.tensors()[1],
                   {form.columns(), taps, images.channels},
                   {int64_t(tile.slabs()) * kMatmulWgmmaSlabColumns, 1, kMatmulWgmmaStep}}};
  return variant;
}

SmallVector<Variant, 0> convTmaVariants(const ConvGraph &form, std::string &reason) {
  Images images = imagesOf(form);
  int64_t filters = form.columns() / images.groups;
  if (form.element().isF32())
    reason = "the kernel for windows is for 16-bit floats";
  else if (form.rows() < kFewestPixels)
    reason = llvm::formatv("its result has less than {0} pixels", kFewestPixels);
  else if (images.groups > 1 && (std::min(images.channels, filters) < kFewestOfGroup ||
                                 images.channels % 8 != 0 || filters % 8 != 0))
    reason = llvm::formatv("the channels or filters of a group are less than {0} or no multiple of "
                           "8",
                           kFewestOfGroup);
  else if (!fitsMaps(images))
    reason = "it has groups over three spatial dims, or a stride, dilation or padding that is too "
             "large for a tensor map";
  else {
    // A tap is whole steps.
    constexpr int64_t kStep = kMatmulWgmmaStep;
    int64_t depth =
        form.depth() / images.channels * llvm::divideCeil(images.channels, kStep) * kStep;
    WgmmaProduct product = {
        form, form.rows(), depth, filters, form.element(), form.epilogueTensors(), images.groups};
    return llvm::map_to_vector<0>(bestTiles(product, kOffered), [&](const MatmulWgmmaTile &tile) {
      return variantOf(form, images, product, tile);
    });
  }
  return {};
}

} // namespace convoy
