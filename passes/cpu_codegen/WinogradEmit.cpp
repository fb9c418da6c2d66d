// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Winograd's algorithm F(2x2, 3x3): 2x2 outputs of a 3x3 convolution take 16 products instead
// of 36. A task has a block of tiles of 2x2 outputs. It transforms their inputs, and then computes
// one block of output channels after the other: 16 matrix products of tiles x channels with the
// transformed filter, the transform of the sums, the epilogue. All of it stays in the caches.
//
// A convolution with three spatial dims is a sum over the frames of its window, which the matrix
// products compute: tiles x (frames * channels). A task has several frames of outputs if they read
// the same frames of inputs, each of which is transformed once. The groups of a grouped convolution
// are like frames that have filters of their own.
//
// The sums of a tile share rounding errors in proportion to the largest input of the tile, and an
// input that is infinite or not a number reaches all of its outputs. So results that are not
// finite, also by overflow of a transform, are computed again directly.

#include "passes/cpu_codegen/WinogradEmit.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/common/WinogradFilter.h"
#include "passes/cpu_codegen/PixelEmitter.h"
#include "passes/cpu_codegen/WinogradTiles.h"

using namespace mlir;

namespace convoy {
namespace {

constexpr int64_t kVectors = 2; // of a block of channels

using Four = std::array<Value, 4>;

class Emitter : PixelEmitter {
public:
  Emitter(OpBuilder &builder, Contraction contraction, VectorUnit unit);

  void run();

private:
  /// The buffers of a task.
  struct Scratch {
    Flat inputs;  ///< 16 x input frames x tiles x input channels
    Flat sums;    ///< 16 x frames x tiles x block
    Flat results; ///< tiles x 2 x 2 x block, of one frame
  };
  /// A block of tiles of some frames of an image. The matrix products compute whole groups of
  /// tiles.
  struct Task {
    Value image, firstFrame, frames, firstTile, tiles, groups;
  };

