// Graphs get the kernels of our own that compute them. The runtime chooses between these and cuDNN's plans as it chooses between plans.

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Passes.h"
#include "passes/kernels/ConvKernels.h"
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
  void runOnOperation() override;

private:
  LogicalResult attachTo(cudnn::GraphOp graph);
  void attach(cudnn::GraphOp graph, ArrayRef<Variant> variants, StringRef preference);
};

} // namespace

void AttachKernelsPass::attach(cudnn::GraphOp graph, ArrayRef<Variant> variants, StringRef preference) {
  OpBuilder builder(graph);
  SmallVector<Attribute> entries;
  for (const Variant &variant : variants)
    entries.push_back(writeVariant(builder, graph, variant, chip));
  graph->setAttr(cudnn::kKernelsAttr, builder.getArrayAttr(entries));
  graph->setAttr(cudnn::kPreferenceAttr, builder.getStringAttr(preference));
}

LogicalResult AttachKernelsPass::attachTo(cudnn::GraphOp graph) {
  std::string reason;
  auto wanted = graph->getAttrOfType<StringAttr>(cudnn::kPreferenceAttr);
  if (wanted && wanted.getValue() == cudnn::kOnlyKernel) {
    std::optional<Variant> stem = stemVariant(graph, reason);
    if (!stem)
      return graph.emitOpError("expects a form that there is a kernel for, because it is marked 'only_kernel', but ") << reason;
    attach(graph, *stem, cudnn::kOnlyKernel);
    return success();
  }
  std::optional<ConvGraph> form = matchConvGraph(graph, reason);
  SmallVector<Variant, 0> variants;
  if (form)
    variants = convVariants(*form);
  if (form && variants.empty())
    reason = "the convolution is large enough for cuDNN's kernels";
  if (!variants.empty())
    attach(graph, variants, isSmall(*form) ? "kernel" : "plan");
  else if (remarks)
    graph.emitRemark("no kernel of our own: ") << reason;
  return success();
}

void AttachKernelsPass::runOnOperation() {
  for (auto graph : llvm::make_early_inc_range(getOperation().getOps<cudnn::GraphOp>()))
    if (failed(attachTo(graph)))
      return signalPassFailure();
}
