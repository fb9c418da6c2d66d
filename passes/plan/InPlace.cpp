// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lets a generated kernel write its result into the buffer of an operand. A thread of such a kernel
// reads all elements that it needs before it writes, so no other thread may read them.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"
#include "passes/common/Buffers.h"

namespace convoy {
#define GEN_PASS_DEF_PLANINPLACEPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct InPlacePass : public convoy::impl::PlanInPlacePassBase<InPlacePass> {
  void runOnOperation() override;
};

/// The offset and the steps, one per loop, of the elements that the iterations of an op access.
struct Access {
  SmallVector<int64_t> steps;
  int64_t start = 0;

  bool operator==(const Access &other) const {
    return steps == other.steps && start == other.start;
  }
};

} // namespace

/// The allocation of `block` whose bytes `memref` has, or null.
static memref::AllocOp allocationOf(Value memref, Block &block) {
  FailureOr<Buffer> buffer = traceBuffer(memref);
  auto alloc = failed(buffer) ? memref::AllocOp() : buffer->root.getDefiningOp<memref::AllocOp>();
  return alloc && alloc->getBlock() == &block && alloc.getType().getLayout().isIdentity()
             ? alloc
             : memref::AllocOp();
}

/// The elements that `op` accesses through `operand`, or nullopt if their place is not linear in
/// the indices of the loops.
static std::optional<Access> accessOf(linalg::LinalgOp op, OpOperand &operand) {
  FailureOr<Buffer> buffer = traceBuffer(operand.get());
  if (failed(buffer))
    return std::nullopt;
  Access access;
  access.steps.resize(op.getNumLoops());
  access.start = buffer->offset;
  for (auto [expr, stride] :
       llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(), buffer->strides))
    if (!addLinear(expr, stride, access.steps, access.start))
      return std::nullopt;
  return access;
}

/// Whether all other ops that use `alloc` are before `op`, or all are after it, and `op` itself
/// uses it once, as an operand.
static bool isUsedOnly(memref::AllocOp alloc, bool before, Operation *op) {
  int64_t own = 0;
  SmallVector<Value> views = {alloc.getResult()};
  while (!views.empty()) {
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        llvm::append_range(views, user->getResults());
        continue;
      }
      Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
      if (!ancestor || (user != op && ancestor == op))
        return false;
      if (user == op)
        ++own;
      else if (ancestor->isBeforeInBlock(op) != before)
        return false;
    }
  }
  return own == 1;
}

/// The operand of `op` whose buffer can take its result number `result`, or null.
static memref::AllocOp findOperand(linalg::LinalgOp op, OpOperand &init, memref::AllocOp result) {
  std::optional<Access> written = accessOf(op, init);
  if (!written)
    return {};
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<MemRefType>(input->get().getType()))
      continue;
    memref::AllocOp alloc = allocationOf(input->get(), *op->getBlock());
    if (!alloc || alloc == result ||
        alloc.getType().getElementType() != result.getType().getElementType() ||
        packedBytes(alloc.getType()) != packedBytes(result.getType()) ||
        !isUsedOnly(alloc, /*before=*/true, op))
      continue;
    if (std::optional<Access> read = accessOf(op, *input); read && *read == *written)
      return alloc;
  }
  return {};
}

/// Replaces the allocation of `result` by that of `operand`.
static void replace(memref::AllocOp result, memref::AllocOp operand) {
  // Views of the result may be anywhere after its allocation.
  if (result->isBeforeInBlock(operand))
    operand->moveBefore(result);
  replaceAllocation(result, operand);
}

void InPlacePass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!function->hasAttr(convoy::tcp::kTargetAttr) || !function.getBody().hasOneBlock() ||
      convoy::tcp::getTarget(function) != convoy::tcp::Target::Cuda)
    return;
  Block &block = function.getBody().front();
  for (auto op : block.getOps<linalg::LinalgOp>()) {
    if (op.getNumParallelLoops() != op.getNumLoops())
      continue;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      memref::AllocOp result = allocationOf(init.get(), block);
      if (!result || op.payloadUsesValueFromOperand(&init) ||
          !isUsedOnly(result, /*before=*/false, op))
        continue;
      if (memref::AllocOp operand = findOperand(op, init, result))
        replace(result, operand);
    }
  }
}