  template <typename Body> void loop(Value end, int64_t step, Body body) {
    auto made = scf::ForOp::create(b, index(0), end, index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    body(made.getInductionVar());
  }
  /// A loop over frames, of which there are at most `most`.
  template <typename Body> void frameLoop(Value end, int64_t most, Body body) {
    if (most == 1)
      body(index(0));
    else
      loop(end, 1, body);
  }
  /// Index of a tile among those of all frames of a task.
  Value rowOf(Value frame, Value tile) {
    return tiles.inputFrames == 1 ? tile : add(scale(frame, tiles.block), tile);
  }
  /// A loop over the frames of the window. `body` gets the sums and returns the next ones.
  template <typename Body> SmallVector<Value> tapLoop(ValueRange sums, Body body) {
    if (c.taps.trips == 1)
      return body(index(0), sums);
    auto made = scf::ForOp::create(b, index(0), index(c.taps.trips), index(1), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    scf::YieldOp::create(b, body(made.getInductionVar(), made.getRegionIterArgs()));
    return SmallVector<Value>(made.getResults());
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
  /// The first row and column of the outputs of a tile. The second ones are `c.dilation` later.
  std::pair<Value, Value> originOf(Value tile);
  /// Index of an input pixel, in the input frame `frame` of the task; those beyond the input, which
  /// no valid output needs, are clamped.
  Value inputAt(const Task &task, Value frame, Value row, Value column);
  /// The block of the filter for a block of channels of the task's group, or of its frames.
  Value filterBlockOf(const Task &task, Value channelBlock) {
    return c.filterGroup == 0
               ? channelBlock
               : add(channelBlock, scale(task.firstFrame, c.filterGroup / c.filterBlock));
  }
  void transformInputs(const Task &task, const Scratch &scratch);
  void multiply(const Task &task, const Scratch &scratch, Value channelBlock);
  /// Adds the product of a group of tiles, whose inputs are at `from`, and a frame of the filter.
  SmallVector<Value> multiplyFrame(const Scratch &scratch, Value from, Value weights,
                                   ValueRange sums);
  /// The following are for one frame of outputs of the task.
  void transformSums(const Task &task, const Scratch &scratch, Value channelBlock, Value frame);
  void computeDirectly(const Task &task, const Scratch &scratch, Value channelBlock, Value frame);
  void storeResults(const Task &task, const Scratch &scratch, Value channelBlock, Value frame);

  Flat transformed;                                           ///< the filter
  int64_t transformedBlock, transformedTap, transformedPoint; ///< its strides
  const WinogradTiles tiles;
  int64_t depth, block;
};

Emitter::Emitter(OpBuilder &builder, Contraction contraction, VectorUnit unit)
    : PixelEmitter(builder, std::move(contraction), unit), tiles(c, unit), depth(c.depth),
      block(c.block) {}

Emitter::Flat Emitter::scratch(int64_t elements) {
  auto type = MemRefType::get({elements}, b.getF32Type());
  return {memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64)), {}};
}

std::pair<Value, Value> Emitter::originOf(Value tile) {
  auto first = [&](Value at) {
    return c.dilation == 1 ? scale(at, 2) : add(at, scale(divide(at, c.dilation), c.dilation));
  };
  return {first(divide(tile, tiles.columns)), first(modulo(tile, tiles.columns))};
}

Value Emitter::inputAt(const Task &task, Value frame, Value row, Value column) {
  auto clamped = [&](Value value, int64_t outputs) -> Value {
    int64_t last = outputs - 1 + 2 * c.dilation;
    return outputs % (2 * c.dilation) == 0
               ? value
               : arith::MinUIOp::create(b, value, index(last)).getResult();
  };
  Place place{task.image, clamped(row, c.rows), clamped(column, c.columns), index(0),
              {},         task.firstFrame};
  Value at = base(c.input, place);
  return c.taps.inputStep == 0 ? at : add(at, scale(frame, c.taps.inputStep));
}

void Emitter::transformInputs(const Task &task, const Scratch &scratch) {
  Value frames = add(task.frames, c.taps.trips - 1);
  frameLoop(frames, tiles.inputFrames, [&](Value frame) {
    loop(scale(task.groups, tiles.group), 1, [&](Value t) {
      Value tile =
          arith::MinUIOp::create(b, add(task.firstTile, t), index(tiles.count - 1)).getResult();
      auto [row, column] = originOf(tile);
      std::array<Four, 4> at;
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < 4; ++j)
          at[i][j] = inputAt(task, frame, add(row, i * c.dilation), add(column, j * c.dilation));
      Value to = scale(rowOf(frame, t), depth);
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
            store(points[i][j], scratch.inputs,
                  add(first, (i * 4 + j) * tiles.inputFrames * tiles.block * depth), unit.lanes);
      });
    });
  });
}

void Emitter::multiply(const Task &task, const Scratch &scratch, Value channelBlock) {
  loop(index(kWinogradPoints), 1, [&](Value point) {
    Value weights = add(scale(filterBlockOf(task, channelBlock), transformedBlock),
                        scale(point, transformedPoint));
    Value inputs = scale(point, tiles.inputFrames * tiles.block),
          outputs = scale(point, tiles.frames * tiles.block);
    frameLoop(task.frames, tiles.frames, [&](Value frame) {
      loop(task.groups, 1, [&](Value group) {
        Value row = rowOf(frame, scale(group, tiles.group)), from = add(inputs, row),
              to = scale(add(outputs, row), block);
        SmallVector<Value> sums(tiles.group * kVectors, zero());
        // Output frame f reads input frame f + tap.
        sums = tapLoop(sums, [&](Value tap, ValueRange initial) {
          return multiplyFrame(scratch, scale(rowOf(tap, from), depth),
                               add(weights, scale(tap, transformedTap)), initial);
        });
        for (auto [number, sum] : llvm::enumerate(sums))
          store(sum, scratch.sums, add(to, number * unit.lanes), unit.lanes);
      });
    });
  });
}

