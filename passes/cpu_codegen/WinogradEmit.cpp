// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Winograd's algorithm F(2x2, 3x3): 2x2 outputs of a 3x3 convolution take 16 products instead
// of 36. A task has a block of tiles of 2x2 outputs. It transforms their inputs, and then computes
// one block of output channels after the other: 16 matrix products of tiles x channels with the
// transformed filter, the transform of the sums, the epilogue. All of it stays in the caches.
//
// The sums of a tile share rounding errors in proportion to the largest input of the tile, and an
// input that is infinite or not a number reaches all of its outputs. So results that are not
// finite, also by overflow of a transform, are computed again directly.

#include "passes/cpu_codegen/WinogradEmit.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/common/WinogradFilter.h"
#include "passes/cpu_codegen/PixelEmitter.h"

using namespace mlir;

namespace convoy {
namespace {

/// The transformed inputs of a block of tiles stay in the L2 cache. With many channels a block has
/// two groups of tiles all the same, or as much as fits into the larger size: it is on the stack.
constexpr int64_t kTransformedBytes = 128 << 10, kMaxTransformedBytes = 512 << 10;

/// With fewer tasks the channels are split too, into parts of at least kMinPartBlocks blocks: each
/// part transforms the inputs again.
constexpr int64_t kMinTasks = 16, kMinPartBlocks = 4;

constexpr int64_t kVectors = 2; // of a block of channels

using Four = std::array<Value, 4>;

class Emitter : PixelEmitter {
public:
  Emitter(OpBuilder &builder, Contraction contraction, VectorUnit unit);

  void run();

private:
  /// The buffers of a task.
  struct Scratch {
    Flat inputs;  ///< 16 x tiles x input channels
    Flat sums;    ///< 16 x tiles x block
    Flat results; ///< tiles x 2 x 2 x block
  };
  /// A block of tiles of an image. The matrix products compute whole groups of tiles.
  struct Task {
    Value image, firstTile, tiles, groups;
  };

