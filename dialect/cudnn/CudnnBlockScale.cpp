// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of block-scaled quantization. Each check has the label of its constraint in the op's
// description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

/// Shape of the scales when `blocks[i]` elements along dim i share one; the last block of a dim may
/// be smaller. `inner` is the dim whose blocks are contiguous in reordered memory.
static SmallVector<int64_t> scaleShape(ArrayRef<int64_t> x, ArrayRef<int64_t> blocks, int64_t inner,
                                       bool reordered) {
  SmallVector<int64_t> shape;
  for (auto [size, block] : llvm::zip_equal(x, blocks))
    shape.push_back(llvm::divideCeil(size, block));
  if (!reordered)
    return shape;
  int64_t last = static_cast<int64_t>(shape.size()) - 1, outer = 2 * last - 1 - inner;
  shape[inner] = llvm::alignTo(shape[inner], 4);
  shape[outer] = llvm::alignTo(shape[outer], 128);
  return shape;
}

/// block_scale_quantize_c4, block_scale_dequantize_c4; `partial` allows a smaller last block
static LogicalResult verifyScale(Operation *op, ArrayRef<int64_t> x, TensorDescType scale,
                                 ArrayRef<int64_t> blockSize, bool partial) {
  auto rank = static_cast<int64_t>(x.size());
  bool reordered = scale.getReordering() == TensorReordering::F8_128x4;
  auto fits = [&](ArrayRef<int64_t> blocks, int64_t inner) {
    bool whole = llvm::all_of(llvm::zip_equal(x, blocks),
                              [](auto pair) { return std::get<0>(pair) % std::get<1>(pair) == 0; });
    return (whole || partial) &&
           scale.getShape() == ArrayRef<int64_t>(scaleShape(x, blocks, inner, reordered));
  };
  SmallVector<int64_t> blocks(rank, 1);
  if (blockSize.size() == 2) {
    blocks[rank - 2] = blockSize[0];
    blocks[rank - 1] = blockSize[1];
    // The blocks of the second operand of a product are along its first dim.
    bool first = blockSize[0] > 1 && blockSize[1] == 1;
    if (fits(blocks, first ? rank - 2 : rank - 1))
      return success();
  } else {
    for (int64_t axis = reordered ? rank - 2 : 0; axis < rank; ++axis) {
      blocks.assign(rank, 1);
      blocks[axis] = blockSize[0];
      if (fits(blocks, axis))
        return success();
    }
  }
  return op->emitOpError("expects 'scale' of one element per block of ")
         << str(blockSize) << " of " << str(x)
         << (reordered ? ", with dims rounded up to 128 and 4" : "") << ", but got "
         << str(scale.getShape());
}

LogicalResult BlockScaleQuantizeOp::verify() {
  // block_scale_quantize_c1
  if (failed(expectRank(*this, {getX(), getScale(), getY()}, 2, 8)))
    return failure();
  // block_scale_quantize_c2
  ArrayRef<int64_t> x = shapeOf(getX());
  if (failed(expectShape(*this, "'y'", shapeOf(getY()), x)))
    return failure();
  if (Type type = getY().getType().getElementType();
      !isa<Float8E4M3FNType, Float8E5M2Type, Float4E2M1FNType>(type))
    return emitOpError("expects 'y' of f8E4M3FN, f8E5M2 or f4E2M1FN, but got ") << type;
  // block_scale_quantize_c3
  auto blockSize = static_cast<int64_t>(getBlockSize());
  if (blockSize < 2)
    return emitOpError("expects 'block_size' above 1, but got ") << blockSize;
  // block_scale_quantize_c5
  TensorDescType scale = getScale().getType();
  bool reordered = scale.getReordering() == TensorReordering::F8_128x4;
  if (x.size() > 2 && reordered != (x.size() == 3))
    return emitOpError("expects ")
           << (reordered ? "no " : "") << "reordering f8_128x4 of 'scale' at rank " << x.size();
  if (failed(verifyScale(*this, x, scale, blockSize, /*partial=*/reordered)))
    return failure();
  return expectComputeType(*this, getComputeType(), {}); // block_scale_quantize_c6
}

LogicalResult BlockScaleDequantizeOp::verify() {
  // block_scale_dequantize_c1
  if (failed(expectRank(*this, {getX(), getScale(), getY()}, 2, 8)))
    return failure();
  // block_scale_dequantize_c2
  ArrayRef<int64_t> x = shapeOf(getX()), blockSize = getBlockSize();
  if (failed(expectShape(*this, "'y'", shapeOf(getY()), x)))
    return failure();
  // block_scale_dequantize_c3
  int64_t least = blockSize.size() == 1 ? 2 : 1;
  if (blockSize.empty() || blockSize.size() > 2 ||
      llvm::any_of(blockSize, [&](int64_t size) { return size < least; }))
    return emitOpError("expects one 'block_size' above 1 or two of at least 1, but got ")
           << str(blockSize);
  if (failed(verifyScale(*this, x, getScale().getType(), blockSize, /*partial=*/true)))
    return failure();
  return expectComputeType(*this, getComputeType(), {}); // block_scale_dequantize_c5
}
