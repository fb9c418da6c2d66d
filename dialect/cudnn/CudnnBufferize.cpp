// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bufferization of cudnn.execute: the outs become buffers, and the op has no results. cuDNN only
// gets packed buffers, so an operand whose buffer has another layout (e.g. a slice) is copied.

#include "dialect/cudnn/CudnnOps.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace convoy::cudnn {

namespace {

struct ExecuteOpInterface
    : public DstBufferizableOpInterfaceExternalModel<ExecuteOpInterface, ExecuteOp> {
  /// The previous contents of the outs are not read.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return cast<ExecuteOp>(op).isDpsInput(&operand);
  }

  /// cuDNN computes no graph in place: outs never share memory with ins.
  bool bufferizesToElementwiseAccess(Operation *, const AnalysisState &,
                                     ArrayRef<OpOperand *>) const {
    return false;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto execute = cast<ExecuteOp>(op);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> inputs, outputs, targets;
    for (Value input : execute.getInputs()) {
      FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
      if (failed(buffer))
        return failure();
      inputs.push_back(*buffer);
      if (isPacked(*buffer))
        continue;
      inputs.back() = allocate(rewriter, *buffer);
      memref::CopyOp::create(rewriter, op->getLoc(), *buffer, inputs.back());
    }
    for (Value output : execute.getOutputs()) {
      FailureOr<Value> buffer = getBuffer(rewriter, output, options, state);
      if (failed(buffer))
        return failure();
      targets.push_back(*buffer);
      outputs.push_back(isPacked(*buffer) ? *buffer : allocate(rewriter, *buffer));
    }
    ExecuteOp::create(rewriter, op->getLoc(), TypeRange(), execute.getGraphAttr(), inputs, outputs,
                      execute.getOffsetsAttr())
        ->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    for (auto [output, target] : llvm::zip(outputs, targets))
      if (output != target)
        memref::CopyOp::create(rewriter, op->getLoc(), output, target);
    replaceOpWithBufferizedValues(rewriter, op, targets);
    return success();
  }

private:
  static bool isPacked(Value buffer) {
    return cast<MemRefType>(buffer.getType()).getLayout().isIdentity();
  }

  static Value allocate(RewriterBase &rewriter, Value like) {
    auto type = cast<MemRefType>(like.getType());
    return memref::AllocOp::create(rewriter, like.getLoc(),
                                   MemRefType::get(type.getShape(), type.getElementType()));
  }
};

} // namespace

void registerBufferizableOpInterfaceModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, CudnnDialect *) {
    ExecuteOp::attachInterface<ExecuteOpInterface>(*context);
    context->loadDialect<memref::MemRefDialect>();
  });
}

} // namespace convoy::cudnn
