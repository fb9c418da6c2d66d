// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Adds other ways to split or order the operations of a graph. Tuning measures which is fastest.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/fusion/GraphForm.h"
#include "passes/tcp_to_cudnn/ConvSums.h"
#include "passes/tcp_to_cudnn/GraphSteps.h"
#include "passes/tcp_to_cudnn/GraphTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace convoy {
#define GEN_PASS_DEF_CUDNNADDALTERNATIVESPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

namespace {

struct AddAlternativesPass
    : public convoy::impl::CudnnAddAlternativesPassBase<AddAlternativesPass> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override;
  void runOnOperation() override;

private:
  std::optional<SupportTable> table;
};

/// Operations that become one graph, in order.
using Part = SmallVector<Operation *>;

/// Creates the alternatives of one graph at the insertion point.
class Alternatives {
public:
  Alternatives(OpBuilder &builder, GraphOp graph, const SupportTable &table, GraphTable &graphs,
               bool allowTf32, bool remarks)
      : builder(builder), graph(graph), table(table), graphs(graphs), allowTf32(allowTf32),
        remarks(remarks) {}

  void add();
  /// Adds the alternative of a stem, for which cuDNN has no engine as a whole.
  void addToStem();

private:
  void addOrder(const GraphForm &form, bool biasFirst);
  /// Adds the ways to split `source`, which is the graph or a copy with reordered sums.
  void addCuts(GraphOp source, bool reordered);
  /// Adds an alternative with one step per part. `source` may have one argument more than the
  /// graph, which is zero.
  void addCut(GraphOp source, const GraphForm &form, ArrayRef<Part> parts);
  void write(StringRef name, GraphOp source, ArrayRef<CutGraph> steps);
  void remark(const Twine &what) {
    if (remarks)
      graph.emitRemark() << what;
  }

  OpBuilder &builder;
  GraphOp graph;
  const SupportTable &table;
  GraphTable &graphs;
  bool allowTf32, remarks;
  llvm::StringSet<> names;
};

/// A copy of a graph that is not in a module.
struct Detached {
  explicit Detached(GraphOp graph) : graph(cast<GraphOp>(graph->clone())) {}
  ~Detached() { graph->destroy(); }
  ConvolutionOp conv() { return *graph.getBody().front().getOps<ConvolutionOp>().begin(); }

  GraphOp graph;
};

} // namespace

/// The operations of `graph` except its constants.
static Part operationsOf(GraphOp graph) {
  Part ops;
  for (Operation &op : graph.getBody().front().without_terminator())
    if (!isa<ConstantOp>(op))
      ops.push_back(&op);
  return ops;
}

void Alternatives::write(StringRef name, GraphOp source, ArrayRef<CutGraph> steps) {
  Location loc = graph.getLoc();
  auto alternative = AlternativeOp::create(builder, loc, graph.getSymName(), name);
  Block &body = alternative.getBody().emplaceBlock();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&body);
  IRMapping values;
  for (BlockArgument argument : source.getArguments().take_front(graph.getNumArguments()))
    values.map(argument, body.addArgument(argument.getType(), loc));
  for (BlockArgument argument : source.getArguments().drop_front(graph.getNumArguments()))
    values.map(argument, ZerosOp::create(builder, loc, argument.getType()));
  for (const CutGraph &step : steps) {
    GraphOp inner = step.graph;
    SmallVector<Value> inputs =
        llvm::map_to_vector(step.inputs, [&](Value value) { return values.lookup(value); });
    auto op =
        StepOp::create(builder, inner.getLoc(), inner.getResultTypes(), inner.getSymName(), inputs);
    values.map(step.outputs, op.getOutputs());
  }
  auto results = llvm::map_to_vector(source.getBody().front().getTerminator()->getOperands(),
                                     [&](Value value) { return values.lookup(value); });
  ReturnOp::create(builder, loc, results);
}

