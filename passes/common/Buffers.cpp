// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/Buffers.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace convoy {

int64_t elementBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * elementBytes(complex.getElementType());
  unsigned bits =
      type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  return llvm::divideCeil(bits, 8);
}

int64_t packedBytes(ShapedType type) {
  return type.getNumElements() * elementBytes(type.getElementType());
}

bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

FailureOr<Buffer> traceBuffer(Value memref) {
  Buffer buffer;
  buffer.type = dyn_cast<MemRefType>(memref.getType());
  if (!buffer.type || !buffer.type.hasStaticShape() ||
      !buffer.type.getElementType().isIntOrFloat() ||
      failed(buffer.type.getStridesAndOffset(buffer.strides, buffer.offset)) ||
      ShapedType::isDynamic(buffer.offset) || ShapedType::isDynamicShape(buffer.strides))
    return failure();
  buffer.root = memref;
  while (Operation *op = buffer.root.getDefiningOp()) {
    // These keep the base pointer; the type has the offset from it.
    if (!isa<memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
             memref::ReinterpretCastOp>(op))
      break;
    buffer.root = op->getOperand(0);
  }
  return buffer;
}

/// The arena and byte offset of `root`, or the root itself.
static std::pair<Value, std::optional<int64_t>> baseOf(Value root) {
  if (auto view = root.getDefiningOp<memref::ViewOp>())
    return {view.getSource(), getConstantIntValue(view.getByteShift())};
  return {root, 0};
}

ByteRange bytesOf(const Buffer &buffer) {
  auto [base, shift] = baseOf(buffer.root);
  if (!shift)
    return {base, 0, std::numeric_limits<int64_t>::max()};
  int64_t last = buffer.offset;
  for (auto [size, stride] : llvm::zip_equal(buffer.type.getShape(), buffer.strides)) {
    if (size == 0)
      return {base, 0, 0};
    last += (size - 1) * stride;
  }
  int64_t bytes = elementBytes(buffer.type.getElementType());
  return {base, *shift + buffer.offset * bytes, *shift + (last + 1) * bytes};
}

SmallVector<Value> memrefsOf(Operation *op) {
  SmallVector<Value> result;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<BaseMemRefType>(operand.getType()) &&
          !op->isProperAncestor(operand.getParentRegion()->getParentOp()))
        result.push_back(operand);
  });
  return result;
}

Value withoutUnitReshapes(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(op))
      break;
    auto withoutUnits = [](Value value) {
      return llvm::filter_to_vector(cast<MemRefType>(value.getType()).getShape(),
                                    [](int64_t size) { return size != 1; });
    };
    if (withoutUnits(op->getOperand(0)) != withoutUnits(memref))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

bool isRootAligned(const Buffer &buffer, int64_t alignment) {
  auto [base, shift] = baseOf(buffer.root);
  return 64 % alignment == 0 && shift && *shift % alignment == 0;
}

} // namespace convoy
