// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A tile is a number of pixels of the output times a number of vectors of channels. Its sums stay
// in registers over the whole reduction: each step loads the vectors of the filter once, and each
// pixel's input element once for all vectors. Then the epilogue is applied to the registers.

#include "passes/cpu_codegen/ContractionEmit.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/cpu_codegen/VectorBody.h"

using namespace mlir;

namespace convoy {
namespace {

/// Filters up to this size stay in the L2 cache while the tiles iterate over all pixels; larger
/// ones are read only once.
constexpr int64_t kResidentFilterBytes = 512 << 10;

class Emitter {
public:
  Emitter(OpBuilder &builder, Contraction contraction, VectorUnit unit)
      : b(contraction.product.getLoc(), builder), c(std::move(contraction)), unit(unit),
        vectorType(VectorType::get({unit.lanes}, b.getF32Type())) {}

  void run();

private:
  struct Flat {
    Value buffer; ///< rank 1, unit stride, bytes instead of i1; null for the product's result
    PixelBuffer strides;
    bool isBool = false; ///< whether the elements are i1
  };
  /// Position of a tile: its first pixel and channel, and the start of its filter.
  struct Place {
    Value image, row, column, channel, filter, group;
  };
  struct Tile {
    int64_t rows, columns, vectors;
    int64_t lastLanes; ///< channels of the last vector
  };

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value add(Value a, Value other) {
    return arith::AddIOp::create(b, a, other, arith::IntegerOverflowFlags::nsw);
  }
  Value add(Value a, int64_t other) { return other == 0 ? a : add(a, index(other)); }
  Value scale(Value a, int64_t factor) {
    return factor == 1
               ? a
               : arith::MulIOp::create(b, a, index(factor), arith::IntegerOverflowFlags::nsw)
                     .getResult();
  }

  Flat flatten(Value buffer, const PixelBuffer &strides = {});
  Value base(const PixelBuffer &strides, const Place &place);
  Value load(const Flat &from, Value at, bool partial, int64_t lanes);
  Value loadSplat(const Flat &from, Value at);
  void store(Value vector, const Flat &to, Value at, bool partial, int64_t lanes);
  Value mask(int64_t lanes);
  Value splat(Value scalar) { return vector::BroadcastOp::create(b, vectorType, scalar); }

  SmallVector<Value> reduce(const Tile &tile, Value inputBase, Value filterBase,
                            ArrayRef<Value> sums, size_t level);
  SmallVector<Value> step(const Tile &tile, Value inputBase, Value filterBase, ValueRange sums);
  void finish(const Tile &tile, const Place &place, ArrayRef<Value> sums);
  void emitTile(const Tile &tile, const Place &place);
  void emitRow(int64_t rows, int64_t vectors, int64_t lastLanes, const Place &place);
  void emitBlocks(int64_t blocks, int64_t firstChannel, int64_t vectors, int64_t lastLanes);

