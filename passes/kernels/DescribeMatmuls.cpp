// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Describes graphs that are one matrix product with an epilogue of cuBLASLt, so that tuning can
// choose between cuBLASLt, cuDNN's plans and kernels.

#include "passes/Passes.h"
#include "passes/kernels/MatmulGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {
#define GEN_PASS_DEF_DESCRIBEMATMULSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct DescribeMatmulsPass : public convoy::impl::DescribeMatmulsPassBase<DescribeMatmulsPass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

/// Returns the name of cuBLASLt's activation. If it has none, sets `reason`.
static StringRef activationOf(const MatmulGraph &form, std::string &reason) {
  bool isRelu = form.lower == 0.0 && form.upper == std::numeric_limits<double>::infinity();
  if (form.early)
    reason = "the activation is not the last operation";
  else if (form.isClipped() && (!isRelu || form.activation != device::kIdentity))
    reason = "relu has an upper bound, a lower one other than 0, or follows another activation";
  else if (form.activation != device::kIdentity && form.activation != device::kGeluTanh)
    reason = "the activation is not relu or the form of gelu with tanh";
  else
    return isRelu ? "relu" : form.activation == device::kGeluTanh ? "gelu_tanh" : "none";
  return "";
}

/// Returns the graph's matrix product for the manifest. If cuBLASLt cannot compute the graph, sets
/// `reason` and returns null.
static DictionaryAttr describe(cudnn::GraphOp graph, std::string &reason) {
  std::optional<MatmulGraph> form = matchMatmulGraph(graph, reason);
  if (!form)
    return nullptr;
  StringRef activation = activationOf(*form, reason);
  if (activation.empty())
    return nullptr;
  if (form->scale || form->gates) {
    reason = form->scale ? "there is a scale" : "its result is multiplied by a matrix";
    return nullptr;
  }
  if ((form->bias || form->residual) && form->resultType != form->element()) {
    reason = "the bias or the residual does not have the result's element type";
    return nullptr;
  }
  Builder builder(graph.getContext());
  SmallVector<NamedAttribute> entry{
      builder.getNamedAttr("activation", builder.getStringAttr(activation))};
  auto add = [&](StringRef name, std::optional<unsigned> place) {
    if (place)
      entry.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(*place)));
  };
  add("left", placeOf(form->matmul.getA()));
  add("right", placeOf(form->matmul.getB()));
  add("bias", form->bias);
  add("residual", form->residual);
  return builder.getDictionaryAttr(entry);
}

void DescribeMatmulsPass::runOnOperation() {
  for (auto graph : getOperation().getOps<cudnn::GraphOp>()) {
    std::string reason;
    if (DictionaryAttr matmul = describe(graph, reason))
      graph->setAttr(cudnn::kMatmulAttr, matmul);
    else if (remarks)
      graph.emitRemark("not for cuBLASLt: ") << reason;
  }
}