SmallVector<Value> Emitter::multiplyFrame(const Scratch &scratch, Value from, Value weights,
                                          ValueRange sums) {
  auto channels = scf::ForOp::create(b, index(0), index(depth), index(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(channels.getBody());
  Value channel = channels.getInductionVar(), at = add(weights, scale(channel, block));
  Value factors[kVectors] = {full(transformed, at), full(transformed, add(at, unit.lanes))};
  SmallVector<Value> next;
  for (int64_t t = 0; t < tiles.group; ++t) {
    Value element =
        splat(memref::LoadOp::create(b, scratch.inputs.buffer, add(add(from, channel), t * depth)));
    for (Value factor : factors)
      next.push_back(
          vector::FMAOp::create(b, element, factor, channels.getRegionIterArg(next.size())));
  }
  scf::YieldOp::create(b, next);
  return SmallVector<Value>(channels.getResults());
}

void Emitter::transformSums(const Task &task, const Scratch &scratch, Value channelBlock,
                            Value frame) {
  // Zero times a result is not a number if the result is not finite.
  auto loop = scf::ForOp::create(b, index(0), task.tiles, index(1), zero());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value t = loop.getInductionVar(), check = loop.getRegionIterArg(0);
    for (int64_t v = 0; v < kVectors; ++v) {
      Value from = add(scale(rowOf(frame, t), block), v * unit.lanes),
            to = add(scale(t, 4 * block), v * unit.lanes);
      std::array<std::array<Value, 2>, 4> columns;
      for (int64_t j = 0; j < 4; ++j) {
        Four points;
        for (int64_t i = 0; i < 4; ++i)
          points[i] =
              full(scratch.sums, add(from, (i * 4 + j) * tiles.frames * tiles.block * block));
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
  Value sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, loop.getResult(0));
  Value failed = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, sum, sum);
  auto branch = scf::IfOp::create(b, failed, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  computeDirectly(task, scratch, channelBlock, frame);
}

void Emitter::computeDirectly(const Task &task, const Scratch &scratch, Value channelBlock,
                              Value frame) {
  loop(scale(task.tiles, 4), 1, [&](Value pixel) {
    std::pair<Value, Value> origin = originOf(add(task.firstTile, divide(pixel, 4)));
    Value row = add(origin.first, scale(divide(modulo(pixel, 4), 2), c.dilation)),
          column = add(origin.second, scale(modulo(pixel, 2), c.dilation));
    SmallVector<Value> sums(kVectors, zero());
    sums = tapLoop(sums, [&](Value tap, ValueRange initial) {
      auto window = scf::ForOp::create(b, index(0), index(9), index(1), initial);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(window.getBody());
      Value each = window.getInductionVar();
      Value from = inputAt(task, c.taps.trips == 1 ? frame : add(frame, tap),
                           add(row, scale(divide(each, 3), c.dilation)),
                           add(column, scale(modulo(each, 3), c.dilation)));
      Value weights =
          add(scale(filterBlockOf(task, channelBlock), c.filterBlock), scale(each, depth * block));
      if (c.taps.trips != 1)
        weights = add(weights, scale(tap, c.taps.filterStep));
      auto channels =
          scf::ForOp::create(b, index(0), index(depth), index(1), window.getRegionIterArgs());
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
      return SmallVector<Value>(window.getResults());
    });
    for (auto [v, sum] : llvm::enumerate(sums))
      store(sum, scratch.results, add(scale(pixel, block), v * unit.lanes), unit.lanes);
  });
}

void Emitter::storeResults(const Task &task, const Scratch &scratch, Value channelBlock,
                           Value frame) {
  Value channel = scale(channelBlock, block), group = add(task.firstFrame, frame);
  Value initial = c.fill ? splat(c.fill.getInputs()[0]) : Value();
  loop(task.tiles, 1, [&](Value t) {
    auto [row, column] = originOf(add(task.firstTile, t));
    Bases bases = basesAt({task.image, row, column, channel, {}, group});
    Value from = scale(t, 4 * block);
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 2; ++j) {
        OpBuilder::InsertionGuard guard(b);
        // The last tiles of an odd number of rows or columns have outputs beyond the edge.
        for (auto [distance, at, size] :
             {std::tuple(i, row, c.rows), std::tuple(j, column, c.columns)})
          if (int64_t rest = size % (2 * c.dilation);
              rest != 0 && (distance == 1 || rest < c.dilation)) {
            Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                                 add(at, distance * c.dilation), index(size));
            b.setInsertionPointToStart(
                scf::IfOp::create(b, inside, /*withElseRegion=*/false).thenBlock());
          }
        for (int64_t v = 0; v < kVectors; ++v) {
          Value sum = full(scratch.results, add(from, (i * 2 + j) * block + v * unit.lanes));
          Offset offset{i * c.dilation, j * c.dilation, v * unit.lanes};
          Value start = initial ? initial
                                : full(output, add(bases.output, offset.row * c.output.h +
                                                                     offset.column * c.output.w +
                                                                     offset.channel));
          storeResult(addF(sum, start), bases, offset, unit.lanes);
        }
      }
  });
}

void Emitter::run() {
  flattenBuffers();
  transformed = flatten(c.transformed);
  int64_t offset;
  SmallVector<int64_t> strides;
  (void)cast<MemRefType>(c.transformed.getType()).getStridesAndOffset(strides, offset);
  transformedBlock = strides[c.filterGroup == 0 ? 0 : 1];
  transformedTap = c.taps.trips == 1 ? 0 : strides[1];
  transformedPoint = strides[strides.size() - 3];
  int64_t partBlocks = c.channels / block / tiles.parts,
          tasks = tiles.parts * tiles.blocks * tiles.frameBlocks * c.images;
  auto parallel = scf::ParallelOp::create(b, ValueRange{index(0)}, ValueRange{index(tasks)},
                                          ValueRange{index(1)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(parallel.getBody());
  Value number = parallel.getInductionVars()[0];
  Scratch buffers{scratch(kWinogradPoints * tiles.inputFrames * tiles.block * depth),
                  scratch(kWinogradPoints * tiles.frames * tiles.block * block),
                  scratch(4 * tiles.block * block)};
  Value part = modulo(number, tiles.parts);
  number = divide(number, tiles.parts);
  Task task;
  task.firstTile = scale(modulo(number, tiles.blocks), tiles.block);
  Value left = arith::SubIOp::create(b, index(tiles.count), task.firstTile);
  task.tiles = arith::MinUIOp::create(b, left, index(tiles.block));
  task.groups = divide(add(task.tiles, tiles.group - 1), tiles.group);
  number = divide(number, tiles.blocks);
  task.firstFrame = scale(modulo(number, tiles.frameBlocks), tiles.frames);
  left = arith::SubIOp::create(b, index(c.groups), task.firstFrame);
  task.frames = arith::MinUIOp::create(b, left, index(tiles.frames));
  task.image = divide(number, tiles.frameBlocks);
  transformInputs(task, buffers);
  loop(index(partBlocks), 1, [&](Value each) {
    Value channelBlock = add(scale(part, partBlocks), each);
    multiply(task, buffers, channelBlock);
    frameLoop(task.frames, tiles.frames, [&](Value frame) {
      transformSums(task, buffers, channelBlock, frame);
      storeResults(task, buffers, channelBlock, frame);
    });
  });
}

} // namespace

void emitWinograd(OpBuilder &builder, Contraction contraction, VectorUnit unit) {
  assert(canUseWinograd(contraction, unit) && "the caller checks the contraction");
  Emitter(builder, std::move(contraction), unit).run();
}

} // namespace convoy
