// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Packs the filters of convolutions and the right factors of products in the order in which the
// CPU's loops read them: blocks of output channels, each contiguous with all elements that one tile
// of the output needs. Runs on tensors, where the
// packing can still move to @prepare_weights.

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

/// The convolutions and products with `argument` as filter; empty if it has other uses.
SmallVector<linalg::LinalgOp> findProducts(BlockArgument argument) {
  SmallVector<linalg::LinalgOp> products;
  for (OpOperand &use : argument.getUses()) {
    if (!isa<linalg::Conv2DNhwcHwcfOp, linalg::MatmulOp>(use.getOwner()) ||
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

/// Packs ... x K to K/block x ... x block.
Value pack(OpBuilder &builder, Location loc, Value weights, int64_t block) {
  auto type = cast<RankedTensorType>(weights.getType());
  ArrayRef<int64_t> outer = type.getShape().drop_back();
  int64_t rank = type.getRank(), blocks = type.getShape().back() / block;
  SmallVector<int64_t> split(outer), packed = {blocks};
  split.append({blocks, block});
  packed.append(outer.begin(), outer.end());
  packed.push_back(block);
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim : llvm::seq(rank - 1))
    groups.push_back({dim});
  groups.push_back({rank - 1, rank});
  Type element = type.getElementType();
  Value expanded = tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(split, element), weights, groups);
  Value empty = tensor::EmptyOp::create(builder, loc, packed, element);
  SmallVector<int64_t> order = {rank - 1};
  llvm::append_range(order, llvm::seq(rank - 1));
  order.push_back(rank);
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

/// Replaces `conv` by a generic with the packed `filter`.
void usePacked(linalg::Conv2DNhwcHwcfOp conv, Value filter, int64_t block) {
  MLIRContext *context = conv.getContext();
  auto stride = llvm::to_vector(conv.getStrides().getValues<int64_t>()),
       dilation = llvm::to_vector(conv.getDilations().getValues<int64_t>());
  // n, oh, ow, block of channels, channel in the block, r, s, c.
  SmallVector<AffineExpr> d(8);
  bindDimsList<AffineExpr>(context, d);
  auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(8, 0, results, context); };
  replace(conv, filter,
          {map({d[0], d[1] * stride[0] + d[5] * dilation[0], d[2] * stride[1] + d[6] * dilation[1],
                d[7]}),
           map({d[3], d[5], d[6], d[7], d[4]}), map({d[0], d[1], d[2], d[3] * block + d[4]})},
          3);
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
    if (!name || !type || type.getRank() == 0 || !type.getElementType().isF32() ||
        type.getShape().back() % block != 0)
      continue;
    SmallVector<linalg::LinalgOp> products = findProducts(argument);
    auto results = llvm::seq<unsigned>(0, prepare.getNumResults());
    auto result = llvm::find_if(results, [&](unsigned index) {
      return prepare.getResultAttr(index, "tcp.prepared") == name;
    });
    if (products.empty() || result == results.end())
      continue;
    Value packed = pack(builder, argument.getLoc(), returnOp.getOperand(*result), block);
    returnOp.setOperand(*result, packed);
    argument.setType(packed.getType());
    for (linalg::LinalgOp product : products) {
      if (auto conv = dyn_cast<linalg::Conv2DNhwcHwcfOp>(product.getOperation()))
        usePacked(conv, argument, block);
      else
        usePacked(cast<linalg::MatmulOp>(product.getOperation()), argument, block);
    }
  }
  main.setFunctionType(
      builder.getFunctionType(main.getBody().getArgumentTypes(), main.getResultTypes()));
  prepare.setFunctionType(
      builder.getFunctionType(prepare.getArgumentTypes(), returnOp.getOperandTypes()));
}
