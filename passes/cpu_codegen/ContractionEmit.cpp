// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A tile is a number of pixels of the output times a number of vectors of channels. Its sums stay
// in registers over the whole reduction: each step loads the vectors of the filter once, and each
// pixel's input element once for all vectors. Then the epilogue is applied to the registers.

#include "passes/cpu_codegen/ContractionEmit.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/cpu_codegen/PixelEmitter.h"

using namespace mlir;

namespace convoy {
namespace {

/// Filters up to this size stay in the L2 cache while the tiles iterate over all pixels; larger
/// ones are read only once.
constexpr int64_t kResidentFilterBytes = 512 << 10;

/// A filter that does not stay in a cache is fetched this far ahead, which is a page: the
/// hardware's prefetchers end at one.
constexpr int64_t kPrefetchBytes = 4096, kLineBytes = 64;

/// With fewer tasks cores would be idle, or one would have a task more than the others: long rows
/// are split.
constexpr int64_t kMinTasks = 16;

class Emitter : PixelEmitter {
public:
  Emitter(OpBuilder &builder, Contraction contraction, VectorUnit unit)
      : PixelEmitter(builder, std::move(contraction), unit) {}

  void run();

private:
  struct Tile {
    int64_t rows, columns, vectors;
    int64_t lastLanes; ///< channels of the last vector
  };

  void setTaps(const Tile &tile, const Place &place);
  SmallVector<Value> reduce(const Tile &tile, Value inputBase, Value filterBase,
                            ArrayRef<Value> sums, size_t level);
  SmallVector<Value> step(const Tile &tile, Value inputBase, Value filterBase, ValueRange sums);
  void finish(const Tile &tile, const Place &place, ArrayRef<Value> sums);
  void emitTile(const Tile &tile, const Place &place);
  void emitRow(int64_t rows, int64_t vectors, int64_t lastLanes, const Place &place, Value part);
  void emitBand(int64_t vectors, int64_t lastLanes, const Place &place, Value band, Value part);
  int64_t vectorsOfTile() const;
  int64_t columnsOf(int64_t vectors) const;
  /// The most pixels of a tile. Registers: sums, the filter's vectors, one input element.
  int64_t mostPixels(int64_t vectors) const { return (unit.registers - 1 - vectors) / vectors; }

  int64_t tileRows = 1;
  int64_t parts = 1;      ///< of each row, which are tasks of their own
  Value firstTap, endTap; ///< rows of the window that are not padding for all rows of the tile
  bool resident = true;   ///< whether the filter is small, see kResidentFilterBytes
  Flat product;           ///< holds the initial sums
};

SmallVector<Value> Emitter::step(const Tile &tile, Value inputBase, Value filterBase,
                                 ValueRange sums) {
  auto loadVector = [&](const Flat &from, Value at, int64_t v) {
    return load(from, add(at, v * unit.lanes), v + 1 == tile.vectors ? tile.lastLanes : unit.lanes);
  };
  SmallVector<Value> weights, next;
  for (int64_t v = 0; v < tile.vectors; ++v)
    weights.push_back(loadVector(filter, filterBase, v));
  if (!resident && c.block != 0)
    for (int64_t ahead = 0; ahead < c.block * 4; ahead += kLineBytes)
      memref::PrefetchOp::create(b, filter.buffer, add(filterBase, (kPrefetchBytes + ahead) / 4),
                                 /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
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
  auto loop = scf::ForOp::create(b, dim.isRows ? firstTap : index(0),
                                 dim.isRows ? endTap : index(dim.trips), index(1), sums);
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
  Bases bases = basesAt(place);
  size_t next = 0;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t column = 0; column < tile.columns; ++column)
      for (int64_t v = 0; v < tile.vectors; ++v)
        storeResult(sums[next++], bases, {row, column, v * unit.lanes},
                    v + 1 == tile.vectors ? tile.lastLanes : unit.lanes);
}

/// Sets the rows of the window that read rows of the input, for any row of the tile.
void Emitter::setTaps(const Tile &tile, const Place &place) {
  const InputRows &rows = *c.inputRows;
  // The number of taps from the tile's place to `row` of the input, rounded up; zero if it is
  // above.
  auto tapsTo = [&](int64_t row) -> Value {
    Value distance =
        arith::SubIOp::create(b, index(row + rows.dilation - 1), scale(place.row, rows.stride));
    return arith::DivUIOp::create(b, arith::MaxSIOp::create(b, distance, index(0)),
                                  index(rows.dilation));
  };
  const auto *loop = llvm::find_if(c.loops, [](const ReductionLoop &each) { return each.isRows; });
  firstTap = tapsTo(rows.begin - (tile.rows - 1) * rows.stride);
  endTap = arith::MinUIOp::create(b, tapsTo(rows.end), index(loop->trips));
}

void Emitter::emitTile(const Tile &tile, const Place &place) {
  if (c.inputRows)
    setTaps(tile, place);
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
          Value here =
              add(at, row * product.strides.h + column * product.strides.w + v * unit.lanes);
          sums.push_back(load(product, here, v + 1 == tile.vectors ? tile.lastLanes : unit.lanes));
        }
  }
  finish(tile, place, reduce(tile, base(c.input, place), place.filter, sums, 0));
}

