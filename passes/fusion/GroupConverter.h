// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The conversion of one group to a `cudnn.graph`. AnchorsToCudnn.cpp converts anchors,
// OpsToCudnn.cpp the ops around them.

#ifndef CONVOY_PASSES_FUSION_GROUPCONVERTER_H
#define CONVOY_PASSES_FUSION_GROUPCONVERTER_H

#include "dialect/cudnn/CudnnOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/fusion/GroupOps.h"

namespace convoy {

/// Converts the ops of one group.
class GroupConverter {
public:
  GroupConverter(mlir::OpBuilder &builder, const GroupOps &group, std::string &reason)
      : builder(builder), group(group), reason(reason), f32(builder.getF32Type()) {}

  cudnn::GraphOp convert(llvm::StringRef name);

private:
  /// Sets the reason why `op` is not converted; returns a null value.
  mlir::Value refuse(mlir::Operation *op, const llvm::Twine &why) {
    reason = (op->getName().stripDialect() + ": " + why).str();
    return {};
  }
  bool findAnchor();
  /// Whether cuDNN supports the types of the operands and results of `op`.
  bool checkTypes(mlir::Operation *op);

  cudnn::TensorDescType descOf(mlir::Value value, mlir::Type elementType) const;
  cudnn::TensorDescType descOf(mlir::Value value) const {
    return descOf(value, mlir::getElementTypeOrSelf(value.getType()));
  }
  /// The type of the result of `op` in the graph. The last result and the anchor's input keep their
  /// element type, since an anchor reads tensors of one type. Other values are virtual and f32.
  cudnn::TensorDescType resultType(mlir::Operation *op) const;

  /// Creates a scalar constant of the graph for an operation that computes (a part of) `op`.
  mlir::Value createNumber(mlir::Operation *op, mlir::FloatAttr number);
  /// The value of the graph for `operand` of `op`, or null with the reason.
  mlir::Value lookup(mlir::Operation *op, mlir::Value operand);
  /// Creates an operation that computes (a part of) `op`.
  cudnn::PointwiseOp create(mlir::Operation *op, cudnn::PointwiseMode mode, mlir::ValueRange inputs,
                            cudnn::TensorDescType type) {
    return cudnn::PointwiseOp::create(builder, op->getLoc(), type, mode, inputs, f32);
  }
  /// The following create the operations of an op. They return the result, or null with the reason.
  mlir::Value convertOp(mlir::Operation *op);
  mlir::Value convertPointwise(mlir::Operation *op);
  mlir::Value convertAnchor();
  mlir::Value convertConv(tcp::ConvOpInterface op);
  template <typename GradientOp>
  mlir::Value convertConvGradient(GradientOp op, cudnn::ConvolutionMode mode);
  mlir::Value convertMaxPool(tcp::MaxPoolOp op);
  mlir::Value convertAvgPool(tcp::AvgPoolOp op);
  mlir::Value convertMean(tcp::ReduceMeanOp op);
  mlir::Value createPool(mlir::Operation *op, cudnn::ResampleMode mode, cudnn::PaddingMode padding,
                         llvm::ArrayRef<int64_t> window, llvm::ArrayRef<int64_t> stride,
                         llvm::ArrayRef<int64_t> pad, llvm::ArrayRef<int64_t> extra);

  mlir::OpBuilder &builder;
  const GroupOps &group;
  std::string &reason;
  mlir::Type f32;
  mlir::Operation *anchor = nullptr;
  bool channelsLast = false; ///< memory format of the anchor's tensors; false for matrices
  mlir::IRMapping values;
};

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_GROUPCONVERTER_H
