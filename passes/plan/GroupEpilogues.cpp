// Brings a convolution or matrix product and the elementwise op on its result together, so that the
// result can stay in registers between them. Before offsets are chosen: the op's output must not
// share bytes with what the product still reads.

#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"
#include "passes/common/ForCpu.h"

namespace convoy {
#define GEN_PASS_DEF_GROUPEPILOGUESPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct GroupEpiloguesPass : public convoy::impl::GroupEpiloguesPassBase<GroupEpiloguesPass> {
  void runOnOperation() override;
};

Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// Whether `op` may write memory of `roots`.
bool mayWrite(Operation *op, ArrayRef<Value> roots) {
  if (isMemoryEffectFree(op) || isa<memref::AllocOp>(op))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return true;
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [&](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write, MemoryEffects::Free>(effect.getEffect()) &&
           (!effect.getValue() || llvm::is_contained(roots, rootOf(effect.getValue())));
  });
}

/// A sum of products into one f32 buffer.
bool isProduct(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumDpsInputs() != 2 || op.getNumReductionLoops() == 0)
    return false;
  if (isa<linalg::Conv2DNhwcHwcfOp, linalg::MatmulOp, linalg::BatchMatmulOp>(op))
    return true;
  return isa<linalg::GenericOp>(op) && op.getNumLoops() == 8 && op.getNumReductionLoops() == 3;
}

/// The elementwise op that `product` can be grouped with: the only reader of its result, which need
/// not be written to memory then.
linalg::GenericOp findEpilogue(linalg::LinalgOp product, linalg::FillOp &fill) {
  Value result = product.getDpsInits()[0];
  linalg::GenericOp epilogue;
  fill = {};
  for (Operation *user : result.getUsers()) {
    if (user == product || user->getBlock() != product->getBlock())
      continue;
    if (auto op = dyn_cast<linalg::FillOp>(user); op && op->isBeforeInBlock(product)) {
      if (fill)
        return {};
      fill = op;
    } else if (auto op = dyn_cast<linalg::GenericOp>(user); op && product->isBeforeInBlock(op)) {
      if (!epilogue || op->isBeforeInBlock(epilogue))
        epilogue = op;
    } else if (user->isBeforeInBlock(product)) {
      return {};
    }
  }
  if (!epilogue || !fill || epilogue.getNumDpsInits() != 1 ||
      epilogue.getNumParallelLoops() != epilogue.getNumLoops() ||
      !epilogue.getIndexingMapsArray().back().isIdentity())
    return {};
  bool inPlace = epilogue.getDpsInits()[0] == result;
  for (Operation *user : result.getUsers()) {
    Operation *here = product->getBlock()->findAncestorOpInBlock(*user);
    if (here != fill && here != product && here != epilogue &&
        (!inPlace || !epilogue->isBeforeInBlock(here)))
      return {};
  }
  // The caller reads what lies behind an argument of the function, so such a result is stored,
  // unless the epilogue overwrites it.
  Value root = rootOf(result);
  if (!inPlace && !root.getDefiningOp<memref::AllocOp>())
    return {};
  // Views of the same memory may be used where `result` is not.
  if (root != result && !root.hasOneUse())
    return {};
  int64_t reads = 0;
  for (OpOperand *input : epilogue.getDpsInputOperands())
    if (input->get() == result) {
      ++reads;
      if (!epilogue.getMatchingIndexingMap(input).isIdentity())
        return {};
    }
  return reads > 0 ? epilogue : linalg::GenericOp();
}

void group(linalg::LinalgOp product) {
  linalg::FillOp fill;
  linalg::GenericOp epilogue = findEpilogue(product, fill);
  if (!epilogue)
    return;
  SmallVector<Value> roots = {rootOf(product.getDpsInputs()[0]), rootOf(product.getDpsInputs()[1])};
  // Tiles are written while others still read the product's operands.
  if (llvm::is_contained(roots, rootOf(epilogue.getDpsInits()[0])))
    return;
  for (Operation *op = product->getNextNode(); op != epilogue; op = op->getNextNode())
    if (mayWrite(op, roots))
      return;
  OpBuilder builder(epilogue);
  auto region =
      scf::ExecuteRegionOp::create(builder, epilogue.getLoc(), TypeRange(), /*no_inline=*/true);
  Block *block = builder.createBlock(&region.getRegion());
  scf::YieldOp::create(builder, epilogue.getLoc());
  for (Operation *op : {fill.getOperation(), product.getOperation(), epilogue.getOperation()})
    op->moveBefore(block->getTerminator());
}

} // namespace

void GroupEpiloguesPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!convoy::isForCpu(function) || function.isExternal())
    return;
  SmallVector<linalg::LinalgOp> products;
  for (auto op : function.getBody().front().getOps<linalg::LinalgOp>())
    if (isProduct(op))
      products.push_back(op);
  for (linalg::LinalgOp product : products)
    group(product);
}
