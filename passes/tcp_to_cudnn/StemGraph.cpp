// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_cudnn/StemGraph.h"

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

/// The channels-last tensor of a graph for `value`.
static TensorDescType channelsLast(Value value, Type element) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(value.getType()).getShape());
  std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
  return TensorDescType::get(shape, element, /*channelsLast=*/true);
}

GraphOp buildStemGraph(OpBuilder &builder, StringRef name, tcp::IsolatedGroupOp group, Stem &stem) {
  Type f32 = builder.getF32Type(), element = getElementTypeOrSelf(stem.conv.getInput().getType());
  auto image = cast<RankedTensorType>(stem.image().getType());
  TensorDescType imageType = stem.transpose
                                 ? TensorDescType::get(image.getShape(), image.getElementType(),
                                                       /*channelsLast=*/false)
                                 : channelsLast(stem.image(), image.getElementType());
  SmallVector<Type> arguments;
  for (Value argument : group.getBody().front().getArguments())
    arguments.push_back(argument == stem.image() ? imageType : channelsLast(argument, element));
  TensorDescType result = channelsLast(stem.pool.getOutput(), element);
  auto graph = GraphOp::create(builder, stem.conv.getLoc(), name,
                               builder.getFunctionType(arguments, result));
  setPreference(graph, Preference::OnlyKernel);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&graph.getBody().front());
  IRMapping values;
  values.map(group.getBody().front().getArguments(), graph.getBody().front().getArguments());

  Value running = values.lookup(stem.image());
  running =
      PointwiseOp::create(builder, stem.conv.getLoc(), channelsLast(stem.conv.getInput(), element),
                          PointwiseMode::Identity, running, f32);
  ArrayRef<int64_t> pad = stem.conv.getPad(), poolPad = stem.pool.getPad();
  SmallVector<int64_t> ones(2, 1);
  TensorDescType wide = channelsLast(stem.conv.getOutput(), f32);
  running = ConvolutionOp::create(
      builder, stem.conv.getLoc(), wide, running, values.lookup(stem.conv.getWeights()),
      ConvolutionMode::Fprop, ConvolutionKind::CrossCorrelation, f32, APFloat(1.0), APFloat(0.0),
      /*spatial_dim_count=*/IntegerAttr(), stem.conv.getStride(), {pad[0], pad[2]},
      {pad[1], pad[3]}, ones);
  running = PointwiseOp::create(builder, stem.add.getLoc(), wide, PointwiseMode::Add,
                                ValueRange{running, values.lookup(stem.bias())}, f32);
  auto relu =
      PointwiseOp::create(builder, stem.relu.getLoc(), channelsLast(stem.relu.getOutput(), element),
                          PointwiseMode::ReluFwd, running, f32);
  relu.setLowerClipAttr(builder.getF64FloatAttr(0.0));
  if (stem.relu.getMaxFloat())
    relu.setUpperClipAttr(builder.getF64FloatAttr(stem.relu.getMaxFloat()->convertToDouble()));
  running =
      ResampleOp::create(builder, stem.pool.getLoc(), result, relu.getY(), ResampleMode::Maxpool,
                         f32, stem.pool.getKernel(), stem.pool.getStride(),
                         {poolPad[0], poolPad[2]}, {poolPad[1], poolPad[3]}, PaddingMode::NegInfPad)
          .getY();
  ReturnOp::create(builder, group.getLoc(), running);
  return graph;
}

} // namespace convoy
