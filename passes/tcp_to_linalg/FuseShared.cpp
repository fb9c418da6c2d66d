// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fuses an elementwise generic with an elementwise reader of its result although others use the
// result too: one kernel stores it, and reads it from a register.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"

namespace convoy {
#define GEN_PASS_DEF_FUSESHAREDPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct FuseSharedPass : public convoy::impl::FuseSharedPassBase<FuseSharedPass> {
  void runOnOperation() override;
};

/// Bounds for the registers of a thread.
constexpr int64_t kMostResults = 4, kMostInputs = 16;

/// Whether `op` has a place among the ops around a reduction, which phase `plan` moves into the
/// region of the reduction, one result each.
bool isPartOfRegions(Operation *op) {
  return isa<linalg::GenericOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::CastOp>(op);
}

/// The ops that elementwise ops and views connect with a reduction.
DenseSet<Operation *> opsAroundReductions(func::FuncOp function) {
  SmallVector<Operation *> next;
  function.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() != 0)
      next.push_back(op);
  });
  DenseSet<Operation *> found(next.begin(), next.end());
  auto visit = [&](Operation *op) {
    if (op && isPartOfRegions(op) && found.insert(op).second)
      next.push_back(op);
  };
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    for (Value operand : op->getOperands())
      visit(operand.getDefiningOp());
    for (Operation *user : op->getUsers())
      visit(user);
  }
  return found;
}

/// Whether an index of `map` depends only on the dims after those of the indices before it:
/// neighbors in the iteration space read neighbors.
bool isInOrder(AffineMap map) {
  unsigned next = 0;
  for (AffineExpr expr : map.getResults())
    for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
      if (expr.isFunctionOfDim(dim)) {
        if (dim < next)
          return false;
        next = dim + 1;
      }
  return true;
}

/// Whether `op` can have several results: kernels with one result transpose, and write the padding
/// around it.
bool mayHaveSeveralResults(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && llvm::all_of(op.getIndexingMapsArray(), isInOrder) &&
         llvm::all_of(op.getDpsInitsMutable(),
                      [&](OpOperand &init) {
                        return op.getMatchingIndexingMap(&init).isIdentity() &&
                               !op.payloadUsesValueFromOperand(&init);
                      }) &&
         llvm::none_of(op->getUsers(), [](Operation *user) {
           auto insertion = dyn_cast<tensor::InsertSliceOp>(user);
           return insertion && insertion.getDest().getDefiningOp<linalg::FillOp>();
         });
}

/// Whether the op that computes `operand` can move to the op that reads it: its results are used
/// there once, and elsewhere only later.
bool isFirstUse(OpOperand &operand) {
  Operation *producer = operand.get().getDefiningOp(), *consumer = operand.getOwner();
  return llvm::all_of(producer->getUses(), [&](OpOperand &use) {
    Operation *user = consumer->getBlock()->findAncestorOpInBlock(*use.getOwner());
    return &use == &operand || (user && consumer->isBeforeInBlock(user));
  });
}

class Fuser {
public:
  explicit Fuser(func::FuncOp function) : rewriter(function.getContext()) {
    DenseSet<Operation *> excluded = opsAroundReductions(function);
    function.walk([&](linalg::GenericOp op) {
      if (!excluded.contains(op))
        order.push_back(op);
    });
    eligible.insert(order.begin(), order.end());
  }

  void run() {
    for (linalg::GenericOp op : order)
      while (op)
        op = fuseInto(op);
  }

private:
  bool canFuse(OpOperand &operand) const {
    auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
    auto consumer = cast<linalg::GenericOp>(operand.getOwner());
    // A producer before a loop would be computed in each step.
    return producer && eligible.contains(producer) &&
           producer->getBlock() == consumer->getBlock() &&
           consumer.getMatchingIndexingMap(&operand).isIdentity() &&
           int64_t(producer.getNumResults()) + consumer.getNumResults() <= kMostResults &&
           producer.getNumDpsInputs() + consumer.getNumDpsInputs() <= kMostInputs &&
           mayHaveSeveralResults(producer) && mayHaveSeveralResults(consumer) &&
           isFirstUse(operand) && linalg::areElementwiseOpsFusable(&operand);
  }

  /// Fuses `consumer` with one producer. Returns the op with the results of both, or null.
  linalg::GenericOp fuseInto(linalg::GenericOp consumer) {
    for (OpOperand &operand : consumer->getOpOperands()) {
      if (!canFuse(operand))
        continue;
      Operation *producer = operand.get().getDefiningOp();
      rewriter.setInsertionPoint(consumer);
      FailureOr<linalg::ElementwiseOpFusionResult> fused =
          linalg::fuseElementwiseOps(rewriter, &operand);
      if (failed(fused))
        continue;
      for (auto [value, replacement] : fused->replacements)
        rewriter.replaceAllUsesWith(value, replacement);
      for (Operation *old : {consumer.getOperation(), producer}) {
        eligible.erase(old);
        rewriter.eraseOp(old);
      }
      eligible.insert(fused->fusedOp);
      return cast<linalg::GenericOp>(fused->fusedOp);
    }
    return nullptr;
  }

  IRRewriter rewriter;
  SmallVector<linalg::GenericOp> order;
  DenseSet<Operation *> eligible; ///< those that exist
};

} // namespace

void FuseSharedPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (convoy::tcp::getTarget(function) == convoy::tcp::Target::Cuda)
    Fuser(function).run();
}
