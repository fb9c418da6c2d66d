// Which operations of a group belong into one graph is a guess that only the GPU can judge, so
// other ways are offered beside it.

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

/// Makes the alternatives of one graph, at the builder's place.
class Alternatives {
public:
  Alternatives(OpBuilder &builder, GraphOp graph, const SupportTable &table, GraphTable &graphs,
               bool allowTf32, bool remarks)
      : builder(builder), graph(graph), table(table), graphs(graphs), allowTf32(allowTf32),
        remarks(remarks) {}

  void add();
  /// The same of a stem, which cuDNN has no engine for as a whole.
  void addToStem();

private:
  void addOrder(const GraphForm &form, bool biasFirst);
  /// `source` is the graph, or has the sums that follow its convolution in another order.
  void addCuts(GraphOp source, bool reordered);
  /// Of the arguments of `source` the last one may be one more than the graph has, which is zero.
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

/// A graph that is no part of a module.
struct Detached {
  explicit Detached(GraphOp graph) : graph(cast<GraphOp>(graph->clone())) {}
  ~Detached() { graph->destroy(); }
  ConvolutionOp conv() { return *graph.getBody().front().getOps<ConvolutionOp>().begin(); }

  GraphOp graph;
};

} // namespace

/// The operations of `graph` but its constants.
static Part allOf(GraphOp graph) {
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

void Alternatives::addCuts(GraphOp source, bool reordered) {
  std::string reason;
  std::optional<GraphForm> form = matchGraph(source, reason);
  assert(form && form->isLinear() && "a graph with the same operations has a form");
  Part before = opsOf(form->at(Position::Prologue)), after = opsOf(form->at(Position::Operand)),
       epilogue = opsOf(form->at(Position::Epilogue));
  bool biasFirst = !epilogue.empty() && isBias(form->at(Position::Epilogue).front());
  llvm::append_range(after, epilogue);
  llvm::sort(after, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  // `count` operations after the anchor stay with it, and the rest stays together: more cuts would
  // only move the same values through memory once more.
  auto addCutsAfter = [&](size_t count) {
    Part middle = {form->anchor};
    middle.append(after.begin(), after.begin() + count);
    Part rest(after.begin() + count, after.end());
    SmallVector<Part> parts = {middle};
    if (!rest.empty())
      parts.push_back(rest);
    SmallVector<Part> whole = parts;
    whole.front().insert(whole.front().begin(), before.begin(), before.end());
    if (whole.size() > 1 || reordered) // else it is the graph itself
      addCut(source, *form, whole);
    if (!before.empty()) {
      parts.insert(parts.begin(), before);
      addCut(source, *form, parts);
    }
  };
  // Behind the anchor alone, and behind a bias, which precompiled kernels of convolutions take.
  // Pointwise operations alone are as fast in any order.
  addCutsAfter(after.size());
  if (!after.empty() && !reordered)
    addCutsAfter(0);
  if (after.size() > 1 && biasFirst && after.front() == epilogue.front())
    addCutsAfter(1);
}

/// Why the bias does not go before residuals; nothing where it may. The rows of the support table
/// are about graphs with residuals first.
static std::optional<StringRef> refuseBiasFirst(const GraphForm &form, bool allowTf32) {
  if (form.query.channelGroups == ChannelGroups::Depthwise)
    return "the precompiled kernels that cuDNN has for groups of one channel want residuals first";
  if (form.query.anchor == Anchor::Conv3d && form.query.dtype.isF32() && !allowTf32)
    return "over three spatial dims in f32 every engine of cuDNN for this uses TF32, which "
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
  if (!form || !form->isLinear())
    return remark("no alternatives: " + (!form          ? reason
                                         : form->anchor ? "a pooling is a graph alone"
                                                        : "it is pointwise operations alone"));
  names.insert(form->pattern());
  addCuts(graph, /*reordered=*/false);
  if (!isa<ConvolutionOp>(form->anchor))
    return;
  for (bool biasFirst : {false, true})
    addOrder(*form, biasFirst);
  if (Detached other(graph);
      wantsBias(other.conv()) && succeeded(insertBias(other.graph, other.conv())))
    if (std::optional<GraphForm> wider = matchGraph(other.graph, reason))
      addCut(other.graph, *wider, allOf(other.graph));
}

void Alternatives::addToStem() {
  Detached source(graph);
  Block &body = source.graph.getBody().front();
  auto identity = dyn_cast<PointwiseOp>(body.front());
  auto pool = dyn_cast<ResampleOp>(*body.getTerminator()->getPrevNode());
  if (!identity || identity.getMode() != PointwiseMode::Identity || !pool)
    return remark("no alternatives: it is no stem");
  auto imageType = cast<TensorDescType>(identity.getInputs()[0].getType());
  if (!imageType.getElementType().isF32() ||
      imageType.getElementType() != pool.getX().getType().getElementType())
    return remark("no alternatives: the kernels of a stem are faster than cuDNN's graphs, and only "
                  "those in f32 use TF32, which may be forbidden");
  // The convolution reads the image in planes. That takes long, but there are engines for it that
  // use no TF32, and the kernels use it.
  identity.getY().replaceAllUsesWith(identity.getInputs()[0]);
  identity.erase();
  Part first = allOf(source.graph);
  Part last = {first.pop_back_val()};
  SmallVector<CutGraph> steps =
      cutGraph(builder, source.graph, {first, last}, imageType.getElementType());
  std::string reason;
  std::optional<GraphForm> form = matchGraph(steps.front().graph, reason);
  if (!form || !form->isLinear()) {
    for (CutGraph &step : steps)
      step.graph.erase();
    return remark("no alternatives: " + (form ? "it is no stem" : reason));
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
  // Behind all others, so that theirs are the first numbers in the manifest.
  if (!called.empty())
    builder.setInsertionPointAfter(called.back());
  for (GraphOp graph : called) {
    auto isPlain = [](ArrayAttr attributes) {
      return !attributes || llvm::all_of(attributes.getAsRange<DictionaryAttr>(),
                                         [](DictionaryAttr each) { return each.empty(); });
    };
    // Alternatives say nothing of uids, numbers by value and ragged tensors.
    if (!isPlain(graph.getArgAttrsAttr()) || !isPlain(graph.getResAttrsAttr()))
      continue;
    Alternatives alternatives(builder, graph, *table, graphs, allowTf32, remarks);
    if (getPreference(graph) == Preference::OnlyKernel)
      alternatives.addToStem();
    else
      alternatives.add();
  }
}
