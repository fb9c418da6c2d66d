// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gives 3x3 convolutions, with two spatial dims, with groups or with any number of frames, the
// transform of their filter for Winograd's algorithm, as a third input.
// Runs on memrefs, because canonicalization on tensors drops an input that the body does not use,
// and before plan-arena, which places the transform.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/common/WinogradFilter.h"

namespace convoy {
#define GEN_PASS_DEF_WINOGRADFILTERSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct WinogradFiltersPass : public convoy::impl::WinogradFiltersPassBase<WinogradFiltersPass> {
  void runOnOperation() override;
};

/// The transform of a filter takes the time that some tiles of 2x2 outputs save: 7x7 outputs have
/// 16 tiles, 14x14 outputs 49. If it does not stay in the caches, it takes more. (Two cores, 6
/// convolutions in a row, direct and by Winograd's algorithm: 256 channels of 14x14 9.3 and 7.4 ms,
/// 512 of 16x16 42.2 and 43.1, 512 of 32x32 217 and 146.)
constexpr int64_t kMinTiles = 32, kMinTilesOfLarge = 96, kLargeBytes = 4 << 20;

/// A transform that is larger than the caches is read from memory by each task. (Two cores, 28x28,
/// direct and by Winograd's algorithm: 1024 to 512 channels, 34 MB, 21.4 and 17.7 ms, 1024 to 1024
/// 42.6 and 43.2, 2048 to 512 44.9 and 74.5.)
constexpr int64_t kMaxBytes = 32 << 20;

/// Outputs of all tiles, in relation to those of the convolution, if it has a dilation: tiles of a
/// large one have many outputs beyond the edge.
constexpr double kMaxWaste = 1.6;

/// With fewer channels the transforms take longer than the products that they save. With more the
/// transforms of too few tiles fit into the stack.
constexpr int64_t kMinChannels = 16, kMaxChannels = 2048;

/// The most channels in all frames of a window of several. With more, the transforms of only one
/// group of tiles fit into the L2 cache, and each task reads a filter that is larger than the
/// caches. (Two cores, 8 or 9 frames of outputs, direct and by Winograd's algorithm: 3 frames of
/// 256 channels of 14x14 31.5 and 19.9 ms, of 320 of 16x16 72.7 and 62.6, of 384 of 16x16 109 and
/// 132; 2 frames of 384 of 14x14 64.6 and 47.5, of 512 119 and 136.)
constexpr int64_t kMaxChannelsOfFrames = 960;

/// The loops of a convolution with a packed filter: n, the frame if there are three spatial dims,
/// or the group if there are groups, row, column, block of channels (of the group), channel in the
/// block, the window in the order of the spatial dims, input channel (of the group).
struct Loops {
  explicit Loops(linalg::GenericOp op)
      : count(op.getNumLoops()), ranges(op.getStaticLoopRanges()), d(count) {
    bindDimsList<AffineExpr>(op.getContext(), d);
  }

  /// Indices of loops.
  unsigned row() const { return inBlock() - 3; }
  unsigned column() const { return inBlock() - 2; }
  unsigned block() const { return inBlock() - 1; }
  unsigned inBlock() const { return (count + 1) / 2; }
  unsigned r() const { return count - 3; }
  unsigned s() const { return count - 2; }
  unsigned channel() const { return count - 1; }
  bool hasFrames() const { return count == 10; }
  bool hasGroups() const { return count == 9; }
  static constexpr unsigned kFrame = 1, kTap = 6; // with frames
  static constexpr unsigned kGroup = 1;           // with groups

