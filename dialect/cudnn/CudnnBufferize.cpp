// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bufferization of cudnn.execute: the outs become buffers, and the op has no results. cuDNN only
// gets packed and aligned buffers, so an operand whose buffer is neither (e.g. some slices) is
// copied.

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
    auto graph = SymbolTable::lookupNearestSymbolFrom<GraphOp>(op, execute.getGraphAttr());
    SmallVector<Value> inputs, outputs, targets;
    for (auto [input, type] : llvm::zip_equal(execute.getInputs(), graph.getArgumentTypes())) {
      FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
      if (failed(buffer))
        return failure();
      inputs.push_back(*buffer);
      // Offsets of execute count from the beginning of a buffer, not of a slice.
      if (execute.getOffsets() ? cast<MemRefType>(buffer->getType()).getLayout().isIdentity()
                               : isUsable(*buffer, alignmentOf(type)))
        continue;
      inputs.back() = allocate(rewriter, *buffer);
      memref::CopyOp::create(rewriter, op->getLoc(), *buffer, inputs.back());
    }
    for (auto [output, type] : llvm::zip_equal(execute.getOutputs(), graph.getResultTypes())) {
      FailureOr<Value> buffer = getBuffer(rewriter, output, options, state);
      if (failed(buffer))
        return failure();
      targets.push_back(*buffer);
      outputs.push_back(isUsable(*buffer, alignmentOf(type)) ? *buffer
                                                             : allocate(rewriter, *buffer));
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
  static int64_t alignmentOf(Type desc) { return cast<TensorDescType>(desc).getAlignment(); }

  /// Whether cuDNN can use `buffer` as it is: packed, and aligned in every step of a loop. A buffer
  /// that is no slice is aligned.
  static bool isUsable(Value buffer, int64_t alignment) {
    auto type = cast<MemRefType>(buffer.getType());
    if (type.getLayout().isIdentity())
      return true;
    auto slice = buffer.getDefiningOp<memref::SubViewOp>();
    if (!slice || !type.areTrailingDimsContiguous(type.getRank()) ||
        !isUsable(slice.getSource(), alignment))
      return false;
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(slice.getSourceType().getStridesAndOffset(strides, offset)))
      return false;
    int64_t bits = type.getElementTypeBitWidth();
    return llvm::all_of(llvm::zip_equal(slice.getStaticOffsets(), strides), [&](auto pair) {
      auto [position, stride] = pair;
      int64_t factor = ShapedType::isDynamic(position) ? 1 : position;
      return !ShapedType::isDynamic(stride) && factor * stride * bits % (8 * alignment) == 0;
    });
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
