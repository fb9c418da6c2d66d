// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Moves small ops that do not depend on each other into one region, which becomes one kernel. Runs
// after everything else that decides where ops read and write, and before offsets are assigned,
// because everything that a region accesses is live at the same time.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"
#include "passes/common/SiblingRegion.h"
#include "passes/common/Sizes.h"
#include "passes/plan/Depths.h"
#include "passes/plan/LiveBytes.h"
#include "llvm/ADT/SetVector.h"

namespace convoy {
#define GEN_PASS_DEF_GROUPSIBLINGSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct GroupSiblingsPass : public convoy::impl::GroupSiblingsPassBase<GroupSiblingsPass> {
  void runOnOperation() override;
};

/// Bounds for the time to compile and for the code of a kernel. A distance counts ops.
constexpr size_t kMostMembers = 32, kMostDistance = 96;
constexpr int64_t kMostCode = 4096;
/// An op that moves more bytes, or has more iterations, takes longer than a launch.
constexpr int64_t kMostBytes = 4 << 20, kMostIterations = 1 << 21;
/// Temporaries of fewer bytes may grow to so many: a driver allocates whole blocks of this size.
constexpr int64_t kFewBytes = 2 << 20;

/// The bytes that `block` loads by index: of the branches of a concat one is taken.
int64_t loadedBytes(Block &block) {
  int64_t bytes = 0;
  for (Operation &op : block) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      bytes += elementBytes(load.getType());
    int64_t inside = 0;
    for (Region &region : op.getRegions())
      for (Block &each : region)
        inside = std::max(inside, loadedBytes(each));
    bytes += inside;
  }
  return bytes;
}

/// Whether `memref` is in memory outside of `op`.
bool isOutside(Value memref, Operation *op) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return !op->isAncestor(memref.getParentRegion()->getParentOp());
}

/// What an op costs, for the bounds above. The numbers of a matrix product may exceed 64 bits.
struct Cost {
  int64_t code = 0;
  double bytes = 0, iterations = 0;
  bool isStatic = true; ///< whether all sizes are known

  explicit Cost(Operation *op) {
    // Of a table that is read by index the loads count, and of a region what is outside of it.
    llvm::SmallSetVector<Value, 8> accessed;
    op->walk([&](Operation *inner) {
      ++code;
      auto linalgOp = dyn_cast<linalg::LinalgOp>(inner);
      if (!linalgOp)
        return;
      double count = 1, results = 1;
      for (auto [size, kind] :
           llvm::zip_equal(linalgOp.getStaticLoopRanges(), linalgOp.getIteratorTypesArray())) {
        isStatic &= !ShapedType::isDynamic(size);
        count *= double(size);
        results *= kind == utils::IteratorType::parallel ? double(size) : 1;
      }
      iterations = std::max(iterations, count);
      bytes += results * double(loadedBytes(*linalgOp.getBlock()));
      for (Value operand : inner->getOperands())
        if (isa<MemRefType>(operand.getType()) && (inner == op || isOutside(operand, op)))
          accessed.insert(operand);
    });
    for (Value memref : accessed) {
      auto type = cast<MemRefType>(memref.getType());
      isStatic &= type.hasStaticShape();
      if (isStatic)
        bytes += std::min(iterations, double(type.getNumElements())) *
                 double(elementBytes(type.getElementType()));
    }
  }

  bool isSmall() const { return isStatic && bytes <= kMostBytes && iterations <= kMostIterations; }
};

/// Finds the groups of a block. The ops of a group take the place of one of them.
class Grouper {
public:
  /// In the body of a loop all buffers are live at the same time anyway, so `countsBytes` is false.
  Grouper(Block &block, bool countsBytes) : ops(knownAccesses(block)), depths(ops) {
    if (countsBytes)
      live.emplace(block, ops);
    findCandidates();
  }

  struct Group {
    SmallVector<Operation *> ops; ///< in order
    Operation *place;
  };

  SmallVector<Group> run() {
    SmallVector<Group> groups;
    for (size_t seed = 0; seed < ops.size(); ++seed) {
      if (!costs[seed])
        continue;
      grow(seed);
      if (members.size() == 1)
        continue;
      Group &group = groups.emplace_back();
      for (size_t member : members)
        group.ops.push_back(ops[member].op);
      group.place = ops[place].op;
      commit();
    }
    return groups;
  }

private:
  /// The result of a loop, and its arguments, are other names of buffers. They stand for any bytes.
  static SmallVector<Access, 0> knownAccesses(Block &block) {
    SmallVector<Access, 0> found = accessesOf(block);
    auto isBuffer = [](Value base) {
      if (auto argument = dyn_cast_if_present<BlockArgument>(base))
        return isa<func::FuncOp>(argument.getOwner()->getParentOp());
      return base && isa<memref::AllocOp, memref::GetGlobalOp>(base.getDefiningOp());
    };
    for (Access &access : found)
      for (auto *ranges : {&access.touched, &access.written})
        for (FailureOr<ByteRange> &range : *ranges)
          if (succeeded(range) && !isBuffer(range->base))
            range = failure();
    return found;
  }