  AffineMap map(ArrayRef<AffineExpr> results) const {
    return AffineMap::get(count, 0, results, results[0].getContext());
  }
  /// The map of a filter, whose dims between those of frames and channels are `window`.
  AffineMap filterMap(ArrayRef<AffineExpr> window) const {
    SmallVector<AffineExpr> results;
    if (hasGroups())
      results.push_back(d[kGroup]);
    results.push_back(d[block()]);
    if (hasFrames())
      results.push_back(d[kTap]);
    llvm::append_range(results, window);
    results.append({d[channel()], d[inBlock()]});
    return map(results);
  }
  /// The dilation in rows and columns if `input` and `filter` are the maps of a convolution with
  /// stride 1 there, of any stride and dilation between frames; nullopt otherwise.
  std::optional<int64_t> dilationOf(AffineMap input, AffineMap filter) const {
    if (input.getNumResults() != (hasFrames() ? 5 : 4))
      return std::nullopt;
    SmallVector<AffineExpr> results = {d[0]};
    if (hasFrames()) {
      AffineExpr frame = input.getResult(1);
      for (unsigned i = 0; i < count; ++i)
        if (i != kFrame && i != kTap && frame.isFunctionOfDim(i))
          return std::nullopt;
      results.push_back(frame);
    }
    AffineExpr depth = d[channel()];
    if (hasGroups())
      depth = d[kGroup] * ranges[channel()] + depth;
    AffineExpr last = input.getResult(input.getNumResults() - 2);
    int64_t dilation = 1;
    last.walk([&](AffineExpr expr) {
      if (auto factor = dyn_cast<AffineConstantExpr>(expr))
        dilation = factor.getValue();
    });
    results.append({d[row()] + d[r()] * dilation, d[column()] + d[s()] * dilation, depth});
    return input == map(results) && filter == filterMap({d[r()], d[s()]}) ? std::optional(dilation)
                                                                          : std::nullopt;
  }

  unsigned count;
  SmallVector<int64_t> ranges;
  SmallVector<AffineExpr> d;
};

/// Whether `op` is a convolution with a packed filter (plan-pack-cpu-weights), 3x3 in rows and
/// columns, which Winograd's algorithm can compute and is faster for.
bool isSuitable(linalg::GenericOp op, func::FuncOp function) {
  Loops loops(op);
  if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      loops.count < 8 || loops.count > 10 || op.getNumReductionLoops() != loops.count / 2 - 1)
    return false;
  ArrayRef<int64_t> ranges = loops.ranges;
  if (llvm::any_of(ranges, ShapedType::isDynamic))
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto filter = dyn_cast<BlockArgument>(op.getDpsInputs()[1]);
  bool isPrepared = filter && filter.getOwner() == &function.getBody().front() &&
                    function.getArgAttr(filter.getArgNumber(), convoy::tcp::kPreparedAttr);
  int64_t block = ranges[loops.inBlock()], channels = ranges[loops.channel()],
          frames = loops.hasFrames() ? ranges[Loops::kFrame] : 1,
          groups = loops.hasGroups() ? ranges[Loops::kGroup] : 1,
          taps = loops.hasFrames() ? ranges[Loops::kTap] : 1;
  std::optional<int64_t> dilation = loops.dilationOf(maps[0], maps[1]);
  if (!dilation)
    return false;
  int64_t rows = ranges[loops.row()], columns = ranges[loops.column()],
          tilesOfFrame =
              convoy::winogradTiles(rows, *dilation) * convoy::winogradTiles(columns, *dilation),
          tiles = ranges[0] * frames * tilesOfFrame,
          bytes = convoy::kWinogradPoints * groups * ranges[loops.block()] * block * taps *
                  channels * 4;
  return isPrepared && cast<MemRefType>(filter.getType()).getElementType().isF32() &&
         ranges[loops.r()] == 3 && ranges[loops.s()] == 3 && channels >= kMinChannels &&
         (*dilation == 1 || 4 * tilesOfFrame <= kMaxWaste * rows * columns) && bytes <= kMaxBytes &&
         taps * channels <= (taps == 1 ? kMaxChannels : kMaxChannelsOfFrames) && block % 2 == 0 &&
         channels % (block / 2) == 0 &&
         tiles >= (bytes > kLargeBytes ? kMinTilesOfLarge : kMinTiles);
}

/// G g of the filter transform.
SmallVector<Value> transform(OpBuilder &builder, Location loc, ValueRange g) {
  Value half = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.5f));
  auto halved = [&](Value value) -> Value {
    return arith::MulFOp::create(builder, loc, value, half);
  };
  Value outer = halved(arith::AddFOp::create(builder, loc, g[0], g[2])), middle = halved(g[1]);
  return {g[0], arith::AddFOp::create(builder, loc, outer, middle),
          arith::SubFOp::create(builder, loc, outer, middle), g[2]};
}

