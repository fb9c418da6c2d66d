// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/plan/LoopSlices.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/common/Buffers.h"
#include "passes/plan/Views.h"

using namespace mlir;

namespace convoy {

static bool isLoopSlice(memref::SubViewOp op) {
  return llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic);
}

SmallVector<memref::SubViewOp> loopSlices(Value memref) {
  SmallVector<memref::SubViewOp> found;
  SmallVector<Value> views = {memref};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (!isa<ViewLikeOpInterface>(user))
        continue;
      if (auto slice = dyn_cast<memref::SubViewOp>(user); slice && isLoopSlice(slice))
        found.push_back(slice);
      llvm::append_range(views, user->getResults());
    }
  return found;
}

/// `value`, an index, as an affine expression of `operands`, to which other values are added.
static AffineExpr affineOf(OpFoldResult value, SmallVectorImpl<Value> &operands, Builder &builder) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return builder.getAffineConstantExpr(*number);
  auto dynamic = cast<Value>(value);
  if (auto difference = dynamic.getDefiningOp<arith::SubIOp>())
    return affineOf(OpFoldResult(difference.getLhs()), operands, builder) -
           affineOf(OpFoldResult(difference.getRhs()), operands, builder);
  operands.push_back(dynamic);
  return builder.getAffineDimExpr(operands.size() - 1);
}

/// Whether the source of `slice` is a view of the arena with a static layout.
static bool isOfArena(memref::SubViewOp slice) {
  FailureOr<Buffer> source = traceBuffer(slice.getSource());
  return succeeded(source) && source->root.getDefiningOp<memref::ViewOp>();
}

/// Replaces `slice` by a view of the arena, of one dim, which is returned, with the slice's layout.
static Value shift(memref::SubViewOp slice) {
  Buffer source = *traceBuffer(slice.getSource());
  auto base = source.root.getDefiningOp<memref::ViewOp>();
  OpBuilder builder(slice);
  Location loc = slice.getLoc();
  int64_t bytes = elementBytes(source.type.getElementType());
  SmallVector<Value> operands;
  AffineExpr start =
      affineOf(OpFoldResult(base.getByteShift()), operands, builder) + source.offset * bytes;
  for (auto [offset, stride] : llvm::zip_equal(slice.getMixedOffsets(), source.strides))
    start = start + affineOf(offset, operands, builder) * (stride * bytes);
  Value first = affine::makeComposedAffineApply(
      builder, loc, AffineMap::get(operands.size(), 0, start), getAsOpFoldResult(operands));

  MemRefType type = slice.getType();
  SmallVector<int64_t> strides, packed;
  int64_t unknown, elements = 1;
  (void)type.getStridesAndOffset(strides, unknown);
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
    elements += (size - 1) * stride;
  if (type.getNumElements() == 0)
    elements = 0;
  Value flat =
      memref::ViewOp::create(builder, loc, MemRefType::get({elements}, type.getElementType()),
                             base.getSource(), first, ValueRange());
  if (Attribute buffer = base->getAttr(tcp::kBufferAttr))
    flat.getDefiningOp()->setAttr(tcp::kBufferAttr, buffer);
  auto layout = MemRefType::get(type.getShape(), type.getElementType());
  (void)layout.getStridesAndOffset(packed, unknown);
  if (packed != strides)
    layout = MemRefType::get(type.getShape(), type.getElementType(),
                             StridedLayoutAttr::get(type.getContext(), 0, strides));
  replaceView(slice, memref::ReinterpretCastOp::create(builder, loc, layout, flat, /*offset=*/0,
                                                       type.getShape(), strides));
  slice.erase();
  return flat;
}

void shiftLoopSlices(func::FuncOp function) {
  SmallVector<Value> views;
  function.walk([&](memref::ViewOp view) { views.push_back(view); });
  // Outer slices first: the layout of an inner one depends on theirs, and it is replaced with them.
  while (!views.empty()) {
    SmallVector<memref::SubViewOp> slices = loopSlices(views.back());
    memref::SubViewOp *slice = llvm::find_if(slices, isOfArena);
    if (slice == slices.end())
      views.pop_back();
    else
      views.insert(views.begin(), shift(*slice));
  }
}

} // namespace convoy
