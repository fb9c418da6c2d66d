// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers the remaining linalg ops to loops, in linalg's order of dims. The outermost parallel loops
// run on all cores.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "passes/Passes.h"
#include "passes/common/Sizes.h"
#include "passes/cpu_codegen/ParallelWork.h"
#include "passes/cpu_codegen/TransposeLoops.h"

namespace convoy {
#define GEN_PASS_DEF_CPULOOPSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct CpuLoopsPass : public convoy::impl::CpuLoopsPassBase<CpuLoopsPass> {
  void runOnOperation() override;
};

/// Converts a copy to an elementwise op, so that it is lowered like one.
linalg::GenericOp copyToGeneric(RewriterBase &rewriter, memref::CopyOp copy) {
  int64_t rank = cast<MemRefType>(copy.getSource().getType()).getRank();
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  rewriter.setInsertionPoint(copy);
  auto generic = linalg::GenericOp::create(rewriter, copy.getLoc(), copy.getSource(),
                                           copy.getTarget(), {identity, identity}, iterators,
                                           [](OpBuilder &builder, Location loc, ValueRange values) {
                                             linalg::YieldOp::create(builder, loc, values[0]);
                                           });
  rewriter.eraseOp(copy);
  return generic;
}

/// With fewer tasks than kFewTasks cores would be idle, so a parallel innermost loop is split into
/// parts of kPart iterations.
constexpr int64_t kFewTasks = 64, kPart = 1 << 14;

/// An innermost loop that is shorter than a vector, as that of a transpose of two groups of
/// channels, keeps outer loops of kMinTaskWork iterations if there are kEnoughTasks tasks: LLVM
/// unrolls it and vectorizes the loop around it. Other nests are not kept, because LLVM cannot
/// prove that strided slices of one buffer are disjoint over an outer loop.
constexpr int64_t kShortLoop = 8, kEnoughTasks = 16, kMinTaskWork = 64;

/// Converts the outermost loops over parallel dims to one scf.parallel: all but the innermost loop,
/// and the parts of a long innermost loop. `loops` begin at zero and have `ranges` iterations each.
/// `work` is the number of iterations of the whole nest, which may have further loops.
void parallelize(RewriterBase &rewriter, ArrayRef<utils::IteratorType> iterators,
                 ArrayRef<int64_t> ranges, ArrayRef<Operation *> loops, int64_t work) {
  int64_t tasks = 1;
  size_t depth = 0;
  while (depth + 1 < loops.size() && iterators[depth] == utils::IteratorType::parallel &&
         tasks < 1024 &&
         (ranges.back() >= kShortLoop || tasks < kEnoughTasks ||
          work / (tasks * ranges[depth]) >= kMinTaskWork))
    tasks *= ranges[depth++];
  bool cuts = !loops.empty() && depth + 1 == loops.size() &&
              iterators[depth] == utils::IteratorType::parallel && tasks < kFewTasks;
  int64_t parts = cuts ? llvm::divideCeil(ranges[depth], kPart) : 1;
  if (tasks * parts == 1 || work < convoy::kMinParallelWork)
    return;

  auto outer = cast<scf::ForOp>(loops.front()), last = cast<scf::ForOp>(loops.back());
  Location loc = outer.getLoc();
  rewriter.setInsertionPoint(outer);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0),
        one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value count = arith::ConstantIndexOp::create(rewriter, loc, tasks * parts);
  auto parallel = scf::ParallelOp::create(rewriter, loc, zero, count, one);
  rewriter.setInsertionPointToStart(parallel.getBody());
  Value rest = parallel.getInductionVars()[0];
  // The next index of `rest`, unless it is the first, which is `rest` itself.
  auto takeDigit = [&](int64_t size, bool isFirst) -> Value {
    if (isFirst)
      return rest;
    Value base = arith::ConstantIndexOp::create(rewriter, loc, size);
    Value digit = arith::RemUIOp::create(rewriter, loc, rest, base);
    rest = arith::DivUIOp::create(rewriter, loc, rest, base);
    return digit;
  };
  Value begin, end;
  if (parts > 1) {
    Value size = arith::ConstantIndexOp::create(rewriter, loc, kPart);
    begin = arith::MulIOp::create(rewriter, loc, takeDigit(parts, depth == 0), size);
    end = arith::MinUIOp::create(rewriter, loc, arith::AddIOp::create(rewriter, loc, begin, size),
                                 arith::ConstantIndexOp::create(rewriter, loc, ranges[depth]));
  }
  SmallVector<Value> indices(depth);
  for (size_t dim = depth; dim-- > 0;)
    indices[dim] = takeDigit(ranges[dim], dim == 0);
  for (size_t dim = 0; dim < depth; ++dim) {
    auto loop = cast<scf::ForOp>(loops[dim]);
    Value value = indices[dim];
    if (!matchPattern(loop.getStep(), m_One()))
      value = arith::MulIOp::create(rewriter, loc, value, loop.getStep());
    rewriter.replaceAllUsesWith(loop.getInductionVar(), value);
  }
  if (depth == 0) {
    rewriter.moveOpBefore(outer, parallel.getBody()->getTerminator());
  } else {
    auto inner = cast<scf::ForOp>(loops[depth - 1]);
    rewriter.eraseOp(inner.getBody()->getTerminator());
    // Move the ops between the loops too: constants and index arithmetic.
    for (size_t dim = 0; dim < depth; ++dim) {
      Block *body = cast<scf::ForOp>(loops[dim]).getBody();
      for (Operation &op : llvm::make_early_inc_range(*body))
        if (!llvm::is_contained(loops.take_front(depth), &op) &&
            !op.hasTrait<OpTrait::IsTerminator>())
          rewriter.moveOpBefore(&op, parallel.getBody()->getTerminator());
    }
    rewriter.setInsertionPointToEnd(inner.getBody());
    scf::YieldOp::create(rewriter, loc);
    rewriter.eraseOp(outer);
  }
  if (parts > 1)
    rewriter.modifyOpInPlace(last, [&] {
      last.setLowerBound(begin);
      last.setUpperBound(end);
    });
}

