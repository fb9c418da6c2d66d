// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The driver of convert-tcp-to-linalg: legality, patterns, and an error for each op that cannot be
// lowered.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/tcp_to_linalg/Patterns.h"

namespace convoy {
#define GEN_PASS_DEF_CONVERTTCPTOLINALGPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct ConvertTcpToLinalgPass
    : public convoy::impl::ConvertTcpToLinalgPassBase<ConvertTcpToLinalgPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// pad(cast(x)) to cast(pad(x)) and pad(transpose(x)) to transpose(pad(x)). A pad reads its operand
/// at computed indices, so producers do not fuse into it, but it fuses into its consumers.
struct PadFirst : public OpRewritePattern<convoy::tcp::PadOp> {
  using OpRewritePattern<convoy::tcp::PadOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(convoy::tcp::PadOp op, PatternRewriter &rewriter) const final {
    Operation *producer = op.getInput().getDefiningOp();
    if (!producer || !producer->hasOneUse())
      return rewriter.notifyMatchFailure(op, "expected an operand with one use");
    auto padWith = [&](Value input, ArrayRef<int64_t> shape, auto &&order) -> Value {
      return convoy::tcp::PadOp::create(
          rewriter, op.getLoc(), cast<RankedTensorType>(input.getType()).clone(shape), input,
          SmallVector<int64_t>(order(op.getLow())), SmallVector<int64_t>(order(op.getHigh())),
          SmallVector<int64_t>(order(op.getInterior())), op.getValue());
    };
    if (auto cast = dyn_cast<convoy::tcp::CastOp>(producer)) {
      // Zero is the same value in every type.
      if (!op.getValue().isZero())
        return rewriter.notifyMatchFailure(op, "expected padding with 0");
      Value padded = padWith(cast.getInput(), op.getType().getShape(),
                             [](ArrayRef<int64_t> values) { return values; });
      rewriter.replaceOpWithNewOp<convoy::tcp::CastOp>(op, op.getType(), padded);
      return success();
    }
    if (auto transpose = dyn_cast<convoy::tcp::TransposeOp>(producer)) {
      auto before = [&](ArrayRef<int64_t> values) {
        SmallVector<int64_t> result(values.size());
        for (auto [i, dim] : llvm::enumerate(transpose.getPerm()))
          result[dim] = values[i];
        return result;
      };
      Value padded = padWith(transpose.getInput(), before(op.getType().getShape()), before);
      rewriter.replaceOpWithNewOp<convoy::tcp::TransposeOp>(op, op.getType(), padded,
                                                            transpose.getPerm());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expected a cast or a transpose before the padding");
  }
};

} // namespace

/// Writes the constant operands of calls of graphs to memory of the GPU. Constants themselves are
/// in kernels.
static void storeConstants(func::FuncOp function) {
  function.walk([](DestinationStyleOpInterface op) {
    if (isa<linalg::LinalgOp>(*op) || isa<tensor::TensorDialect>(op->getDialect()))
      return;
    OpBuilder builder(op);
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto constant = operand->get().getDefiningOp<arith::ConstantOp>();
      auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
      if (!elements)
        continue;
      Location loc = constant.getLoc();
      Value memory = tensor::EmptyOp::create(builder, loc, elements.getType().getShape(),
                                             elements.getElementType());
      if (elements.isSplat()) {
        Value element = arith::ConstantOp::create(
            builder, loc, cast<TypedAttr>(elements.getSplatValue<Attribute>()));
        operand->set(linalg::FillOp::create(builder, loc, element, memory).getResult(0));
      } else {
        operand->set(
            linalg::CopyOp::create(builder, loc, constant.getResult(), memory).getResult(0));
      }
    }
  });
}

void ConvertTcpToLinalgPass::runOnStaticShapes() {
  MLIRContext *context = &getContext();
  func::FuncOp function = getOperation();
  bool isSupported = true;
  function.walk([&](Operation *op) {
    std::string reason = isa_and_present<convoy::tcp::TcpDialect>(op->getDialect())
                             ? convoy::whyUnsupported(op)
                             : "";
    if (reason.empty())
      return;
    op->emitOpError("cannot be lowered to linalg: ") << reason;
    isSupported = false;
  });
  if (!isSupported)
    return signalPassFailure();

  if (convoy::tcp::getTarget(function) == convoy::tcp::Target::Cuda) {
    storeConstants(function);
    RewritePatternSet sink(context);
    sink.add<PadFirst>(context);
    if (failed(applyPatternsGreedily(function, std::move(sink))))
      return signalPassFailure();
  }

  RewritePatternSet patterns(context);
  convoy::populateElementwisePatterns(patterns);
  convoy::populateConvolutionPatterns(patterns);
  convoy::populateTransposedConvolutionPatterns(patterns);
  convoy::populateMatmulPatterns(patterns);
  convoy::populatePoolingPatterns(patterns);
  convoy::populatePoolingGradientPatterns(patterns);
  convoy::populateReductionPatterns(patterns);
  convoy::populateLayerNormPatterns(patterns);
  convoy::populateShapePatterns(patterns);
  convoy::populateIndexingPatterns(patterns);
  convoy::populateScatterPatterns(patterns);
  convoy::populateSortingPatterns(patterns);
  convoy::populateCumulativePatterns(patterns);
  convoy::populateScanPatterns(patterns);

  ConversionTarget target(*context);
  target.addLegalDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                         math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  target.addIllegalDialect<convoy::tcp::TcpDialect>();
  if (failed(applyPartialConversion(function, target, std::move(patterns))))
    signalPassFailure();
}
