// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/MeanKernels.h"
#include "passes/kernels/Strips.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::cudnn;
using namespace convoy::strips;

namespace convoy {

static constexpr int64_t kMostWarps = 32;

namespace {

/// Sizes of a mean; `width` is the number of elements in 16 bytes.
struct MeanForm {
  ResampleOp pool;
  int64_t images, channels, pixels, width;

  int64_t stripsOf(int64_t lanes) const {
    return images * llvm::divideCeil(channels, lanes * width);
  }
};

} // namespace

static std::optional<MeanForm> match(GraphOp graph, std::string &reason) {
  auto refuse = [&](StringRef why) {
    reason = why.str();
    return std::nullopt;
  };
  auto pool = dyn_cast<ResampleOp>(graph.getBody().front().front());
  auto isAbsent = [](std::optional<APFloat> value, double neutral) {
    return !value || value->isExactlyValue(neutral);
  };
  if (!pool ||
      (pool.getMode() != ResampleMode::AvgpoolIncludePadding &&
       pool.getMode() != ResampleMode::AvgpoolExcludePadding) ||
      !isAbsent(pool.getAlpha(), 1.0) || !isAbsent(pool.getBeta(), 0.0) ||
      !pool.getComputeType().isF32() || pool.getNanPropagation() != NanPropagation::PropagateNan)
    return refuse(
        "it does not begin with an average pooling that accumulates in f32 and propagates NaN");
  auto isZero = [](int64_t padding) { return padding == 0; };
  TensorDescType x = pool.getX().getType(), y = pool.getY().getType();
  if (pool.getWindow() != x.getShape().drop_front(2) ||
      !llvm::all_of(pool.getPrePadding(), isZero) || !llvm::all_of(pool.getPostPadding(), isZero))
    return refuse("the window is not the whole image");
  Operation *end = graph.getBody().front().getTerminator();
  if (pool->getNextNode() != end || end->getNumOperands() != 1 || end->getOperand(0) != pool.getY())
    return refuse("the pooling is not the only operation");
  Type element = x.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return refuse("elements are not f16, bf16 or f32");
  auto isImage = [&](TensorDescType type) {
    return type.getElementType() == element && type.isChannelsLast() && !type.isVectorized() &&
           type.getAlignment() % 16 == 0;
  };
  if (!isa<BlockArgument>(pool.getX()) || !isImage(x) || !isImage(y))
    return refuse("argument and result are not of the same type in packed channels-last memory, "
                  "aligned to 16 bytes");
  int64_t width = 128 / element.getIntOrFloatBitWidth();
  if (x.getShape()[1] % width != 0)
    return refuse("channels are not a multiple of 16 bytes");
  return MeanForm{pool, x.getShape()[0], x.getShape()[1],
                  ShapedType::getNumElements(pool.getWindow()), width};
}

/// A kernel with one strip of `lanes` chunks of 16 bytes per block or cluster. The pixels are
/// divided among warps, and among `split` blocks of a cluster.
static Variant variantOf(GraphOp graph, MeanForm form, int64_t lanes, int64_t split) {
  int64_t warps =
      std::clamp<int64_t>(llvm::divideCeil(form.pixels, kWarp / lanes * split), 1, kMostWarps);
  Variant variant;
  variant.suffix = llvm::formatv("{0}x{1}x{2}", lanes, warps, split);
  variant.function =
      ("convoy_mean_" + libraryName(form.pool.getX().getType().getElementType())).str();
  variant.tensors = {0, graph.getNumArguments()};
  device::MeanArguments arguments = {};
  arguments.pixels = word(form.pixels);
  arguments.channels = word(form.channels);
  arguments.lanes = word(lanes);
  arguments.warps = word(warps);
  arguments.split = word(split);
  variant.setArguments(arguments);
  variant.blocks = form.stripsOf(lanes) * split;
  variant.threads = kWarp * warps;
  variant.sharedBytes = (warps + (split > 1)) * lanes * form.width * 4;
  variant.cluster = split;
  return variant;
}

Offer offerMean(GraphOp graph, bool, std::string &reason) {
  std::optional<MeanForm> form = match(graph, reason);
  if (!form)
    return {};
  Offer offer;
  for (int64_t lanes : {kSector, 2 * kSector}) {
    offer.variants.push_back(variantOf(graph, *form, lanes, 1));
    if (int64_t split = chooseCluster(form->stripsOf(lanes), form->pixels,
                                      /*least=*/kMostWarps * kWarp / lanes);
        split > 1)
      offer.variants.push_back(variantOf(graph, *form, lanes, split));
  }
  // Large means are limited by memory bandwidth with any implementation.
  offer.isPreferred =
      form->pixels * kSectorBytes <= kLongStrip && form->stripsOf(kSector) <= 8 * kManyBlocks;
  return offer;
}

} // namespace convoy