/// A part of `buffer`, [groups x] K/block [x frames] x ... x C x block, without the dims between,
/// of which `at` is the place, and with C * block as one dim, so that the innermost loop is long
/// enough for vectors.
Value partOf(OpBuilder &builder, Location loc, Value buffer, ArrayRef<int64_t> at) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t rank = type.getRank(), outer = rank - 2 - at.size();
  SmallVector<int64_t> offsets(rank, 0), sizes(type.getShape()), strides(rank, 1);
  for (auto [dim, position] : llvm::enumerate(at)) {
    offsets[outer + dim] = position;
    sizes[outer + dim] = 1;
  }
  SmallVector<int64_t> shape(ArrayRef(sizes).take_front(outer));
  llvm::append_range(shape, ArrayRef(sizes).take_back(2));
  MemRefType part =
      memref::SubViewOp::inferRankReducedResultType(shape, type, offsets, sizes, strides);
  Value view = memref::SubViewOp::create(builder, loc, part, buffer, offsets, sizes, strides);
  SmallVector<ReassociationIndices> dims;
  for (int64_t dim = 0; dim < outer; ++dim)
    dims.push_back({dim});
  dims.push_back({outer, outer + 1});
  return memref::CollapseShapeOp::create(builder, loc, view, dims);
}

/// Creates the transform of `filter`, [groups x] K/block [x frames] x 3 x 3 x C x block: the same
/// with 16 instead of 3 x 3. One more channel separates the points: at distances that are powers of
/// two, the 16 that are written at the same time would share few sets of the cache.
Value transformed(OpBuilder &builder, Location loc, Value filter) {
  auto type = cast<MemRefType>(filter.getType());
  SmallVector<int64_t> shape(type.getShape().drop_back(4)), channels(type.getShape().take_back(2));
  unsigned outer = shape.size(), rank = outer + 3;
  shape.append({convoy::kWinogradPoints, channels[0] + 1, channels[1]});
  Value result =
      memref::AllocOp::create(builder, loc, MemRefType::get(shape, type.getElementType()));
  --shape[outer + 1];
  SmallVector<int64_t> zeros(rank, 0), ones(rank, 1);
  result = memref::SubViewOp::create(builder, loc, result, zeros, shape, ones);
  SmallVector<Value> taps, points;
  for (int64_t tap = 0; tap < 9; ++tap)
    taps.push_back(partOf(builder, loc, filter, {tap / 3, tap % 3}));
  for (int64_t point = 0; point < convoy::kWinogradPoints; ++point)
    points.push_back(partOf(builder, loc, result, point));
  SmallVector<AffineMap> maps(taps.size() + points.size(),
                              builder.getMultiDimIdentityMap(outer + 1));
  SmallVector<utils::IteratorType> iterators(outer + 1, utils::IteratorType::parallel);
  linalg::GenericOp::create(
      builder, loc, taps, points, maps, iterators,
      [](OpBuilder &builder, Location loc, ValueRange g) {
        SmallVector<Value> columns[3], values;
        for (int s = 0; s < 3; ++s)
          columns[s] = transform(builder, loc, {g[s], g[3 + s], g[6 + s]});
        for (int i = 0; i < 4; ++i)
          llvm::append_range(
              values, transform(builder, loc, {columns[0][i], columns[1][i], columns[2][i]}));
        linalg::YieldOp::create(builder, loc, values);
      });
  return result;
}

/// Replaces `op` by one with the transformed filter as third input.
void addInput(linalg::GenericOp op, Value transformed) {
  OpBuilder builder(op);
  Loops loops(op);
  SmallVector<Value> inputs(op.getDpsInputs());
  inputs.push_back(transformed);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + 2, loops.filterMap(loops.d[loops.r()] * 4 + loops.d[loops.s()]));
  auto made = linalg::GenericOp::create(builder, op.getLoc(), inputs, op.getDpsInits(), maps,
                                        op.getIteratorTypesArray());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  made.getRegion().takeBody(op.getRegion());
  made.getBody()->insertArgument(2, builder.getF32Type(), op.getLoc());
  op.erase();
}

} // namespace

void WinogradFiltersPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (convoy::tcp::getTarget(function) != convoy::tcp::Target::Cpu ||
      !function.getBody().hasOneBlock())
    return;
  SmallVector<linalg::GenericOp> convolutions;
  function.walk([&](linalg::GenericOp op) {
    if (isSuitable(op, function))
      convolutions.push_back(op);
  });
  for (linalg::GenericOp op : convolutions) {
    OpBuilder builder(function.getBody().front().findAncestorOpInBlock(*op));
    addInput(op, transformed(builder, op.getLoc(), op.getDpsInputs()[1]));
  }
}
