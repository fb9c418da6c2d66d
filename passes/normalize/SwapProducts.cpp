// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Computes products with weights between two transposes on the tensors as they are before the first
// one: the weight becomes the left factor, and both transposes go.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPSWAPPRODUCTSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// The columns of a swapped product are the rows before. Tensor cores and aligned loads of 16 bytes
/// need a multiple, and fewer than this many columns fill no tile.
constexpr int64_t kColumnMultiple = 8, kMinColumns = 32;

struct TcpSwapProductsPass : public convoy::impl::TcpSwapProductsPassBase<TcpSwapProductsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

/// The permutation that swaps the last two dims.
static SmallVector<int64_t> swapOf(int64_t rank) {
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(perm[rank - 1], perm[rank - 2]);
  return perm;
}

/// The op that makes `value`, if it swaps the last two dims.
static TransposeOp swapBefore(Value value) {
  auto op = value.getDefiningOp<TransposeOp>();
  return op && op.getPerm() == ArrayRef(swapOf(op.getType().getRank())) ? op : nullptr;
}

static Value swapped(OpBuilder &builder, Location loc, Value value) {
  if (TransposeOp op = swapBefore(value))
    return op.getInput();
  SmallVector<int64_t> perm = swapOf(cast<RankedTensorType>(value.getType()).getRank());
  auto shape = llvm::map_to_vector(perm, [&](int64_t dim) { return shapeOf(value)[dim]; });
  return TransposeOp::create(builder, loc, withShape(value.getType(), shape), value, perm);
}

static bool isProductWithWeight(Operation *op, const WeightValues &weights) {
  auto product = dyn_cast<MatmulOp>(op);
  return product && weights.contains(product.getRhs()) && !weights.contains(product.getLhs()) &&
         shapeOf(product.getLhs()).size() == shapeOf(product.getRhs()).size();
}

/// Whether `op` can be computed on swapped operands: a product of `value` with a weight, or an
/// elementwise op whose other operands are weights, or are swapped before it.
static bool isSwappable(Operation *op, Value value, const WeightValues &weights) {
  if (isProductWithWeight(op, weights))
    return cast<MatmulOp>(op).getLhs() == value;
  size_t rank = shapeOf(value).size();
  auto isFree = [&](Value operand) {
    return operand == value ||
           (shapeOf(operand).size() == rank && (weights.contains(operand) || swapBefore(operand)));
  };
  return op->getNumResults() == 1 && op->hasTrait<convoy::tcp::Elementwise>() &&
         llvm::all_of(op->getOperands(), isFree);
}

/// The ops from `product` to a swap of the last two dims, each the only user of the one before;
/// with the swap. Empty if other ops are in between.
static SmallVector<Operation *> chainFrom(MatmulOp product, const WeightValues &weights) {
  SmallVector<Operation *> chain{product};
  while (chain.back()->hasOneUse()) {
    Operation *user = *chain.back()->user_begin();
    if (isa<TransposeOp>(user))
      return swapBefore(user->getResult(0)) ? (chain.push_back(user), chain)
                                            : SmallVector<Operation *>();
    if (!isSwappable(user, chain.back()->getResult(0), weights))
      break;
    chain.push_back(user);
  }
  return {};
}

/// Computes `op` on swapped operands. `before` is the swapped result of the op before it.
static Value swapOp(OpBuilder &builder, Operation *op, Value from, Value before) {
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  if (auto product = dyn_cast<MatmulOp>(op))
    return MatmulOp::create(builder, loc, withShape(type, shape),
                            swapped(builder, loc, product.getRhs()), before);
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return operand == from ? before : swapped(builder, loc, operand);
  });
  return cloneWith(builder, op, operands, withShape(type, shape))->getResult(0);
}

void TcpSwapProductsPass::runOnStaticShapes() {
  func::FuncOp function = getOperation();
  WeightValues weights(function);
  OpBuilder builder(&getContext(), &weights);
  SmallVector<MatmulOp> products;
  function.walk([&](MatmulOp op) { products.push_back(op); });
  // Replaced ops are erased at the end, because `weights` knows values by their address.
  SmallVector<Operation *> replaced;
  for (MatmulOp op : products) {
    TransposeOp before = swapBefore(op.getLhs());
    int64_t rows = shapeOf(op.getOutput()).drop_back().back();
    if (!before || shapeOf(before).size() < 3 || !isProductWithWeight(op, weights) ||
        rows < kMinColumns || rows % kColumnMultiple)
      continue;
    SmallVector<Operation *> chain = chainFrom(op, weights);
    if (chain.empty())
      continue;
    Value from = before.getOutput(), value = before.getInput();
    for (Operation *each : ArrayRef(chain).drop_back()) {
      value = swapOp(builder, each, from, value);
      from = each->getResult(0);
    }
    chain.back()->getResult(0).replaceAllUsesWith(value);
    llvm::append_range(replaced, chain);
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}
