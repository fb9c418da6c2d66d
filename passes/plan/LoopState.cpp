// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Keeps each tensor that a loop carries in one buffer. The next state is computed into the buffer
// of the state, or copied to it, so that no step allocates memory.

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "passes/Passes.h"

namespace convoy {
#define GEN_PASS_DEF_PLANLOOPSTATEPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {
struct PlanLoopStatePass : public convoy::impl::PlanLoopStatePassBase<PlanLoopStatePass> {
  void runOnOperation() override;
};
} // namespace

/// Whether `op` may change `tensor` in place: nothing else uses it but reads of elements before
/// `op`.
static bool isInPlace(Operation *op, Value tensor) {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    return user == op || (isa<tensor::ExtractOp>(user) && user->getBlock() == op->getBlock() &&
                          user->isBeforeInBlock(op));
  });
}

/// Whether `value` is `state`, or made from it by insertions in place, also those of inner loops.
static bool isOf(Value state, Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
      value = slice.getDest();
      continue;
    }
    if (auto element = dyn_cast<tensor::InsertOp>(op))
      value = element.getDest();
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      value = loop.getTiedLoopInit(cast<OpResult>(value))->get();
    else
      break;
    if (!isInPlace(op, value))
      return false;
  }
  return value == state;
}

/// Whether `value` is a state of `loop`, or elements of one.
static bool isElementsOfState(scf::ForOp loop, Value value) {
  while (isa_and_present<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                         tensor::ExtractSliceOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return llvm::is_contained(loop.getRegionIterArgs(), value);
}

/// Whether `value` is computed in a tensor without contents, which may become any other buffer.
static bool isComputed(Value value) {
  while (auto op = value.getDefiningOp<DestinationStyleOpInterface>())
    value = op.getTiedOpOperand(cast<OpResult>(value))->get();
  return isa_and_present<tensor::EmptyOp>(value.getDefiningOp());
}

/// Copies `value` to `state`.
static Value insertWhole(OpBuilder &builder, Location loc, Value value, Value state) {
  auto type = cast<RankedTensorType>(state.getType());
  SmallVector<OpFoldResult> zeros(type.getRank(), builder.getIndexAttr(0)),
      ones(type.getRank(), builder.getIndexAttr(1)),
      sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  return tensor::InsertSliceOp::create(builder, loc, value, state, zeros, sizes, ones);
}

void PlanLoopStatePass::runOnOperation() {
  getOperation().walk([](scf::ForOp loop) {
    Operation *yield = loop.getBody()->getTerminator();
    Location loc = yield->getLoc();
    OpBuilder builder(yield);
    SmallVector<std::pair<Value, OpOperand *>> updates;
    for (auto [state, operand] : llvm::zip_equal(loop.getRegionIterArgs(), yield->getOpOperands()))
      if (isa<TensorType>(state.getType()) && !isOf(state, operand.get()))
        updates.emplace_back(state, &operand);
    // Before a state is overwritten: it may be the next value of another state.
    for (auto [state, operand] : updates)
      if (isElementsOfState(loop, operand->get()))
        operand->set(bufferization::AllocTensorOp::create(
            builder, loc, cast<RankedTensorType>(state.getType()), ValueRange(), operand->get()));
    // First the copies: what is materialized in a state may be computed in its buffer, and nothing
    // may read it there once other contents are.
    llvm::SmallDenseSet<Value> materialized;
    for (auto &[state, operand] : updates) {
      if (isComputed(operand->get()) && materialized.insert(operand->get()).second)
        continue;
      operand->set(insertWhole(builder, loc, operand->get(), state));
      state = {};
    }
    for (auto [state, operand] : updates)
      if (state)
        operand->set(bufferization::MaterializeInDestinationOp::create(
                         builder, loc, state.getType(), operand->get(), state)
                         .getResult());
  });
}