/// Whether a step along `dim` accesses a nearby element of each input: at most the last index
/// depends on the dim.
bool isNear(linalg::LinalgOp op, unsigned dim) {
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    ArrayRef<AffineExpr> results = op.getMatchingIndexingMap(operand).getResults();
    return results.empty() || llvm::none_of(results.drop_back(), [&](AffineExpr expr) {
             return expr.isFunctionOfDim(dim);
           });
  });
}

/// If a loop accumulates into one element of `output`, keeps the sum in a register: loads it before
/// the loop and stores it after.
void keepInRegister(RewriterBase &rewriter, Operation *op, Value output) {
  auto loop = cast<scf::ForOp>(op);
  memref::LoadOp load;
  memref::StoreOp store;
  for (Operation &inner : loop.getBody()->without_terminator()) {
    if (auto each = dyn_cast<memref::LoadOp>(inner); each && each.getMemRef() == output)
      load = each;
    if (auto each = dyn_cast<memref::StoreOp>(inner); each && each.getMemRef() == output)
      store = each;
  }
  if (!load || !store)
    return;
  // linalg's loops have an affine.apply for each index, which is the identity for projections.
  auto plain = [](Value index) {
    auto apply = index.getDefiningOp<affine::AffineApplyOp>();
    return apply && apply.getAffineMap().isIdentity() ? apply.getMapOperands()[0] : index;
  };
  SmallVector<Value> indices = llvm::map_to_vector(load.getIndices(), plain);
  if (indices != llvm::map_to_vector(store.getIndices(), plain) ||
      !llvm::all_of(indices, [&](Value index) { return loop.isDefinedOutsideOfLoop(index); }))
    return;
  load.getIndicesMutable().assign(indices);
  rewriter.moveOpBefore(load, loop);
  FailureOr<LoopLikeOpInterface> found =
      cast<LoopLikeOpInterface>(loop.getOperation())
          .replaceWithAdditionalYields(rewriter, load.getResult(),
                                       /*replaceInitOperandUsesInLoop=*/true,
                                       [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
                                         return SmallVector<Value>{store.getValueToStore()};
                                       });
  if (failed(found))
    return;
  rewriter.setInsertionPointAfter(*found);
  memref::StoreOp::create(rewriter, store.getLoc(), (*found)->getResult(0), output, indices);
  rewriter.eraseOp(store);
}

/// Moves the dim along which the output is contiguous innermost, inside the reductions, so that the
/// innermost loop vectorizes. Does not apply if the inputs are not contiguous along that dim, e.g.
/// when rows are reduced.
linalg::LinalgOp interchange(RewriterBase &rewriter, linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return op;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto last = dyn_cast_or_null<AffineDimExpr>(map.getNumResults() == 0 ? AffineExpr()
                                                                       : map.getResults().back());
  if (!last || op.getIteratorTypesArray()[last.getPosition()] != utils::IteratorType::parallel)
    return op;
  unsigned inner = last.getPosition();
  if (inner + 1 == op.getNumLoops() || !isNear(op, inner))
    return op;
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (dim != inner)
      order.push_back(dim);
  order.push_back(inner);
  return convoy::reordered(rewriter, op, order);
}

} // namespace

void CpuLoopsPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (convoy::tcp::getTarget(function) != convoy::tcp::Target::Cpu)
    return;
  if (failed(convoy::verifySizes(function)))
    return signalPassFailure();
  IRRewriter rewriter(&getContext());
  SmallVector<memref::CopyOp> copies;
  function.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies)
    copyToGeneric(rewriter, copy);

  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    if (!op.hasPureBufferSemantics()) {
      op->emitError("expected an op on memrefs, which phase 'plan' creates");
      return signalPassFailure();
    }
    op = interchange(rewriter, op);
    std::optional<unsigned> transposed = convoy::transposedDim(op);
    if (transposed)
      op = convoy::moveBeforeLast(rewriter, op, *transposed);
    rewriter.setInsertionPoint(op);
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    bool outermost = isa<func::FuncOp, scf::ExecuteRegionOp, scf::ForOp>(op->getParentOp());
    FailureOr<linalg::LinalgLoops> loops = linalg::linalgOpToLoops(rewriter, op);
    if (failed(loops)) {
      op->emitError("expected an op that can be lowered to loops");
      return signalPassFailure();
    }
    int64_t work = llvm::product_of(ranges);
    if (transposed)
      convoy::iterateOverBlocks(*loops, ranges);
    if (outermost && loops->size() == ranges.size())
      parallelize(rewriter, iterators, ranges, *loops, work);
    // Last, because this replaces the innermost loop.
    if (op.getNumReductionLoops() > 0 && op.getNumDpsInits() == 1 &&
        loops->size() == ranges.size() && iterators.back() == utils::IteratorType::reduction)
      keepInRegister(rewriter, loops->back(), op.getDpsInits()[0]);
    rewriter.eraseOp(op);
  }
}
