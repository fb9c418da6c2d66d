// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Packs the filters of convolutions and the right factors of products in the order in which the
// CPU's loops read them: blocks of output channels, each contiguous with all elements that one tile
// of the output needs. Runs on tensors, where the packing can still move to @prepare_weights.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/common/InputRows.h"

namespace convoy {
#define GEN_PASS_DEF_PACKCPUWEIGHTSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct PackCpuWeightsPass : public convoy::impl::PackCpuWeightsPassBase<PackCpuWeightsPass> {
  using Base::Base;
  void runOnOperation() override;
};

/// A last block that is not whole is filled with zeros, up to this part of all channels.
constexpr double kMaxPadding = 0.25;

/// Whether `op` is a convolution with groups: the loops are n, group, output pixel, channel,
/// window, c, and the filter is group x window x c x channel.
bool isGrouped(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumLoops() != 8 || generic.getNumReductionLoops() != 3 ||
      generic.getNumDpsInputs() != 2 || !generic.hasPureTensorSemantics())
    return false;
  SmallVector<AffineExpr> d(8);
  bindDimsList<AffineExpr>(op->getContext(), d);
  int64_t channels = generic.getStaticLoopRanges()[4];
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(8, 0, results, op->getContext());
  };
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  Block *body = generic.getBody();
  auto sum = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  auto product = sum ? sum.getRhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  return maps[1] == map({d[1], d[5], d[6], d[7], d[4]}) &&
         maps[2] == map({d[0], d[2], d[3], d[1] * channels + d[4]}) && product &&
         sum.getLhs() == body->getArgument(2) && product.getLhs() == body->getArgument(0) &&
         product.getRhs() == body->getArgument(1);
}

/// The convolutions and products with `argument` as filter; empty if it has other uses.
SmallVector<linalg::LinalgOp> findProducts(BlockArgument argument) {
  SmallVector<linalg::LinalgOp> products;
  for (OpOperand &use : argument.getUses()) {
    if ((!isa<linalg::Conv2DNhwcHwcfOp, linalg::Conv3DNdhwcDhwcfOp, linalg::MatmulOp>(
             use.getOwner()) &&
         !isGrouped(use.getOwner())) ||
        use.getOperandNumber() != 1)
      return {};
    // Other maps transpose or broadcast an operand.
    auto matmul = dyn_cast<linalg::MatmulOp>(use.getOwner());
    if (matmul && matmul.hasUserDefinedMaps())
      return {};
    products.push_back(cast<linalg::LinalgOp>(use.getOwner()));
  }
  return products;
}

/// Packs ... x K to K/block x ... x block, or group x ... x K to group x K/block x ... x block.
Value pack(OpBuilder &builder, Location loc, Value weights, int64_t block, bool isGrouped) {
  auto type = cast<RankedTensorType>(weights.getType());
  ArrayRef<int64_t> outer = type.getShape().drop_back();
  int64_t rank = type.getRank(), blocks = type.getShape().back() / block;
  SmallVector<int64_t> split(outer), order = llvm::to_vector(llvm::seq(rank + 1));
  split.append({blocks, block});
  std::rotate(order.begin() + isGrouped, order.end() - 2, order.end() - 1);
  SmallVector<int64_t> packed = llvm::map_to_vector(order, [&](int64_t dim) { return split[dim]; });
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim : llvm::seq(rank - 1))
    groups.push_back({dim});
  groups.push_back({rank - 1, rank});
  Type element = type.getElementType();
  Value expanded = tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(split, element), weights, groups);
  Value empty = tensor::EmptyOp::create(builder, loc, packed, element);
  return linalg::TransposeOp::create(builder, loc, expanded, empty, order)->getResult(0);
}

