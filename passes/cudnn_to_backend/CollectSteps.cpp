// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lists the runtime calls of @main in the manifest, for readers that do not run native code.

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"
#include "passes/common/Buffers.h"
#include "passes/common/Manifest.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>
#include <set>

namespace convoy {
#define GEN_PASS_DEF_COLLECTSTEPSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

/// The steps of an op of @main: the first, and the one after the last.
using Span = std::pair<size_t, size_t>;

struct CollectStepsPass : public convoy::impl::CollectStepsPassBase<CollectStepsPass> {
  void runOnOperation() override;

private:
  void describeArena(BlockArgument arena, size_t count,
                     const llvm::DenseMap<Operation *, Span> &spans);
};

/// Key and number of a step.
using Step = std::pair<StringRef, int64_t>;

std::optional<Step> describe(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::optional<Step>>(&op)
      .Case([](cudnn_backend::ExecuteGraphOp execute) { return Step("call", execute.getCall()); })
      .Case([](cudnn_backend::LaunchKernelOp launch) { return Step("kernel", launch.getKernel()); })
      .Case([](cudnn_backend::CopyOp copy) {
        auto type = cast<MemRefType>(copy.getDestination().getType());
        return Step("copy", packedBytes(type));
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Adds the steps of `block` to `steps`, those of a loop for each of its iterations, and those of
/// each op to `spans`.
LogicalResult collect(Block &block, SmallVectorImpl<Attribute> &steps,
                      llvm::DenseMap<Operation *, Span> &spans) {
  Builder builder(block.getParentOp()->getContext());
  for (Operation &op : block) {
    size_t first = steps.size();
    llvm::scope_exit finish([&] { spans[&op] = {first, steps.size()}; });
    if (std::optional<Step> step = describe(op)) {
      steps.push_back(builder.getDictionaryAttr(
          builder.getNamedAttr(step->first, builder.getI64IntegerAttr(step->second))));
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    SmallVector<Attribute> once;
    if (failed(collect(*loop.getBody(), once, spans)))
      return failure();
    std::optional<llvm::APInt> trips = loop.getStaticTripCount();
    if (!once.empty() && !trips)
      return loop.emitOpError("expects constant bounds, because it has calls of the runtime");
    for (uint64_t trip = 0; !once.empty() && trip < trips->getZExtValue(); ++trip)
      llvm::append_range(steps, once);
  }
  return success();
}

/// A buffer in the arena: its bytes, and the steps during which it lives, as a `Span`.
struct Lifetime {
  int64_t offset, bytes;
  size_t first, last;

  /// Adds the steps that use `buffer` or a view of it.
  void add(Value buffer, Block &block, const llvm::DenseMap<Operation *, Span> &spans) {
    SmallVector<Operation *> users(buffer.user_begin(), buffer.user_end());
    while (!users.empty()) {
      Operation *user = users.pop_back_val();
      auto [begin, end] = spans.lookup(block.findAncestorOpInBlock(*user));
      if (begin != end) {
        first = std::min(first, begin);
        last = std::max(last, end);
      }
      if (isa<ViewLikeOpInterface>(user))
        users.append(user->user_begin(), user->user_end());
    }
  }
};

/// Adds the buffers that views of `arena` are parts of to `buffers`. A buffer lives from the first
/// of `count` steps that uses it to the last one. Returns false if a view is of an unknown buffer.
bool addTemporaries(BlockArgument arena, size_t count,
                    const llvm::DenseMap<Operation *, Span> &spans,
                    SmallVectorImpl<Lifetime> &buffers) {
  bool areAllKnown = true;
  llvm::MapVector<int64_t, Lifetime> found;
  for (Operation *view : arena.getUsers()) {
    auto buffer = view->getAttrOfType<DenseI64ArrayAttr>(tcp::kBufferAttr);
    if (!buffer || buffer.size() != 3) {
      areAllKnown = false; // hand-written
      continue;
    }
    Lifetime unused{buffer[1], buffer[2], count, 0};
    Lifetime &lifetime = found.try_emplace(buffer[0], unused).first->second;
    lifetime.add(view->getResult(0), *arena.getOwner(), spans);
  }
  llvm::append_range(buffers, llvm::make_second_range(found));
  return areAllKnown;
}

/// Adds the outputs of `main` to `buffers`, if they are in the arena. They live to the end.
void addOutputs(func::FuncOp main, size_t count, const llvm::DenseMap<Operation *, Span> &spans,
                SmallVectorImpl<Lifetime> &buffers) {
  auto offsets =
      dyn_cast_or_null<ArrayAttr>(getManifest(main->getParentOfType<ModuleOp>(), "output_offsets"));
  if (!offsets)
    return;
  auto next = offsets.getAsRange<IntegerAttr>().begin();
  for (BlockArgument argument : main.getArguments())
    if (main.getArgAttr(argument.getArgNumber(), tcp::kOutputAttr)) {
      int64_t bytes = packedBytes(cast<MemRefType>(argument.getType()));
      buffers.push_back({(*next++).getInt(), bytes, count, count});
      buffers.back().add(argument, main.getBody().front(), spans);
    }
}

/// The bytes that are live during each of `count` steps.
SmallVector<int64_t> liveBytes(ArrayRef<Lifetime> buffers, size_t count) {
  SmallVector<int64_t> changes(count + 1, 0);
  for (const Lifetime &buffer : buffers) {
    changes[buffer.first] += buffer.bytes;
    changes[buffer.last] -= buffer.bytes;
  }
  changes.pop_back();
  std::partial_sum(changes.begin(), changes.end(), changes.begin());
  return changes;
}

/// The offset and the bytes of the largest part of an arena of `size` bytes without live bytes,
/// for each of `count` steps. The offsets are aligned.
std::pair<SmallVector<int64_t>, SmallVector<int64_t>> largestGaps(ArrayRef<Lifetime> buffers,
                                                                  int64_t size, size_t count) {
  SmallVector<SmallVector<const Lifetime *>> begins(count), ends(count + 1);
  for (const Lifetime &buffer : buffers) {
    begins[buffer.first].push_back(&buffer);
    ends[buffer.last].push_back(&buffer);
  }
  auto isBefore = [](const Lifetime *a, const Lifetime *b) { return a->offset < b->offset; };
  std::multiset<const Lifetime *, decltype(isBefore)> live(isBefore);
  SmallVector<int64_t> offsets(count, 0), bytes(count, 0);
  for (size_t step = 0; step < count; ++step) {
    for (const Lifetime *buffer : ends[step]) {
      auto [first, last] = live.equal_range(buffer);
      live.erase(std::find(first, last, buffer));
    }
    live.insert(begins[step].begin(), begins[step].end());
    int64_t free = 0;
    auto offer = [&](int64_t end) {
      if (end - free > bytes[step])
        std::tie(offsets[step], bytes[step]) = std::pair(free, end - free);
    };
    for (const Lifetime *buffer : live) {
      offer(buffer->offset);
      free = std::max(free, static_cast<int64_t>(
                                llvm::alignTo(buffer->offset + buffer->bytes, kArenaAlignment)));
    }
    offer(size);
  }
  return {offsets, bytes};
}

} // namespace

void CollectStepsPass::describeArena(BlockArgument arena, size_t count,
                                     const llvm::DenseMap<Operation *, Span> &spans) {
  auto main = cast<func::FuncOp>(arena.getOwner()->getParentOp());
  SmallVector<Lifetime> buffers;
  bool areAllKnown = addTemporaries(arena, count, spans, buffers);
  addOutputs(main, count, spans, buffers);
  llvm::erase_if(buffers, [](const Lifetime &each) { return each.first >= each.last; });
  auto set = [&](StringRef key, ArrayRef<int64_t> values) {
    setManifest(getOperation(), key, Builder(&getContext()).getI64ArrayAttr(values));
  };
  set("live", liveBytes(buffers, count));
  if (!areAllKnown)
    return;
  int64_t size = cast<MemRefType>(arena.getType()).getDimSize(0);
  auto [offsets, bytes] = largestGaps(buffers, size, count);
  set("gap_offsets", offsets);
  set("gap_bytes", bytes);
}

void CollectStepsPass::runOnOperation() {
  auto main = getOperation().lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return;
  Builder builder(&getContext());
  SmallVector<Attribute> steps;
  llvm::DenseMap<Operation *, Span> spans;
  if (failed(collect(main.getBody().front(), steps, spans)))
    return signalPassFailure();
  if (steps.empty())
    return;
  setManifest(getOperation(), "steps", builder.getArrayAttr(steps));
  for (BlockArgument argument : main.getArguments())
    if (main.getArgAttr(argument.getArgNumber(), tcp::kArenaAttr))
      describeArena(argument, steps.size(), spans);
}
