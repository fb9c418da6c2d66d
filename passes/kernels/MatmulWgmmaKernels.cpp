// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/MatmulWgmmaKernels.h"
#include "passes/kernels/WgmmaProduct.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::device;

namespace convoy {

/// Number of variants that are offered.
static constexpr size_t kOffered = 3;

static Variant variantOf(const MatmulGraph &form, const WgmmaProduct &product,
                         const MatmulWgmmaTile &tile) {
  MatmulWgmmaArguments arguments = {};
  Variant variant = variantOf(product, tile, "convoy_matmul_wgmma", arguments);
  variant.suffix = llvm::formatv("wgmma_{0}x{1}x{2}", tile.rows(), tile.columns, tile.sharing);
  variant.setArguments(arguments);
  SmallVector<std::optional<unsigned>> tensors = form.tensors();
  variant.maps = {
      {*tensors[0], {form.rows(), form.depth()}, {tile.rows(), kMatmulWgmmaStep}},
      {*tensors[1], {form.depth(), form.columns()}, {kMatmulWgmmaStep, kMatmulWgmmaSlabColumns}},
  };
  return variant;
}

SmallVector<Variant, 0> matmulWgmmaVariants(const MatmulGraph &form, std::string &reason) {
  if (form.element().isF32() || form.resultType != form.element()) {
    reason = "the kernel for many rows is for 16-bit floats";
    return {};
  }
  WgmmaProduct product = {form,           form.rows(),    form.depth(),
                          form.columns(), form.element(), form.epilogueTensors()};
  return llvm::map_to_vector<0>(bestTiles(product, kOffered), [&](const MatmulWgmmaTile &tile) {
    return variantOf(form, product, tile);
  });
}

} // namespace convoy
