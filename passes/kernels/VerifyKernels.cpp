// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks kernels in the llvm dialect before they are linked with the kernel library and compiled.

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
  // PTX is linked only with the kernel library; a symbol without a body would fail on the device.
  getOperation().walk([&](LLVM::CallOp call) {
    auto callee = call.getCallee()
                      ? getOperation().lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee())
                      : nullptr;
    if (callee && (!callee.isExternal() || callee.getName().starts_with(convoy::kLibraryPrefix)))
      return;
    call.emitOpError("expects functions defined in the kernels' module, but got '")
        << call.getCallee().value_or("a pointer") << "'";
    signalPassFailure();
  });
}
