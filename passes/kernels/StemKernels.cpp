#include "passes/kernels/StemKernels.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

/// What a block may have of a multiprocessor's memory: two of them share that of sm_80, one the smallest of later ones.
static constexpr int64_t kSharedBytes = 99 << 10;
/// Rows of the result that a block has the image for at a time.
static constexpr int64_t kMostRows = 4;
/// Blocks that keep a large GPU busy, two on each multiprocessor. An H200 has 132.
static constexpr int64_t kManyBlocks = 200, kSingleBlocks = 132;

namespace {

/// The ops of a stem's graph.
struct StemOps {
  PointwiseOp identity, add, relu;
  ConvolutionOp conv;
  ResampleOp pool;
};

} // namespace

static bool match(GraphOp graph, StemOps &ops) {
  SmallVector<Operation *> list = llvm::map_to_vector(graph.getBody().front().without_terminator(), [](Operation &op) { return &op; });
  if (list.size() != 5)
    return false;
  ops = {dyn_cast<PointwiseOp>(list[0]), dyn_cast<PointwiseOp>(list[2]), dyn_cast<PointwiseOp>(list[3]), dyn_cast<ConvolutionOp>(list[1]),
         dyn_cast<ResampleOp>(list[4])};
  return ops.identity && ops.conv && ops.add && ops.relu && ops.pool && ops.identity.getMode() == PointwiseMode::Identity &&
         ops.add.getMode() == PointwiseMode::Add && ops.relu.getMode() == PointwiseMode::ReluFwd &&
         ops.pool.getMode() == ResampleMode::Maxpool && ops.conv.getX() == ops.identity.getY() &&
         ops.add.getInputs()[0] == ops.conv.getY() && ops.relu.getInputs()[0] == ops.add.getY() && ops.pool.getX() == ops.relu.getY() &&
         isa<BlockArgument>(ops.identity.getInputs()[0]) && isa<BlockArgument>(ops.conv.getW()) &&
         isa<BlockArgument>(ops.add.getInputs()[1]);
}

std::optional<Variant> stemVariant(GraphOp graph, std::string &reason) {
  StemOps ops;
  if (!match(graph, ops)) {
    reason = "it is not identity, convolution, sum, relu and max pooling in a row";
    return std::nullopt;
  }
  auto place = [](Value argument) { return cast<BlockArgument>(argument).getArgNumber(); };
  auto imageType = cast<TensorDescType>(ops.identity.getInputs()[0].getType());
  ArrayRef<int64_t> x = imageType.getShape(), w = ops.conv.getW().getType().getShape();
  Type element = ops.conv.getW().getType().getElementType();
  int64_t images = x[0], height = x[2], width = x[3], taps = w[2], outHeight = height / 4;
  // Wider elements leave room for fewer filters.
  int64_t bytes = element.getIntOrFloatBitWidth() / 8, filters = bytes == 2 ? w[0] : 32, parts = w[0] / filters;

  // A block keeps the row above its next one, so it should make many, and there should be many blocks.
  int64_t rows = 1;
  for (int64_t candidate = 1; candidate <= outHeight; ++candidate)
    if (outHeight % candidate == 0 && images * outHeight / candidate * parts >= kManyBlocks)
      rows = candidate;
  auto sharedBytes = [&](int64_t strip) {
    return (4 * strip + taps) * (width + 8) * 4 * bytes + filters * (taps * 32 * bytes + 16) + 2 * (width / 2 + 1) * filters * bytes;
  };
  int64_t strip = std::min(rows, kMostRows);
  while (strip > 1 && sharedBytes(strip) > kSharedBytes)
    --strip;

  Variant variant;
  variant.suffix = llvm::formatv("{0}x{1}", rows, strip);
  variant.function = llvm::formatv("convoy_stem_{0}_{1}_{2}", libraryName(element), libraryName(imageType.getElementType()), filters);
  variant.tensors = {place(ops.identity.getInputs()[0]), place(ops.conv.getW()), place(ops.add.getInputs()[1]), graph.getNumArguments()};
  variant.integers = {images, height, width, x[1], w[0], w[1], taps, w[3], ops.conv.getPrePadding()[0], rows, strip};
  variant.floats = {ops.relu.getUpperClip() ? ops.relu.getUpperClip()->convertToDouble() : std::numeric_limits<double>::infinity()};
  variant.blocks = images * outHeight / rows * parts;
  variant.threads = width;
  variant.sharedBytes = sharedBytes(strip);
  variant.residents = variant.blocks > kSingleBlocks ? 2 : 1;
  variant.tf32 = element.isF32();
  return variant;
}

} // namespace convoy
