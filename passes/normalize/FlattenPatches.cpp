// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A convolution of patches, which do not overlap, is a product: each element of the input is in one
// row of the left factor. Kernels for few channels read rows of a window of a few bytes each, and
// reach a tenth of the throughput of a product.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/normalize/Weights.h"
#include "llvm/Support/MathExtras.h"

namespace convoy {
#define GEN_PASS_DEF_TCPFLATTENPATCHESPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// Pixels of a multiple of this are copied as they are by the kernels of convolutions.
constexpr int64_t kAlignedBits = 128;

/// Elements of a patch and filters. Below, a convolution is bound by memory, and the copy of the
/// input costs more than the product saves: 4x4 patches of 3 channels with 96 filters take 10 us of
/// 32 images on an H100, and a copy 7 (benchmarks/NOTES.md).
constexpr int64_t kMinElements = 128, kMinFilters = 64;

/// A channels-last convolution without groups whose stride is its window.
struct PatchConv {
  static std::optional<PatchConv> match(ConvOpInterface conv);

  /// The patches, with the elements of each in one dim, in their order in `source`.
  Value patches(OpBuilder &builder);
  /// The filters, with their elements in the same order.
  Value filters(OpBuilder &builder);

  ConvOpInterface conv;
  Value source;              ///< the input, in the order of dims before a transpose
  SmallVector<int64_t> role; ///< for each dim of `source`, the dim of the input
};

struct FlattenPatchesPass : public convoy::impl::TcpFlattenPatchesPassBase<FlattenPatchesPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

std::optional<PatchConv> PatchConv::match(ConvOpInterface conv) {
  auto isZero = [](int64_t value) { return value == 0; };
  auto isOne = [](int64_t value) { return value == 1; };
  ArrayRef<int64_t> input = shapeOf(conv.getInput()), weights = shapeOf(conv.getWeights());
  Type element = getElementTypeOrSelf(conv.getInput());
  if (!conv.getChannelsLast() || conv.getGroups() != 1 || !llvm::all_of(conv.getPad(), isZero) ||
      !llvm::all_of(conv.getDilation(), isOne) || isa<IsolatedGroupOp>(conv->getParentOp()) ||
      weights.drop_front().drop_back() != conv.getStride() ||
      !(element.isF32() || element.isF16() || element.isBF16()))
    return std::nullopt;
  int64_t channels = input.back(), elements = channels * llvm::product_of(conv.getStride());
  if (channels * element.getIntOrFloatBitWidth() % kAlignedBits == 0 || elements == channels ||
      elements < kMinElements || weights.front() < kMinFilters)
    return std::nullopt;
  PatchConv result{conv, conv.getInput(), llvm::to_vector(llvm::seq<int64_t>(0, input.size()))};
  if (auto transpose = result.source.getDefiningOp<TransposeOp>()) {
    result.source = transpose.getInput();
    for (auto [dim, from] : llvm::enumerate(transpose.getPerm()))
      result.role[from] = static_cast<int64_t>(dim);
  }
  return result;
}

Value PatchConv::patches(OpBuilder &builder) {
  Location loc = conv.getLoc();
  ArrayRef<int64_t> places = shapeOf(conv.getOutput()).drop_front().drop_back();
  int64_t rank = conv.getSpatialRank(), elements = 1;
  // Elements behind the last patch are in none.
  SmallVector<int64_t> kept, split, perm(rank + 1), inner;
  for (auto [dim, each] : llvm::enumerate(role)) {
    bool isSpatial = each != 0 && each != rank + 1;
    int64_t window = isSpatial ? conv.getStride()[each - 1] : 1;
    kept.push_back(isSpatial ? places[each - 1] * window : shapeOf(source)[dim]);
    if (each != rank + 1) {
      perm[each] = static_cast<int64_t>(split.size());
      split.push_back(isSpatial ? places[each - 1] : kept.back());
    }
    if (each != 0) {
      inner.push_back(static_cast<int64_t>(split.size()));
      split.push_back(isSpatial ? window : kept.back());
      elements *= split.back();
    }
  }
  Value value = source;
  if (ArrayRef(kept) != shapeOf(source)) {
    SmallVector<int64_t> starts(kept.size(), 0), steps(kept.size(), 1);
    value =
        SliceOp::create(builder, loc, withShape(value.getType(), kept), value, starts, kept, steps);
  }
  perm.append(inner);
  value = permuted(builder, loc, reshaped(builder, loc, value, split), perm);
  SmallVector<int64_t> shape(shapeOf(value).take_front(rank + 1));
  shape.push_back(elements);
  return reshaped(builder, loc, value, shape);
}

Value PatchConv::filters(OpBuilder &builder) {
  Value weights = conv.getWeights();
  SmallVector<int64_t> perm = {0}, shape(role.size(), 1);
  llvm::copy_if(role, std::back_inserter(perm), [](int64_t dim) { return dim != 0; });
  shape.front() = shapeOf(weights).front();
  shape.back() = llvm::product_of(shapeOf(weights).drop_front());
  return reshaped(builder, conv.getLoc(), permuted(builder, conv.getLoc(), weights, perm), shape);
}

/// Pads the last dim of `value` with zeros to a multiple of `kAlignedBits`.
static Value aligned(OpBuilder &builder, Value value) {
  SmallVector<int64_t> shape(shapeOf(value)), none(shape.size()), high(shape.size());
  int64_t multiple = kAlignedBits / getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  high.back() = static_cast<int64_t>(llvm::alignTo(shape.back(), multiple)) - shape.back();
  if (high.back() == 0)
    return value;
  shape.back() += high.back();
  return PadOp::create(builder, value.getLoc(), withShape(value.getType(), shape), value, none,
                       high, none, APFloat(0.0));
}

void FlattenPatchesPass::runOnStaticShapes() {
  func::FuncOp function = getOperation();
  WeightValues weights(function);
  function.walk([&](ConvOpInterface conv) {
    std::optional<PatchConv> found = PatchConv::match(conv);
    if (!found || !weights.contains(conv.getWeights()))
      return;
    OpBuilder builder(conv);
    conv->setOperand(1, aligned(builder, found->filters(builder)));
    conv->setOperand(0, aligned(builder, found->patches(builder)));
    SmallVector<int64_t> ones(conv.getSpatialRank(), 1);
    conv->setAttr("stride", builder.getDenseI64ArrayAttr(ones));
  });
}