  template <typename Body> void loop(Value end, int64_t step, Body body) {
    auto made = scf::ForOp::create(b, index(0), end, index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    body(made.getInductionVar());
  }
  Value divide(Value a, int64_t by) {
    return by == 1 ? a : arith::DivUIOp::create(b, a, index(by)).getResult();
  }
  Value modulo(Value a, int64_t by) {
    return by == 1 ? index(0) : arith::RemUIOp::create(b, a, index(by)).getResult();
  }
  Value addF(Value a, Value other) { return arith::AddFOp::create(b, a, other); }
  Value subF(Value a, Value other) { return arith::SubFOp::create(b, a, other); }
  Value zero() { return arith::ConstantOp::create(b, vectorType, b.getZeroAttr(vectorType)); }
  Value full(const Flat &from, Value at) { return load(from, at, unit.lanes); }

  /// B^T d of the input transform.
  Four inputTransform(const Four &d) {
    return {subF(d[0], d[2]), addF(d[1], d[2]), subF(d[2], d[1]), subF(d[1], d[3])};
  }
  /// A^T m of the output transform.
  std::array<Value, 2> outputTransform(const Four &m) {
    return {addF(addF(m[0], m[1]), m[2]), subF(subF(m[1], m[2]), m[3])};
  }

  Flat scratch(int64_t elements);
  /// The first row and column of the outputs of a tile.
  std::pair<Value, Value> originOf(Value tile);
  /// Index of an input pixel; those beyond the input, which no valid output needs, are clamped.
  Value inputAt(const Task &task, Value row, Value column);
  void transformInputs(const Task &task, const Scratch &scratch);
  void multiply(const Task &task, const Scratch &scratch, Value channelBlock);
  void transformSums(const Task &task, const Scratch &scratch, Value channelBlock);
  void computeDirectly(const Task &task, const Scratch &scratch, Value channelBlock);
  void storeResults(const Task &task, const Scratch &scratch, Value channelBlock);

  Flat transformed; ///< the filter
  SmallVector<int64_t> transformedStrides;
  int64_t depth, block, groupTiles, tileColumns, tileCount, blockTiles;
};

Emitter::Emitter(OpBuilder &builder, Contraction contraction, VectorUnit unit)
    : PixelEmitter(builder, std::move(contraction), unit), depth(c.depth), block(c.block),
      tileColumns(llvm::divideCeil(c.columns, 2)),
      tileCount(llvm::divideCeil(c.rows, 2) * tileColumns) {
  int64_t bytesPerTile = kWinogradPoints * depth * 4;
  groupTiles =
      std::min((unit.registers - 1 - kVectors) / kVectors, kMaxTransformedBytes / bytesPerTile);
  int64_t groups = std::min(std::max(kTransformedBytes / (bytesPerTile * groupTiles), int64_t(2)),
                            kMaxTransformedBytes / (bytesPerTile * groupTiles)),
          most = groups * groupTiles;
  // Blocks of equal size: each core gets the same work.
  blockTiles =
      llvm::alignTo(llvm::divideCeil(tileCount, llvm::divideCeil(tileCount, most)), groupTiles);
}

Emitter::Flat Emitter::scratch(int64_t elements) {
  auto type = MemRefType::get({elements}, b.getF32Type());
  return {memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64)), {}};
}

std::pair<Value, Value> Emitter::originOf(Value tile) {
  return {scale(divide(tile, tileColumns), 2), scale(modulo(tile, tileColumns), 2)};
}

Value Emitter::inputAt(const Task &task, Value row, Value column) {
  auto clamped = [&](Value value, int64_t outputs) -> Value {
    return outputs % 2 == 0 ? value
                            : arith::MinUIOp::create(b, value, index(outputs + 1)).getResult();
  };
  Place place{task.image, clamped(row, c.rows), clamped(column, c.columns), index(0), {}, index(0)};
  return base(c.input, place);
}

void Emitter::transformInputs(const Task &task, const Scratch &scratch) {
  loop(scale(task.groups, groupTiles), 1, [&](Value t) {
    Value tile =
        arith::MinUIOp::create(b, add(task.firstTile, t), index(tileCount - 1)).getResult();
    auto [row, column] = originOf(tile);
    std::array<Four, 4> at;
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 4; ++j)
        at[i][j] = inputAt(task, add(row, i), add(column, j));
    Value to = scale(t, depth);
    loop(index(depth), unit.lanes, [&](Value channel) {
      std::array<Four, 4> columns, points;
      for (int64_t j = 0; j < 4; ++j) {
        Four pixels;
        for (int64_t i = 0; i < 4; ++i)
          pixels[i] = full(input, add(at[i][j], channel));
        columns[j] = inputTransform(pixels);
      }
      for (int64_t i = 0; i < 4; ++i)
        points[i] = inputTransform({columns[0][i], columns[1][i], columns[2][i], columns[3][i]});
      Value first = add(to, channel);
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < 4; ++j)
          store(points[i][j], scratch.inputs, add(first, (i * 4 + j) * blockTiles * depth),
                unit.lanes);
    });
  });
}

