// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Packs filters in the order in which the CPU's loops read them: blocks of output channels, each
// contiguous with all elements that one tile of the output needs. Runs on tensors, where the
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

/// The convolutions with `argument` as filter; empty if it has other uses.
SmallVector<linalg::Conv2DNhwcHwcfOp> findConvs(BlockArgument argument) {
  SmallVector<linalg::Conv2DNhwcHwcfOp> convs;
  for (OpOperand &use : argument.getUses()) {
    auto conv = dyn_cast<linalg::Conv2DNhwcHwcfOp>(use.getOwner());
    if (!conv || use.getOperandNumber() != 1)
      return {};
    convs.push_back(conv);
  }
  return convs;
}

/// Packs R x S x C x K to K/block x R x S x C x block.
Value pack(OpBuilder &builder, Location loc, Value weights, int64_t block) {
  auto type = cast<RankedTensorType>(weights.getType());
  SmallVector<int64_t> split(type.getShape().drop_back()), packed = {type.getDimSize(3) / block};
  split.append({type.getDimSize(3) / block, block});
  packed.append(type.getShape().drop_back().begin(), type.getShape().drop_back().end());
  packed.push_back(block);
  Type element = type.getElementType();
  Value expanded =
      tensor::ExpandShapeOp::create(builder, loc, RankedTensorType::get(split, element), weights,
                                    ArrayRef<ReassociationIndices>{{0}, {1}, {2}, {3, 4}});
  Value empty = tensor::EmptyOp::create(builder, loc, packed, element);
  return linalg::TransposeOp::create(builder, loc, expanded, empty,
                                     ArrayRef<int64_t>{3, 0, 1, 2, 4})
      ->getResult(0);
}

/// Replaces `conv` by a generic with the packed `filter`.
void usePacked(linalg::Conv2DNhwcHwcfOp conv, Value filter, int64_t block) {
  OpBuilder builder(conv);
  MLIRContext *context = conv.getContext();
  auto stride = llvm::to_vector(conv.getStrides().getValues<int64_t>()),
       dilation = llvm::to_vector(conv.getDilations().getValues<int64_t>());
  // n, oh, ow, block of channels, channel in the block, r, s, c.
  SmallVector<AffineExpr> d(8);
  bindDimsList<AffineExpr>(context, d);
  auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(8, 0, results, context); };
  AffineMap maps[] = {map({d[0], d[1] * stride[0] + d[5] * dilation[0],
                           d[2] * stride[1] + d[6] * dilation[1], d[7]}),
                      map({d[3], d[5], d[6], d[7], d[4]}),
                      map({d[0], d[1], d[2], d[3] * block + d[4]})};
  SmallVector<utils::IteratorType> iterators(5, utils::IteratorType::parallel);
  iterators.append(3, utils::IteratorType::reduction);
  auto packed = linalg::GenericOp::create(
      builder, conv.getLoc(), conv->getResultTypes(), ValueRange{conv.getInputs()[0], filter},
      conv.getOutputs(), maps, iterators, [](OpBuilder &builder, Location loc, ValueRange values) {
        Value product = arith::MulFOp::create(builder, loc, values[0], values[1]);
        Value sum = arith::AddFOp::create(builder, loc, values[2], product);
        linalg::YieldOp::create(builder, loc, sum);
      });
  conv->replaceAllUsesWith(packed);
  conv.erase();
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
    if (!name || !type || type.getRank() != 4 || !type.getElementType().isF32() ||
        type.getDimSize(3) % block != 0)
      continue;
    SmallVector<linalg::Conv2DNhwcHwcfOp> convs = findConvs(argument);
    auto results = llvm::seq<unsigned>(0, prepare.getNumResults());
    auto result = llvm::find_if(results, [&](unsigned index) {
      return prepare.getResultAttr(index, "tcp.prepared") == name;
    });
    if (convs.empty() || result == results.end())
      continue;
    Value packed = pack(builder, argument.getLoc(), returnOp.getOperand(*result), block);
    returnOp.setOperand(*result, packed);
    argument.setType(packed.getType());
    for (linalg::Conv2DNhwcHwcfOp conv : convs)
      usePacked(conv, argument, block);
  }
  main.setFunctionType(
      builder.getFunctionType(main.getBody().getArgumentTypes(), main.getResultTypes()));
  prepare.setFunctionType(
      builder.getFunctionType(prepare.getArgumentTypes(), returnOp.getOperandTypes()));
}
