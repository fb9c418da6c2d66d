// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu_codegen/TransposeLoops.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "passes/cpu_codegen/Contraction.h"

using namespace mlir;

namespace convoy {

namespace {

/// Elements along each side of the blocks of a transpose: a block of the input and one of the
/// output are 16 cache lines each.
constexpr int64_t kTransposeBlock = 16;

} // namespace

std::optional<unsigned> transposedDim(linalg::LinalgOp op) {
  unsigned last = op.getNumLoops() - 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (op.getNumReductionLoops() != 0 || op.getNumDpsInits() != 1 || op.getNumLoops() < 2 ||
      ranges[last] < kTransposeBlock / 2)
    return std::nullopt;
  auto stridesOf = [&](OpOperand *operand) -> FailureOr<SmallVector<int64_t>> {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!map.isProjectedPermutation())
      return failure();
    return loopStrides(operand->get(), map);
  };
  FailureOr<SmallVector<int64_t>> output = stridesOf(op.getDpsInitOperand(0));
  if (failed(output) || (*output)[last] != 1)
    return std::nullopt;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    FailureOr<SmallVector<int64_t>> input = stridesOf(operand);
    if (failed(input) || (*input)[last] < kTransposeBlock)
      continue;
    std::optional<unsigned> nearest;
    for (unsigned dim = 0; dim < last; ++dim)
      if (int64_t stride = (*input)[dim]; stride > 0 && stride < kTransposeBlock &&
                                          ranges[dim] >= kTransposeBlock / 2 &&
                                          (!nearest || stride < (*input)[*nearest]))
        nearest = dim;
    if (nearest)
      return nearest;
  }
  return std::nullopt;
}

linalg::LinalgOp reordered(RewriterBase &rewriter, linalg::LinalgOp op, ArrayRef<unsigned> order) {
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic = isa<linalg::GenericOp>(op)
                                             ? FailureOr(cast<linalg::GenericOp>(op))
                                             : linalg::generalizeNamedOp(rewriter, op);
  if (failed(generic))
    return op;
  FailureOr<linalg::GenericOp> result = linalg::interchangeGenericOp(rewriter, *generic, order);
  return cast<linalg::LinalgOp>((succeeded(result) ? *result : *generic).getOperation());
}

linalg::LinalgOp moveBeforeLast(RewriterBase &rewriter, linalg::LinalgOp op, unsigned dim) {
  SmallVector<unsigned> order;
  for (unsigned each = 0; each + 1 < op.getNumLoops(); ++each)
    if (each != dim)
      order.push_back(each);
  order.append({dim, op.getNumLoops() - 1});
  return reordered(rewriter, op, order);
}

void iterateOverBlocks(ArrayRef<Operation *> loops, MutableArrayRef<int64_t> ranges) {
  auto last = cast<scf::ForOp>(loops.back()), near = cast<scf::ForOp>(loops[loops.size() - 2]);
  OpBuilder builder(cast<scf::ForOp>(loops.front()));
  Value size = arith::ConstantIndexOp::create(builder, near.getLoc(), kTransposeBlock);
  mlir::tile({near, last}, {size, size}, last);
  // Instead of products of the old steps, which are inside the loops.
  near.setStep(size);
  last.setStep(size);
  for (int64_t &range : ranges.take_back(2))
    range = llvm::divideCeil(range, kTransposeBlock);
}

} // namespace convoy
