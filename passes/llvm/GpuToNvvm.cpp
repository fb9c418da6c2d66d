// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device part of phase llvm. The upstream conversion lowers math to calls of libdevice, which
// only the CUDA toolkit has, and LLVM's NVPTX backend aborts on math intrinsics that the hardware
// lacks. So this conversion only lowers math ops that are instructions, and reports an error with
// the source location for all others.

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/llvm/GpuQuotients.h"

namespace convoy {
#define GEN_PASS_DEF_GPUTONVVMPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct GpuToNvvmPass : public convoy::impl::GpuToNvvmPassBase<GpuToNvvmPass> {
  using Base::Base;
  void runOnOperation() override;
};

/// Whether PTX has an instruction for a math op, in a type for which LLVM selects it.
bool hasInstruction(Operation *op) {
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
          math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundEvenOp, math::TruncOp,
          math::RoundOp>(op))
    return true;
  // ex2.approx has an error of 2 units in the last place.
  Type type = op->getResult(0).getType();
  return (isa<math::SqrtOp>(op) && (type.isF32() || type.isF64())) ||
         (isa<math::Exp2Op>(op) && type.isF32());
}

/// Approximate division: div.full.f32, whose error is 2 units in the last place for all operands.
struct ApproximateDivPattern : public ConvertOpToLLVMPattern<arith::DivFOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(arith::DivFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    if (!op.getType().isF32() ||
        !arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return rewriter.notifyMatchFailure(op, "expected f32 and afn");
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op.getType(), rewriter.getStringAttr("llvm.nvvm.div.full"), adaptor.getOperands());
    return success();
  }
};

constexpr int64_t kLongestVector = 1024;

} // namespace

void GpuToNvvmPass::runOnOperation() {
  gpu::GPUModuleOp module = getOperation();
  WalkResult math = module.walk([](Operation *op) {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) || hasInstruction(op))
      return WalkResult::advance();
    op->emitOpError("expects to be expanded before phase 'llvm', because PTX has no instruction "
                    "for it on ")
        << op->getResult(0).getType();
    return WalkResult::interrupt();
  });
  // PTX has vectors of at most 16 bytes. LLVM splits longer ones, but its optimizer uses 32-bit
  // sizes.
  WalkResult vectors = module.walk([](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto vector = dyn_cast<VectorType>(type);
          vector && vector.getNumElements() > kLongestVector) {
        op->emitOpError("expects vectors of at most ")
            << kLongestVector << " elements in a kernel, but got " << type;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (math.wasInterrupted() || vectors.wasInterrupted())
    return signalPassFailure();

  convoy::simplifyQuotients(module);
  LowerToLLVMOptions options(&getContext(), DataLayout(module));
  options.useBarePtrCallConv = true;
  LLVMTypeConverter converter(&getContext(), options);
  configureGpuToNVVMTypeConverter(converter);

  // Convert math first: the patterns of the gpu dialect include those for libdevice.
  RewritePatternSet first(&getContext());
  populateSCFToControlFlowConversionPatterns(first);
  populateMathToLLVMConversionPatterns(converter, first);
  arith::populateArithToLLVMConversionPatterns(converter, first);
  first.add<ApproximateDivPattern>(converter, /*benefit=*/2);
  ConversionTarget flat(getContext());
  flat.addIllegalDialect<math::MathDialect, scf::SCFDialect>();
  flat.addIllegalOp<arith::RemFOp>();
  flat.addDynamicallyLegalOp<arith::DivFOp>([](arith::DivFOp op) {
    return !arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
  });
  flat.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  if (failed(applyPartialConversion(module, flat, std::move(first))))
    return signalPassFailure();

  RewritePatternSet patterns(&getContext());
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  populateGpuToNVVMConversionPatterns(converter, patterns);

  LLVMConversionTarget target(getContext());
  target.addLegalDialect<NVVM::NVVMDialect>();
  target.addIllegalDialect<gpu::GPUDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    signalPassFailure();
}
