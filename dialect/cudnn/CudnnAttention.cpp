// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of attention and its cache. Each check has the label of its constraint in the op's
// description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

/// Checks the shape and the element type of `value`, if it is present.
static LogicalResult expectTensor(Operation *op, StringRef name, Value value,
                                  ArrayRef<int64_t> shape, Type type) {
  if (!value)
    return success();
  if (failed(expectShape(op, ("'" + name + "'").str(), shapeOf(value), shape)))
    return failure();
  if (Type actual = cast<TensorDescType>(value.getType()).getElementType(); actual != type)
    return op->emitOpError("expects '") << name << "' of " << type << ", but got " << actual;
  return success();
}

LogicalResult SdpaForwardOp::verify() {
  // sdpa_forward_c1
  SmallVector<Value> tensors{getQ(), getK(), getV(), getO()};
  for (Value value :
       {getStats(), getBlockMask(), getPageTableK(), getPageTableV(), getSeqLenQ(), getSeqLenKv()})
    if (value)
      tensors.push_back(value);
  if (failed(expectRank(*this, tensors, 4, 4)))
    return failure();
  // sdpa_forward_c2: paged tensors have their rows in blocks, whose number the page table gives.
  ArrayRef<int64_t> q = shapeOf(getQ()), k = shapeOf(getK()), v = shapeOf(getV());
  if (k[3] != q[3])
    return emitOpError("expects 'k' of depth ") << q[3] << " like 'q', but got " << k[3];
  for (auto [name, shape, table] : {std::tuple(StringRef("k"), k, getPageTableK()),
                                    std::tuple(StringRef("v"), v, getPageTableV())})
    if (!table && shape[0] != q[0])
      return emitOpError("expects '")
             << name << "' of batch size " << q[0] << " like 'q', but got " << shape[0];
  if (!getPageTableK() && !getPageTableV() && k[2] != v[2])
    return emitOpError("expects 'k' and 'v' to have the same number of rows, but got ")
           << k[2] << " and " << v[2];
  if (failed(expectShape(*this, "'o'", shapeOf(getO()), attentionShape(q, v))))
    return failure();
  // sdpa_forward_c3
  for (auto [name, shape] : {std::pair(StringRef("k"), k), std::pair(StringRef("v"), v)})
    if (q[1] % shape[1])
      return emitOpError("expects the number of heads of '")
             << name << "' to divide " << q[1] << ", that of 'q', but got " << shape[1];
  // sdpa_forward_c4
  if (getScale() && ShapedType::getNumElements(shapeOf(getScale())) != 1)
    return emitOpError("expects 'scale' to have one element, but got shape ")
           << str(shapeOf(getScale()));
  // sdpa_forward_c5
  if (getStats() &&
      failed(expectShape(*this, "'stats'", shapeOf(getStats()), {q[0], q[1], q[2], 1})))
    return failure();
  // sdpa_forward_c6
  Builder builder(getContext());
  if (!getSeqLenQ() != !getSeqLenKv())
    return emitOpError("expects 'seq_len_q' and 'seq_len_kv' together, but got only '")
           << (getSeqLenQ() ? "seq_len_q" : "seq_len_kv") << "'";
  if (failed(
          expectTensor(*this, "seq_len_q", getSeqLenQ(), {q[0], 1, 1, 1}, builder.getI32Type())) ||
      failed(
          expectTensor(*this, "seq_len_kv", getSeqLenKv(), {q[0], 1, 1, 1}, builder.getI32Type())))
    return failure();
  // sdpa_forward_c7
  for (auto [name, table] : {std::pair(StringRef("page_table_k"), getPageTableK()),
                             std::pair(StringRef("page_table_v"), getPageTableV())}) {
    if (!table)
      continue;
    if (!getSeqLenQ())
      return emitOpError("expects 'seq_len_q' and 'seq_len_kv' with '") << name << "'";
    if (failed(expectTensor(*this, name, table, {q[0], 1, shapeOf(table)[2], 1},
                            builder.getI32Type())))
      return failure();
  }
  // sdpa_forward_c8
  if (!getBlockMask())
    return success();
  constexpr int64_t kTile = 128;
  int64_t columns = getPageTableK() ? shapeOf(getPageTableK())[2] * k[2] : k[2];
  return expectTensor(*this, "block_mask", getBlockMask(),
                      {q[0], q[1], llvm::divideCeilSigned(q[2], kTile),
                       llvm::divideCeilSigned(llvm::divideCeilSigned(columns, kTile), 8)},
                      builder.getIntegerType(8, /*isSigned=*/false));
}

LogicalResult PagedCacheLoadOp::verify() {
  // paged_cache_load_c1
  if (failed(
          expectRank(*this, {getContainer(), getPageTable(), getSequenceLengths(), getY()}, 4, 4)))
    return failure();
  // paged_cache_load_c2
  ArrayRef<int64_t> container = shapeOf(getContainer()), y = shapeOf(getY());
  if (y[1] != container[1])
    return emitOpError("expects a result of ") << container[1] << " heads, but got " << y[1];
  if (y[3] != container[3] && y[2] != container[3])
    return emitOpError("expects a result of depth ")
           << container[3] << " in its last dim or the one before, but got " << str(y);
  Type type = getContainer().getType().getElementType();
  if (getY().getType().getElementType() != type)
    return emitOpError("expects a result of ")
           << type << ", but got " << getY().getType().getElementType();
  // paged_cache_load_c3
  Builder builder(getContext());
  int64_t length = y[3] == container[3] ? y[2] : y[3];
  if (failed(expectTensor(*this, "page_table", getPageTable(),
                          {y[0], 1, llvm::divideCeilSigned(length, container[2]), 1},
                          builder.getI32Type())))
    return failure();
  // paged_cache_load_c4
  return expectTensor(*this, "sequence_lengths", getSequenceLengths(), {y[0], 1, 1, 1},
                      builder.getI32Type());
}
