// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads the state of a loop where the step before stored it as a stacked output, so that no step
// copies its output to the state. The stack gets one element more, for the initial state.

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"
#include "passes/common/Buffers.h"
#include "passes/plan/Accesses.h"
#include "passes/plan/LoopSlices.h"
#include "passes/plan/Views.h"

namespace convoy {
#define GEN_PASS_DEF_PLANSTACKEDSTATEPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct PlanStackedStatePass : public convoy::impl::PlanStackedStatePassBase<PlanStackedStatePass> {
  void runOnOperation() override;
};

/// What cuDNN and vector instructions require of an address. A state that begins elsewhere in the
/// stack would be slower than a copy.
constexpr int64_t kAlignment = 16;

enum class When { Before, During, After };

/// A use of a buffer, directly or through views.
struct Use {
  OpOperand *operand;
  When when;
  memref::SubViewOp slice; ///< the outermost slice on the way, or null

  bool isWrite() {
    return llvm::is_contained(memrefsWrittenBy(operand->getOwner()), operand->get());
  }
};

/// The copy of a stacked output to the state at the end of a step.
class StackedState {
public:
  static std::optional<StackedState> match(scf::ForOp loop, memref::CopyOp copy);
  void rewrite();

private:
  StackedState(scf::ForOp loop, memref::CopyOp copy) : loop(loop), copy(copy) {}

  std::optional<When> when(Operation *user);
  bool collect(Value value, memref::SubViewOp slice, SmallVectorImpl<Use> &uses);
  bool isBeforeCopy(OpOperand *operand);
  bool matchSlice();
  bool isStateKept();
  bool isStackKept();
  Value element(OpBuilder &builder, Value all, OpFoldResult index);
  void replace(memref::AllocOp value, When time, Value replacement);
  void replaceAfter(memref::AllocOp value, Value last);

  scf::ForOp loop;
  memref::CopyOp copy;
  memref::AllocOp state, stack;
  memref::SubViewOp slice; ///< the element of the stack that is copied
  bool isReverse = false;
  int64_t trips = 0;
};

} // namespace

/// When `user` runs, or nullopt if it is not in the loop or its block.
std::optional<When> StackedState::when(Operation *user) {
  Operation *ancestor = loop->getBlock()->findAncestorOpInBlock(*user);
  if (!ancestor)
    return std::nullopt;
  if (ancestor == loop)
    return When::During;
  return ancestor->isBeforeInBlock(loop) ? When::Before : When::After;
}

/// Adds the uses of `value` and of its views. Returns false if one of its views is used at another
/// time than it is made.
bool StackedState::collect(Value value, memref::SubViewOp slice, SmallVectorImpl<Use> &uses) {
  for (OpOperand &operand : value.getUses()) {
    Operation *user = operand.getOwner();
    std::optional<When> time = when(user);
    if (!time)
      return false;
    if (!isa<ViewLikeOpInterface>(user)) {
      uses.push_back({&operand, *time, slice});
      continue;
    }
    size_t first = uses.size();
    if (!collect(user->getResult(0), slice ? slice : dyn_cast<memref::SubViewOp>(user), uses) ||
        llvm::any_of(MutableArrayRef(uses).drop_front(first),
                     [&](Use &use) { return use.when != *time; }))
      return false;
  }
  return true;
}

bool StackedState::isBeforeCopy(OpOperand *operand) {
  Operation *user = loop.getBody()->findAncestorOpInBlock(*operand->getOwner());
  return user && user->isBeforeInBlock(copy);
}

/// Whether the copied slice is the element of this step of a stack with one for each step.
bool StackedState::matchSlice() {
  Value source = withoutUnitReshapes(copy.getSource());
  slice = source.getDefiningOp<memref::SubViewOp>();
  stack = slice ? slice.getSource().getDefiningOp<memref::AllocOp>() : memref::AllocOp();
  if (!stack || stack->getBlock() != loop->getBlock() || !stack.getType().getLayout().isIdentity())
    return false;
  ArrayRef<int64_t> shape = stack.getType().getShape();
  if (shape.empty() || shape.front() != trips || slice.getStaticSizes().front() != 1 ||
      slice.getStaticSizes().drop_front() != shape.drop_front() ||
      !llvm::all_of(slice.getStaticOffsets().drop_front(),
                    [](int64_t start) { return start == 0; }) ||
      !llvm::all_of(slice.getStaticStrides(), [](int64_t stride) { return stride == 1; }))
    return false;
  auto index = dyn_cast<Value>(slice.getMixedOffsets().front());
  if (!index || index == loop.getInductionVar())
    return bool(index);
  auto difference = index.getDefiningOp<arith::SubIOp>();
  isReverse = difference && difference.getRhs() == loop.getInductionVar() &&
              getConstantIntValue(difference.getLhs()) == trips - 1;
  return isReverse;
}

/// Whether the copy is the only write of the state in the loop, and the last use.
bool StackedState::isStateKept() {
  SmallVector<Use> uses;
  return collect(state, /*slice=*/nullptr, uses) && llvm::all_of(uses, [&](Use &use) {
           if (use.operand->getOwner() == copy || use.when == When::Before)
             return true;
           return !use.isWrite() && (use.when == When::After || isBeforeCopy(use.operand));
         });
}

