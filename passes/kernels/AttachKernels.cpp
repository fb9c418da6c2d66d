// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attaches Convoy's kernels to the graphs that they can compute. Tuning chooses between kernels and
// cuDNN's plans.

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Passes.h"
#include "passes/kernels/AttentionKernels.h"
#include "passes/kernels/Conv1x1WgmmaKernels.h"
#include "passes/kernels/ConvFewFiltersKernels.h"
#include "passes/kernels/ConvKernels.h"
#include "passes/kernels/ConvNarrowKernels.h"
#include "passes/kernels/ConvTmaKernels.h"
#include "passes/kernels/ConvWgmmaKernels.h"
#include "passes/kernels/DepthwiseKernels.h"
#include "passes/kernels/GroupedKernels.h"
#include "passes/kernels/MatmulKernels.h"
#include "passes/kernels/MatmulWgmmaKernels.h"
#include "passes/kernels/MeanKernels.h"
#include "passes/kernels/RecurrentKernels.h"
#include "passes/kernels/StemKernels.h"

namespace convoy {
#define GEN_PASS_DEF_ATTACHKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using convoy::cudnn::Preference;

namespace {

struct AttachKernelsPass : public convoy::impl::AttachKernelsPassBase<AttachKernelsPass> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override {
    return verifyChipOption(chip, context);
  }
  void runOnOperation() override;

private:
  LogicalResult attachTo(cudnn::GraphOp graph);
  bool attach(cudnn::GraphOp graph, SmallVector<Variant, 0> variants, Preference preference,
              std::string &reason);
};

/// A function that offers kernels for graphs whose first operation is `anchor`. If there are none,
/// it sets `reason`.
struct Offerer {
  StringRef anchor;
  Offer (*offer)(cudnn::GraphOp, bool allowTf32, std::string &reason);
};

} // namespace

/// Kernels of conv_tma.cu: of a small convolution only the best tile, because more would take
/// longer to compile and to tune.
static SmallVector<Variant, 0> fewConvTmaVariants(const ConvGraph &form, std::string &reason) {
  SmallVector<Variant, 0> variants = convTmaVariants(form, reason);
  if (isSmall(form))
    variants.truncate(std::min<size_t>(variants.size(), 1));
  return variants;
}

/// Whether steps and tiles of conv_tma.cu are full. Then its first variant was faster than cuDNN's
/// first plan for 164 of 188 large convolutions on an H100 (3354 and 3781 us together), otherwise
/// for 4 of 13.
static bool hasFullSteps(const ConvGraph &form) {
  cudnn::ConvolutionOp conv = form.conv;
  return conv.getX().getType().getShape()[1] >= 64 && conv.getW().getType().getShape()[0] >= 64;
}

/// Kernels that keep a part of the image in shared memory are best for few channels per group, and
/// products for many.
static Offer offerGrouped(const ConvGraph &form, std::string &reason) {
  SmallVector<Variant, 0> windows = fewConvTmaVariants(form, reason);
  Offer offer = groupedOffer(form, reason);
  SmallVector<Variant, 0> products = convVariants(form);
  if (offer.isPreferred) {
    llvm::append_range(offer.variants, products);
  } else {
    llvm::append_range(products, offer.variants);
    offer = {std::move(products), true};
  }
  llvm::append_range(offer.variants, windows);
  return offer;
}

/// Kernels that need channels and filters of whole pieces of 16 bytes, or a depthwise convolution.
static Offer offerWholePieces(const ConvGraph &form, std::string &reason) {
  if (form.isDepthwise())
    return {depthwiseVariants(form, reason), true};
  if (form.spatialRank() == 3)
    return {fewConvTmaVariants(form, reason), false};
  if (form.hasGroups())
    return offerGrouped(form, reason);
  SmallVector<Variant, 0> products = fewConvTmaVariants(form, reason);
  if (isSmall(form)) {
    Offer offer = {convVariants(form), true};
    llvm::append_range(offer.variants, products);
    return offer;
  }
  SmallVector<Variant, 0> large = conv1x1WgmmaVariants(form);
  if (large.empty())
    large = convWgmmaVariants(form, reason);
  reason =
      "the convolution is large enough for cuDNN's kernels, and no kernel for sm_90a applies: " +
      reason;
  // The kernels for any GPU are slower than conv_tma.cu.
  SmallVector<Variant, 0> others = convVariants(form);
  Offer offer = {{}, others.empty() && !large.empty()};
  if (!products.empty() && !offer.isPreferred && hasFullSteps(form)) {
    offer = {std::move(products), true};
    llvm::append_range(offer.variants, large);
    return offer;
  }
  if (products.empty())
    offer.variants = std::move(others);
  llvm::append_range(offer.variants, large);
  llvm::append_range(offer.variants, products);
  return offer;
}

