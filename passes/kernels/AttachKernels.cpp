// Graphs get the kernels of our own that compute them. The runtime chooses between these and
// cuDNN's plans as it chooses between plans.

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Passes.h"
#include "passes/kernels/Conv1x1WgmmaKernels.h"
#include "passes/kernels/ConvKernels.h"
#include "passes/kernels/ConvWgmmaKernels.h"
#include "passes/kernels/MatmulKernels.h"
#include "passes/kernels/MeanKernels.h"
#include "passes/kernels/StemKernels.h"

namespace convoy {
#define GEN_PASS_DEF_ATTACHKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct AttachKernelsPass : public convoy::impl::AttachKernelsPassBase<AttachKernelsPass> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override {
    return verifyChipOption(chip, context);
  }
  void runOnOperation() override;

private:
  LogicalResult attachTo(cudnn::GraphOp graph);
  bool attach(cudnn::GraphOp graph, SmallVector<Variant, 0> variants, StringRef preference,
              std::string &reason);
};

/// Who offers kernels to graphs whose first operation is `anchor`: none, with the reason, where
/// there are none.
struct Offerer {
  StringRef anchor;
  Offer (*offer)(cudnn::GraphOp, bool allowTf32, std::string &reason);
};

} // namespace

static Offer offerConv(cudnn::GraphOp graph, bool allowTf32, std::string &reason) {
  std::optional<ConvGraph> form = matchConvGraph(graph, allowTf32, reason);
  if (!form)
    return {};
  Offer offer = {convVariants(*form), isSmall(*form)};
  if (offer.isPreferred)
    return offer;
  SmallVector<Variant, 0> large = conv1x1WgmmaVariants(*form);
  if (large.empty())
    large = convWgmmaVariants(*form, reason);
  reason =
      "the convolution is large enough for cuDNN's kernels, and none for sm_90a's tensor cores: " +
      reason;
  // Of those for any GPU, none is better than cuDNN's plans here.
  offer.isPreferred = offer.variants.empty();
  llvm::append_range(offer.variants, large);
  return offer;
}

static Offer offerMatmul(cudnn::GraphOp graph, bool, std::string &reason) {
  std::optional<MatmulGraph> form = matchMatmulGraph(graph, reason);
  return form ? Offer{matmulVariants(*form), true} : Offer();
}

static const Offerer kOfferers[] = {
    {cudnn::ConvolutionOp::getOperationName(), offerConv},
    {cudnn::MatmulOp::getOperationName(), offerMatmul},
    {cudnn::ResampleOp::getOperationName(), offerMean},
};

/// Attaches those of the variants that a GPU of `chip` or newer runs; false when there are none,
/// with the reason where there were others.
bool AttachKernelsPass::attach(cudnn::GraphOp graph, SmallVector<Variant, 0> variants,
                               StringRef preference, std::string &reason) {
  auto isOld = [&](const Variant &variant) { return !runsFrom(variant, chip); };
  if (!variants.empty() && llvm::all_of(variants, isOld))
    reason = "its kernels are for " + variants.front().onlyChip.str() +
             " alone, and the program for " + chip.getValue() + " and newer";
  llvm::erase_if(variants, isOld);
  if (variants.empty())
    return false;
  OpBuilder builder(graph);
  SmallVector<Attribute> entries;
  for (const Variant &variant : variants)
    entries.push_back(writeVariant(builder, graph, variant, chip));
  graph->setAttr(cudnn::kKernelsAttr, builder.getArrayAttr(entries));
  graph->setAttr(cudnn::kPreferenceAttr, builder.getStringAttr(preference));
  return true;
}

LogicalResult AttachKernelsPass::attachTo(cudnn::GraphOp graph) {
  std::string reason;
  auto wanted = graph->getAttrOfType<StringAttr>(cudnn::kPreferenceAttr);
  if (wanted && wanted.getValue() == cudnn::kOnlyKernel) {
    if (!attach(graph, stemVariants(graph, reason), cudnn::kOnlyKernel, reason))
      return graph.emitOpError("expects a form that there is a kernel for, because it is marked "
                               "'only_kernel', but ")
             << reason;
    return success();
  }
  StringRef anchor = graph.getBody().front().front().getName().getStringRef();
  const auto *offerer =
      llvm::find_if(kOfferers, [&](const Offerer &each) { return each.anchor == anchor; });
  Offer found;
  if (offerer != std::end(kOfferers))
    found = offerer->offer(graph, allowTf32, reason);
  else
    reason = "it begins with none of convolution, matrix product and pooling";
  if (!attach(graph, std::move(found.variants), found.isPreferred ? "kernel" : "plan", reason) &&
      remarks)
    graph.emitRemark("no kernel of our own: ") << reason;
  return success();
}

void AttachKernelsPass::runOnOperation() {
  // A kernel of a whole graph is faster than one of a part and a step for the rest.
  llvm::DenseSet<StringAttr> steps;
  getOperation().walk([&](cudnn::StepOp step) { steps.insert(step.getGraphAttr().getAttr()); });
  getOperation().walk([&](cudnn::ExecuteOp call) { steps.erase(call.getGraphAttr().getAttr()); });
  for (auto graph : llvm::make_early_inc_range(getOperation().getOps<cudnn::GraphOp>()))
    if (!steps.contains(graph.getSymNameAttr()) && failed(attachTo(graph)))
      return signalPassFailure();
}
