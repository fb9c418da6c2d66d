// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The scf.execute_region that plan-group-siblings makes of small ops that do not depend on each
// other. Code generation computes them in one kernel: each has a part of the blocks.

#ifndef CONVOY_PASSES_COMMON_SIBLINGREGION_H
#define CONVOY_PASSES_COMMON_SIBLINGREGION_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace convoy {

struct SiblingRegion {
  /// `linalg` ops without reductions, and regions of `plan-group-rows` or `plan-group-epilogues`.
  llvm::SmallVector<mlir::Operation *> members;

  /// Whether `op` can be a member.
  static bool mayContain(mlir::Operation *op);

  /// The ops of `region`, or nullopt when it is not such a region.
  static std::optional<SiblingRegion> match(mlir::scf::ExecuteRegionOp region);
};

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_SIBLINGREGION_H
