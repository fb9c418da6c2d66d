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

namespace convoy {
#define GEN_PASS_DEF_COLLECTSTEPSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct CollectStepsPass : public convoy::impl::CollectStepsPassBase<CollectStepsPass> {
  void runOnOperation() override;
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

/// The steps of an op of @main: the first, and the one after the last.
using Span = std::pair<size_t, size_t>;

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

/// The steps during which a buffer lives, as a `Span`.
struct Lifetime {
  int64_t bytes;
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

/// The bytes of `arena` that are live during each of `count` steps. A buffer lives from the first
/// step that uses it to the last one; `outputs`, which are in the arena, live to the end.
SmallVector<int64_t> liveBytes(BlockArgument arena, ArrayRef<BlockArgument> outputs, size_t count,
                               const llvm::DenseMap<Operation *, Span> &spans) {
  Block &block = *arena.getOwner();
  llvm::MapVector<int64_t, Lifetime> buffers;
  for (Operation *view : arena.getUsers()) {
    auto buffer = view->getAttrOfType<DenseI64ArrayAttr>(tcp::kBufferAttr);
    if (!buffer || buffer.size() != 2)
      continue; // hand-written
    auto [number, bytes] = std::pair(buffer[0], buffer[1]);
    Lifetime &lifetime = buffers.try_emplace(number, Lifetime{bytes, count, 0}).first->second;
    lifetime.add(view->getResult(0), block, spans);
  }
  for (BlockArgument output : outputs) {
    Lifetime lifetime{packedBytes(cast<MemRefType>(output.getType())), count, count};
    lifetime.add(output, block, spans);
    buffers.insert({-1 - static_cast<int64_t>(output.getArgNumber()), lifetime});
  }
  SmallVector<int64_t> changes(count + 1, 0);
  for (const Lifetime &lifetime : llvm::make_second_range(buffers)) {
    if (lifetime.first >= lifetime.last)
      continue;
    changes[lifetime.first] += lifetime.bytes;
    changes[lifetime.last] -= lifetime.bytes;
  }
  changes.pop_back();
  std::partial_sum(changes.begin(), changes.end(), changes.begin());
  return changes;
}

} // namespace

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
  SmallVector<BlockArgument> outputs;
  if (getManifest(getOperation(), "output_offsets"))
    for (BlockArgument argument : main.getArguments())
      if (main.getArgAttr(argument.getArgNumber(), tcp::kOutputAttr))
        outputs.push_back(argument);
  for (BlockArgument argument : main.getArguments())
    if (main.getArgAttr(argument.getArgNumber(), tcp::kArenaAttr))
      setManifest(getOperation(), "live",
                  builder.getI64ArrayAttr(liveBytes(argument, outputs, steps.size(), spans)));
}
