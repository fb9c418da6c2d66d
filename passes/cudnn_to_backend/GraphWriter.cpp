// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cudnn_to_backend/GraphWriter.h"
#include "passes/common/Buffers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

Attribute GraphWriter::scale(const APFloat &value, Type computeType) {
  double number = value.convertToDouble();
  return computeType.isF64() ? builder.getF64FloatAttr(number) : builder.getF32FloatAttr(number);
}

Value GraphWriter::create(DescriptorKind kind) {
  return created.emplace_back(CreateOp::create(builder, loc, kind));
}

void GraphWriter::set(Value descriptor, AttributeName name, Attribute value) {
  SetOp::create(builder, loc, descriptor, name, value);
}

void GraphWriter::set(Value descriptor, AttributeName name, ValueRange elements) {
  SetOp::create(builder, loc, descriptor, name, elements);
}

void GraphWriter::finalize(Value descriptor) { FinalizeOp::create(builder, loc, descriptor); }

Value GraphWriter::shared(DescriptorKind kind, const Values &values) {
  SmallVector<Attribute> key{builder.getI32IntegerAttr(static_cast<int32_t>(kind))};
  for (auto [name, value] : values)
    llvm::append_values(key, builder.getI32IntegerAttr(static_cast<int32_t>(name)), value);
  Value &descriptor = operators[builder.getArrayAttr(key)];
  if (!descriptor) {
    descriptor = create(kind);
    for (auto [name, value] : values)
      set(descriptor, name, value);
    finalize(descriptor);
  }
  return descriptor;
}

Value GraphWriter::operation(DescriptorKind kind, const Descriptors &descriptors,
                             const Values &values) {
  Value result = create(kind);
  for (auto [name, descriptor] : descriptors)
    if (descriptor)
      set(result, name, ValueRange(descriptor));
  for (auto [name, value] : values)
    set(result, name, value);
  finalize(result);
  return result;
}

Value GraphWriter::tensorOperation(DescriptorKind kind, ArrayRef<Tensors> held,
                                   const Values &values, const Descriptors &descriptors) {
  Value result = create(kind);
  for (const Tensors &each : held)
    if (!each.values.empty())
      set(result, each.name,
          llvm::map_to_vector(each.values, [&](Value value) { return tensor(value); }));
  for (auto [name, descriptor] : descriptors)
    set(result, name, ValueRange(descriptor));
  for (auto [name, value] : values)
    set(result, name, value);
  finalize(result);
  return result;
}

void GraphWriter::writeTensor(Value value) {
  if (tensors.contains(value))
    return;
  auto type = cast<cudnn::TensorDescType>(value.getType());
  Type elementType = type.getElementType();
  assert(!cudnnDataType(elementType).empty() && "the verifier checks the element type");
  auto [real, isVirtual] = reals.try_emplace(value);
  if (isVirtual)
    while (!uids.insert(real->second.uid = nextUid++).second)
      ;
  BlockArgument raggedOffset = graph.getRaggedOffset(real->second.attributes);
  if (raggedOffset)
    writeTensor(raggedOffset);
  const RealTensor &tensor = reals[value];
  CudnnShape shape = cudnnShape(value);
  loc = value.getLoc();
  Value descriptor = create(DescriptorKind::tensor);
  set(descriptor, AttributeName::tensor_data_type, dataType(elementType));
  set(descriptor, AttributeName::tensor_dimensions, numbers(shape.dims));
  set(descriptor, AttributeName::tensor_strides, numbers(shape.strides));
  set(descriptor, AttributeName::tensor_unique_id, numbers(tensor.uid));
  // cuDNN expects at least the natural alignment of the element type.
  set(descriptor, AttributeName::tensor_byte_alignment,
      numbers(std::max(type.getAlignment(), elementBytes(elementType))));
  set(descriptor, AttributeName::tensor_is_virtual, builder.getBoolAttr(isVirtual));
  if (tensor.isByValue() || value.getDefiningOp<cudnn::ConstantOp>())
    set(descriptor, AttributeName::tensor_is_by_value, builder.getBoolAttr(true));
  if (type.isVectorized()) {
    set(descriptor, AttributeName::tensor_vector_count, numbers(type.getVectorCount()));
    set(descriptor, AttributeName::tensor_vectorized_dimension,
        numbers(type.getVectorizedDimension() + shape.added));
  }
  if (type.getReordering() != cudnn::TensorReordering::None)
    set(descriptor, AttributeName::tensor_reordering_mode,
        enumerator(cudnn::stringifyTensorReordering(type.getReordering())));
  if (raggedOffset)
    set(descriptor, AttributeName::tensor_ragged_offset_desc,
        ValueRange(tensors.lookup(raggedOffset)));
  finalize(descriptor);
  tensors[value] = descriptor;
}

