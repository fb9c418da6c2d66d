// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu_codegen/PixelEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/cpu_codegen/VectorBody.h"

using namespace mlir;

namespace convoy {

PixelEmitter::PixelEmitter(OpBuilder &builder, Contraction contraction, VectorUnit unit)
    : b(contraction.product.getLoc(), builder), c(std::move(contraction)), unit(unit),
      vectorType(VectorType::get({unit.lanes}, b.getF32Type())) {}

void PixelEmitter::flattenBuffers() {
  input = flatten(c.input.buffer);
  output = flatten(c.output.buffer);
  filter = flatten(c.filter);
  for (const PixelBuffer &operand : c.operands)
    operands.push_back(operand.buffer ? flatten(operand.buffer, operand) : Flat{{}, operand});
}

PixelEmitter::Flat PixelEmitter::flatten(Value buffer, const PixelBuffer &place) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset, size = 1;
  (void)type.getStridesAndOffset(strides, offset);
  for (auto [dim, stride] : llvm::zip_equal(type.getShape(), strides))
    size += (dim - 1) * stride;
  auto layout = StridedLayoutAttr::get(b.getContext(), offset, {1});
  auto flat =
      MemRefType::get({size}, type.getElementType(),
                      offset == 0 ? MemRefLayoutAttrInterface() : layout, type.getMemorySpace());
  Value row = memref::ReinterpretCastOp::create(b, flat, buffer, offset, ArrayRef<int64_t>{size},
                                                ArrayRef<int64_t>{1});
  bool isBool = type.getElementType().isInteger(1);
  // In memory an i1 is a byte, but LLVM loads and stores a vector of i1 as bits. The descriptors of
  // both memrefs have the same LLVM type.
  if (isBool)
    row = UnrealizedConversionCastOp::create(
              b, MemRefType::Builder(flat).setElementType(b.getI8Type()), row)
              .getResult(0);
  return {row, place, isBool};
}

Value PixelEmitter::base(const PixelBuffer &strides, const Place &place) {
  Value at;
  for (auto [value, stride] :
       {std::pair(place.image, strides.n), std::pair(place.row, strides.h),
        std::pair(place.column, strides.w), std::pair(place.channel, strides.k),
        std::pair(place.group, strides.g)})
    if (stride != 0) {
      Value part = scale(value, stride);
      at = at ? add(at, part) : part;
    }
  return at ? at : index(0);
}

Value PixelEmitter::mask(int64_t lanes) {
  SmallVector<bool> bits(unit.lanes);
  for (int64_t lane = 0; lane < unit.lanes; ++lane)
    bits[lane] = lane < lanes;
  auto type = VectorType::get({unit.lanes}, b.getI1Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

Value PixelEmitter::load(const Flat &from, Value at, int64_t lanes) {
  Type element = cast<MemRefType>(from.buffer.getType()).getElementType();
  auto type = VectorType::get({unit.lanes}, element);
  bool partial = lanes != unit.lanes;
  Value zero = partial || from.isBool
                   ? arith::ConstantOp::create(b, type, b.getZeroAttr(type)).getResult()
                   : Value();
  Value loaded =
      partial
          ? vector::MaskedLoadOp::create(b, type, from.buffer, at, mask(lanes), zero).getResult()
          : vector::LoadOp::create(b, type, from.buffer, at).getResult();
  return from.isBool ? arith::CmpIOp::create(b, arith::CmpIPredicate::ne, loaded, zero).getResult()
                     : loaded;
}

Value PixelEmitter::loadSplat(const Flat &from, Value at) {
  Value scalar = memref::LoadOp::create(b, from.buffer, at);
  if (from.isBool) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(scalar.getType()));
    scalar = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, scalar, zero);
  }
  return vector::BroadcastOp::create(b, VectorType::get({unit.lanes}, scalar.getType()), scalar);
}

void PixelEmitter::store(Value vector, const Flat &to, Value at, int64_t lanes) {
  if (to.isBool)
    vector = arith::ExtUIOp::create(b, VectorType::get({unit.lanes}, b.getI8Type()), vector);
  if (lanes != unit.lanes)
    vector::MaskedStoreOp::create(b, to.buffer, at, mask(lanes), vector);
  else
    vector::StoreOp::create(b, vector, to.buffer, at);
}

PixelEmitter::Bases PixelEmitter::basesAt(const Place &place) {
  Bases bases{base(c.output, place), {}};
  for (const Flat &operand : operands)
    bases.operands.push_back(operand.buffer ? base(operand.strides, place) : Value());
  return bases;
}

void PixelEmitter::storeResult(Value sum, const Bases &bases, const Offset &offset, int64_t lanes) {
  auto distance = [&](const PixelBuffer &strides) {
    return offset.row * strides.h + offset.column * strides.w + offset.channel * strides.k;
  };
  Value result = sum;
  if (c.epilogue) {
    SmallVector<Value> inputs;
    for (auto [operand, start] : llvm::zip_equal(operands, bases.operands)) {
      Value value = sum;
      if (operand.buffer) {
        Value at = add(start, distance(operand.strides));
        value = operand.strides.k == 1 ? load(operand, at, lanes) : loadSplat(operand, at);
      }
      inputs.push_back(value);
    }
    result = vectorizeBody(b, c.epilogue.getBody(), inputs, unit.lanes);
  }
  store(result, output, add(bases.output, distance(c.output)), lanes);
}

} // namespace convoy
