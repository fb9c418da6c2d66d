// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Patterns that lower the calls of the runtime, and the pass that lowers modules of only
// cudnn_backend, func, memref and arith.

#include "passes/llvm/CudnnBackendToLLVM.h"
#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/Passes.h"
#include "passes/common/Buffers.h"

namespace convoy {
#define GEN_PASS_DEF_CONVERTCUDNNBACKENDTOLLVMPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

namespace {

/// Lowers a call of a runtime function; the function returns any status other than 0.
template <typename Op> class LowerRuntimeOp : public ConvertOpToLLVMPattern<Op> {
public:
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;

protected:
  using Rewriter = ConversionPatternRewriter;

  static Type word(Rewriter &rewriter) { return rewriter.getI32Type(); }
  static Type pointer(Rewriter &rewriter) {
    return LLVM::LLVMPointerType::get(rewriter.getContext());
  }
  static Value constant(Rewriter &rewriter, Location loc, Type type, int64_t value) {
    return LLVM::ConstantOp::create(rewriter, loc, type, rewriter.getIntegerAttr(type, value));
  }

  /// The address of a buffer's first element.
  Value address(Rewriter &rewriter, Location loc, Value buffer, Value converted) const {
    if (auto type = dyn_cast<MemRefType>(buffer.getType()))
      return MemRefDescriptor(converted).bufferPtr(rewriter, loc, *this->getTypeConverter(), type);
    return converted;
  }

  /// Stores values into an array on the stack, allocated in the function's entry block.
  Value array(Rewriter &rewriter, Op op, Type type, ValueRange values) const {
    Location loc = op.getLoc();
    Value base;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&op->getParentRegion()->front());
      Value count =
          constant(rewriter, loc, rewriter.getI64Type(), std::max<int64_t>(values.size(), 1));
      base = LLVM::AllocaOp::create(rewriter, loc, pointer(rewriter), type, count);
    }
    for (auto [index, value] : llvm::enumerate(values)) {
      Value slot = LLVM::GEPOp::create(rewriter, loc, pointer(rewriter), type, base,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
      LLVM::StoreOp::create(rewriter, loc, value, slot);
    }
    return base;
  }

  Value addresses(Rewriter &rewriter, Op op, ValueRange buffers, ValueRange converted) const {
    SmallVector<Value> pointers;
    for (auto [buffer, value] : llvm::zip_equal(buffers, converted))
      pointers.push_back(address(rewriter, op.getLoc(), buffer, value));
    return array(rewriter, op, pointer(rewriter), pointers);
  }

  Value sizes(Rewriter &rewriter, Op op, ArrayRef<int32_t> numbers) const {
    SmallVector<Value> values;
    for (int32_t number : numbers)
      values.push_back(constant(rewriter, op.getLoc(), word(rewriter), number));
    return array(rewriter, op, word(rewriter), values);
  }

  /// Calls `field` of the table with its context and `arguments`, checks the status, and erases the
  /// op.
  void call(Rewriter &rewriter, Op op, Value runtime, RuntimeField field,
            ValueRange arguments) const {
    Location loc = op.getLoc();
    // Two 32-bit integers, then pointers.
    SmallVector<Type> fields{word(rewriter), word(rewriter)};
    fields.append(4, pointer(rewriter));
    auto table = LLVM::LLVMStructType::getLiteral(rewriter.getContext(), fields);
    auto load = [&](RuntimeField field) -> Value {
      Value address = LLVM::GEPOp::create(rewriter, loc, pointer(rewriter), table, runtime,
                                          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(field)});
      return LLVM::LoadOp::create(rewriter, loc, pointer(rewriter), address);
    };
    SmallVector<Value> operands{load(field), load(RuntimeField::context)};
    llvm::append_range(operands, arguments);
    SmallVector<Type> parameters(llvm::drop_begin(ValueRange(operands).getTypes()));
    auto type = LLVM::LLVMFunctionType::get(word(rewriter), parameters);
    Value status = LLVM::CallOp::create(rewriter, loc, type, operands).getResult();
    Value ok = LLVM::ICmpOp::create(rewriter, loc, LLVM::ICmpPredicate::eq, status,
                                    constant(rewriter, loc, word(rewriter), 0));

    Block *here = op->getBlock(), *next = rewriter.splitBlock(here, Block::iterator(op));
    Block *failed = rewriter.createBlock(next->getParent(), next->getParent()->end());
    if (isa<LLVM::LLVMFuncOp>(op->getParentOp()))
      LLVM::ReturnOp::create(rewriter, loc, status);
    else
      func::ReturnOp::create(rewriter, loc, status);
    rewriter.setInsertionPointToEnd(here);
    LLVM::CondBrOp::create(rewriter, loc, ok, next, failed);
    rewriter.eraseOp(op);
  }
};

struct LowerExecuteGraph : public LowerRuntimeOp<ExecuteGraphOp> {
  using LowerRuntimeOp::LowerRuntimeOp;

  LogicalResult matchAndRewrite(ExecuteGraphOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value pointers = addresses(rewriter, op, op.getBuffers(), adaptor.getBuffers());
    call(rewriter, op, adaptor.getRuntime(), RuntimeField::executeGraph,
         {constant(rewriter, loc, word(rewriter), op.getCall()), pointers,
          constant(rewriter, loc, word(rewriter), op.getBuffers().size())});
    return success();
  }
};

struct LowerLaunchKernel : public LowerRuntimeOp<LaunchKernelOp> {
  using LowerRuntimeOp::LowerRuntimeOp;

  LogicalResult matchAndRewrite(LaunchKernelOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value grid = sizes(rewriter, op, op.getGrid()), block = sizes(rewriter, op, op.getBlock());
    Value pointers = addresses(rewriter, op, op.getBuffers(), adaptor.getBuffers());
    call(rewriter, op, adaptor.getRuntime(), RuntimeField::launchKernel,
         {constant(rewriter, loc, word(rewriter), op.getKernel()), grid, block,
          constant(rewriter, loc, word(rewriter), op.getShared()), pointers,
          constant(rewriter, loc, word(rewriter), op.getBuffers().size())});
    return success();
  }
};

struct LowerCopy : public LowerRuntimeOp<CopyOp> {
  using LowerRuntimeOp::LowerRuntimeOp;

  LogicalResult matchAndRewrite(CopyOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getSource().getType());
    call(rewriter, op, adaptor.getRuntime(), RuntimeField::copy,
         {address(rewriter, loc, op.getDestination(), adaptor.getDestination()),
          address(rewriter, loc, op.getSource(), adaptor.getSource()),
          constant(rewriter, loc, rewriter.getI64Type(), packedBytes(type))});
    return success();
  }
};

struct ConvertCudnnBackendToLLVMPass
    : public convoy::impl::ConvertCudnnBackendToLLVMPassBase<ConvertCudnnBackendToLLVMPass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

void convoy::populateCudnnBackendToLLVMPatterns(LLVMTypeConverter &converter,
                                                RewritePatternSet &patterns) {
  patterns.add<LowerExecuteGraph, LowerLaunchKernel, LowerCopy>(converter);
}

void ConvertCudnnBackendToLLVMPass::runOnOperation() {
  lowerCudnnBackendFuncs(getOperation());
  LowerToLLVMOptions options(&getContext());
  options.useBarePtrCallConv = true;
  LLVMTypeConverter converter(&getContext(), options);
  RewritePatternSet patterns(&getContext());
  populateCudnnBackendToLLVMPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(getContext());
  target.addLegalOp<ModuleOp>();
  if (failed(applyFullConversion(getOperation(), target, std::move(patterns))))
    signalPassFailure();
}