void Alternatives::addCut(GraphOp source, const GraphForm &form, ArrayRef<Part> parts) {
  SmallVector<CutGraph> steps = cutGraph(builder, source, parts, form.query.dtype);
  SmallVector<std::string> patterns;
  std::string reason;
  for (CutGraph &step : steps) {
    std::string why;
    std::optional<GraphForm> part = matchGraph(step.graph, why);
    patterns.push_back(part ? part->pattern() : "");
    if (part)
      why = part->refuse(table).value_or("");
    if (reason.empty())
      reason = why;
  }
  std::string name = llvm::join(patterns, " | ");
  // A step without a role is a copy.
  bool isCopy = reason.empty() && llvm::is_contained(patterns, "");
  if (!reason.empty() || isCopy || !names.insert(name).second) {
    if (!reason.empty())
      remark("no alternative '" + name + "': " + reason);
    for (CutGraph &step : steps)
      step.graph.erase();
    return;
  }
  for (auto [step, pattern] : llvm::zip(steps, patterns))
    step.graph = graphs.share(step.graph, pattern);
  write(name, source, steps);
}

static bool isBias(const GraphStep &step) {
  return step.role && step.role->mode == PointwiseMode::Add && step.role->extent == Extent::Channel;
}

static Part opsOf(ArrayRef<GraphStep> steps) {
  return llvm::map_to_vector(steps, [](const GraphStep &step) -> Operation * { return step.op; });
}

/// Whether the operations after the anchor may be another graph.
static bool canBeCut(const GraphForm &form) {
  auto conv = dyn_cast_or_null<ConvolutionOp>(form.anchor);
  return form.isLinear() || (conv && conv.getMode() == ConvolutionMode::Dgrad);
}

