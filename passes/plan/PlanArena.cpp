// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every temporary gets a place in one arena. Functions are straight-line code here, in which a loop
// is one op, so a buffer lives from the first op that uses it (or a view of it) to the last one;
// two buffers may share bytes when these ranges are disjoint. On `cuda`, where a runtime copies the
// results of a run, outputs have places in the arena too, and live to the end.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"
#include "passes/common/Buffers.h"
#include "passes/common/Sizes.h"
#include "passes/plan/LoopSlices.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace convoy {
#define GEN_PASS_DEF_PLANARENAPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

/// How often an order of `count` buffers is changed. One order takes the time of a comparison of
/// all pairs.
int64_t roundsFor(int64_t count) {
  constexpr int64_t kMaxRounds = 256, kMaxPairs = int64_t(1) << 25;
  return std::min(kMaxRounds, kMaxPairs / std::max<int64_t>(1, count * count));
}

struct Buffer {
  Value value; ///< an allocation or an output
  int64_t bytes;
  int64_t first = -1, last = -1; ///< positions of the ops that use it, inclusive
  int64_t offset = -1;

  bool overlaps(const Buffer &other) const { return first <= other.last && other.first <= last; }
  memref::AllocOp alloc() const { return value.getDefiningOp<memref::AllocOp>(); }
};

struct PlanArenaPass : public convoy::impl::PlanArenaPassBase<PlanArenaPass> {
  void runOnOperation() override;
};

FailureOr<Buffer> measure(memref::AllocOp alloc, Block &entry,
                          const llvm::DenseMap<Operation *, int64_t> &positions,
                          llvm::SmallVectorImpl<Operation *> &deallocs) {
  MemRefType type = alloc.getType();
  if (alloc->getBlock() != &entry)
    return alloc.emitError("expected allocations in the function's entry block only");
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !(type.getElementType().isIntOrFloat() || type.getElementType().isIndex()))
    return alloc.emitError(
               "expected a memref of numbers with static shape and identity layout, but got ")
           << type;
  Buffer buffer{alloc.getResult(), convoy::packedBytes(type)};

  llvm::SmallVector<Value> views = {alloc.getResult()};
  while (!views.empty()) {
    Value view = views.pop_back_val();
    for (Operation *user : view.getUsers()) {
      if (isa<memref::DeallocOp>(user)) {
        deallocs.push_back(user);
        continue;
      }
      int64_t position = positions.at(entry.findAncestorOpInBlock(*user));
      buffer.first = buffer.first < 0 ? position : std::min(buffer.first, position);
      buffer.last = std::max(buffer.last, position);
      for (Value result : user->getResults()) {
        if (!isa<BaseMemRefType>(result.getType()))
          continue;
        if (!isa<ViewLikeOpInterface>(user))
          return user->emitError(
              "expected a view of its operand: cannot tell how long the buffer lives");
        views.push_back(result);
      }
      if (user->hasTrait<OpTrait::IsTerminator>() || user->getNumSuccessors() != 0)
        return user->emitError(
            "expected buffers to stay inside their block: cannot tell how long the buffer lives");
    }
  }
  return buffer;
}

/// The position of the first op that uses an output or a view of it; 0 if a use is not clear.
int64_t firstUse(BlockArgument output, const llvm::DenseMap<Operation *, int64_t> &positions) {
  int64_t first = static_cast<int64_t>(positions.size());
  llvm::SmallVector<Value> views = {output};
  while (!views.empty()) {
    for (Operation *user : views.pop_back_val().getUsers()) {
      bool isView = isa<ViewLikeOpInterface>(user);
      if (!isView && llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
        return 0;
      if (isView)
        llvm::append_range(views, user->getResults());
      Operation *op = output.getOwner()->findAncestorOpInBlock(*user);
      first = std::min(first, positions.at(op));
    }
  }
  return first;
}

/// The outputs of a function for `cuda`, which live from their first use to the end.
void addOutputs(func::FuncOp function, const llvm::DenseMap<Operation *, int64_t> &positions,
                llvm::SmallVectorImpl<Buffer> &buffers) {
  if (!function->hasAttr(convoy::tcp::kTargetAttr) ||
      convoy::tcp::getTarget(function) != convoy::tcp::Target::Cuda)
    return;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !function.getArgAttr(argument.getArgNumber(), convoy::tcp::kOutputAttr))
      continue;
    Buffer buffer{argument, convoy::packedBytes(type)};
    buffer.first = firstUse(argument, positions);
    buffer.last = static_cast<int64_t>(positions.size());
    buffers.push_back(buffer);
  }
}

/// The largest sum of bytes of buffers that live at the same time, each rounded up to `alignment`.
/// No plan needs less than the sum without rounding.
int64_t liveBytes(llvm::ArrayRef<Buffer> buffers, int64_t alignment = 1) {
  std::map<int64_t, int64_t> changes;
  for (const Buffer &buffer : buffers) {
    int64_t bytes = llvm::alignTo(buffer.bytes, alignment);
    changes[buffer.first] += bytes;
    changes[buffer.last + 1] -= bytes;
  }
  int64_t live = 0, most = 0;
  for (auto [position, change] : changes)
    most = std::max(most, live += change);
  return most;
}

