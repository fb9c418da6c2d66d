// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix products. Each check has the label of its constraint in the op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

LogicalResult MatmulOp::verify() {
  // matmul_c1
  auto rank = static_cast<int64_t>(shapeOf(getY()).size());
  for (Value operand : {getA(), getB()})
    if (static_cast<int64_t>(shapeOf(operand).size()) != rank)
      return emitOpError("expects tensors of equal rank, but got ")
             << shapeOf(operand).size() << " and " << rank;
  if (rank < 3)
    return emitOpError("expects tensors of rank 3 to 8, but got ") << rank;
  // matmul_c2
  ArrayRef<int64_t> a = shapeOf(getA()), b = shapeOf(getB());
  if (a[rank - 1] != b[rank - 2])
    return emitOpError("expects the last dim of a to equal the second last of b, but got ")
           << str(a) << " and " << str(b);
  // matmul_c3
  FailureOr<SmallVector<int64_t>> expected = matmulShape(a, b);
  if (failed(expected))
    return emitOpError("expects batch dims where one divides the other, but got ")
           << str(a) << " and " << str(b);
  if (failed(expectShape(*this, "result", shapeOf(getY()), *expected)))
    return failure();
  // matmul_c5
  SmallVector<int64_t> counts(rank, 1);
  counts[0] = expected->front();
  for (auto [name, value] : {std::pair(StringRef("m_override"), getMOverride()),
                             std::pair(StringRef("n_override"), getNOverride()),
                             std::pair(StringRef("k_override"), getKOverride())}) {
    if (!value)
      continue;
    if (failed(expectShape(*this, name, shapeOf(value), counts)))
      return failure();
    Type type = cast<TensorDescType>(value.getType()).getElementType();
    if (!type.isSignlessInteger(32) && !type.isSignlessInteger(64))
      return emitOpError("expects ") << name << " of i32 or i64, but got " << type;
  }
  return expectComputeType(*this, getComputeType(),
                           {/*integer=*/true, /*boolean=*/false, /*fp8=*/true}); // matmul_c4
}
