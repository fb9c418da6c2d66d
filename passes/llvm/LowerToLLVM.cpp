// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The conversion of host code to the llvm dialect. Memrefs become bare pointers: all shapes are
// static, so descriptors are unnecessary.

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/Passes.h"
#include "passes/common/Buffers.h"
#include "passes/llvm/CudnnBackendToLLVM.h"

namespace convoy {
#define GEN_PASS_DEF_LOWERTOLLVMPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {
struct LowerToLLVMPass : public convoy::impl::LowerToLLVMPassBase<LowerToLLVMPass> {
  void runOnOperation() override;
};

/// Marks each memref argument with its size in bytes.
void markSizes(func::FuncOp function) {
  Builder builder(function.getContext());
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (type && type.hasStaticShape() && type.getElementType().isIntOrIndexOrFloat())
      function.setArgAttr(argument.getArgNumber(), "tcp.bytes",
                          builder.getI64IntegerAttr(convoy::packedBytes(type)));
  }
}

/// Makes unused memref arguments without elements one-dimensional. The LLVM type converter takes no
/// memref whose last dim is 0 and whose rank is 2 or more.
void flattenEmptyArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (auto type = dyn_cast<MemRefType>(argument.getType());
        type && type.hasStaticShape() && type.getNumElements() == 0 && argument.use_empty())
      argument.setType(MemRefType::get({0}, type.getElementType()));
  function.setType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(),
                                     function.getFunctionType().getResults()));
}
} // namespace

void LowerToLLVMPass::runOnOperation() {
  ModuleOp module = getOperation();
  // Expand bf16 conversions to integer arithmetic; they would be calls of compiler-rt. Nothing else
  // is expanded: LLVM vectorizes NaN-propagating maxima.
  RewritePatternSet expansions(&getContext());
  arith::populateExpandBFloat16Patterns(expansions);
  arith::populateCeilFloorDivExpandOpsPatterns(expansions);
  FrozenRewritePatternSet frozen(std::move(expansions));
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(applyPatternsGreedily(function, frozen)))
      return signalPassFailure();

  for (StringRef name : {"main", "prepare_weights"})
    if (auto function = module.lookupSymbol<func::FuncOp>(name);
        function && !function.isExternal()) {
      flattenEmptyArguments(function);
      markSizes(function);
    }
  convoy::lowerCudnnBackendFuncs(module);
  LowerToLLVMOptions options(&getContext());
  options.useBarePtrCallConv = true;
  LLVMTypeConverter converter(&getContext(), options);
  RewritePatternSet patterns(&getContext());
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  convoy::populateCudnnBackendToLLVMPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);

  LLVMConversionTarget target(getContext());
  target.addLegalDialect<gpu::GPUDialect>();
  target.addLegalOp<ModuleOp, gpu::GPUModuleOp>();
  target.markOpRecursivelyLegal<gpu::GPUModuleOp>();
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    return signalPassFailure();
  // Casts of i1 memrefs to i8; both have the same type now.
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts);

  // Symbols that the loader looks up stay visible: builders of graphs are public, and entry points
  // are added later.
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    bool own = function.getName() == "main" || function.getName() == "prepare_weights";
    if (!function.isExternal() &&
        (own || function.getVisibility() == SymbolTable::Visibility::Private)) {
      function.setVisibility(SymbolTable::Visibility::Public);
      function.setLinkage(LLVM::Linkage::Internal);
      function.setDsoLocal(true);
    }
  }
}
