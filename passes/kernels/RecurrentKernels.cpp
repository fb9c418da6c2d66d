// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/RecurrentKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

/// Threads of a warp, and maximum warps of a block: two registers of w and one of anything else fit
/// for each thread.
static constexpr int64_t kWarp = 32, kMostWarps = 16;
/// Maximum blocks of a cluster on every GPU, and maximum shared memory without clusters: that of
/// sm_86.
static constexpr int64_t kLargestCluster = 8, kSharedBytes = 99 << 10;
/// Number of kernels that compute all steps.
static constexpr size_t kMostLoops = 2;
/// Estimated cycles of a step: bytes of shared memory per cycle; a barrier of a block and of a
/// cluster, with the writes to the other blocks.
static constexpr int64_t kBytesPerCycle = 128, kBarrier = 60, kClusterBarrier = 600;

namespace {

/// A graph of one recurrent layer.
struct Layer {
  GraphOp graph;
  RecurrentOp op;

  Type element() { return op.getGiven().getType().getElementType(); }
  int64_t trips() { return op.getY().getType().getShape()[0]; }
  int64_t rows() { return op.getY().getType().getShape()[1]; }
  int64_t size() { return op.getY().getType().getShape()[2]; }
  int64_t gates() { return RecurrentOp::getGates(op.getMode()); }
  device::RecurrentTile tile() { return {word(element().getIntOrFloatBitWidth() / 8)}; }
  /// States of a group of columns, number of groups, and of eight sequences.
  int64_t units() { return tile().units(word(gates())); }
  int64_t groups() { return llvm::divideCeil(size(), units()); }
  int64_t batches() { return llvm::divideCeil(rows(), device::kRecurrentRows); }
  /// Steps of a sum.
  int64_t steps() { return llvm::divideCeil(size(), tile().step()); }
};

} // namespace

static device::RecurrentMode modeOf(RecurrentMode mode) {
  switch (mode) {
  case RecurrentMode::RnnRelu:
    return device::kRnnRelu;
  case RecurrentMode::RnnTanh:
    return device::kRnnTanh;
  case RecurrentMode::Lstm:
    return device::kLstm;
  case RecurrentMode::Gru:
    return device::kGru;
  }
  llvm_unreachable("all modes have a case");
}

/// A call of `function` with everything but the launch.
static Variant variantOf(Layer layer, StringRef function, int64_t warps, int64_t groups,
                         int64_t split) {
  RecurrentOp op = layer.op;
  auto place = [](Value value) {
    return value ? std::optional(placeOf(value)) : std::optional<unsigned>();
  };
  Variant variant;
  variant.function = llvm::formatv("convoy_{0}_{1}", function, libraryName(layer.element()));
  unsigned first = layer.graph.getNumArguments();
  variant.tensors = {place(op.getGiven()),  place(op.getWeights()), place(op.getBias()),
                     place(op.getHidden()), place(op.getCell()),    first};
  variant.tensors.push_back(op.getLastCell() ? std::optional(first + 1) : std::nullopt);
  device::RecurrentArguments arguments = {};
  arguments.mode = modeOf(op.getMode());
  arguments.steps = word(layer.trips());
  arguments.rows = word(layer.rows());
  arguments.size = word(layer.size());
  arguments.reverse = op.getReverse();
  arguments.warps = word(warps);
  arguments.groups = word(groups);
  arguments.split = word(split);
  variant.setArguments(arguments);
  variant.threads = kWarp * warps;
  variant.residents = 1;
  return variant;
}

/// The kernel of runtime/device/recurrent_step.cu, which every GPU runs.
static Variant stepVariant(Layer layer) {
  // Each thread computes at most one number of the state.
  int64_t least = llvm::divideCeil(layer.units() * device::kRecurrentRows, kWarp),
          warps = std::clamp(layer.steps(), least, std::max(least, kMostWarps));
  Variant variant = variantOf(layer, "recurrent_step", warps, /*groups=*/1, /*split=*/1);
  variant.suffix = llvm::formatv("step_{0}", warps);
  variant.blocks = layer.groups() * layer.batches();
  variant.sharedBytes = std::min(warps, layer.steps()) * layer.tile().sumBytes();
  variant.launches = layer.trips();
  return variant;
}

/// The kernel of runtime/device/recurrent.cu with clusters of `split` blocks, and its estimated
/// cycles for a step; nothing if the weights do not fit.
static std::optional<std::pair<int64_t, Variant>> loopVariant(Layer layer, int64_t split) {
  int64_t groups = llvm::divideCeil(layer.groups(), split);
  if (groups > kMostWarps || split > layer.groups())
    return std::nullopt;
  int64_t warps = groups * std::min(kMostWarps / groups, layer.steps());
  device::RecurrentShared shared = {layer.tile(), word(layer.size()), word(layer.gates()),
                                    word(warps), word(groups)};
  if (groups * layer.units() * device::kRecurrentRows >
          device::kRecurrentMostStates * kWarp * warps ||
      shared.allBytes() > (split > 1 ? kSharedBytes90 : kSharedBytes))
    return std::nullopt;
  Variant variant = variantOf(layer, "recurrent", warps, groups, split);
  variant.suffix = llvm::formatv("{0}x{1}", split, warps);
  variant.blocks = split * layer.batches();
  variant.sharedBytes = shared.allBytes();
  variant.cluster = split;
  // Each warp reads its part of the state; sums are written and read.
  int64_t bytes = shared.weightBytes() + 2 * shared.sumsBytes() +
                  warps * shared.own() * device::kRecurrentRows * device::kRecurrentStepBytes;
  int64_t rounds = llvm::divideCeil(variant.blocks, kMultiprocessors90);
  return std::pair(rounds * (bytes / kBytesPerCycle + (split > 1 ? kClusterBarrier : kBarrier)),
                   std::move(variant));
}

SmallVector<Variant, 0> recurrentVariants(GraphOp graph, std::string &reason) {
  Block &body = graph.getBody().front();
  auto op = llvm::hasSingleElement(body.without_terminator()) ? dyn_cast<RecurrentOp>(body.front())
                                                              : RecurrentOp();
  if (!op) {
    reason = "it is not one recurrent layer";
    return {};
  }
  Layer layer{graph, op};
  auto isPacked = [](Type type) { return cast<TensorDescType>(type).isRowMajor(); };
  if (!llvm::all_of(graph.getArgumentTypes(), isPacked) ||
      !llvm::all_of(graph.getResultTypes(), isPacked)) {
    reason = "its tensors are not packed in the order of their dims";
    return {};
  }
  if (layer.size() % layer.tile().width() != 0) {
    reason = "rows of its state are not a multiple of 16 bytes";
    return {};
  }
  if (layer.trips() < 2) {
    reason = "it has less than two steps";
    return {};
  }
  SmallVector<std::pair<int64_t, Variant>, 0> loops;
  for (int64_t split = 1; split <= kLargestCluster; split *= 2)
    if (auto loop = loopVariant(layer, split)) {
      // The fastest ones first; of equal ones that of the fewest blocks.
      auto *place = llvm::upper_bound(loops, loop->first, [](int64_t cycles, const auto &other) {
        return cycles < other.first;
      });
      loops.insert(place, std::move(*loop));
    }
  if (loops.size() > kMostLoops)
    loops.resize(kMostLoops);
  SmallVector<Variant, 0> variants;
  for (auto &[cycles, variant] : loops)
    variants.push_back(std::move(variant));
  variants.push_back(stepVariant(layer));
  return variants;
}

} // namespace convoy