/// Best fit: the smallest gap between the neighbours that live at the same time, in this order of
/// the buffers. Returns the arena's bytes.
int64_t place(llvm::ArrayRef<Buffer *> order) {
  int64_t arena = 0;
  llvm::SmallVector<Buffer *> placed; // by offset
  for (Buffer *buffer : order) {
    int64_t end = 0, best = -1, bestGap = 0;
    for (Buffer *other : placed) {
      if (!buffer->overlaps(*other))
        continue;
      int64_t gap = other->offset - end;
      if (gap >= buffer->bytes && (best < 0 || gap < bestGap)) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, static_cast<int64_t>(llvm::alignTo(other->offset + other->bytes,
                                                             convoy::kArenaAlignment)));
    }
    buffer->offset = best < 0 ? end : best;
    arena = std::max(arena, buffer->offset + buffer->bytes);
    placed.insert(
        llvm::upper_bound(placed, buffer,
                          [](const Buffer *a, const Buffer *b) { return a->offset < b->offset; }),
        buffer);
  }
  return arena;
}

/// Places buffers in different orders until the arena has only the bytes that are live: the largest
/// first, those with the largest product of size and lifetime, those that live first, then each of
/// these orders with the buffers first that were at the end of the arena before. The smallest arena
/// is kept. Returns its bytes.
int64_t assignOffsets(llvm::MutableArrayRef<Buffer> buffers) {
  int64_t bound = liveBytes(buffers, convoy::kArenaAlignment),
          smallest = std::numeric_limits<int64_t>::max();
  llvm::SmallVector<int64_t> offsets(buffers.size());
  auto attempt = [&](llvm::ArrayRef<Buffer *> order) {
    if (int64_t arena = place(order); arena < smallest) {
      smallest = arena;
      for (auto [offset, buffer] : llvm::zip_equal(offsets, buffers))
        offset = buffer.offset;
    }
    return smallest <= bound;
  };
  auto sorted = [&](auto weight) {
    auto order = llvm::map_to_vector(buffers, [](Buffer &buffer) { return &buffer; });
    llvm::sort(order, [&](const Buffer *a, const Buffer *b) {
      return std::pair(weight(*b), a) < std::pair(weight(*a), b);
    });
    return order;
  };
  llvm::SmallVector<Buffer *> orders[] = {
      sorted([](const Buffer &buffer) { return buffer.bytes; }),
      sorted([](const Buffer &buffer) {
        return static_cast<double>(buffer.bytes) *
               static_cast<double>(buffer.last - buffer.first + 1);
      }),
      sorted([](const Buffer &buffer) { return std::pair(-buffer.first, buffer.bytes); }),
  };
  bool isDone = llvm::any_of(orders, attempt);
  for (llvm::SmallVector<Buffer *> &order : orders) {
    for (int64_t round = 0, rounds = roundsFor(buffers.size()); !isDone && round < rounds;
         ++round) {
      if (round == 0)
        place(order);
      auto end = [](const Buffer *buffer) { return buffer->offset + buffer->bytes; };
      auto *last = llvm::max_element(
          order, [&](const Buffer *a, const Buffer *b) { return end(a) < end(b); });
      std::rotate(order.begin(), last, last + 1);
      isDone = attempt(order);
    }
  }
  for (auto [offset, buffer] : llvm::zip_equal(offsets, buffers))
    buffer.offset = offset;
  return buffers.empty() ? 0 : smallest;
}

LogicalResult plan(func::FuncOp function) {
  if (function.isExternal())
    return success();
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected one block, but got ")
           << function.getBody().getBlocks().size();
  Block &entry = function.getBody().front();
  llvm::DenseMap<Operation *, int64_t> positions;
  for (auto [index, op] : llvm::enumerate(entry))
    positions[&op] = index;

  llvm::SmallVector<Buffer> buffers;
  llvm::SmallVector<Operation *> unused;
  WalkResult result = function.walk([&](memref::AllocOp alloc) {
    if (isa<scf::ExecuteRegionOp>(alloc->getParentOp()))
      return WalkResult::advance(); // stays in registers
    FailureOr<Buffer> buffer = measure(alloc, entry, positions, unused);
    if (failed(buffer))
      return WalkResult::interrupt();
    if (buffer->first < 0)
      unused.push_back(alloc);
    else
      buffers.push_back(*buffer);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (Operation *op : unused)
    op->erase();
  addOutputs(function, positions, buffers);

  OpBuilder builder(function.getContext());
  auto arenaType = MemRefType::get({assignOffsets(buffers)}, builder.getI8Type());
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(convoy::tcp::kArenaAttr, builder.getUnitAttr()),
       builder.getNamedAttr(convoy::tcp::kLiveBytesAttr,
                            builder.getI64IntegerAttr(liveBytes(buffers)))});
  if (failed(function.insertArgument(function.getNumArguments(), arenaType, attributes,
                                     function.getLoc())))
    return failure();
  BlockArgument arena = function.getArguments().back();
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    if (auto output = dyn_cast<BlockArgument>(buffer.value)) {
      function.setArgAttr(output.getArgNumber(), convoy::tcp::kArenaOffsetAttr,
                          builder.getI64IntegerAttr(buffer.offset));
      continue;
    }
    memref::AllocOp alloc = buffer.alloc();
    builder.setInsertionPoint(alloc);
    Location loc = alloc.getLoc();
    Value offset = arith::ConstantIndexOp::create(builder, loc, buffer.offset);
    Value view = memref::ViewOp::create(builder, loc, alloc.getType(), arena, offset, ValueRange());
    view.getDefiningOp()->setAttr(
        convoy::tcp::kBufferAttr,
        builder.getDenseI64ArrayAttr({static_cast<int64_t>(number), buffer.offset, buffer.bytes}));
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }
  convoy::shiftLoopSlices(function);
  return success();
}

} // namespace

void PlanArenaPass::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (failed(convoy::verifySizes(function)) || failed(plan(function)))
      return signalPassFailure();
}
