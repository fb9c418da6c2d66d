// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Grouped products and band matrices. Each check has the label of its constraint in the op's
// description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

static LogicalResult expectIndices(Operation *op, StringRef name, Value value,
                                   ArrayRef<int64_t> shape) {
  if (failed(expectShape(op, ("'" + name + "'").str(), shapeOf(value), shape)))
    return failure();
  Type type = cast<TensorDescType>(value.getType()).getElementType();
  if (!type.isSignlessInteger(32) && !type.isSignlessInteger(64))
    return op->emitOpError("expects '") << name << "' of i32 or i64, but got " << type;
  return success();
}

LogicalResult MoeGroupedMatmulOp::verify() {
  // moe_grouped_matmul_c1
  SmallVector<Value> tensors((*this)->getOperands());
  tensors.push_back(getY());
  if (failed(expectRank(*this, tensors, 3, 3)))
    return failure();
  // moe_grouped_matmul_c4
  StringRef mode = stringifyMoeMode(getMode());
  bool indexed = getMode() != MoeMode::None;
  if (static_cast<bool>(getTokenIndex()) != indexed)
    return emitOpError("expects ") << (indexed ? "'" : "no '") << "token_index' with mode " << mode;
  // moe_grouped_matmul_c2
  ArrayRef<int64_t> token = shapeOf(getToken()), weight = shapeOf(getWeight());
  if (token[0] != 1 || token[2] != weight[1])
    return emitOpError("expects 'token' of shape 1 x T x ")
           << weight[1] << " for 'weight' " << str(weight) << ", but got " << str(token);
  bool gathers = getMode() == MoeMode::Gather;
  SmallVector<int64_t> expected =
      moeShape(token, weight, gathers ? shapeOf(getTokenIndex()) : ArrayRef<int64_t>());
  if (failed(expectShape(*this, "result", shapeOf(getY()), expected)))
    return failure();
  // moe_grouped_matmul_c3
  int64_t offsets = shapeOf(getFirstTokenOffset())[0];
  bool whole = offsets > 0 && offsets % weight[0] == 0;
  if (failed(expectIndices(*this, "first_token_offset", getFirstTokenOffset(),
                           {whole ? offsets : weight[0], 1, 1})))
    return failure();
  // moe_grouped_matmul_c4
  if (indexed && failed(expectIndices(*this, "token_index", getTokenIndex(), {1, expected[1], 1})))
    return failure();
  // moe_grouped_matmul_c5
  bool scatters = getMode() == MoeMode::Scatter;
  if (scatters && !getTokenKs())
    return emitOpError("expects 'token_ks' with mode scatter");
  if (!scatters && getTokenKs())
    return emitOpError("expects no 'token_ks' with mode ") << mode;
  if (scatters && getTokenKs().getType() != getTokenIndex().getType())
    return emitOpError("expects 'token_ks' to have the type of 'token_index', ")
           << getTokenIndex().getType() << ", but got " << getTokenKs().getType();
  auto topK = static_cast<int64_t>(getTopK().value_or(1));
  if ((scatters && !getTopK()) || topK < 1)
    return emitOpError("expects a positive 'top_k' with mode ") << mode;
  return expectComputeType(*this, getComputeType(), {}); // moe_grouped_matmul_c6
}

static LogicalResult verifyBand(Operation *op, ArrayRef<int64_t> band, ArrayRef<int64_t> matrix,
                                int64_t axis, int64_t lower, int64_t upper) {
  // expand_band_matrix_c2, contract_band_matrix_c2
  int64_t rank = matrix.size();
  if (axis != rank - 1 && axis != rank - 2)
    return op->emitOpError("expects 'axis' ")
           << rank - 2 << " or " << rank - 1 << ", but got " << axis;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis && band[i] != matrix[i])
      return op->emitOpError("expects dims that differ only along 'axis', but got ")
             << str(band) << " and " << str(matrix);
  // expand_band_matrix_c3, contract_band_matrix_c3
  if (lower < 0 || upper < 0)
    return op->emitOpError("expects non-negative bandwidths, but got ")
           << lower << " and " << upper;
  if (SmallVector<int64_t> expected = bandShape(matrix, axis, lower, upper);
      band != ArrayRef(expected))
    return op->emitOpError("expects a band of ")
           << expected[axis] << " elements along 'axis', but got " << str(band);
  return success();
}

LogicalResult ExpandBandMatrixOp::verify() {
  // expand_band_matrix_c1
  SmallVector<Value> tensors((*this)->getOperands());
  tensors.push_back(getY());
  if (failed(expectRank(*this, tensors, 2, 8)))
    return failure();
  return verifyBand(*this, shapeOf(getX()), shapeOf(getY()), getAxis(), getLowerBandwidth(),
                    getUpperBandwidth());
}

LogicalResult ContractBandMatrixOp::verify() {
  // contract_band_matrix_c1
  if (failed(expectRank(*this, {getX(), getY()}, 2, 8)))
    return failure();
  return verifyBand(*this, shapeOf(getY()), shapeOf(getX()), getAxis(), getLowerBandwidth(),
                    getUpperBandwidth());
}
