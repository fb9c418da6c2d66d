#include "passes/kernels/ConvKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace convoy {

/// As in runtime/device/conv.cu: threads of a group, bytes of factors a step, stages of a pipeline.
static constexpr int64_t kGroup = 128, kRowBytes = 128, kStages = 4;
/// Blocks that keep a large GPU busy; an H200 has 132 multiprocessors. Sharing a sum within a
/// cluster costs 1.5 us there, so it begins where fewer than half of them would work.
static constexpr int64_t kManyBlocks = 128, kFewBlocks = 64, kLargestCluster = 8;
/// Multiply-adds. ResNet-50, one image: no convolution has more than 2^28, and cuDNN's best plans
/// take 1.0 to 2.1 times as long.
static constexpr int64_t kSmall = int64_t(1) << 28, kLargest = int64_t(1) << 30;

static int64_t multiplyAdds(const ConvGraph &form) {
  return form.rows() * form.columns() * form.depth();
}

bool isSmall(const ConvGraph &form) { return multiplyAdds(form) <= kSmall; }

namespace {

struct Shape {
  int64_t tileM, tileN, groups, split;
};

} // namespace

static Variant variantOf(const ConvGraph &form, Shape shape) {
  cudnn::ConvolutionOp conv = form.conv;
  ArrayRef<int64_t> x = conv.getX().getType().getShape(), w = conv.getW().getType().getShape(),
                    y = conv.getY().getType().getShape();
  auto [tileM, tileN, groups, split] = shape;
  Variant variant = form.variant();
  variant.suffix = llvm::formatv("{0}x{1}x{2}x{3}", tileM, tileN, groups, split);
  variant.function =
      llvm::formatv("convoy_conv_{0}_{1}x{2}", libraryName(form.element()), tileM, tileN);
  variant.integers = {x[0],
                      x[2],
                      x[3],
                      x[1],
                      y[2],
                      y[3],
                      y[1],
                      w[2],
                      w[3],
                      conv.getSpatialStride()[0],
                      conv.getSpatialStride()[1]};
  variant.integers.append({conv.getPrePadding()[0], conv.getPrePadding()[1], conv.getDilation()[0],
                           conv.getDilation()[1], groups, split});
  variant.blocks =
      llvm::divideCeil(form.rows(), tileM) * llvm::divideCeil(form.columns(), tileN) * split;
  variant.threads = kGroup * groups;
  int64_t pipelines = groups * kStages * (tileM + tileN) * kRowBytes,
          results = groups * tileM * (tileN + 4) * 4;
  variant.sharedBytes = std::max(pipelines, results);
  variant.cluster = split;
  return variant;
}

SmallVector<Variant, 0> convVariants(const ConvGraph &form) {
  if (multiplyAdds(form) > kLargest)
    return {};
  cudnn::TensorDescType type = cudnn::ConvolutionOp(form.conv).getW().getType();
  ArrayRef<int64_t> w = type.getShape();
  int64_t steps =
      w[2] * w[3] *
      llvm::divideCeil(w[1] * type.getElementType().getIntOrFloatBitWidth(), kRowBytes * 8);
  SmallVector<Shape> shapes;
  for (auto [tileM, tileN] : {std::pair<int64_t, int64_t>(32, 32), {32, 64}}) {
    int64_t tiles = llvm::divideCeil(form.rows(), tileM) * llvm::divideCeil(form.columns(), tileN),
            split = 1;
    if (tiles < kFewBlocks)
      while (split < kLargestCluster && tiles * split < kManyBlocks && 4 * split <= steps)
        split *= 2;
    // A group's pipeline is only worth its shared memory when it has steps to overlap.
    int64_t groups = split == 1 && steps >= 4 ? 2 : 1;
    shapes.push_back({tileM, tileN, groups, split});
    if (split > 1 && tileN == 32)
      shapes.push_back({tileM, tileN, std::min<int64_t>(4, steps / 2), 1});
  }
  SmallVector<Variant, 0> variants;
  for (Shape shape : shapes)
    if (Variant variant = variantOf(form, shape); variant.sharedBytes <= kSharedBytes90)
      variants.push_back(std::move(variant));
  return variants;
}

} // namespace convoy