/// Emits a part of a band of `rows` rows: full tiles in a loop, and the remainder in the last part.
void Emitter::emitRow(int64_t rows, int64_t vectors, int64_t lastLanes, const Place &place,
                      Value part) {
  int64_t tileColumns = columnsOf(vectors), whole = c.columns / tileColumns,
          rest = c.columns % tileColumns;
  Place here = place;
  OpBuilder::InsertionGuard guard(b);
  if (whole > 0) {
    Value begin = index(0), end = index(whole * tileColumns);
    if (parts > 1) {
      int64_t columns = llvm::divideCeil(whole, parts) * tileColumns;
      begin = scale(part, columns);
      end = arith::MinUIOp::create(b, add(begin, columns), end);
    }
    auto loop = scf::ForOp::create(b, begin, end, index(tileColumns));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    here.column = loop.getInductionVar();
    emitTile({rows, tileColumns, vectors, lastLanes}, here);
  }
  if (rest == 0)
    return;
  if (parts > 1) {
    Value last = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, part, index(parts - 1));
    b.setInsertionPointToStart(scf::IfOp::create(b, last, /*withElseRegion=*/false).thenBlock());
  }
  here.column = index(whole * tileColumns);
  emitTile({rows, rest, vectors, lastLanes}, here);
}

/// Emits a part of a band of rows, of which the last one may be lower.
void Emitter::emitBand(int64_t vectors, int64_t lastLanes, const Place &place, Value band,
                       Value part) {
  int64_t left = c.rows % tileRows;
  if (left == 0)
    return emitRow(tileRows, vectors, lastLanes, place, part);
  Value last = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, band,
                                     index(llvm::divideCeil(c.rows, tileRows) - 1));
  auto branch = scf::IfOp::create(b, last, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emitRow(left, vectors, lastLanes, place, part);
  b.setInsertionPointToStart(branch.elseBlock());
  emitRow(tileRows, vectors, lastLanes, place, part);
}

int64_t Emitter::vectorsOfTile() const {
  int64_t all = llvm::divideCeil(c.channels, unit.lanes), pixels = c.rows * c.columns;
  if (all == 1 || c.block != 0)
    return std::min<int64_t>(all, 2);
  // A rest of one vector has few sums, each of which waits for its previous one.
  int64_t vectors = all % 2 == 1 && all % 3 != 1 ? 3 : 2;
  while (vectors < 8 && (vectors * 2) * (pixels + 1) + 1 <= unit.registers &&
         vectors * 2 * unit.lanes <= c.channels)
    vectors *= 2;
  return vectors;
}

/// The columns of a tile, which are equal in the tiles of a row.
int64_t Emitter::columnsOf(int64_t vectors) const {
  int64_t most = std::max<int64_t>(1, mostPixels(vectors) / tileRows);
  return llvm::divideCeil(c.columns, llvm::divideCeil(c.columns, most));
}

void Emitter::run() {
  int64_t vectors = vectorsOfTile(), most = mostPixels(vectors);
  if (!c.inputRows)
    refoldPixels(c, most);
  if (c.columns <= most)
    tileRows = std::clamp<int64_t>(most / c.columns, 1, c.rows);

  int64_t filterElements = cast<MemRefType>(c.filter.getType()).getNumElements();
  resident = filterElements * 4 <= kResidentFilterBytes;
  flattenBuffers();
  if (!c.fill)
    product = {c.epilogue ? flatten(c.product.getDpsInits()[0]).buffer : output.buffer, c.output};

  // Whole blocks of channels, and a rest of fewer.
  int64_t width = vectors * unit.lanes, whole = c.channels / width, rest = c.channels % width,
          blocks = whole + (rest != 0), bands = llvm::divideCeil(c.rows, tileRows),
          tasks = blocks * c.groups * c.images * bands,
          tiles = std::max<int64_t>(1, c.columns / columnsOf(vectors));
  // Parts of equal size, none of which is empty.
  if (tasks < kMinTasks)
    parts = llvm::divideCeil(tiles, llvm::divideCeil(tiles, llvm::divideCeil(kMinTasks, tasks)));

  auto parallel = scf::ParallelOp::create(b, ValueRange{index(0)}, ValueRange{index(tasks * parts)},
                                          ValueRange{index(1)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(parallel.getBody());
  Value left = parallel.getInductionVars()[0];
  auto take = [&](int64_t size) -> Value {
    if (size == 1)
      return index(0);
    Value result = arith::RemUIOp::create(b, left, index(size));
    left = arith::DivUIOp::create(b, left, index(size));
    return result;
  };
  Place place;
  Value block;
  if (resident)
    block = take(blocks);
  Value part = take(parts), band = take(bands);
  place.group = take(c.groups);
  place.image = take(c.images);
  if (!resident)
    block = left;
  place.row = scale(band, tileRows);
  place.channel = scale(block, width);
  place.filter = scale(block, c.block ? c.filterBlock : width);
  if (c.filterImage != 0)
    place.filter = add(place.filter, scale(place.image, c.filterImage));
  if (c.groups != 1)
    place.filter = add(place.filter, scale(place.group, c.filterGroup));

  int64_t restVectors = llvm::divideCeil(rest, unit.lanes),
          restLanes = rest - (restVectors - 1) * unit.lanes;
  if (rest == 0)
    return emitBand(vectors, unit.lanes, place, band, part);
  if (whole == 0)
    return emitBand(restVectors, restLanes, place, band, part);
  Value isRest = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, block, index(whole));
  auto branch = scf::IfOp::create(b, isRest, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  emitBand(restVectors, restLanes, place, band, part);
  b.setInsertionPointToStart(branch.elseBlock());
  emitBand(vectors, unit.lanes, place, band, part);
}

} // namespace

void emitContraction(OpBuilder &builder, Contraction contraction, VectorUnit unit) {
  assert((contraction.block == 0 || contraction.block == packedBlock(unit.lanes)) &&
         "the caller checks the block size");
  assert((contraction.fill || !contraction.epilogue) && "an epilogue has a fill");
  Emitter(builder, std::move(contraction), unit).run();
}

} // namespace convoy