/// Replaces `product` by a generic with the packed `filter`, maps of the input, the filter and the
/// output, and `reductions` loops of reduction behind the others.
void replace(linalg::LinalgOp product, Value filter, ArrayRef<AffineMap> maps,
             unsigned reductions) {
  OpBuilder builder(product);
  SmallVector<utils::IteratorType> iterators(maps[0].getNumDims() - reductions,
                                             utils::IteratorType::parallel);
  iterators.append(reductions, utils::IteratorType::reduction);
  auto packed = linalg::GenericOp::create(
      builder, product.getLoc(), product->getResultTypes(),
      ValueRange{product.getDpsInputs()[0], filter}, product.getDpsInits(), maps, iterators,
      [](OpBuilder &builder, Location loc, ValueRange values) {
        Value product = arith::MulFOp::create(builder, loc, values[0], values[1]);
        Value sum = arith::AddFOp::create(builder, loc, values[2], product);
        linalg::YieldOp::create(builder, loc, sum);
      });
  if (Attribute rows = product->getAttr(convoy::kInputRowsAttr))
    packed->setAttr(convoy::kInputRowsAttr, rows);
  product->replaceAllUsesWith(packed);
  product->erase();
}

/// The output channels as loops and in the packed filter: a loop over blocks and one in a block, or
/// one over all channels if the last block is not whole.
struct Channels {
  Channels(MLIRContext *context, int64_t channels, int64_t block, unsigned first) {
    AffineExpr outer = getAffineDimExpr(first, context);
    if (channels % block == 0) {
      loops = 2;
      blocks = outer;
      inBlock = getAffineDimExpr(first + 1, context);
      all = outer * block + inBlock;
    } else {
      loops = 1;
      blocks = outer.floorDiv(block);
      inBlock = outer % block;
      all = outer;
    }
  }

  unsigned loops;
  AffineExpr blocks, inBlock; ///< indices of the filter
  AffineExpr all;             ///< index of the output
};

int64_t channelsOf(Operation *product) {
  return cast<RankedTensorType>(product->getResult(0).getType()).getShape().back();
}

/// Replaces `conv`, a convolution of any number of spatial dims, by a generic with the packed
/// `filter`.
template <typename Conv> void usePackedConv(Conv conv, Value filter, int64_t block) {
  MLIRContext *context = conv.getContext();
  auto strides = conv.getStrides().template getValues<int64_t>(),
       dilations = conv.getDilations().template getValues<int64_t>();
  // n, output pixel, channels, window, c.
  unsigned rank = strides.size();
  Channels channels(context, channelsOf(conv), block, rank + 1);
  unsigned window = rank + 1 + channels.loops, loops = window + rank + 1;
  SmallVector<AffineExpr> d(loops);
  bindDimsList<AffineExpr>(context, d);
  SmallVector<AffineExpr> image = {d[0]}, weights = {channels.blocks}, output = {d[0]};
  for (unsigned i = 0; i < rank; ++i) {
    AffineExpr pixel = d[1 + i], tap = d[window + i];
    image.push_back(pixel * strides[i] + tap * dilations[i]);
    weights.push_back(tap);
    output.push_back(pixel);
  }
  image.push_back(d.back());
  weights.append({d.back(), channels.inBlock});
  output.push_back(channels.all);
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(loops, 0, results, context);
  };
  replace(conv, filter, {map(image), map(weights), map(output)}, rank + 1);
}

/// Replaces `conv`, a convolution with groups, by a generic with the packed `filter`.
void usePackedGroups(linalg::GenericOp conv, Value filter, int64_t block) {
  // n, group, output pixel, block of channels, channel in the block, window, c.
  SmallVector<AffineExpr> d(9);
  bindDimsList<AffineExpr>(conv.getContext(), d);
  int64_t groups = cast<RankedTensorType>(filter.getType()).getDimSize(0),
          channels = channelsOf(conv) / groups;
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(9, 0, results, conv.getContext());
  };
  replace(conv, filter,
          {conv.getIndexingMapsArray()[0].shiftDims(1, /*offset=*/5),
           map({d[1], d[4], d[6], d[7], d[8], d[5]}),
           map({d[0], d[2], d[3], d[1] * channels + d[4] * block + d[5]})},
          3);
}

