// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolutions read inputs with padding. With a large dilation most rows that they read are
// padding, and code generation for CPUs skips these rows.

#ifndef CONVOY_PASSES_COMMON_INPUTROWS_H
#define CONVOY_PASSES_COMMON_INPUTROWS_H

#include "llvm/ADT/StringRef.h"

namespace convoy {

/// array<i64: begin, end> on a convolution with two spatial dims: the rows of its input that are
/// not zeros of the padding. An op without it may read any row.
constexpr llvm::StringLiteral kInputRowsAttr = "convoy.input_rows";

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_INPUTROWS_H
