#include "passes/kernels/Conv1x1WgmmaKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace convoy {

/// As in runtime/device/conv1x1_wgmma.cu: threads of a group, and pieces of 16 bytes of its next tile that a thread has in registers.
static constexpr int64_t kGroup = 128, kFetched = 8;
/// Of sm_90: what a block may have, and multiprocessors of the largest.
static constexpr int64_t kSharedBytes = 227 << 10, kMultiprocessors = 132;
/// Channels for which it is faster than cuDNN. To 256 filters with a residual in f16, batch 32: over 56x56 pixels, 64 channels take 36 us
/// where cuDNN's best takes 42; over 28x28, 128 to 512 take 24 us and 20.
static constexpr int64_t kMostChannels = 64;

namespace {

/// Pixels of a tile, and groups of a block.
struct Shape {
  int64_t pixels, groups;
};

} // namespace

static std::optional<Variant> variantOf(const ConvGraph &form, Shape shape) {
  cudnn::ConvolutionOp conv = form.conv;
  auto graph = conv->getParentOfType<cudnn::GraphOp>();
  Type element = conv.getX().getType().getElementType();
  // A thread makes 16 bytes of a pixel, of which a product has two elements.
  int64_t bytes = element.getIntOrFloatBitWidth() / 8, blockFilters = 64 * 16 / bytes / 2, chunks = form.depth() * bytes / 16;
  int64_t tiles = llvm::divideCeil(form.rows(), shape.pixels), filterBlocks = form.columns() / blockFilters;
  int64_t fetched = shape.pixels * chunks / kGroup;
  Variant variant;
  variant.sharedBytes = chunks * (blockFilters * 16 + 16) + shape.groups * chunks * (shape.pixels * 16 + 16);
  if (fetched < 1 || fetched > kFetched || variant.sharedBytes > kSharedBytes)
    return std::nullopt;
  int64_t blocks = std::min<int64_t>(tiles, llvm::divideCeil(kMultiprocessors, filterBlocks));
  variant.suffix = llvm::formatv("wgmma_{0}x{1}", shape.pixels, shape.groups);
  variant.function = llvm::formatv("convoy_conv1x1_wgmma_{0}_{1}", libraryName(element), shape.pixels);
  variant.tensors = {placeOf(conv.getX()), placeOf(conv.getW()), form.bias, form.residual, graph.getNumArguments()};
  variant.integers = {form.rows(), form.depth(), form.columns(), shape.groups, blocks};
  variant.floats = {form.lower, form.upper};
  variant.blocks = blocks * filterBlocks;
  variant.threads = kGroup * shape.groups;
  variant.onlyChip = "sm_90a";
  variant.tf32 = element.isF32();
  return variant;
}

SmallVector<Variant, 0> conv1x1WgmmaVariants(const ConvGraph &form, std::string &reason) {
  auto refuse = [&](const Twine &why) {
    reason = why.str();
    return SmallVector<Variant, 0>();
  };
  cudnn::ConvolutionOp conv = form.conv;
  auto isOne = [](int64_t each) { return each == 1; };
  auto isZero = [](int64_t each) { return each == 0; };
  ArrayRef<int64_t> w = conv.getW().getType().getShape();
  if (!llvm::all_of(w.drop_front(2), isOne) || !llvm::all_of(conv.getSpatialStride(), isOne) ||
      !llvm::all_of(conv.getPrePadding(), isZero) || !llvm::all_of(conv.getPostPadding(), isZero))
    return refuse("it has more than one tap, or passes over pixels");
  int64_t bytes = conv.getX().getType().getElementType().getIntOrFloatBitWidth() / 8, blockFilters = 64 * 16 / bytes / 2;
  if (form.columns() % blockFilters != 0)
    return refuse("filters are no multiple of " + Twine(blockFilters));
  int64_t chunks = w[1] * bytes / 16;
  if (w[1] * bytes % 32 != 0 || kGroup % chunks != 0 || w[1] > kMostChannels)
    return refuse("channels are no power of two of 16 bytes, or more than " + Twine(kMostChannels));
  SmallVector<Variant, 0> variants;
  // Over 56x56x64 to 256, 256 images, us: f16 249, 240 and 269, f32 484, 522 and 462.
  for (Shape shape : {Shape{32, 3}, bytes == 2 ? Shape{64, 2} : Shape{32, 4}})
    if (std::optional<Variant> variant = variantOf(form, shape))
      variants.push_back(std::move(*variant));
  if (variants.empty())
    return refuse(Twine(blockFilters) + " filters and a tile of pixels do not fit into shared memory and registers");
  return variants;
}

} // namespace convoy