/// Replaces `matmul` by a generic with the packed `filter`.
void usePacked(linalg::MatmulOp matmul, Value filter, int64_t block) {
  MLIRContext *context = matmul.getContext();
  // Row, columns, element of the sum.
  Channels columns(context, channelsOf(matmul), block, 1);
  SmallVector<AffineExpr> d(2 + columns.loops);
  bindDimsList<AffineExpr>(context, d);
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(d.size(), 0, results, context);
  };
  replace(matmul, filter,
          {map({d[0], d.back()}), map({columns.blocks, d.back(), columns.inBlock}),
           map({d[0], columns.all})},
          1);
}

/// Adds zeros behind the last dim of `weights`, up to a multiple of `block`.
Value padded(OpBuilder &builder, Location loc, Value weights, int64_t block) {
  auto type = cast<RankedTensorType>(weights.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = llvm::alignTo(shape.back(), block);
  if (shape.back() == type.getShape().back())
    return weights;
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  Value zeros = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  auto sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(builder, loc, weights, zeros, offsets, sizes, strides);
}

} // namespace

void PackCpuWeightsPass::runOnOperation() {
  ModuleOp module = getOperation();
  auto main = module.lookupSymbol<func::FuncOp>("main"),
       prepare = module.lookupSymbol<func::FuncOp>("prepare_weights");
  if (!main || !prepare || convoy::tcp::getTarget(main) != convoy::tcp::Target::Cpu || block <= 0)
    return;
  // A declaration has no body, and a function with several blocks may have several returns.
  if (main.isExternal() || !prepare.getBody().hasOneBlock())
    return;

  auto returnOp = dyn_cast<func::ReturnOp>(prepare.getBody().front().getTerminator());
  if (!returnOp)
    return;
  OpBuilder builder(returnOp);
  for (BlockArgument argument : main.getArguments()) {
    auto name = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tcp.prepared");
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!name || !type || type.getRank() == 0 || !type.getElementType().isF32())
      continue;
    SmallVector<linalg::LinalgOp> products = findProducts(argument);
    auto results = llvm::seq<unsigned>(0, prepare.getNumResults());
    auto result = llvm::find_if(results, [&](unsigned index) {
      return prepare.getResultAttr(index, "tcp.prepared") == name;
    });
    if (products.empty() || result == results.end())
      continue;
    // The loop over the channels of a group is an index of no tensor, which linalg requires of
    // loops, if it is divided for the filter.
    bool areGrouped = isGrouped(products.front());
    int64_t channels = type.getShape().back(), padding = llvm::alignTo(channels, block) - channels;
    if (padding != 0 && (areGrouped || double(padding) > kMaxPadding * double(channels)))
      continue;
    Value weights = padded(builder, argument.getLoc(), returnOp.getOperand(*result), block);
    Value packed = pack(builder, argument.getLoc(), weights, block, areGrouped);
    returnOp.setOperand(*result, packed);
    argument.setType(packed.getType());
    for (linalg::LinalgOp product : products) {
      if (auto flat = dyn_cast<linalg::Conv2DNhwcHwcfOp>(product.getOperation()))
        usePackedConv(flat, argument, block);
      else if (auto deep = dyn_cast<linalg::Conv3DNdhwcDhwcfOp>(product.getOperation()))
        usePackedConv(deep, argument, block);
      else if (auto grouped = dyn_cast<linalg::GenericOp>(product.getOperation()))
        usePackedGroups(grouped, argument, block);
      else
        usePacked(cast<linalg::MatmulOp>(product.getOperation()), argument, block);
    }
  }
  main.setFunctionType(
      builder.getFunctionType(main.getBody().getArgumentTypes(), main.getResultTypes()));
  prepare.setFunctionType(
      builder.getFunctionType(prepare.getArgumentTypes(), returnOp.getOperandTypes()));
}
