// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The scf.execute_region that plan-group-epilogues makes of a reduction and its epilogue, which
// code generation computes in one pass: the result stays in registers between them.

#ifndef CONVOY_PASSES_COMMON_EPILOGUEREGION_H
#define CONVOY_PASSES_COMMON_EPILOGUEREGION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace convoy {

struct EpilogueRegion {
  mlir::linalg::FillOp fill;        ///< with a constant
  mlir::linalg::LinalgOp reduction; ///< into the filled memref
  mlir::linalg::GenericOp epilogue; ///< pointwise on the result, possibly without its unit dims

  /// Whether the ops have the form above.
  bool isValid();

  /// The ops of `region`, or nullopt when it is not such a region.
  static std::optional<EpilogueRegion> match(mlir::scf::ExecuteRegionOp region);
};

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_EPILOGUEREGION_H