LogicalResult GraphWriter::write(FuncOp func) {
  Block &block = graph.getBody().front();
  builder.setInsertionPointToStart(&func.getBody().front());
  llvm::SmallDenseSet<Value> offsets;
  for (const RealTensor &tensor : realTensors(graph)) {
    reals[tensor.value] = tensor;
    uids.insert(tensor.uid);
    offsets.insert(graph.getRaggedOffset(tensor.attributes));
  }
  for (Constant constant : graphConstants(graph)) {
    reals[constant.op.getY()].uid = constant.uid;
    uids.insert(constant.uid);
  }

  for (BlockArgument argument : block.getArguments()) {
    if (argument.use_empty() && !offsets.contains(argument))
      return graph.emitOpError("expects every argument to be used, but argument ")
             << argument.getArgNumber() << " is not";
    writeTensor(argument);
  }
  SmallVector<Value> operations;
  for (Operation &op : block.without_terminator()) {
    for (Value result : op.getResults())
      writeTensor(result);
    if (isa<cudnn::ConstantOp>(op))
      continue;
    loc = op.getLoc();
    FailureOr<Value> operation =
        llvm::TypeSwitch<Operation *, FailureOr<Value>>(&op)
            .Case<cudnn::BlockScaleDequantizeOp, cudnn::BlockScaleQuantizeOp, cudnn::BnBwdWeightsOp,
                  cudnn::BnFinalizeOp, cudnn::ConcatOp, cudnn::ContractBandMatrixOp,
                  cudnn::ConvolutionOp, cudnn::ExpandBandMatrixOp, cudnn::GenStatsOp,
                  cudnn::MatmulOp, cudnn::MoeGroupedMatmulOp, cudnn::NormBackwardOp,
                  cudnn::NormForwardOp, cudnn::PagedCacheLoadOp, cudnn::PointwiseOp,
                  cudnn::ReductionOp, cudnn::ResampleBackwardOp, cudnn::ResampleOp,
                  cudnn::ReshapeOp, cudnn::RngOp, cudnn::SdpaForwardOp, cudnn::SignalOp>(
                [&](auto op) { return lower(*this, op); })
            .Case([](cudnn::RecurrentOp op) {
              return op.emitOpError("expects a graph that is marked 'only_kernel', because cuDNN's "
                                    "graphs have no recurrent layers");
            })
            .Default([](Operation *op) {
              return op->emitOpError(
                  "expects to be canonicalized or outlined before its graph is built");
            });
    if (failed(operation))
      return failure();
    operations.push_back(*operation);
  }

  loc = graph.getLoc();
  Value result = create(DescriptorKind::operationgraph);
  set(result, AttributeName::operationgraph_handle, ValueRange(func.getHandle()));
  set(result, AttributeName::operationgraph_ops, ValueRange(operations));
  if (graph.getDynamicShape())
    set(result, AttributeName::operationgraph_is_dynamic_shape_enabled, builder.getBoolAttr(true));
  finalize(result);
  created.pop_back();
  for (Value descriptor : llvm::reverse(created))
    DestroyOp::create(builder, loc, descriptor);
  ReturnOp::create(builder, loc, result);
  return success();
}

FailureOr<FuncOp> convoy::writeGraphBuilder(OpBuilder &builder, cudnn::GraphOp graph,
                                            int64_t minimumVersion) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(graph);
  auto func = FuncOp::create(builder, graph.getLoc(), (graph.getSymName() + "_build").str());
  func.setMinimumVersion(minimumVersion);
  if (failed(GraphWriter(builder, graph).write(func)))
    return failure();
  return func;
}
