// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Packs the filters of convolutions and the right factors of products in the order in which the
// CPU's loops read them: blocks of output channels, each contiguous with all elements that one tile
// of the output needs. Runs on tensors, where the packing can still move to @prepare_weights.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"

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

/// The number of blocks of columns from which a product is split into whole blocks and a rest. With
/// 16 blocks the second product costs what packing gains (33x300x517: 231 and 246 GFLOP/s).
constexpr int64_t kSplitBlocks = 128;

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
  product->replaceAllUsesWith(packed);
  product->erase();
}

/// Replaces `conv`, a convolution of any number of spatial dims, by a generic with the packed
/// `filter`.
template <typename Conv> void usePackedConv(Conv conv, Value filter, int64_t block) {
  MLIRContext *context = conv.getContext();
  auto strides = conv.getStrides().template getValues<int64_t>(),
       dilations = conv.getDilations().template getValues<int64_t>();
  // n, output pixel, block of channels, channel in the block, window, c.
  unsigned rank = strides.size(), loops = 2 * rank + 4;
  SmallVector<AffineExpr> d(loops);
  bindDimsList<AffineExpr>(context, d);
  AffineExpr n = d[0], blockOfChannels = d[rank + 1], inBlock = d[rank + 2], c = d.back();
  SmallVector<AffineExpr> image = {n}, weights = {blockOfChannels}, output = {n};
  for (unsigned i = 0; i < rank; ++i) {
    AffineExpr pixel = d[1 + i], tap = d[rank + 3 + i];
    image.push_back(pixel * strides[i] + tap * dilations[i]);
    weights.push_back(tap);
    output.push_back(pixel);
  }
  image.push_back(c);
  weights.append({c, inBlock});
  output.push_back(blockOfChannels * block + inBlock);
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
          channels = cast<RankedTensorType>(conv.getResultTypes()[0]).getShape().back() / groups;
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(9, 0, results, conv.getContext());
  };
  replace(conv, filter,
          {conv.getIndexingMapsArray()[0].shiftDims(1, /*offset=*/5),
           map({d[1], d[4], d[6], d[7], d[8], d[5]}),
           map({d[0], d[2], d[3], d[1] * channels + d[4] * block + d[5]})},
          3);
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

/// The columns of `output` from `begin` on, as the initial value of a product. A fill is repeated
/// for them, so that it stays next to the product.
Value columnsOf(OpBuilder &builder, Location loc, Value output, Value fill, int64_t begin,
                int64_t columns) {
  int64_t rows = cast<RankedTensorType>(output.getType()).getDimSize(0);
  auto numbers = [&](int64_t a, int64_t b) {
    return getAsIndexOpFoldResult(builder.getContext(), {a, b});
  };
  Value slice = tensor::ExtractSliceOp::create(builder, loc, output, numbers(0, begin),
                                               numbers(rows, columns), numbers(1, 1));
  return fill ? linalg::FillOp::create(builder, loc, fill, slice).getResult(0) : slice;
}

void usePacked(linalg::MatmulOp matmul, Value filter, int64_t block);

