// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Moves a reduction and the elementwise op on its result into one region, so that code generation
// can keep the result in registers between them. Runs before offsets are assigned: in one region,
// the output cannot share bytes with what the reduction still reads.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"
#include "passes/common/Buffers.h"
#include "passes/common/EpilogueRegion.h"
#include "passes/plan/Accesses.h"

namespace convoy {
#define GEN_PASS_DEF_GROUPEPILOGUESPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct GroupEpiloguesPass : public convoy::impl::GroupEpiloguesPassBase<GroupEpiloguesPass> {
  void runOnOperation() override;
};

/// The writes of a block, by base: a search between two ops visits only the writes to one base.
class Writes {
public:
  explicit Writes(Block &block) {
    for (auto [position, op] : llvm::enumerate(block)) {
      positions[&op] = position;
      for (Value memref : memrefsWrittenBy(&op)) {
        FailureOr<ByteRange> range = rangeOf(memref);
        ByteRange bytes = succeeded(range) ? *range : ByteRange(); // without a base: any bytes
        byBase[bytes.base].push_back({int64_t(position), bytes});
      }
    }
  }

  int64_t positionOf(Operation *op) const { return positions.at(op); }

  /// Whether an op after `first` and before `last` may write `range`.
  bool anyBetween(Operation *first, Operation *last, const ByteRange &range) const {
    return anyBetween(first, last, range, range.base) || anyBetween(first, last, range, Value());
  }

private:
  struct Write {
    int64_t position;
    ByteRange range;
  };

  bool anyBetween(Operation *first, Operation *last, const ByteRange &range, Value base) const {
    auto found = byBase.find(base);
    if (found == byBase.end())
      return false;
    const auto *write = llvm::upper_bound(
        found->second, positionOf(first),
        [](int64_t position, const Write &each) { return position < each.position; });
    for (; write != found->second.end() && write->position < positionOf(last); ++write)
      if (!base || write->range.overlaps(range))
        return true;
    return false;
  }

  llvm::DenseMap<Operation *, int64_t> positions;
  llvm::DenseMap<Value, SmallVector<Write>> byBase; ///< in order
};

class Matcher {
public:
  Matcher(Block &block, bool isForCpu) : isForCpu(isForCpu), block(block), writes(block) {}

  /// The region that `op` becomes the reduction of, or nullopt.
  std::optional<EpilogueRegion> match(linalg::LinalgOp op);

private:
  bool isReduction(linalg::LinalgOp op) const;
  bool canMoveTo(linalg::GenericOp epilogue, linalg::LinalgOp op) const;
  SmallVector<Operation *> usersOf(Value result) const;

  /// Whether code generation takes `a` and `b` for one memref: reshapes may add or drop dims of
  /// size 1.
  static bool isSame(Value a, Value b) {
    return a == b || withoutUnitReshapes(a) == withoutUnitReshapes(b);
  }

  bool isForCpu;
  Block &block;
  Writes writes;
  DenseSet<Operation *> taken; ///< epilogues that have a region
};

/// Whether code generation can compute `op` together with an epilogue: on a CPU only convolutions
/// and matrix products.
bool Matcher::isReduction(linalg::LinalgOp op) const {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return false;
  if (!isForCpu ||
      isa<linalg::Conv2DNhwcHwcfOp, linalg::Conv3DNdhwcDhwcfOp, linalg::DepthwiseConv2DNhwcHwcOp,
          linalg::MatmulOp, linalg::BatchMatmulOp>(op))
    return true;
  if (!isa<linalg::GenericOp>(op) || op.getNumDpsInputs() != 2)
    return false;
  // A packed filter or factor whose last block is not whole: k mod block is its last index.
  unsigned loops = op.getNumLoops(), reductions = op.getNumReductionLoops();
  AffineMap filter = op.getIndexingMapsArray()[1];
  if (filter.getNumResults() != 0 && filter.getResults().back().getKind() == AffineExprKind::Mod)
    return loops >= 3 && loops <= 9 && reductions == (loops - 1) / 2;
  // A convolution with groups or a packed filter, or a product with a packed factor.
  return (loops == 4 || (loops >= 8 && loops <= 10)) && reductions == loops / 2 - 1;
}

