// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lets a thread compute several iterations of a parallel loop, which share loads or arithmetic.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/gpu_codegen/KernelMapping.h"
#include <numeric>

using namespace mlir;

namespace convoy::gpu_codegen {

SmallVector<KernelLoop> KernelMapping::loopsOverThreads() const {
  SmallVector<KernelLoop> loops(parallel);
  for (unsigned loop : repeated)
    loops[loop].size = 1;
  return loops;
}

void KernelMapping::repeatPart(unsigned i, int64_t count) {
  KernelLoop &loop = parallel[i], part = loop;
  part.size = part.inner = count;
  loop.inner = loop.size /= count;
  loop.dimStep = count;
  for (int64_t &step : loop.steps)
    step *= count;
  for (unsigned &other : repeated)
    if (other > i)
      ++other;
  repeated.push_back(i + 1);
  parallel.insert(parallel.begin() + i + 1, part);
}

bool readsSame(const KernelMapping &plan, const KernelLoop &elements, const KernelLoop &loop) {
  constexpr int64_t kMost = 16, kLeastSame = 3;
  int64_t same = 0, other = 0;
  for (int64_t input = 0; input < plan.numInputs; ++input)
    if (plan.operands[input].buffer && plan.operands[input].isRead && elements.steps[input] != 0)
      ++(loop.steps[input] == 0 ? same : other);
  return loop.size > 1 && loop.size <= kMost && same >= kLeastSame && same >= kLeastSame * other;
}

void repeatForSharedReads(KernelMapping &plan) {
  for (unsigned i = 0; i + 1 < plan.parallel.size(); ++i)
    if (readsSame(plan, plan.parallel.back(), plan.parallel[i]) &&
        plan.threads() / plan.parallel[i].size >= kEnoughThreads) {
      plan.repeated = {i};
      return;
    }
}

/// Whether a payload has branches: loads in those of different iterations are not shared.
static bool hasBranches(linalg::LinalgOp op) {
  return llvm::any_of(*op.getBlock(), [](Operation &inner) { return inner.getNumRegions() != 0; });
}

/// What divides all constants by which the payload divides the index of a loop of `op`, or such an
/// index plus a constant; 0 if there are none.
static int64_t commonDivisor(linalg::LinalgOp op, unsigned dim) {
  int64_t common = 0;
  for (auto division : op.getBlock()->getOps<arith::DivUIOp>()) {
    Value dividend = division.getLhs();
    if (auto shifted = dividend.getDefiningOp<arith::AddIOp>();
        shifted && matchPattern(shifted.getRhs(), m_Constant()))
      dividend = shifted.getLhs();
    auto index = dividend.getDefiningOp<linalg::IndexOp>();
    IntegerAttr divisor;
    if (index && index.getDim() == dim && matchPattern(division.getRhs(), m_Constant(&divisor)))
      common = std::gcd(common, divisor.getInt());
  }
  return common;
}

void repeatForSharedSteps(KernelMapping &plan) {
  // Results of a thread that stay in registers.
  constexpr int64_t kMostResults = 32;
  linalg::LinalgOp op = plan.op;
  if (plan.parallel.empty() || plan.padding || plan.epilogue || !plan.reduction.empty() ||
      !plan.repeated.empty() || hasBranches(op))
    return;
  // Lanes are neighbors along the last loop, so they share loads without this.
  for (int64_t i = int64_t(plan.parallel.size()) - 2; i >= 0; --i) {
    const KernelLoop &loop = plan.parallel[i];
    int64_t divisor = commonDivisor(op, loop.dim);
    // A few iterations of two loops share more than many iterations of one.
    for (int64_t count : {2, 3}) {
      if (divisor == 0 || divisor % count != 0 || loop.size % count != 0 ||
          plan.lanes * plan.repeats() * count > kMostResults ||
          plan.threads() / count < kEnoughThreads)
        continue;
      plan.repeatPart(i, count);
      break;
    }
  }
}

/// Whether the index of a loop of `op` is only an index of loads.
static bool isOnlyAddress(linalg::LinalgOp op, unsigned dim) {
  return llvm::all_of(op.getBlock()->getOps<linalg::IndexOp>(), [&](linalg::IndexOp index) {
    return index.getDim() != dim || llvm::all_of(index->getUsers(), llvm::IsaPred<memref::LoadOp>);
  });
}

void repeatForSharedIndices(KernelMapping &plan) {
  constexpr int64_t kMost = 4, kBytes = 16;
  linalg::LinalgOp op = plan.op;
  if (!op.hasIndexSemantics() || plan.padding || plan.epilogue || !plan.reduction.empty() ||
      hasBranches(op))
    return;
  int64_t bytes = plan.lanes * widestOutput(plan);
  for (int64_t i = int64_t(plan.parallel.size()) - 2; i >= 0; --i) {
    const KernelLoop &loop = plan.parallel[i];
    for (int64_t repeats = kMost; repeats > 1 && isOnlyAddress(op, loop.dim); repeats /= 2)
      if (loop.size % repeats == 0 && bytes * repeats <= kBytes &&
          plan.threads() / repeats >= kEnoughThreads)
        return plan.repeatPart(i, repeats);
  }
}

} // namespace convoy::gpu_codegen