  ImplicitLocOpBuilder b;
  Contraction c;
  VectorUnit unit;
  VectorType vectorType;
  int64_t tileRows = 1, tileColumns = 1;
  Flat input, output, product, filter;
  SmallVector<Flat> operands;
};

/// Casts a buffer to one dim, so that every address is a single index.
Emitter::Flat Emitter::flatten(Value buffer, const PixelBuffer &place) {
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

Value Emitter::base(const PixelBuffer &strides, const Place &place) {
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

Value Emitter::mask(int64_t lanes) {
  SmallVector<bool> bits(unit.lanes);
  for (int64_t lane = 0; lane < unit.lanes; ++lane)
    bits[lane] = lane < lanes;
  auto type = VectorType::get({unit.lanes}, b.getI1Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

Value Emitter::load(const Flat &from, Value at, bool partial, int64_t lanes) {
  Type element = cast<MemRefType>(from.buffer.getType()).getElementType();
  auto type = VectorType::get({unit.lanes}, element);
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

/// Loads one element and broadcasts it to all lanes.
Value Emitter::loadSplat(const Flat &from, Value at) {
  Value scalar = memref::LoadOp::create(b, from.buffer, at);
  if (from.isBool) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(scalar.getType()));
    scalar = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, scalar, zero);
  }
  return vector::BroadcastOp::create(b, VectorType::get({unit.lanes}, scalar.getType()), scalar);
}

void Emitter::store(Value vector, const Flat &to, Value at, bool partial, int64_t lanes) {
  if (to.isBool)
    vector = arith::ExtUIOp::create(b, VectorType::get({unit.lanes}, b.getI8Type()), vector);
  if (partial)
    vector::MaskedStoreOp::create(b, to.buffer, at, mask(lanes), vector);
  else
    vector::StoreOp::create(b, vector, to.buffer, at);
}

SmallVector<Value> Emitter::step(const Tile &tile, Value inputBase, Value filterBase,
                                 ValueRange sums) {
  auto loadVector = [&](const Flat &from, Value at, int64_t v) {
    bool partial = v + 1 == tile.vectors && tile.lastLanes != unit.lanes;
    return load(from, add(at, v * unit.lanes), partial, tile.lastLanes);
  };
  SmallVector<Value> weights, next;
  for (int64_t v = 0; v < tile.vectors; ++v)
    weights.push_back(loadVector(filter, filterBase, v));
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t column = 0; column < tile.columns; ++column) {
      Value at = add(inputBase, row * c.input.h + column * c.input.w), pixel;
      if (c.input.k == 0)
        pixel = splat(memref::LoadOp::create(b, input.buffer, at));
      for (auto [v, weight] : llvm::enumerate(weights))
        next.push_back(vector::FMAOp::create(b, pixel ? pixel : loadVector(input, at, v), weight,
                                             sums[next.size()]));
    }
  return next;
}

SmallVector<Value> Emitter::reduce(const Tile &tile, Value inputBase, Value filterBase,
                                   ArrayRef<Value> sums, size_t level) {
  if (level == c.loops.size())
    return step(tile, inputBase, filterBase, sums);
  const ReductionLoop &dim = c.loops[level];
  auto loop = scf::ForOp::create(b, index(0), index(dim.trips), index(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value i = loop.getInductionVar();
  SmallVector<Value> next = reduce(tile, add(inputBase, scale(i, dim.inputStep)),
                                   add(filterBase, scale(i, dim.filterStep)),
                                   SmallVector<Value>(loop.getRegionIterArgs()), level + 1);
  scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

/// Applies the epilogue to each vector and stores it.
void Emitter::finish(const Tile &tile, const Place &place, ArrayRef<Value> sums) {
  Value outputBase = base(c.output, place);
  SmallVector<Value> bases;
  for (const Flat &operand : operands)
    bases.push_back(operand.buffer ? base(operand.strides, place) : Value());

  size_t next = 0;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t column = 0; column < tile.columns; ++column)
      for (int64_t v = 0; v < tile.vectors; ++v) {
        bool partial = v + 1 == tile.vectors && tile.lastLanes != unit.lanes;
        auto offset = [&](const PixelBuffer &strides) {
          return row * strides.h + column * strides.w + v * unit.lanes * strides.k;
        };
        Value result = sums[next++];
        if (c.epilogue) {
          SmallVector<Value> inputs;
          for (auto [index, operand] : llvm::enumerate(operands)) {
            Value value = result;
            if (operand.buffer) {
              Value at = add(bases[index], offset(operand.strides));
              value = operand.strides.k == 1 ? load(operand, at, partial, tile.lastLanes)
                                             : loadSplat(operand, at);
            }
            inputs.push_back(value);
          }
          result = vectorizeBody(b, c.epilogue.getBody(), inputs, unit.lanes);
        }
        store(result, output, add(outputBase, offset(c.output)), partial, tile.lastLanes);
      }
}

void Emitter::emitTile(const Tile &tile, const Place &place) {
  SmallVector<Value> sums;
  if (c.fill) {
    Value init = splat(c.fill.getInputs()[0]);
    sums.assign(tile.rows * tile.columns * tile.vectors, init);
  } else {
    // Without a fill the output holds the initial sums.
    Value at = base(product.strides, place);
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column)
        for (int64_t v = 0; v < tile.vectors; ++v) {
          bool partial = v + 1 == tile.vectors && tile.lastLanes != unit.lanes;
          Value here =
              add(at, row * product.strides.h + column * product.strides.w + v * unit.lanes);
          sums.push_back(load(product, here, partial, tile.lastLanes));
        }
  }
  finish(tile, place, reduce(tile, base(c.input, place), place.filter, sums, 0));
}

/// Emits one band of `rows` rows: full tiles in a loop, then the remainder.
void Emitter::emitRow(int64_t rows, int64_t vectors, int64_t lastLanes, const Place &place) {
  int64_t whole = c.columns / tileColumns, rest = c.columns % tileColumns;
  Place here = place;
  if (whole > 0) {
    auto loop = scf::ForOp::create(b, index(0), index(whole * tileColumns), index(tileColumns));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    here.column = loop.getInductionVar();
    emitTile({rows, tileColumns, vectors, lastLanes}, here);
  }
  if (rest > 0) {
    here.column = index(whole * tileColumns);
    emitTile({rows, rest, vectors, lastLanes}, here);
  }
}

/// Emits `blocks` blocks of `vectors` vectors of channels, beginning with `firstChannel`.
void Emitter::emitBlocks(int64_t blocks, int64_t firstChannel, int64_t vectors, int64_t lastLanes) {
  int64_t bands = llvm::divideCeil(c.rows, tileRows), width = vectors * unit.lanes;
  int64_t filterElements = 1;
  for (int64_t dim : cast<MemRefType>(c.filter.getType()).getShape())
    filterElements *= dim;
  bool resident = filterElements * 4 <= kResidentFilterBytes;

  auto parallel = scf::ParallelOp::create(b, ValueRange{index(0)},
                                          ValueRange{index(blocks * c.groups * c.images * bands)},
                                          ValueRange{index(1)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(parallel.getBody());
  Value rest = parallel.getInductionVars()[0];
  auto take = [&](int64_t size) -> Value {
    if (size == 1)
      return index(0);
    Value result = arith::RemUIOp::create(b, rest, index(size));
    rest = arith::DivUIOp::create(b, rest, index(size));
    return result;
  };
  Value block, band, group, image;
  if (resident)
    block = take(blocks);
  band = take(bands);
  group = take(c.groups);
  image = take(c.images);
  if (!resident)
    block = rest;

  Place place;
  place.image = image;
  place.group = group;
  place.row = scale(band, tileRows);
  place.channel = add(scale(block, width), firstChannel);
  place.filter = add(scale(block, c.block ? c.filterBlock : width), firstChannel);
  if (c.filterImage != 0)
    place.filter = add(place.filter, scale(image, c.filterImage));
  if (c.groups != 1)
    place.filter = add(place.filter, scale(group, c.filterGroup));

  int64_t left = c.rows % tileRows;
  if (left == 0)
    return emitRow(tileRows, vectors, lastLanes, place);
  Value last = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, band, index(bands - 1));
  auto branch = scf::IfOp::create(b, last, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  emitRow(left, vectors, lastLanes, place);
  b.setInsertionPointToStart(branch.elseBlock());
  emitRow(tileRows, vectors, lastLanes, place);
}

void Emitter::run() {
  // Registers: sums, the filter's vectors, one input element.
  int64_t pixels = c.rows * c.columns, vectors = 2;
  if (c.channels < 2 * unit.lanes)
    vectors = 1;
  else if (c.block == 0)
    while (vectors < 8 && (vectors * 2) * (pixels + 1) + 1 <= unit.registers &&
           vectors * 2 * unit.lanes <= c.channels)
      vectors *= 2;
  int64_t most = (unit.registers - 1 - vectors) / vectors;
  refoldPixels(c, most);
  tileColumns = llvm::divideCeil(c.columns, llvm::divideCeil(c.columns, most));
  tileRows = tileColumns == c.columns ? std::clamp<int64_t>(most / tileColumns, 1, c.rows) : 1;

  input = flatten(c.input.buffer);
  output = flatten(c.output.buffer);
  filter = flatten(c.filter);
  if (!c.fill)
    product = {c.epilogue ? flatten(c.product.getDpsInits()[0]).buffer : output.buffer, c.output};
  for (const PixelBuffer &operand : c.operands)
    operands.push_back(operand.buffer ? flatten(operand.buffer, operand) : Flat{{}, operand});

  int64_t width = vectors * unit.lanes, blocks = c.channels / width, rest = c.channels % width;
  if (blocks > 0)
    emitBlocks(blocks, 0, vectors, unit.lanes);
  if (rest > 0) {
    int64_t restVectors = llvm::divideCeil(rest, unit.lanes);
    emitBlocks(1, blocks * width, restVectors, rest - (restVectors - 1) * unit.lanes);
  }
}

} // namespace

void emitContraction(OpBuilder &builder, Contraction contraction, VectorUnit unit) {
  assert((contraction.block == 0 || contraction.block == packedBlock(unit.lanes)) &&
         "the caller checks the block size");
  assert((contraction.fill || !contraction.epilogue) && "an epilogue has a fill");
  Emitter(builder, std::move(contraction), unit).run();
}

} // namespace convoy
