// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/MatmulWgmmaKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Number of variants that are offered.
static constexpr size_t kOffered = 3;

namespace {

/// Groups and columns per block, and blocks per multiprocessor.
struct Shape {
  int64_t groups, columns, residents;

  int64_t rows() const { return groups * kMatmulWgmmaRows; }
  int64_t sharedBytes() const {
    int64_t slabs = llvm::divideCeil(columns, int64_t(kMatmulWgmmaSlabColumns));
    // The ring begins at a multiple of 1024 bytes.
    return kMatmulWgmmaStages * (rows() * 128 + slabs * kMatmulWgmmaSlab) + 1024;
  }
};

} // namespace

static int64_t blocksOf(const MatmulGraph &form, Shape shape) {
  return llvm::divideCeil(form.rows(), shape.rows()) *
         llvm::divideCeil(form.columns(), shape.columns);
}

/// The time of the product relative to others: whole waves of blocks, each as long as its tile. A
/// tile is as long as its products, or as its reads of shared memory, where each group reads all
/// columns.
static double costOf(const MatmulGraph &form, Shape shape) {
  int64_t waves = llvm::divideCeil(blocksOf(form, shape), kMultiprocessors90 * shape.residents);
  double products = shape.rows() * shape.columns,
         traffic = 32.0 * (2 * shape.rows() + (shape.groups + 1) * shape.columns);
  return waves * shape.residents * std::max(products, traffic);
}

static Variant variantOf(const MatmulGraph &form, Shape shape) {
  Variant variant;
  variant.suffix = llvm::formatv("wgmma_{0}x{1}", shape.rows(), shape.columns);
  variant.function =
      llvm::formatv("convoy_matmul_wgmma_{0}_{1}", libraryName(form.element()), shape.columns);
  variant.tensors = form.tensors();
  MatmulWgmmaArguments arguments = {};
  arguments.rows = word(form.rows());
  arguments.depth = word(form.depth());
  arguments.columns = word(form.columns());
  arguments.groups = word(shape.groups);
  arguments.epilogue = form.epilogue();
  variant.setArguments(arguments);
  variant.blocks = blocksOf(form, shape);
  variant.threads = shape.groups * kGroupThreads;
  variant.sharedBytes = shape.sharedBytes();
  variant.residents = shape.residents;
  variant.onlyChip = kWgmmaChip;
  return variant;
}

SmallVector<Variant, 0> matmulWgmmaVariants(const MatmulGraph &form, std::string &reason) {
  if (form.element().isF32() || form.resultType != form.element()) {
    reason = "the kernel for many rows is for 16-bit floats";
    return {};
  }
  static constexpr Shape kShapes[] = {{2, 128, 2}, {2, 96, 2}, {2, 64, 3}, {2, 192, 1},
                                      {1, 128, 2}, {1, 64, 4}, {4, 128, 1}};
  SmallVector<std::pair<double, const Shape *>> byCost;
  for (const Shape &shape : kShapes)
    byCost.emplace_back(costOf(form, shape), &shape);
  llvm::sort(byCost);
  byCost.resize(kOffered);
  return llvm::map_to_vector<0>(byCost,
                                [&](const auto &entry) { return variantOf(form, *entry.second); });
}

} // namespace convoy
