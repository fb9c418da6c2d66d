// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/MatmulKernels.h"
#include "passes/kernels/Strips.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;
using namespace convoy::strips;

namespace convoy {

namespace {

struct Shape {
  int64_t lanes, warps, split;
};

} // namespace

/// Number of columns of a strip that is `lanes` chunks of 16 bytes wide.
static int64_t pitchOf(const MatmulGraph &form, int64_t lanes) {
  return lanes * 128 / form.element().getIntOrFloatBitWidth();
}

static int64_t stripsOf(const MatmulGraph &form, int64_t lanes) {
  return llvm::divideCeil(form.columns(), pitchOf(form, lanes));
}

/// Maximum number of warps: sums need registers, a chunk of numbers for each row.
static int64_t mostWarps(const MatmulGraph &form) {
  return form.rows() == 1 ? 32 : form.rows() * pitchOf(form, /*lanes=*/1) <= 16 ? 16 : 8;
}

static Shape shapeOf(const MatmulGraph &form, int64_t lanes, int64_t split) {
  int64_t terms = kWarp / lanes * kMatmulTurn,
          warps = llvm::divideCeil(form.depth(), terms * split);
  // Each thread adds up four results of its block.
  int64_t least = llvm::divideCeil(form.rows() * pitchOf(form, lanes), 4 * kWarp);
  return {lanes, std::clamp(warps, least, mostWarps(form)), split};
}

static Variant variantOf(const MatmulGraph &form, Shape shape) {
  auto [lanes, warps, split] = shape;
  Variant variant;
  variant.suffix = llvm::formatv("{0}x{1}x{2}", lanes, warps, split);
  variant.function = llvm::formatv("convoy_matmul_{0}_{1}", libraryName(form.element()),
                                   libraryName(form.resultType));
  variant.tensors = form.tensors();
  MatmulArguments arguments = {};
  arguments.rows = word(form.rows());
  arguments.depth = word(form.depth());
  arguments.columns = word(form.columns());
  arguments.lanes = word(lanes);
  arguments.warps = word(warps);
  arguments.split = word(split);
  arguments.epilogue = form.epilogue();
  variant.setArguments(arguments);
  variant.blocks = stripsOf(form, lanes) * split;
  variant.threads = kWarp * warps;
  variant.sharedBytes = (warps + (split > 1)) * form.rows() * pitchOf(form, lanes) * 4;
  variant.cluster = split;
  return variant;
}

SmallVector<Variant, 0> matmulVariants(const MatmulGraph &form) {
  // Strips wider than a sector are faster if there are enough of them.
  SmallVector<Shape> alone, shared;
  for (int64_t lanes : {4 * kSector, 2 * kSector})
    if (stripsOf(form, lanes) >= kManyBlocks)
      alone.push_back(shapeOf(form, lanes, 1));
  alone.push_back(shapeOf(form, kSector, 1));
  if (stripsOf(form, kSector) < kManyBlocks)
    alone.push_back(shapeOf(form, 1, 1));
  for (int64_t lanes : {kSector, 2 * kSector, 4 * kSector})
    if (int64_t split = chooseCluster(stripsOf(form, lanes), form.depth(),
                                      /*least=*/2 * kWarp / lanes * kMatmulTurn);
        split > 1)
      shared.push_back(shapeOf(form, lanes, split));
  bool isIdle = stripsOf(form, kSector) <= kFewBlocks && form.depth() * kSectorBytes > kLongStrip;
  SmallVector<Shape> &first = isIdle ? shared : alone, &second = isIdle ? alone : shared;
  first.append(second);
  return llvm::map_to_vector<0>(first, [&](Shape shape) { return variantOf(form, shape); });
}

} // namespace convoy
