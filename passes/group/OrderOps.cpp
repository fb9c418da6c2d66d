// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reorders ops where that lowers the peak of the memory of temporaries. Runs before groups are
// formed, because the sum of two branches becomes part of the group of the later one.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/common/RowLoops.h"
#include "passes/group/OpOrder.h"
#include "llvm/ADT/SetVector.h"

namespace convoy {
#define GEN_PASS_DEF_TCPORDEROPSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// The peak must fall by one part of this many.
constexpr int64_t kLeastShare = 64;

struct OrderOpsPass : public convoy::impl::TcpOrderOpsPassBase<OrderOpsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// The memory of the ops of a block as later phases make it: a tensor is in the buffer that it is a
/// view of, elementwise ops are computed together with the only op that reads them, and the result
/// takes the memory of an operand that is dead then.
class Memory {
public:
  explicit Memory(Block &block);

  OrderProblem problem;
  /// By number of the problem: an op, and the ops on its result alone, which stay behind it,
  /// because a group is computed at its last op.
  SmallVector<SmallVector<Operation *>, 0> chains;

private:
  using Set = llvm::SmallSetVector<unsigned, 4>;

  unsigned chainOf(Operation &op);
  void addDependences(Operation &op, unsigned number);
  void addResults(Operation &op, unsigned number);

  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::DenseMap<Value, Set> buffersOf; ///< the buffers that a reader of a value reads
  llvm::DenseSet<Value> ofRows;         ///< values that kernels of rows compute for their reader
  std::optional<unsigned> lastEffect;   ///< the last op with side effects
  SmallVector<unsigned> sinceEffect;    ///< and those after it
};

} // namespace

/// Whether the result of `op` is its operand in another shape, which needs no memory.
static bool isViewOf(Operation &op) { return isa<ReshapeOp, TransposeOp, SliceOp>(op); }

/// Whether kernels and graphs compute `op` together with other ops.
static bool isFusible(Operation &op) {
  return op.hasTrait<convoy::tcp::Elementwise>() || isa<BroadcastOp, LayerNormOp>(op);
}

/// Whether `op` and the only reader of its result become one kernel or one graph.
static bool isFused(Operation &op) {
  return isFusible(op) && op.hasOneUse() &&
         (*op.user_begin())->hasTrait<convoy::tcp::Elementwise>() &&
         (*op.user_begin())->getBlock() == op.getBlock();
}

/// Whether a kernel that keeps rows in registers computes `op`. It does not write into its
/// operands.
static bool isOfRows(Operation &op) {
  auto norm = dyn_cast<LayerNormOp>(op);
  if (!norm)
    return false;
  int64_t length = 1;
  for (int64_t dim : norm.getDims())
    length *= norm.getType().getDimSize(dim);
  return length <= kLongRow;
}

Memory::Memory(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    unsigned number = numbers[&op] = chainOf(op);
    if (number == chains.size()) {
      chains.emplace_back();
      problem.ops.emplace_back();
    }
    chains[number].push_back(&op);
    addDependences(op, number);
    addResults(op, number);
  }
  // What only its own chain reads is not stored.
  for (OrderProblem::Buffer &buffer : problem.buffers)
    if (!buffer.readers.empty() &&
        llvm::all_of(buffer.readers, [&](unsigned reader) { return reader == buffer.writer; }))
      buffer.bytes = 0;
}

/// The chain that `op` continues, or the number of a new one.
unsigned Memory::chainOf(Operation &op) {
  auto isComputed = [&](Value operand) {
    Operation *def = operand.getDefiningOp();
    return def && numbers.contains(def);
  };
  auto computed = llvm::make_filter_range(op.getOperands(), isComputed);
  if ((!isViewOf(op) && !isFusible(op)) || !llvm::hasSingleElement(computed) ||
      !(*computed.begin()).hasOneUse())
    return chains.size();
  return numbers.at((*computed.begin()).getDefiningOp());
}

void Memory::addDependences(Operation &op, unsigned number) {
  Set after(problem.ops[number].after.begin(), problem.ops[number].after.end());
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (auto def = numbers.find(operand.getDefiningOp()); def != numbers.end())
        after.insert(def->second);
  });
  if (!isMemoryEffectFree(&op) || op.hasTrait<OpTrait::IsTerminator>()) {
    after.insert_range(sinceEffect);
    sinceEffect.clear();
    lastEffect = number;
  } else {
    if (lastEffect)
      after.insert(*lastEffect);
    sinceEffect.push_back(number);
  }
  after.remove(number);
  problem.ops[number].after.assign(after.begin(), after.end());
}

void Memory::addResults(Operation &op, unsigned number) {
  Set read;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (auto found = buffersOf.find(operand); found != buffersOf.end())
        read.insert_range(found->second);
  });
  for (unsigned buffer : read)
    problem.buffers[buffer].readers.push_back(number);
  bool hasRows = isOfRows(op) || llvm::any_of(op.getOperands(), [&](Value operand) {
                   return ofRows.contains(operand);
                 });
  if (isViewOf(op) || isFused(op)) {
    buffersOf[op.getResult(0)] = std::move(read);
    if (hasRows)
      ofRows.insert(op.getResult(0));
    return;
  }
  for (Value result : op.getResults()) {
    auto isReturned = [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); };
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || llvm::any_of(result.getUsers(), isReturned))
      continue; // the caller's memory
    int64_t bytes = packedBytes(type);
    for (unsigned buffer : read)
      if (isa<ConcatOp>(op) ||
          (isFusible(op) && !hasRows && problem.buffers[buffer].bytes == bytes))
        problem.ops[number].overwrites.push_back(buffer);
    buffersOf[result].insert(problem.buffers.size());
    problem.buffers.push_back({bytes, number, {}});
  }
}

void OrderOpsPass::runOnStaticShapes() {
  func::FuncOp function = getOperation();
  if (function.isExternal() || getTarget(function) == Target::Cpu)
    return;
  Block &block = function.getBody().front();
  Memory memory(block);
  std::optional<OpOrder> order = lowerPeak(memory.problem);
  if (!order)
    return;
  int64_t before = peakOf(memory.problem), after = peakOf(memory.problem, *order);
  // What is fused is not known yet, so a small difference says nothing.
  if (before - after < before / kLeastShare)
    return;
  if (remarks)
    function.emitRemark() << "the peak of temporaries falls from " << before << " to " << after
                          << " bytes";
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (op.hasTrait<OpTrait::ConstantLike>())
      ops.push_back(&op);
  for (unsigned number : *order)
    llvm::append_range(ops, memory.chains[number]);
  for (Operation *op : ops)
    op->moveBefore(&block, block.end());
}
