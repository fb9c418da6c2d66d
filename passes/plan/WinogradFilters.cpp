// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gives 3x3 convolutions the transform of their filter for Winograd's algorithm, as a third input.
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

/// With fewer channels the transforms take longer than the products that they save. With more the
/// transforms of too few tiles fit into the stack.
constexpr int64_t kMinChannels = 16, kMaxChannels = 2048;

/// Whether `op` is a 3x3 convolution with a packed filter (plan-pack-cpu-weights), which Winograd's
/// algorithm can compute and is faster for.
bool isSuitable(linalg::GenericOp op, func::FuncOp function) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumLoops() != 8 || op.getNumReductionLoops() != 3)
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::any_of(ranges, ShapedType::isDynamic))
    return false;
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> d(8);
  bindDimsList<AffineExpr>(context, d);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto filter = dyn_cast<BlockArgument>(op.getDpsInputs()[1]);
  bool isPrepared = filter && filter.getOwner() == &function.getBody().front() &&
                    function.getArgAttr(filter.getArgNumber(), convoy::tcp::kPreparedAttr);
  int64_t tiles = ranges[0] * llvm::divideCeil(ranges[1], 2) * llvm::divideCeil(ranges[2], 2),
          bytes = convoy::kWinogradPoints * ranges[3] * ranges[4] * ranges[7] * 4;
  return isPrepared && cast<MemRefType>(filter.getType()).getElementType().isF32() &&
         maps[0] == AffineMap::get(8, 0, {d[0], d[1] + d[5], d[2] + d[6], d[7]}, context) &&
         maps[1] == AffineMap::get(8, 0, {d[3], d[5], d[6], d[7], d[4]}, context) &&
         ranges[5] == 3 && ranges[6] == 3 && ranges[7] >= kMinChannels &&
         ranges[7] <= kMaxChannels && ranges[4] % 2 == 0 && ranges[7] % (ranges[4] / 2) == 0 &&
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

/// A part of `buffer`, K/block x ... x C x block, as K/block x C * block, so that the innermost
/// loop is long enough for vectors. `at` is its place in the dims between.
Value partOf(OpBuilder &builder, Location loc, Value buffer, ArrayRef<int64_t> at) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()),
      strides(type.getRank(), 1);
  for (auto [dim, position] : llvm::enumerate(at)) {
    offsets[1 + dim] = position;
    sizes[1 + dim] = 1;
  }
  SmallVector<int64_t> shape = {sizes.front(), sizes[sizes.size() - 2], sizes.back()};
  MemRefType part =
      memref::SubViewOp::inferRankReducedResultType(shape, type, offsets, sizes, strides);
  Value view = memref::SubViewOp::create(builder, loc, part, buffer, offsets, sizes, strides);
  return memref::CollapseShapeOp::create(builder, loc, view,
                                         ArrayRef<ReassociationIndices>{{0}, {1, 2}});
}

/// Creates the transform of `filter`, K/block x 3 x 3 x C x block: K/block x 16 x C x block. One
/// more channel separates the points: at distances that are powers of two, the 16 that are written
/// at the same time would share few sets of the cache.
Value transformed(OpBuilder &builder, Location loc, Value filter) {
  auto type = cast<MemRefType>(filter.getType());
  SmallVector<int64_t> shape = {type.getDimSize(0), convoy::kWinogradPoints, type.getDimSize(3) + 1,
                                type.getDimSize(4)};
  Value result =
      memref::AllocOp::create(builder, loc, MemRefType::get(shape, type.getElementType()));
  --shape[2];
  SmallVector<int64_t> zeros(4, 0), ones(4, 1);
  result = memref::SubViewOp::create(builder, loc, result, zeros, shape, ones);
  SmallVector<Value> taps, points;
  for (int64_t tap = 0; tap < 9; ++tap)
    taps.push_back(partOf(builder, loc, filter, {tap / 3, tap % 3}));
  for (int64_t point = 0; point < convoy::kWinogradPoints; ++point)
    points.push_back(partOf(builder, loc, result, point));
  SmallVector<AffineMap> maps(taps.size() + points.size(), builder.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
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
  SmallVector<AffineExpr> d(8);
  bindDimsList<AffineExpr>(op.getContext(), d);
  SmallVector<Value> inputs(op.getDpsInputs());
  inputs.push_back(transformed);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + 2,
              AffineMap::get(8, 0, {d[3], d[5] * 4 + d[6], d[7], d[4]}, op.getContext()));
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