/// The ops of the block that use `result`; null for a use outside of it.
SmallVector<Operation *> Matcher::usersOf(Value result) const {
  SmallVector<Operation *> users;
  SmallVector<Value> views = {result};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (user->getNumResults() == 1 && isSame(user->getResult(0), result))
        views.push_back(user->getResult(0));
      else
        users.push_back(block.findAncestorOpInBlock(*user));
    }
  return users;
}

/// Whether `op` can be computed together with `epilogue`. Parts of the output are written while
/// others are still computed, so the output must not overlap what `op` reads. No op between the two
/// may write what `op` reads.
bool Matcher::canMoveTo(linalg::GenericOp epilogue, linalg::LinalgOp op) const {
  Value result = op.getDpsInits()[0];
  FailureOr<ByteRange> sums = rangeOf(result), output = rangeOf(epilogue.getDpsInits()[0]);
  SmallVector<Value> reads = memrefsOf(op);
  reads.erase(llvm::find(reads, result));
  return succeeded(sums) && succeeded(output) && llvm::all_of(reads, [&](Value memref) {
           FailureOr<ByteRange> read = rangeOf(memref);
           return succeeded(read) && !read->overlaps(*sums) && !read->overlaps(*output) &&
                  !writes.anyBetween(op, epilogue, *read);
         });
}

std::optional<EpilogueRegion> Matcher::match(linalg::LinalgOp op) {
  if (!isReduction(op))
    return std::nullopt;
  Value result = op.getDpsInits()[0];
  linalg::FillOp fill;
  Operation *next = nullptr, *last = nullptr; // after `op`
  auto isBefore = [&](Operation *a, Operation *b) {
    return writes.positionOf(a) < writes.positionOf(b);
  };
  for (Operation *user : usersOf(result)) {
    if (!user)
      return std::nullopt;
    if (isBefore(user, op)) {
      if (fill || !(fill = dyn_cast<linalg::FillOp>(user)))
        return std::nullopt;
    } else if (user != op) {
      next = !next || isBefore(user, next) ? user : next;
      last = !last || isBefore(last, user) ? user : last;
    }
  }
  EpilogueRegion found{fill, op, dyn_cast_if_present<linalg::GenericOp>(next)};
  if (!found.isValid() || taken.contains(next) || (isForCpu && found.epilogue.hasIndexSemantics()))
    return std::nullopt;

  // Nothing may read the result afterwards, unless the epilogue overwrites it: no later op, no view
  // of the same memory, and not the caller.
  bool inPlace = isSame(found.epilogue.getDpsInits()[0], result);
  Value root = result;
  while (auto view = root.getDefiningOp<ViewLikeOpInterface>()) {
    root = view.getViewSource();
    if (!root.hasOneUse())
      return std::nullopt;
  }
  if ((!inPlace && (next != last || !root.getDefiningOp<memref::AllocOp>())) ||
      !canMoveTo(found.epilogue, op))
    return std::nullopt;
  taken.insert(next);
  return found;
}

} // namespace

void GroupEpiloguesPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!function->hasAttr(convoy::tcp::kTargetAttr) || !function.getBody().hasOneBlock())
    return;
  bool isForCpu = convoy::tcp::getTarget(function) == convoy::tcp::Target::Cpu;
  SmallVector<Block *> blocks = {&function.getBody().front()};
  function.walk([&](scf::ForOp loop) { blocks.push_back(loop.getBody()); });
  SmallVector<EpilogueRegion> found;
  for (Block *block : blocks) {
    Matcher matcher(*block, isForCpu);
    for (auto op : block->getOps<linalg::LinalgOp>())
      if (std::optional<EpilogueRegion> match = matcher.match(op))
        found.push_back(*match);
  }
  for (EpilogueRegion &ops : found) {
    OpBuilder builder(ops.epilogue);
    Location loc = ops.epilogue.getLoc();
    auto region = scf::ExecuteRegionOp::create(builder, loc, TypeRange(), /*no_inline=*/true);
    builder.createBlock(&region.getRegion());
    Operation *yield = scf::YieldOp::create(builder, loc);
    for (Operation *op : {&*ops.fill, &*ops.reduction, &*ops.epilogue})
      op->moveBefore(yield);
  }
}
