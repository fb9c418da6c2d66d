// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The part of matchContraction for the elementwise op on the result of a product.

#ifndef CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEPILOGUE_H
#define CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEPILOGUE_H

#include "passes/cpu_codegen/Contraction.h"

namespace convoy {

/// Dims of the output, named as in PixelBuffer; -1 if absent.
struct OutputDims {
  int n = -1, h = -1, w = -1, k = -1, g = -1;
};

/// Sets the operands and the output of `contraction` to those of its epilogue, whose loops are the
/// dims of `result`, which the product writes, possibly without some of size 1. `hasGroups` tells
/// whether the dim k of `result` has all groups of channels.
mlir::LogicalResult addEpilogue(Contraction &contraction, mlir::Value result, OutputDims dims,
                                bool hasGroups);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_CONTRACTIONEPILOGUE_H
