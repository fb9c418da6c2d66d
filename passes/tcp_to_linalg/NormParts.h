// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The division of the rows of a norm into parts, on a GPU.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_NORMPARTS_H
#define CONVOY_PASSES_TCP_TO_LINALG_NORMPARTS_H

#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace convoy {

/// Rows of more elements are reduced in steps, or in parts, if they are not contiguous.
inline constexpr int64_t kLongInterleavedRow = 1 << 15;

/// A division of long rows into parts.
struct NormParts {
  llvm::SmallVector<int64_t> shape;  ///< of the input, with one of its dims split in two
  llvm::SmallVector<int64_t> inside; ///< dims of this shape over which a part extends
  llvm::SmallVector<int64_t> across; ///< dims of this shape that number the parts of a row
  int64_t size = 1;                  ///< elements of a part
  bool areColumns = false;           ///< whether neighboring elements belong to different rows
};

/// Divides rows that one block would not reduce well, on a GPU: each part is a short row, whose
/// statistics take one kernel that reads it once, and few parts are left to combine. Returns
/// nullopt for other rows.
std::optional<NormParts> normPartsOf(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> dims);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_NORMPARTS_H
