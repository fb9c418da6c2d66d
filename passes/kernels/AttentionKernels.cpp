// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/AttentionKernels.h"
#include "passes/kernels/AttentionWgmmaKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;
using convoy::cudnn::TensorDescType;

namespace convoy {

/// Rows of a warp, and warps of a block: blocks of more warps read keys and values less often.
static constexpr int64_t kRows = 16, kFewWarps = 4, kManyWarps = 8;

static Variant variantOf(const AttentionGraph &form, int64_t bound, int64_t warps) {
  TensorDescType q = form.argument(0), k = form.argument(1);
  AttentionArguments arguments = form.arguments();
  arguments.warps = word(warps);

  Variant variant;
  variant.suffix = llvm::formatv("{0}x{1}", warps * kRows, bound);
  variant.function =
      llvm::formatv("convoy_attention_{0}_{1}", libraryName(q.getElementType()), bound);
  variant.tensors = form.tensors();
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
  bool isOneBlock = rows <= kFewWarps * kRows;
  SmallVector<Variant, 0> variants = attentionWgmmaVariants(form, *bound);
  if (variants.empty() || isOneBlock)
    variants.push_back(
        variantOf(form, *bound, std::min<int64_t>(llvm::divideCeil(rows, kRows), kFewWarps)));
  if (!isOneBlock)
    variants.push_back(variantOf(form, *bound, kManyWarps));
  return {std::move(variants), k.getShape()[3] <= kAttentionColumns};
}

} // namespace convoy