/// Splits `matmul`, whose columns are no multiple of `block`, into a product with the whole blocks
/// of the packed `filter` and one with the rest.
void splitColumns(linalg::MatmulOp matmul, Value filter, int64_t block) {
  OpBuilder builder(matmul);
  Location loc = matmul.getLoc();
  Value input = matmul.getInputs()[0], output = matmul.getOutputs()[0], number;
  auto type = cast<RankedTensorType>(output.getType());
  int64_t depth = cast<RankedTensorType>(input.getType()).getDimSize(1),
          blocks = type.getDimSize(1) / block, whole = blocks * block,
          rest = type.getDimSize(1) - whole;
  if (auto fill = output.getDefiningOp<linalg::FillOp>()) {
    number = fill.getInputs()[0];
    output = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  }
  auto slice = [&](RankedTensorType result, int64_t first, int64_t count, int64_t columns) {
    auto numbers = [&](int64_t a, int64_t b, int64_t c) {
      return getAsIndexOpFoldResult(builder.getContext(), {a, b, c});
    };
    return tensor::ExtractSliceOp::create(builder, loc, result, filter, numbers(first, 0, 0),
                                          numbers(count, depth, columns), numbers(1, 1, 1))
        .getResult();
  };
  Type element = type.getElementType();
  Value right[] = {slice(RankedTensorType::get({blocks, depth, block}, element), 0, blocks, block),
                   slice(RankedTensorType::get({depth, rest}, element), blocks, 1, rest)};
  for (auto [begin, columns, factor] :
       {std::tuple(int64_t(0), whole, right[0]), std::tuple(whole, rest, right[1])}) {
    Value init = columnsOf(builder, loc, output, number, begin, columns);
    auto product = linalg::MatmulOp::create(builder, loc, init.getType(), ValueRange{input, factor},
                                            ValueRange{init});
    auto numbers = [&](int64_t a, int64_t b) {
      return getAsIndexOpFoldResult(builder.getContext(), {a, b});
    };
    output =
        tensor::InsertSliceOp::create(builder, loc, product.getResult(0), output, numbers(0, begin),
                                      numbers(type.getDimSize(0), columns), numbers(1, 1));
    if (begin == 0)
      usePacked(product, factor, block);
  }
  matmul->replaceAllUsesWith(ValueRange{output});
  auto fill = matmul.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  matmul->erase();
  if (fill && fill->use_empty())
    fill->erase();
}

/// Replaces `matmul` by a generic with the packed `filter`.
void usePacked(linalg::MatmulOp matmul, Value filter, int64_t block) {
  MLIRContext *context = matmul.getContext();
  // Row, block of columns, column in the block, element of the sum.
  SmallVector<AffineExpr> d(4);
  bindDimsList<AffineExpr>(context, d);
  auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(4, 0, results, context); };
  replace(matmul, filter,
          {map({d[0], d[3]}), map({d[1], d[3], d[2]}), map({d[0], d[1] * block + d[2]})}, 1);
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
    bool isWhole = type.getShape().back() % block == 0;
    // A rest of columns costs a product of its own.
    if (!isWhole && (type.getRank() != 2 || type.getDimSize(1) < kSplitBlocks * block))
      continue;
    auto results = llvm::seq<unsigned>(0, prepare.getNumResults());
    auto result = llvm::find_if(results, [&](unsigned index) {
      return prepare.getResultAttr(index, "tcp.prepared") == name;
    });
    if (products.empty() || result == results.end())
      continue;
    Value weights = padded(builder, argument.getLoc(), returnOp.getOperand(*result), block);
    Value packed = pack(builder, argument.getLoc(), weights, block,
                        isGrouped(products.front().getOperation()));
    returnOp.setOperand(*result, packed);
    argument.setType(packed.getType());
    for (linalg::LinalgOp product : products) {
      if (auto flat = dyn_cast<linalg::Conv2DNhwcHwcfOp>(product.getOperation()))
        usePackedConv(flat, argument, block);
      else if (auto deep = dyn_cast<linalg::Conv3DNdhwcDhwcfOp>(product.getOperation()))
        usePackedConv(deep, argument, block);
      else if (auto grouped = dyn_cast<linalg::GenericOp>(product.getOperation()))
        usePackedGroups(grouped, argument, block);
      else if (auto matmul = cast<linalg::MatmulOp>(product.getOperation()); isWhole)
        usePacked(matmul, argument, block);
      else
        splitColumns(matmul, argument, block);
    }
  }
  main.setFunctionType(
      builder.getFunctionType(main.getBody().getArgumentTypes(), main.getResultTypes()));
  prepare.setFunctionType(
      builder.getFunctionType(prepare.getArgumentTypes(), returnOp.getOperandTypes()));
}
