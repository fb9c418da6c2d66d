// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions. Each check has the label of its constraint in the op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

LogicalResult ReductionOp::verify() {
  // reduction_c1
  if (failed(expectRank(*this, 1, 8)))
    return failure();
  // reduction_c2
  ArrayRef<int64_t> x = shapeOf(getX()), y = shapeOf(getY());
  for (auto [from, to] : llvm::zip(x, y))
    if (to != from && to != 1)
      return emitOpError("expects result dims equal to the operand's or 1, but got ")
             << str(x) << " and " << str(y);
  if (x == y)
    return emitOpError("expects at least one reduced dim, but got ") << str(x) << " twice";
  return expectComputeType(*this, getComputeType(), {/*integer=*/true}); // reduction_c3
}