static Offer offerConv(cudnn::GraphOp graph, bool allowTf32, std::string &reason) {
  std::optional<ConvGraph> form = matchConvGraph(graph, allowTf32, reason);
  if (!form)
    return {};
  SmallVector<Variant, 0> few, narrow;
  if (form->hasFewFilters())
    few = convFewFiltersVariants(*form, reason);
  else if (form->isNarrow())
    narrow = convNarrowVariants(*form, reason);
  Offer offer = {std::move(few), true};
  if (form->isDepthwise() || form->hasWholePieces()) {
    Offer others = offerWholePieces(*form, reason);
    offer.isPreferred = !offer.variants.empty() || others.isPreferred;
    llvm::append_range(offer.variants, others.variants);
  }
  llvm::append_range(offer.variants, narrow);
  return offer;
}

static Offer offerMatmul(cudnn::GraphOp graph, bool, std::string &reason) {
  if (std::optional<AttentionGraph> attention = matchAttentionGraph(graph))
    return offerAttention(*attention, reason);
  std::optional<MatmulGraph> form = matchMatmulGraph(graph, reason);
  if (!form || !fitsKernels(*form, reason))
    return {};
  if (form->rows() <= device::kMatmulMostRows)
    return {matmulVariants(*form), true};
  return {matmulWgmmaVariants(*form, reason), false};
}

static const Offerer kOfferers[] = {
    {cudnn::ConvolutionOp::getOperationName(), offerConv},
    {cudnn::MatmulOp::getOperationName(), offerMatmul},
    {cudnn::ResampleOp::getOperationName(), offerMean},
};

/// Attaches the variants that run on `chip` or newer GPUs. Returns false if there are none, and
/// sets `reason` if there are only variants for older GPUs.
bool AttachKernelsPass::attach(cudnn::GraphOp graph, SmallVector<Variant, 0> variants,
                               Preference preference, std::string &reason) {
  auto isOld = [&](const Variant &variant) { return !runsFrom(variant, chip); };
  if (!variants.empty() && llvm::all_of(variants, isOld))
    reason = "its kernels are for " + variants.front().onlyChip.str() +
             " only, but the program is for " + chip.getValue() + " and newer";
  llvm::erase_if(variants, isOld);
  if (variants.empty())
    return false;
  OpBuilder builder(graph);
  SmallVector<Attribute> entries;
  for (const Variant &variant : variants)
    entries.push_back(writeVariant(builder, graph, variant, chip));
  graph->setAttr(cudnn::kKernelsAttr, builder.getArrayAttr(entries));
  setPreference(graph, preference);
  return true;
}

LogicalResult AttachKernelsPass::attachTo(cudnn::GraphOp graph) {
  std::string reason;
  if (getPreference(graph) == Preference::OnlyKernel) {
    Operation &first = graph.getBody().front().front();
    SmallVector<Variant, 0> variants;
    if (isa<cudnn::RecurrentOp>(first))
      variants = recurrentVariants(graph, reason);
    else if (isa<cudnn::ConvolutionOp>(first))
      variants = offerConv(graph, allowTf32, reason).variants;
    else
      variants = stemVariants(graph, reason);
    if (!attach(graph, std::move(variants), Preference::OnlyKernel, reason))
      return graph.emitOpError("expects a form with a kernel, because it is marked 'only_kernel', "
                               "but ")
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
    reason = "it does not begin with a convolution, matrix product or pooling";
  if (!attach(graph, std::move(found.variants),
              found.isPreferred ? Preference::Kernel : Preference::Plan, reason) &&
      remarks)
    graph.emitRemark("no kernel: ") << reason;
  return success();
}

void AttachKernelsPass::runOnOperation() {
  // A kernel for a whole graph is faster than a kernel for a part of it and a step for the rest.
  llvm::DenseSet<StringAttr> steps;
  getOperation().walk([&](cudnn::StepOp step) { steps.insert(step.getGraphAttr().getAttr()); });
  getOperation().walk([&](cudnn::ExecuteOp call) { steps.erase(call.getGraphAttr().getAttr()); });
  for (auto graph : llvm::make_early_inc_range(getOperation().getOps<cudnn::GraphOp>()))
    if (!steps.contains(graph.getSymNameAttr()) && failed(attachTo(graph)))
      return signalPassFailure();
}
