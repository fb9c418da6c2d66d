// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/tcp/TcpShapes.h"
#include "passes/fusion/GroupConverter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using convoy::cudnn::TensorDescType;

namespace convoy {

static bool isOne(int64_t value) { return value == 1; }
static bool isZero(int64_t value) { return value == 0; }

Value GroupConverter::convertConv(tcp::ConvOpInterface op) {
  SmallVector<int64_t> stride(op.getStride()), dilation(op.getDilation()), pre, post;
  for (size_t i = 0; i < op.getPad().size(); i += 2) {
    pre.push_back(op.getPad()[i]);
    post.push_back(op.getPad()[i + 1]);
  }
  if (op.getSpatialRank() == 1) { // see descOf
    for (SmallVector<int64_t> *numbers : {&stride, &dilation})
      numbers->insert(numbers->begin(), 1);
    for (SmallVector<int64_t> *numbers : {&pre, &post})
      numbers->insert(numbers->begin(), 0);
  }
  return cudnn::ConvolutionOp::create(
      builder, op.getLoc(), resultType(op), values.lookup(op.getInput()),
      values.lookup(op.getWeights()), cudnn::ConvolutionMode::Fprop,
      cudnn::ConvolutionKind::CrossCorrelation, f32, APFloat(1.0), APFloat(0.0),
      /*spatial_dim_count=*/IntegerAttr(), stride, pre, post, dilation);
}

template <typename GradientOp>
Value GroupConverter::convertConvGradient(GradientOp op, cudnn::ConvolutionMode mode) {
  SmallVector<int64_t> pre, post;
  for (size_t i = 0; i < op.getPad().size(); i += 2) {
    pre.push_back(op.getPad()[i]);
    post.push_back(op.getPad()[i + 1]);
  }
  // On an H100, wgrad of engines 1, 18 and 20 is wrong in every rank and type, and cuDNN offers
  // them first for some shapes; dgrad of engine 50 is wrong in rank 4.
  if (pre != post)
    return refuse(op, "engines of cuDNN 9.19 compute wrong gradients with padding that differs "
                      "between the two sides");
  return cudnn::ConvolutionOp::create(
      builder, op.getLoc(), resultType(op), values.lookup(op->getOperand(0)),
      values.lookup(op->getOperand(1)), mode, cudnn::ConvolutionKind::CrossCorrelation, f32,
      APFloat(1.0), APFloat(0.0), /*spatial_dim_count=*/IntegerAttr(), op.getStride(), pre, post,
      op.getDilation());
}

Value GroupConverter::createPool(Operation *op, cudnn::ResampleMode mode,
                                 cudnn::PaddingMode padding, ArrayRef<int64_t> window,
                                 ArrayRef<int64_t> stride, ArrayRef<int64_t> pad,
                                 ArrayRef<int64_t> extra) {
  SmallVector<int64_t> pre, post;
  for (size_t i = 0; i < window.size(); ++i) {
    pre.push_back(pad[2 * i]);
    post.push_back(pad[2 * i + 1] + extra[i]);
  }
  return cudnn::ResampleOp::create(builder, op->getLoc(), resultType(op),
                                   values.lookup(op->getOperand(0)), mode, f32, window, stride, pre,
                                   post, padding)
      .getY();
}

Value GroupConverter::convertMaxPool(tcp::MaxPoolOp op) {
  if (!llvm::all_of(op.getDilation(), isOne))
    return refuse(op, "cuDNN has no pooling with dilation");
  return createPool(op, cudnn::ResampleMode::Maxpool, cudnn::PaddingMode::NegInfPad, op.getKernel(),
                    op.getStride(), op.getPad(), SmallVector<int64_t>(op.getKernel().size()));
}

Value GroupConverter::convertAvgPool(tcp::AvgPoolOp op) {
  if (op.getDivisor())
    return refuse(op, "cuDNN has no pooling with a custom divisor");
  // Without padding both modes are equal. PyTorch never counts ceil_pad, so it is like excluded
  // padding.
  bool counted = op.getCountIncludePad() && !llvm::all_of(op.getPad(), isZero);
  if (counted && !llvm::all_of(op.getCeilPad(), isZero))
    return refuse(op, "cuDNN counts all of the padding or none, but ceil_mode requires "
                      "counting a part");
  return createPool(op,
                    counted ? cudnn::ResampleMode::AvgpoolIncludePadding
                            : cudnn::ResampleMode::AvgpoolExcludePadding,
                    cudnn::PaddingMode::ZeroPad, op.getKernel(), op.getStride(), op.getPad(),
                    op.getCeilPad());
}

/// The mean over all spatial dims is an average pooling with a window of their sizes.
Value GroupConverter::convertMean(tcp::ReduceMeanOp op) {
  int64_t rank = op.getType().getRank();
  auto isSpatial = [&](int64_t first) {
    return rank >= 3 && static_cast<int64_t>(op.getDims().size()) == rank - 2 &&
           op.getDims().front() == first && op.getDims().back() == first + rank - 3;
  };
  if (!isSpatial(1) && !isSpatial(2))
    return refuse(op, "cuDNN supports the mean over all spatial dims, not over other dims");
  ArrayRef<int64_t> window = descOf(op.getInput()).getShape().drop_front(2);
  SmallVector<int64_t> ones(window.size(), 1), none(2 * window.size());
  return createPool(op, cudnn::ResampleMode::AvgpoolIncludePadding, cudnn::PaddingMode::ZeroPad,
                    window, ones, none, ArrayRef(none).take_front(window.size()));
}

Value GroupConverter::convertAnchor() {
  if (!llvm::all_of(anchor->getOperands(), [&](Value operand) { return values.contains(operand); }))
    return refuse(anchor, "a constant operand, which is no input of the group");
  return llvm::TypeSwitch<Operation *, Value>(anchor)
      .Case([&](tcp::ConvOpInterface conv) { return convertConv(conv); })
      .Case([&](tcp::ConvBackwardDataOp data) {
        return convertConvGradient(data, cudnn::ConvolutionMode::Dgrad);
      })
      .Case([&](tcp::ConvBackwardFilterOp filter) {
        return convertConvGradient(filter, cudnn::ConvolutionMode::Wgrad);
      })
      .Case([&](tcp::MatmulOp matmul) -> Value {
        return cudnn::MatmulOp::create(builder, anchor->getLoc(), resultType(anchor),
                                       values.lookup(matmul.getLhs()),
                                       values.lookup(matmul.getRhs()), f32);
      })
      .Case([&](tcp::MaxPoolOp pool) { return convertMaxPool(pool); })
      .Case([&](tcp::AvgPoolOp pool) { return convertAvgPool(pool); })
      .Case([&](tcp::ReduceMeanOp mean) { return convertMean(mean); });
}

} // namespace convoy
