// Matrix products. Each check carries the label of its constraint in the op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

LogicalResult MatmulOp::verify() {
  // matmul_c1
  if (failed(expectRank(*this, 3, 8)))
    return failure();
  // matmul_c2
  ArrayRef<int64_t> a = shapeOf(getA()), b = shapeOf(getB());
  size_t rank = a.size();
  if (a[rank - 1] != b[rank - 2])
    return emitOpError("expects the last dim of a to be the second last of b, but got ") << str(a) << " and " << str(b);
  // matmul_c3
  FailureOr<SmallVector<int64_t>> expected = broadcastShape({a.drop_back(2), b.drop_back(2)});
  if (failed(expected))
    return emitOpError("expects batch dims that are equal or 1, but got ") << str(a) << " and " << str(b);
  expected->append({a[rank - 2], b[rank - 1]});
  if (failed(expectShape(*this, "result", shapeOf(getY()), *expected)))
    return failure();
  return expectComputeType(*this, getComputeType(), /*integers=*/true); // matmul_c4
}
