// Checks kernels in the llvm dialect before they are linked with the library and become PTX.

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelLibrary.h"

namespace convoy {
#define GEN_PASS_DEF_VERIFYKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct VerifyKernelsPass : public convoy::impl::VerifyKernelsPassBase<VerifyKernelsPass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

void VerifyKernelsPass::runOnOperation() {
  // PTX is linked with the library of kernels and nothing else; a symbol without a body fails only
  // on the device.
  getOperation().walk([&](LLVM::CallOp call) {
    auto callee = call.getCallee()
                      ? getOperation().lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee())
                      : nullptr;
    if (callee && (!callee.isExternal() || callee.getName().starts_with(convoy::kLibraryPrefix)))
      return;
    call.emitOpError("expects functions that the kernels' own module defines, but got '")
        << call.getCallee().value_or("a pointer") << "'";
    signalPassFailure();
  });
}
