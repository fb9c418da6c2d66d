// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/AttentionKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;
using convoy::cudnn::TensorDescType;

namespace convoy {

/// Rows of a warp, and warps of a block: blocks of more warps read keys and values less often.
static constexpr int64_t kRows = 16, kFewWarps = 4, kManyWarps = 8;

/// Sets the distances of batches, heads and rows, whose dims are `dims` of `type`.
static void setDistances(int (&distances)[3], TensorDescType type, std::array<int, 3> dims) {
  for (auto [distance, dim] : llvm::zip_equal(distances, dims))
    distance = word(type.getStrides()[dim]);
}

static Variant variantOf(const AttentionGraph &form, int64_t bound, int64_t warps) {
  TensorDescType q = form.argument(0), k = form.argument(1), v = form.argument(2);
  AttentionArguments arguments = {};
  arguments.heads = word(q.getShape()[1]);
  arguments.keyHeads = word(k.getShape()[1]);
  arguments.rows = word(q.getShape()[2]);
  arguments.columns = word(k.getShape()[3]);
  arguments.depth = word(q.getShape()[3]);
  arguments.width = word(v.getShape()[3]);
  setDistances(arguments.query, q, {0, 1, 2});
  setDistances(arguments.key, k, {0, 1, 3});
  setDistances(arguments.value, v, {0, 1, 2});
  setDistances(arguments.result, form.result(), {0, 1, 2});
  if (form.hasMask) {
    TensorDescType mask = form.argument(3);
    for (auto [distance, size, stride] :
         llvm::zip_equal(arguments.mask, mask.getShape(), mask.getStrides()))
      distance = size == 1 ? 0 : word(stride);
  }
  arguments.scale = static_cast<float>(form.scale);
  arguments.causal = form.causal;
  arguments.warps = word(warps);

  Variant variant;
  variant.suffix = llvm::formatv("{0}x{1}", warps * kRows, bound);
  variant.function =
      llvm::formatv("convoy_attention_{0}_{1}", libraryName(q.getElementType()), bound);
  unsigned results = cudnn::GraphOp(form.graph).getNumArguments();
  variant.tensors = {
      0, 1, 2, form.hasMask ? std::optional<unsigned>(3) : std::nullopt, results, results + 1};
  variant.setArguments(arguments);
  variant.blocks =
      q.getShape()[0] * q.getShape()[1] * llvm::divideCeil(q.getShape()[2], warps * kRows);
  variant.threads = warps * 32;
  int64_t steps = std::min<int64_t>(llvm::divideCeil(k.getShape()[3], int64_t(kAttentionColumns)),
                                    kAttentionStages);
  variant.sharedBytes = steps * 2 * kAttentionColumns * (bound * 2 + 16);
  return variant;
}

/// Whether the kernel addresses `type`, and reads it 16 bytes at a time: elements along a dim are
/// contiguous, and all others are aligned.
static bool hasAlignedRows(TensorDescType type, int64_t along) {
  return type.getStrides()[along] == 1 && type.getShape()[along] % 8 == 0 &&
         type.getAlignment() % 16 == 0 &&
         llvm::all_of(llvm::enumerate(type.getStrides()), [&](auto each) {
           return static_cast<int64_t>(each.index()) == along ||
                  (each.value() % 8 == 0 && llvm::isInt<32>(each.value()));
         });
}

Offer offerAttention(const AttentionGraph &form, std::string &reason) {
  TensorDescType q = form.argument(0), k = form.argument(1), v = form.argument(2);
  Type element = q.getElementType();
  auto isElement = [&](Type type) {
    return cast<TensorDescType>(type).getElementType() == element;
  };
  cudnn::GraphOp graph = form.graph;
  auto stats = cast<TensorDescType>(graph.getResultTypes()[1]);
  if ((!element.isF16() && !element.isBF16()) ||
      !llvm::all_of(graph.getArgumentTypes(), isElement) || !isElement(form.result()) ||
      !stats.getElementType().isF32() || !stats.isRowMajor()) {
    reason =
        "the kernel for attention is for 16-bit floats of one type, and packed logarithms in f32";
    return {};
  }
  const int *bound = llvm::find_if(kAttentionDepths, [&](int64_t each) {
    return each >= std::max(q.getShape()[3], v.getShape()[3]);
  });
  if (bound == std::end(kAttentionDepths)) {
    reason = "a row of query or value has more than 128 elements";
    return {};
  }
  if (!hasAlignedRows(q, 3) || !hasAlignedRows(k, 2) || !hasAlignedRows(v, 3) ||
      !hasAlignedRows(form.result(), 3)) {
    reason = "rows of attention's operands are not contiguous and aligned to 16 bytes";
    return {};
  }
  int64_t rows = q.getShape()[2];
  SmallVector<Variant, 0> variants = {
      variantOf(form, *bound, std::min<int64_t>(llvm::divideCeil(rows, kRows), kFewWarps))};
  if (rows > kFewWarps * kRows)
    variants.push_back(variantOf(form, *bound, kManyWarps));
  return {std::move(variants), k.getShape()[3] <= kAttentionColumns};
}

} // namespace convoy