void Alternatives::addCuts(GraphOp source, bool reordered) {
  std::string reason;
  std::optional<GraphForm> form = matchGraph(source, reason);
  assert(form && canBeCut(*form) && "a reordered graph has a form");
  Part before = opsOf(form->at(Position::Prologue)), after = opsOf(form->at(Position::Operand)),
       epilogue = opsOf(form->at(Position::Epilogue));
  bool biasFirst = !epilogue.empty() && isBias(form->at(Position::Epilogue).front());
  llvm::append_range(after, epilogue);
  llvm::sort(after, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  // The bias is next to the anchor, also if operations on other operands come before it.
  auto isReady = [&](Value value) {
    return !value.getDefiningOp() || value.getDefiningOp() == form->anchor;
  };
  biasFirst &= !epilogue.empty() && llvm::all_of(epilogue.front()->getOperands(), isReady);
  if (biasFirst) {
    auto *bias = llvm::find(after, epilogue.front());
    std::rotate(after.begin(), bias, bias + 1);
  }
  // Splits after the anchor and the next `count` operations. The rest stays together, because each
  // further split writes and reads the same values once more.
  auto addCutsAfter = [&](size_t count) {
    Part middle = {form->anchor};
    middle.append(after.begin(), after.begin() + count);
    Part rest(after.begin() + count, after.end());
    SmallVector<Part> parts = {middle};
    if (!rest.empty())
      parts.push_back(rest);
    SmallVector<Part> whole = parts;
    whole.front().insert(whole.front().begin(), before.begin(), before.end());
    if (whole.size() > 1 || reordered) // otherwise it is the graph itself
      addCut(source, *form, whole);
    if (!before.empty()) {
      parts.insert(parts.begin(), before);
      addCut(source, *form, parts);
    }
  };
  // After the anchor, and after a bias, which precompiled kernels of convolutions support. A graph
  // of pointwise operations is equally fast in any order.
  addCutsAfter(after.size());
  if (!after.empty() && !reordered)
    addCutsAfter(0);
  if (after.size() > 1 && biasFirst)
    addCutsAfter(1);
}

/// The reason why the bias must not precede residuals, or std::nullopt. The rows of the support
/// table are about graphs with residuals first.
static std::optional<StringRef> refuseBiasFirst(const GraphForm &form, bool allowTf32) {
  if (form.query.channelGroups == ChannelGroups::Depthwise)
    return "cuDNN's precompiled kernels for depthwise convolutions expect residuals first";
  if (form.query.anchor == Anchor::Conv3d && form.query.dtype.isF32() && !allowTf32)
    return "over three spatial dims in f32 all engines of cuDNN for this use TF32, which "
           "allow-tf32=false forbids";
  return std::nullopt;
}

void Alternatives::addOrder(const GraphForm &form, bool biasFirst) {
  Detached other(graph);
  if (!reorderSums(other.conv(), biasFirst))
    return;
  if (auto reason = biasFirst ? refuseBiasFirst(form, allowTf32) : std::nullopt)
    return remark("no alternative with the bias first: " + *reason);
  addCuts(other.graph, /*reordered=*/true);
}

void Alternatives::add() {
  std::string reason;
  std::optional<GraphForm> form = matchGraph(graph, reason);
  if (!form || !canBeCut(*form))
    return remark("no alternatives: " + (!form ? reason
                                         : form->anchor
                                             ? "a pooling or a gradient of weights cannot be split"
                                             : "the graph has no anchor"));
  names.insert(form->pattern());
  addCuts(graph, /*reordered=*/false);
  if (!form->isLinear() || !isa<ConvolutionOp>(form->anchor))
    return;
  for (bool biasFirst : {false, true})
    addOrder(*form, biasFirst);
  if (Detached other(graph);
      lacksBias(other.conv()) && succeeded(insertBias(other.graph, other.conv())))
    if (std::optional<GraphForm> wider = matchGraph(other.graph, reason))
      addCut(other.graph, *wider, operationsOf(other.graph));
}

void Alternatives::addToStem() {
  Detached source(graph);
  Block &body = source.graph.getBody().front();
  auto identity = dyn_cast<PointwiseOp>(body.front());
  auto pool = dyn_cast<ResampleOp>(*body.getTerminator()->getPrevNode());
  if (!identity || identity.getMode() != PointwiseMode::Identity || !pool)
    return remark("no alternatives: not a stem");
  auto imageType = cast<TensorDescType>(identity.getInputs()[0].getType());
  if (!imageType.getElementType().isF32() ||
      imageType.getElementType() != pool.getX().getType().getElementType())
    return remark(
        "no alternatives: stem kernels are faster than cuDNN's graphs; only f32 stems need "
        "an alternative without TF32");
  // The convolution reads the channels-first image. It is slow, but has engines that do not use
  // TF32, which the stem's kernels do.
  identity.getY().replaceAllUsesWith(identity.getInputs()[0]);
  identity.erase();
  Part first = operationsOf(source.graph);
  Part last = {first.pop_back_val()};
  SmallVector<CutGraph> steps =
      cutGraph(builder, source.graph, {first, last}, imageType.getElementType());
  std::string reason;
  std::optional<GraphForm> form = matchGraph(steps.front().graph, reason);
  if (!form || !form->isLinear()) {
    for (CutGraph &step : steps)
      step.graph.erase();
    return remark("no alternatives: " + (form ? "not a stem" : reason));
  }
  steps[0].graph = graphs.share(steps[0].graph, form->pattern());
  steps[1].graph = graphs.share(steps[1].graph, "max_pool");
  write(form->pattern() + " | max_pool", source.graph, steps);
}

LogicalResult AddAlternativesPass::initialize(MLIRContext *context) {
  std::string error;
  table = SupportTable::load(supportTable, allowTf32, error);
  return table ? success() : emitError(UnknownLoc::get(context), error);
}

void AddAlternativesPass::runOnOperation() {
  GraphTable graphs(getOperation());
  SmallVector<GraphOp> called(getOperation().getOps<GraphOp>());
  OpBuilder builder(&getContext());
  // After all other graphs, so that those have the first numbers in the manifest.
  if (!called.empty())
    builder.setInsertionPointAfter(called.back());
  for (GraphOp graph : called) {
    auto isPlain = [](ArrayAttr attributes) {
      return !attributes || llvm::all_of(attributes.getAsRange<DictionaryAttr>(),
                                         [](DictionaryAttr each) { return each.empty(); });
    };
    // Steps do not support uids, numbers by value and ragged tensors.
    if (!isPlain(graph.getArgAttrsAttr()) || !isPlain(graph.getResAttrsAttr()))
      continue;
    Alternatives alternatives(builder, graph, *table, graphs, allowTf32, remarks);
    if (getPreference(graph) == Preference::OnlyKernel &&
        !isa<ConvolutionOp>(graph.getBody().front().front()))
      alternatives.addToStem();
    else
      alternatives.add();
  }
}