  /// An op whose result lies in a buffer that a fill sets, because the kernel of the op may also
  /// write the padding around it, is no candidate.
  void findCandidates() {
    DenseSet<Value> filled;
    for (const Access &access : ops)
      if (isa<linalg::FillOp>(access.op))
        for (const FailureOr<ByteRange> &range : access.written)
          if (succeeded(range))
            filled.insert(range->base);
    for (const Access &access : ops) {
      std::optional<Cost> &cost = costs.emplace_back();
      bool isKnown =
          llvm::all_of(access.touched, [](const auto &range) { return succeeded(range); }) &&
          llvm::all_of(access.written, [&](const auto &range) {
            return succeeded(range) && !filled.contains(range->base);
          });
      if (!isKnown || !SiblingRegion::mayContain(access.op))
        continue;
      if (Cost own(access.op); own.isSmall())
        cost = own;
    }
  }

  /// Collects the ops after `seed` that can be one kernel with it. The group is at the position of
  /// its first op. If an op cannot move up to it, the group moves down to that op.
  void grow(size_t seed) {
    members = {seed};
    place = seed;
    all = ops[seed];
    code = costs[seed]->code;
    SmallVector<size_t> between; // ops after `place` that are not in the group
    for (size_t next = seed + 1; next < std::min(ops.size(), seed + kMostDistance); ++next) {
      if (members.size() == kMostMembers)
        return;
      if (ops[next].op && !tryToAdd(next, between))
        between.push_back(next);
    }
  }

  bool tryToAdd(size_t next, SmallVectorImpl<size_t> &between) {
    if (!costs[next] || code + costs[next]->code > kMostCode || all.conflictsWith(ops[next]))
      return false;
    auto isFree = [&](const Access &access) {
      return llvm::none_of(between, [&](size_t other) { return access.conflictsWith(ops[other]); });
    };
    SmallVector<size_t> together = members;
    together.push_back(next);
    if (!depths.mayJoin(together))
      return false;
    if (isFree(ops[next]) && hasRoom(together, place)) {
      // It moves up.
    } else if (isFree(all) && hasRoom(together, next)) {
      place = next;
      between.clear();
    } else {
      return false;
    }
    members = std::move(together);
    code += costs[next]->code;
    llvm::append_range(all.touched, ops[next].touched);
    llvm::append_range(all.written, ops[next].written);
    return true;
  }

  /// Whether the temporaries fit into as much memory as before.
  bool hasRoom(ArrayRef<size_t> together, size_t where) const {
    return !live || live->peakAfter(together, where) <= std::max(live->peak(), kFewBytes);
  }

  /// The group becomes one op at its place.
  void commit() {
    if (live)
      live->move(members, place);
    depths.join(members);
    for (size_t member : members) {
      costs[member].reset();
      ops[member] = Access();
    }
    ops[place] = all;
  }

  SmallVector<Access, 0> ops; ///< without an op where it has moved
  Depths depths;
  std::optional<LiveBytes> live;
  SmallVector<std::optional<Cost>, 0> costs; ///< of candidates

  SmallVector<size_t> members; ///< of the current group, in order
  size_t place = 0;
  Access all; ///< what its ops access
  int64_t code = 0;
};

/// Moves the definitions of what `op` uses before `place`: views, constants and allocations, which
/// may be anywhere.
void moveOperands(Operation *op, Operation *place) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition || definition->getBlock() != place->getBlock() ||
          definition->isBeforeInBlock(place))
        continue;
      moveOperands(definition, place);
      definition->moveBefore(place);
    }
  });
}

void makeRegion(const Grouper::Group &group) {
  OpBuilder builder(group.place);
  SmallVector<Location> locations =
      llvm::map_to_vector(group.ops, [](Operation *op) { return op->getLoc(); });
  auto region = scf::ExecuteRegionOp::create(builder, builder.getFusedLoc(locations), TypeRange(),
                                             /*no_inline=*/true);
  for (Operation *op : group.ops)
    moveOperands(op, region);
  builder.createBlock(&region.getRegion());
  Operation *yield = scf::YieldOp::create(builder, region.getLoc());
  for (Operation *op : group.ops)
    op->moveBefore(yield);
}

} // namespace

void GroupSiblingsPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!function->hasAttr(convoy::tcp::kTargetAttr) || !function.getBody().hasOneBlock() ||
      convoy::tcp::getTarget(function) != convoy::tcp::Target::Cuda)
    return;
  if (failed(verifySizes(function)))
    return signalPassFailure();
  SmallVector<Block *> blocks = {&function.getBody().front()};
  function.walk([&](scf::ForOp loop) { blocks.push_back(loop.getBody()); });
  for (Block *block : blocks)
    for (const Grouper::Group &group : Grouper(*block, block == blocks.front()).run())
      makeRegion(group);
}
