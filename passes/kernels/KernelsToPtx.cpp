// Kernels become PTX, linked with the library of functions that some of them call.

#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelLibrary.h"

namespace convoy {
#define GEN_PASS_DEF_KERNELSTOPTXPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct KernelsToPtxPass : public convoy::impl::KernelsToPtxPassBase<KernelsToPtxPass> {
  using Base::Base;
  void runOnOperation() override;
};

/// The library as an attribute. It does not own the bytes, which live as long as the program.
Attribute libraryBlob(MLIRContext *context) {
  ArrayRef<char> bytes = kernelLibrary();
  auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())}, IntegerType::get(context, 8));
  return DenseResourceElementsAttr::get(type, "convoy_device", UnmanagedAsmResourceBlob::allocateInferAlign(bytes));
}

} // namespace

void KernelsToPtxPass::runOnOperation() {
  Attribute library = libraryBlob(&getContext());
  gpu::TargetOptions options(/*toolkitPath=*/{}, library, /*cmdOptions=*/{}, /*elfSection=*/{}, gpu::CompilationTarget::Assembly);
  if (failed(gpu::transformGpuModulesToBinaries(getOperation(), nullptr, options)))
    return signalPassFailure();
  // PTX is not linked again: a function without a body would fail on the device, at the first load.
  for (auto binary : getOperation().getOps<gpu::BinaryOp>())
    for (Attribute object : binary.getObjects())
      if (cast<gpu::ObjectAttr>(object).getObject().getValue().contains(".extern .func")) {
        binary.emitOpError("expects kernels that call nothing but the library of kernels, but a function has no body");
        return signalPassFailure();
      }
}
