// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds out whether an op is a convolution or matrix product that has a vectorized form.

#ifndef CONVOY_PASSES_CPU_CODEGEN_MATCHCONTRACTION_H
#define CONVOY_PASSES_CPU_CODEGEN_MATCHCONTRACTION_H

#include "passes/cpu_codegen/Contraction.h"

namespace convoy {

/// Describes `product` with its fill and epilogue (either may be null). Fails silently if the op
/// has another form; it is then lowered to plain loops.
mlir::FailureOr<Contraction> matchContraction(mlir::linalg::LinalgOp product,
                                              mlir::linalg::FillOp fill,
                                              mlir::linalg::GenericOp epilogue);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_MATCHCONTRACTION_H
