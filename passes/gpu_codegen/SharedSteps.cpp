// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lets a thread compute neighboring iterations of loops whose indices are divided by a constant, as
// those of resized images: they load many of the same elements.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/gpu_codegen/KernelMapping.h"
#include <numeric>

using namespace mlir;

namespace convoy::gpu_codegen {

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
  // Loads in branches of different iterations are not shared.
  auto isBranch = [](Operation &inner) { return inner.getNumRegions() != 0; };
  if (plan.parallel.empty() || plan.padding || plan.epilogue || !plan.reduction.empty() ||
      !plan.repeated.empty() || llvm::any_of(*op.getBlock(), isBranch))
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

} // namespace convoy::gpu_codegen