void Emitter::multiply(const Task &task, const Scratch &scratch, Value channelBlock) {
  loop(index(kWinogradPoints), 1, [&](Value point) {
    Value weights =
        add(scale(channelBlock, transformedStrides[0]), scale(point, transformedStrides[1]));
    loop(task.groups, 1, [&](Value group) {
      Value tile = add(scale(point, blockTiles), scale(group, groupTiles)),
            from = scale(tile, depth), to = scale(tile, block);
      SmallVector<Value> sums(groupTiles * kVectors, zero());
      auto channels = scf::ForOp::create(b, index(0), index(depth), index(1), sums);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(channels.getBody());
        Value channel = channels.getInductionVar();
        SmallVector<Value> next;
        Value at = add(weights, scale(channel, block));
        Value factors[kVectors] = {full(transformed, at), full(transformed, add(at, unit.lanes))};
        for (int64_t t = 0; t < groupTiles; ++t) {
          Value element = splat(
              memref::LoadOp::create(b, scratch.inputs.buffer, add(add(from, channel), t * depth)));
          for (Value factor : factors)
            next.push_back(
                vector::FMAOp::create(b, element, factor, channels.getRegionIterArg(next.size())));
        }
        scf::YieldOp::create(b, next);
      }
      for (auto [number, sum] : llvm::enumerate(channels.getResults()))
        store(sum, scratch.sums, add(to, number * unit.lanes), unit.lanes);
    });
  });
}

void Emitter::transformSums(const Task &task, const Scratch &scratch, Value channelBlock) {
  // Zero times a result is not a number if the result is not finite.
  auto tiles = scf::ForOp::create(b, index(0), task.tiles, index(1), zero());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(tiles.getBody());
    Value t = tiles.getInductionVar(), check = tiles.getRegionIterArg(0);
    for (int64_t v = 0; v < kVectors; ++v) {
      Value from = add(scale(t, block), v * unit.lanes),
            to = add(scale(t, 4 * block), v * unit.lanes);
      std::array<std::array<Value, 2>, 4> columns;
      for (int64_t j = 0; j < 4; ++j) {
        Four points;
        for (int64_t i = 0; i < 4; ++i)
          points[i] = full(scratch.sums, add(from, (i * 4 + j) * blockTiles * block));
        columns[j] = outputTransform(points);
      }
      for (int64_t i = 0; i < 2; ++i) {
        auto row = outputTransform({columns[0][i], columns[1][i], columns[2][i], columns[3][i]});
        for (int64_t j = 0; j < 2; ++j) {
          check = vector::FMAOp::create(b, row[j], zero(), check);
          store(row[j], scratch.results, add(to, (i * 2 + j) * block), unit.lanes);
        }
      }
    }
    scf::YieldOp::create(b, check);
  }
  Value sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, tiles.getResult(0));
  Value failed = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, sum, sum);
  auto branch = scf::IfOp::create(b, failed, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  computeDirectly(task, scratch, channelBlock);
}

void Emitter::computeDirectly(const Task &task, const Scratch &scratch, Value channelBlock) {
  loop(scale(task.tiles, 4), 1, [&](Value pixel) {
    auto [row, column] = originOf(add(task.firstTile, divide(pixel, 4)));
    row = add(row, divide(modulo(pixel, 4), 2));
    column = add(column, modulo(pixel, 2));
    auto taps =
        scf::ForOp::create(b, index(0), index(9), index(1), SmallVector<Value>(kVectors, zero()));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(taps.getBody());
    Value tap = taps.getInductionVar();
    Value from = inputAt(task, add(row, divide(tap, 3)), add(column, modulo(tap, 3)));
    Value weights = add(scale(channelBlock, c.filterBlock), scale(tap, depth * block));
    auto channels =
        scf::ForOp::create(b, index(0), index(depth), index(1), taps.getRegionIterArgs());
    b.setInsertionPointToStart(channels.getBody());
    Value channel = channels.getInductionVar();
    Value element = splat(memref::LoadOp::create(b, input.buffer, add(from, channel)));
    SmallVector<Value> next;
    for (int64_t v = 0; v < kVectors; ++v)
      next.push_back(vector::FMAOp::create(
          b, element, full(filter, add(add(weights, scale(channel, block)), v * unit.lanes)),
          channels.getRegionIterArg(v)));
    scf::YieldOp::create(b, next);
    b.setInsertionPointAfter(channels);
    scf::YieldOp::create(b, channels.getResults());
    b.setInsertionPointAfter(taps);
    for (auto [v, sum] : llvm::enumerate(taps.getResults()))
      store(sum, scratch.results, add(scale(pixel, block), v * unit.lanes), unit.lanes);
  });
}