/// Whether each step writes only its element of the stack, before the copy.
bool StackedState::isStackKept() {
  SmallVector<Use> uses;
  return collect(stack, /*slice=*/nullptr, uses) && llvm::all_of(uses, [&](Use &use) {
           if (use.when == When::Before || !use.isWrite())
             return true;
           return use.when == When::During && isBeforeCopy(use.operand) && use.slice &&
                  use.slice.getSource() == stack &&
                  use.slice.getMixedOffsets() == slice.getMixedOffsets() &&
                  use.slice.getStaticSizes() == slice.getStaticSizes();
         });
}

std::optional<StackedState> StackedState::match(scf::ForOp loop, memref::CopyOp copy) {
  StackedState found(loop, copy);
  std::optional<int64_t> end = getConstantIntValue(loop.getUpperBound());
  if (!end || *end < 1 || getConstantIntValue(loop.getLowerBound()) != 0 ||
      getConstantIntValue(loop.getStep()) != 1)
    return std::nullopt;
  found.trips = *end;
  found.state = copy.getTarget().getDefiningOp<memref::AllocOp>();
  if (!found.state || found.state->getBlock() != loop->getBlock() ||
      !found.state.getType().getLayout().isIdentity() || !found.matchSlice() ||
      packedBytes(found.state.getType()) % kAlignment != 0 || !found.isStateKept() ||
      !found.isStackKept())
    return std::nullopt;
  return found;
}

/// Element `index` of the stack `all`, with the shape of the state.
Value StackedState::element(OpBuilder &builder, Value all, OpFoldResult index) {
  auto type = cast<MemRefType>(all.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1)),
      sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  offsets.front() = index;
  sizes.front() = builder.getIndexAttr(1);
  auto result = memref::SubViewOp::inferRankReducedResultType(state.getType().getShape(), type,
                                                              offsets, sizes, strides);
  return memref::SubViewOp::create(builder, loop.getLoc(), result, all, offsets, sizes, strides);
}

/// Replaces the uses of `value`, an allocation, at `time` by `replacement`, with another layout.
void StackedState::replace(memref::AllocOp value, When time, Value replacement) {
  OpBuilder builder(value);
  auto part = memref::AllocOp::create(builder, value.getLoc(), value.getType());
  value->replaceUsesWithIf(part->getResults(),
                           [&](OpOperand &use) { return when(use.getOwner()) == time; });
  replaceView(part, replacement);
  part.erase();
}

/// Replaces the uses of `value` after the loop by `last`, which is there. What a function returns
/// is a whole buffer.
void StackedState::replaceAfter(memref::AllocOp value, Value last) {
  SmallVector<Use> uses;
  (void)collect(value, /*slice=*/nullptr, uses);
  if (llvm::none_of(uses, [](Use &use) { return isa<func::ReturnOp>(use.operand->getOwner()); }))
    return replace(value, When::After, last);
  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfterValue(last);
  auto whole = memref::AllocOp::create(builder, loop.getLoc(), value.getType());
  memref::CopyOp::create(builder, loop.getLoc(), last, whole);
  value->replaceUsesWithIf(whole->getResults(),
                           [&](OpOperand &use) { return when(use.getOwner()) == When::After; });
}

void StackedState::rewrite() {
  Location loc = loop.getLoc();
  MemRefType type = stack.getType();
  SmallVector<int64_t> shape(type.getShape());
  ++shape.front();
  OpBuilder builder(state->isBeforeInBlock(stack) ? state : stack);
  Value all = memref::AllocOp::create(builder, loc, MemRefType::get(shape, type.getElementType()));
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1)),
      sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  offsets.front() = builder.getIndexAttr(isReverse ? 0 : 1);
  auto outputs = [&]() -> Value {
    return memref::SubViewOp::create(builder, loc, all, offsets, sizes, strides);
  };

  replace(state, When::Before, element(builder, all, builder.getIndexAttr(isReverse ? trips : 0)));
  Value stacked = outputs();
  builder.setInsertionPointAfter(loop);
  replaceAfter(state, element(builder, all, builder.getIndexAttr(isReverse ? 0 : trips)));
  builder.setInsertionPointAfter(loop);
  replaceAfter(stack, outputs());
  copy.erase();
  builder.setInsertionPointToStart(loop.getBody());
  Value index = loop.getInductionVar();
  if (isReverse)
    index = arith::SubIOp::create(builder, loc, arith::ConstantIndexOp::create(builder, loc, trips),
                                  index);
  replace(state, When::During, element(builder, all, index));
  replaceView(stack, stacked);
  state.erase();
  stack.erase();
}

void PlanStackedStatePass::runOnOperation() {
  SmallVector<std::pair<scf::ForOp, memref::CopyOp>> copies;
  getOperation().walk([&](scf::ForOp loop) {
    for (auto copy : loop.getBody()->getOps<memref::CopyOp>())
      copies.emplace_back(loop, copy);
  });
  for (auto [loop, copy] : copies)
    if (std::optional<StackedState> found = StackedState::match(loop, copy))
      found->rewrite();
}
