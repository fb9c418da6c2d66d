// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Moves reductions over the same rows, and the elementwise ops on these rows, into one region,
// which becomes one kernel. Runs before offsets are assigned, because temporaries of a region need
// no memory, and because everything that it accesses is live at the same time.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"
#include "passes/common/RowRegion.h"
#include "passes/plan/Accesses.h"

namespace convoy {
#define GEN_PASS_DEF_GROUPROWSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct GroupRowsPass : public convoy::impl::GroupRowsPassBase<GroupRowsPass> {
  void runOnOperation() override;
};

/// Bounds for the time to compile, and for the registers of a thread.
constexpr size_t kMostOps = 32, kMostDistance = 96;

/// The ops of a block in order, with the memory that they access.
class Ops {
public:
  explicit Ops(Block &block) : all(accessesOf(block)) {
    for (auto [position, access] : llvm::enumerate(all))
      positions[access.op] = position;
  }

  size_t size() const { return all.size(); }
  Operation *operator[](size_t position) const { return all[position].op; }

  /// The op before `position` that fills the result of the reduction there, or nullopt.
  std::optional<size_t> fillOf(size_t position) const {
    Value result = cast<linalg::LinalgOp>(all[position].op).getDpsInits().back();
    for (Operation *user : result.getUsers())
      if (auto fill = dyn_cast<linalg::FillOp>(user))
        if (auto found = positions.find(fill); found != positions.end() && found->second < position)
          return found->second;
    return std::nullopt;
  }

  /// Whether all ops at `members`, in order, can move to the last one.
  bool canJoin(ArrayRef<size_t> members) const {
    const auto *next = members.begin();
    for (size_t between = members.front(); between < members.back(); ++between) {
      if (between == *next) {
        ++next;
        continue;
      }
      for (const auto *member = members.begin(); member != next; ++member)
        if (all[*member].conflictsWith(all[between]))
          return false;
    }
    return true;
  }

private:
  SmallVector<Access, 0> all;
  llvm::DenseMap<Operation *, size_t> positions;
};

class Grouper {
public:
  explicit Grouper(Block &block) : ops(block), taken(ops.size(), false) {}

  /// The regions of the block: the ops of each one, in order.
  SmallVector<SmallVector<Operation *>> run() {
    SmallVector<SmallVector<Operation *>> regions;
    for (size_t seed = 0; seed < ops.size(); ++seed) {
      auto op = dyn_cast<linalg::LinalgOp>(ops[seed]);
      if (taken[seed] || !op || op.getNumReductionLoops() == 0)
        continue;
      // Rows may be contiguous only with the transposes on both sides.
      if (!grow(seed, /*mustBeContiguous=*/false) && !grow(seed, /*mustBeContiguous=*/true) &&
          !isCumulative(seed))
        continue;
      for (size_t member : members)
        taken[member] = true;
      regions.push_back(membersAsOps());
    }
    return regions;
  }

private:
  SmallVector<Operation *> membersAsOps() const {
    return llvm::map_to_vector(members, [&](size_t member) { return ops[member]; });
  }

  /// Collects the members of a region with the reduction at `seed`. Returns whether there are
  /// others and the rows are contiguous.
  bool grow(size_t seed, bool mustBeContiguous) {
    members.clear();
    contiguousOnly = mustBeContiguous;
    if (!tryToAdd(seed))
      return false;
    // What an earlier op computes may be needed by all later ones, so the nearest one comes first.
    for (size_t distance = 1; distance <= std::min(seed, kMostDistance - 1); ++distance)
      tryToAdd(seed - distance);
    for (size_t i = seed + 1; i < ops.size() && i - members.back() < kMostDistance; ++i)
      tryToAdd(i);
    return isWorthwhile();
  }

  /// Whether the op at `seed` computes running totals. It is the only member then.
  bool isCumulative(size_t seed) {
    members.clear();
    contiguousOnly = false;
    return tryToAdd(seed) && RowRegion::analyze(membersAsOps())->cumulative();
  }

  void add(SmallVector<size_t> &to, size_t position) const {
    to.insert(llvm::lower_bound(to, position), position);
  }

