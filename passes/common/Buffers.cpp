// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/Buffers.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

bool addLinear(AffineExpr expr, int64_t scale, MutableArrayRef<int64_t> steps, int64_t &start) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    start += scale * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    steps[dim.getPosition()] += scale;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), scale, steps, start) &&
           addLinear(binary.getRHS(), scale, steps, start);
  if (expr.getKind() != AffineExprKind::Mul)
    return false;
  if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
    return addLinear(binary.getLHS(), scale * factor.getValue(), steps, start);
  if (auto factor = dyn_cast<AffineConstantExpr>(binary.getLHS()))
    return addLinear(binary.getRHS(), scale * factor.getValue(), steps, start);
  return false;
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

namespace {

/// Where a root is in an arena: the least and the greatest byte shift, over all steps of the loops
/// around, and a divisor of it.
struct Place {
  Value base;
  int64_t low = 0, high = 0, divisor = 0;
};

} // namespace

/// The arena and place of `root`, or the root itself. Fails for a shift whose range is unknown.
static FailureOr<Place> placeOf(Value root) {
  auto view = root.getDefiningOp<memref::ViewOp>();
  if (!view)
    return Place{root};
  if (std::optional<int64_t> shift = getConstantIntValue(view.getByteShift()))
    return Place{view.getSource(), *shift, *shift, *shift};
  auto apply = view.getByteShift().getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return failure();
  SmallVector<std::optional<int64_t>> first, last;
  for (Value operand : apply.getMapOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    std::optional<int64_t> begin, end;
    if (loop && argument == loop.getInductionVar()) {
      begin = getConstantIntValue(loop.getLowerBound());
      end = getConstantIntValue(loop.getUpperBound());
    }
    if (!begin || !end)
      return failure();
    first.push_back(begin);
    last.push_back(*end - 1);
  }
  AffineMap map = apply.getAffineMap();
  auto bound = [&](bool isUpper) {
    return getBoundForAffineExpr(map.getResult(0), map.getNumDims(), map.getNumSymbols(), first,
                                 last, isUpper);
  };
  std::optional<int64_t> low = bound(false), high = bound(true);
  if (!low || !high)
    return failure();
  return Place{view.getSource(), *low, *high, map.getResult(0).getLargestKnownDivisor()};
}

bool ByteRange::overlaps(const ByteRange &other) const {
  if (base != other.base || begin >= other.end || other.begin >= end)
    return false;
  if (period == 0 || period != other.period)
    return true;
  int64_t distance = llvm::mod(other.begin - begin, period);
  return distance < span || distance + other.span > period;
}

/// Sets the period of `range`, of a buffer at one place, if it is a slice of rows.
static void setPeriod(ByteRange &range, const Buffer &buffer) {
  SmallVector<std::pair<int64_t, int64_t>> dims; // stride and size, from the inside out
  for (auto [size, stride] : llvm::zip_equal(buffer.type.getShape(), buffer.strides))
    if (size != 1)
      dims.push_back({stride, size});
  llvm::sort(dims);
  int64_t span = 1, period = 0;
  for (auto [stride, size] : dims) {
    if (stride <= 0 || (period != 0 && stride % period != 0))
      return;
    if (period == 0 && stride > span)
      period = stride;
    else if (period == 0)
      span += (size - 1) * stride;
  }
  int64_t bytes = elementBytes(buffer.type.getElementType());
  range.period = period * bytes;
  range.span = span * bytes;
}

ByteRange bytesOf(const Buffer &buffer) {
  FailureOr<Place> place = placeOf(buffer.root);
  if (failed(place))
    return {buffer.root.getDefiningOp<memref::ViewOp>().getSource(), 0,
            std::numeric_limits<int64_t>::max()};
  int64_t last = buffer.offset;
  for (auto [size, stride] : llvm::zip_equal(buffer.type.getShape(), buffer.strides)) {
    if (size == 0)
      return {place->base, 0, 0};
    last += (size - 1) * stride;
  }
  int64_t bytes = elementBytes(buffer.type.getElementType());
  ByteRange range = {place->base, place->low + buffer.offset * bytes,
                     place->high + (last + 1) * bytes};
  if (place->low == place->high)
    setPeriod(range, buffer);
  return range;
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

void replaceAllocation(memref::AllocOp alloc, Value buffer) {
  MemRefType type = alloc.getType();
  if (type != buffer.getType()) {
    OpBuilder builder(alloc);
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
    buffer = memref::ReinterpretCastOp::create(builder, alloc.getLoc(), type, buffer, offset,
                                               type.getShape(), strides);
  }
  alloc.replaceAllUsesWith(buffer);
  alloc.erase();
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
  FailureOr<Place> place = placeOf(buffer.root);
  return 64 % alignment == 0 && succeeded(place) && place->divisor % alignment == 0;
}

} // namespace convoy
