// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/AttentionWgmmaKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Time of a step in addition to its columns, in columns.
static constexpr int64_t kStepColumns = 16;
/// Columns of a mask that are in shared memory as f32.
static constexpr int64_t kMostMaskColumns = 4096;

namespace {

/// Groups of a block, blocks per multiprocessor, and the most columns of a step with which all sums
/// are in registers, and as many blocks in shared memory. A mask with more than one row is in
/// registers too.
struct Shape {
  int64_t groups, residents, mostColumns, mostMaskedColumns;

  int64_t rows() const { return groups * kAttentionWgmmaRows; }
};

/// For rows of up to 64 elements, and for longer ones. Blocks of one group leave the fewest rows
/// empty; those of more groups read keys and values less often.
constexpr Shape kShapes[] = {{1, 3, 128, 96}, {2, 2, 80, 64}},
                kWideShapes[] = {{1, 2, 96, 96}, {3, 1, 96, 64}};

} // namespace

/// How the mask is read.
static MaskForm maskOf(const AttentionGraph &form, const AttentionArguments &arguments) {
  if (!form.hasMask)
    return kNoMask;
  return arguments.mask[2] == 0 && arguments.columns <= kMostMaskColumns ? kMaskOfColumns
                                                                         : kMaskOfScores;
}

static int64_t stepsOf(int64_t columns, int64_t columnsOfStep) {
  return llvm::divideCeil(columns, columnsOfStep);
}

/// The time of all blocks of a head relative to others: a causal mask and a window hide columns
/// from most.
static int64_t costOf(const AttentionArguments &arguments, Shape shape, int64_t columns) {
  int64_t cost = 0;
  for (int64_t end = shape.rows(), last = 0; last < arguments.rows; end += shape.rows()) {
    last = std::min<int64_t>(end, arguments.rows);
    int64_t seen =
        arguments.causal ? std::min<int64_t>(last, arguments.columns) : arguments.columns;
    int64_t hidden =
        arguments.window > 0 ? std::max<int64_t>(end - shape.rows() - arguments.window + 1, 0) : 0;
    int64_t steps = stepsOf(seen, columns), first = std::min(hidden / columns, steps - 1);
    cost += (steps - first) * (columns + kStepColumns);
  }
  return cost;
}

static int64_t sharedBytesOf(const AttentionWgmmaArguments &arguments, Shape shape, int64_t bound,
                             int64_t columns) {
  int64_t slabs = llvm::divideCeil(bound, int64_t(kAttentionWgmmaSlab));
  int64_t steps = stepsOf(arguments.attention.columns, columns),
          stages = std::min<int64_t>(steps, kAttentionWgmmaStages),
          maskColumns = arguments.mask == kMaskOfColumns ? steps * columns : 0;
  // Slabs begin at a multiple of 1024 bytes.
  return maskColumns * 4 + 1024 + slabs * 128 * (shape.rows() + stages * 2 * columns);
}

static Variant variantOf(const AttentionGraph &form, int64_t bound, Shape shape) {
  AttentionWgmmaArguments arguments = {};
  arguments.attention = form.arguments();
  arguments.attention.warps = word(shape.groups * kGroupThreads / 32);
  arguments.batches = word(form.argument(0).getShape()[0]);
  arguments.mask = maskOf(form, arguments.attention);
  int64_t most = arguments.mask == kMaskOfScores ? shape.mostMaskedColumns : shape.mostColumns,
          columns = 0, cost = 0;
  for (int64_t each : kAttentionWgmmaColumns) {
    int64_t costOfEach = costOf(arguments.attention, shape, each);
    if (each <= most && (columns == 0 || costOfEach <= cost))
      columns = each, cost = costOfEach;
  }

  Variant variant;
  variant.suffix = llvm::formatv("wgmma_{0}x{1}", shape.rows(), columns);
  variant.function = llvm::formatv("convoy_attention_wgmma_{0}_{1}_{2}",
                                   libraryName(form.argument(0).getElementType()), bound, columns);
  variant.tensors = form.tensors();
  variant.setArguments(arguments);
  variant.blocks = int64_t(arguments.batches) * arguments.attention.heads *
                   llvm::divideCeil(arguments.attention.rows, shape.rows());
  variant.threads = shape.groups * kGroupThreads;
  variant.sharedBytes = sharedBytesOf(arguments, shape, bound, columns);
  variant.residents = shape.residents;
  variant.onlyChip = kWgmmaChip;
  return variant;
}

SmallVector<Variant, 0> attentionWgmmaVariants(const AttentionGraph &form, int bound) {
  AttentionArguments arguments = form.arguments();
  if (arguments.rows < kAttentionWgmmaRows || arguments.columns <= kAttentionColumns)
    return {};
  SmallVector<Variant, 0> variants;
  for (const Shape &shape : bound <= kAttentionWgmmaSlab ? kShapes : kWideShapes)
    if (variants.empty() || shape.rows() - arguments.rows < kAttentionWgmmaRows)
      variants.push_back(variantOf(form, bound, shape));
  return variants;
}

} // namespace convoy