  /// Adds the op at `position`, and the fill before a reduction, if the region stays one.
  bool tryToAdd(size_t position) {
    auto op = dyn_cast<linalg::LinalgOp>(ops[position]);
    if (!op || isa<linalg::FillOp>(op) || taken[position] ||
        llvm::is_contained(members, position) || members.size() + 2 > kMostOps ||
        (!members.empty() && !sharesMemory(op)))
      return false;
    SmallVector<size_t> before = members;
    add(members, position);
    if (op.getNumReductionLoops() != 0) {
      std::optional<size_t> fill = ops.fillOf(position);
      if (fill && !taken[*fill] && !llvm::is_contained(before, *fill))
        add(members, *fill);
    }
    if (ops.canJoin(members))
      if (std::optional<RowRegion> region = RowRegion::analyze(membersAsOps()))
        if (region->isContiguous || !contiguousOnly)
          return true;
    members = before;
    return false;
  }

  /// Whether `op` accesses memory that a member accesses.
  bool sharesMemory(linalg::LinalgOp op) const {
    SmallVector<Value> own;
    for (Value memref : memrefsOf(op))
      own.push_back(rootOf(memref));
    return llvm::any_of(members, [&](size_t member) {
      return llvm::any_of(memrefsOf(ops[member]),
                          [&](Value memref) { return llvm::is_contained(own, rootOf(memref)); });
    });
  }

  static Value rootOf(Value memref) {
    while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
      memref = view.getViewSource();
    return memref;
  }

  /// Whether the region reads the elements of its rows several times, along rows, across many rows,
  /// or in any order if they are few: a launch takes longer then. A single reduction has other
  /// mappings, with its epilogue; running totals have none.
  bool isWorthwhile() const {
    constexpr int64_t kFewElements = 1 << 15;
    std::optional<RowRegion> region = RowRegion::analyze(membersAsOps());
    return region &&
           (region->isContiguous || region->isAcross ||
            region->rows() * region->length() <= kFewElements) &&
           (region->cumulative() || llvm::count_if(region->ops, [](const RowOp &each) {
                                      return each.kind != RowKind::Row;
                                    }) > 1);
  }

  Ops ops;
  SmallVector<bool> taken;
  bool contiguousOnly = false; ///< whether the rows must be contiguous while the region grows
  SmallVector<size_t> members; ///< positions of the ops of the current region, in order
};

/// Moves `ops` into a region where the last one is, and memory that only they use.
void makeRegion(ArrayRef<Operation *> ops) {
  OpBuilder builder(ops.back());
  Location loc = ops.back()->getLoc();
  auto region = scf::ExecuteRegionOp::create(builder, loc, TypeRange(), /*no_inline=*/true);
  builder.createBlock(&region.getRegion());
  Operation *yield = scf::YieldOp::create(builder, loc);
  for (Operation *op : ops)
    op->moveBefore(yield);

  // A name, because the loop would not keep a temporary.
  std::optional<RowRegion> formed = RowRegion::match(region);
  llvm::SetVector<Operation *> moved;
  for (const RowOp &each : formed->ops)
    if (!each.isStored)
      moved.insert(each.output.buffer->root.getDefiningOp());
  if (std::optional<unsigned> totals = formed->cumulative())
    moved.insert(traceBuffer(formed->ops[*totals].op.getDpsInits().back())->root.getDefiningOp());
  for (size_t i = 0; i < moved.size(); ++i)
    for (Operation *user : moved[i]->getUsers())
      if (isa<ViewLikeOpInterface>(user))
        moved.insert(user);
  Operation *first = ops.front();
  for (Operation *op : moved)
    op->moveBefore(first);
}

} // namespace

void GroupRowsPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!function->hasAttr(convoy::tcp::kTargetAttr) || !function.getBody().hasOneBlock() ||
      convoy::tcp::getTarget(function) != convoy::tcp::Target::Cuda)
    return;
  SmallVector<Block *> blocks = {&function.getBody().front()};
  function.walk([&](scf::ForOp loop) { blocks.push_back(loop.getBody()); });
  for (Block *block : blocks)
    for (ArrayRef<Operation *> ops : Grouper(*block).run())
      makeRegion(ops);
}