void Emitter::storeResults(const Task &task, const Scratch &scratch, Value channelBlock) {
  Value channel = scale(channelBlock, block);
  Value initial = c.fill ? splat(c.fill.getInputs()[0]) : Value();
  loop(task.tiles, 1, [&](Value t) {
    auto [row, column] = originOf(add(task.firstTile, t));
    Bases bases = basesAt({task.image, row, column, channel, {}, index(0)});
    Value from = scale(t, 4 * block);
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 2; ++j) {
        OpBuilder::InsertionGuard guard(b);
        // The last tiles of an odd number of rows or columns have outputs beyond the edge.
        for (auto [distance, at, size] :
             {std::tuple(i, row, c.rows), std::tuple(j, column, c.columns)})
          if (distance == 1 && size % 2 == 1) {
            Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at, index(size - 1));
            b.setInsertionPointToStart(
                scf::IfOp::create(b, inside, /*withElseRegion=*/false).thenBlock());
          }
        for (int64_t v = 0; v < kVectors; ++v) {
          Value sum = full(scratch.results, add(from, (i * 2 + j) * block + v * unit.lanes));
          Value start = initial ? initial
                                : full(output, add(bases.output, i * c.output.h + j * c.output.w +
                                                                     v * unit.lanes));
          storeResult(addF(sum, start), bases, {i, j, v * unit.lanes}, unit.lanes);
        }
      }
  });
}

void Emitter::run() {
  flattenBuffers();
  transformed = flatten(c.transformed);
  int64_t offset;
  (void)cast<MemRefType>(c.transformed.getType()).getStridesAndOffset(transformedStrides, offset);
  int64_t blocks = llvm::divideCeil(tileCount, blockTiles), channelBlocks = c.channels / block;
  int64_t parts = 1;
  for (int64_t each = 1; each * kMinPartBlocks <= channelBlocks; ++each)
    if (channelBlocks % each == 0) {
      parts = each;
      if (blocks * c.images * each >= kMinTasks)
        break;
    }

  auto parallel = scf::ParallelOp::create(
      b, ValueRange{index(0)}, ValueRange{index(parts * blocks * c.images)}, ValueRange{index(1)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(parallel.getBody());
  Value number = parallel.getInductionVars()[0];
  Scratch buffers{scratch(kWinogradPoints * blockTiles * depth),
                  scratch(kWinogradPoints * blockTiles * block), scratch(4 * blockTiles * block)};
  Value part = modulo(number, parts);
  number = divide(number, parts);
  Task task;
  task.image = divide(number, blocks);
  task.firstTile = scale(modulo(number, blocks), blockTiles);
  Value left = arith::SubIOp::create(b, index(tileCount), task.firstTile);
  task.tiles = arith::MinUIOp::create(b, left, index(blockTiles));
  task.groups = divide(add(task.tiles, groupTiles - 1), groupTiles);
  transformInputs(task, buffers);
  int64_t partBlocks = channelBlocks / parts;
  loop(index(partBlocks), 1, [&](Value each) {
    Value channelBlock = add(scale(part, partBlocks), each);
    multiply(task, buffers, channelBlock);
    transformSums(task, buffers, channelBlock);
    storeResults(task, buffers, channelBlock);
  });
}

} // namespace

bool canUseWinograd(const Contraction &contraction, VectorUnit unit) {
  return contraction.transformed && contraction.block == packedBlock(unit.lanes) &&
         contraction.depth % unit.lanes == 0 &&
         contraction.depth <= kMaxTransformedBytes / (kWinogradPoints * 4);
}

void emitWinograd(OpBuilder &builder, Contraction contraction, VectorUnit unit) {
  assert(canUseWinograd(contraction, unit) && "the caller checks the contraction");
  Emitter(builder, std::move(contraction), unit).run();
}

} // namespace convoy
