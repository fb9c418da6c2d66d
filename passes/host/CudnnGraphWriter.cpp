#include "passes/host/CudnnGraphWriter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

Attribute GraphWriter::scale(const APFloat &value, Type computeType) {
  double number = value.convertToDouble();
  return computeType.isF64() ? builder.getF64FloatAttr(number) : builder.getF32FloatAttr(number);
}

Value GraphWriter::create(DescriptorKind kind) { return created.emplace_back(CreateOp::create(builder, loc, kind)); }

void GraphWriter::set(Value descriptor, AttributeName name, Attribute value) { SetOp::create(builder, loc, descriptor, name, value); }

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

Value GraphWriter::operation(DescriptorKind kind, const Descriptors &descriptors, const Values &values) {
  Value result = create(kind);
  for (auto [name, descriptor] : descriptors)
    if (descriptor)
      set(result, name, ValueRange(descriptor));
  for (auto [name, value] : values)
    set(result, name, value);
  finalize(result);
  return result;
}

void GraphWriter::writeTensor(Value value) {
  auto type = cast<cudnn::TensorDescType>(value.getType());
  assert(!cudnnDataType(type.getElementType()).empty() && "a tensor descriptor has an element type of cuDNN's");
  bool isVirtual = !uids.contains(value);
  int64_t uid = isVirtual ? uids.size() + 1 : uids.lookup(value);
  uids[value] = uid;
  CudnnShape shape = cudnnShape(type);
  loc = value.getLoc();
  Value descriptor = create(DescriptorKind::tensor);
  set(descriptor, AttributeName::tensor_data_type, dataType(type.getElementType()));
  set(descriptor, AttributeName::tensor_dimensions, numbers(shape.dims));
  set(descriptor, AttributeName::tensor_strides, numbers(shape.strides));
  set(descriptor, AttributeName::tensor_unique_id, numbers(uid));
  set(descriptor, AttributeName::tensor_byte_alignment, numbers(type.getAlignment()));
  set(descriptor, AttributeName::tensor_is_virtual, builder.getBoolAttr(isVirtual));
  finalize(descriptor);
  tensors[value] = descriptor;
}

LogicalResult GraphWriter::write(FuncOp func) {
  Block &block = graph.getBody().front();
  builder.setInsertionPointToStart(&func.getBody().front());
  SmallVector<Value> reals = realTensors(graph);
  for (auto [index, value] : llvm::enumerate(reals))
    uids[value] = index + 1;

  for (BlockArgument argument : block.getArguments()) {
    if (argument.use_empty())
      return graph.emitOpError("expects every argument to be used, but argument ") << argument.getArgNumber() << " is not";
    writeTensor(argument);
  }
  SmallVector<Value> operations;
  for (Operation &op : block.without_terminator()) {
    for (Value result : op.getResults())
      writeTensor(result);
    loc = op.getLoc();
    FailureOr<Value> operation =
        llvm::TypeSwitch<Operation *, FailureOr<Value>>(&op)
            .Case<cudnn::ConvolutionOp, cudnn::MatmulOp, cudnn::PointwiseOp, cudnn::ReductionOp, cudnn::ResampleOp>(
                [&](auto op) { return lower(*this, op); })
            .Default([](Operation *op) { return op->emitOpError("expects to be canonicalized or outlined before its graph is built"); });
    if (failed(operation))
      return failure();
    operations.push_back(*operation);
  }

  loc = graph.getLoc();
  Value result = create(DescriptorKind::operationgraph);
  set(result, AttributeName::operationgraph_handle, ValueRange(func.getHandle()));
  set(result, AttributeName::operationgraph_ops, ValueRange(operations));
  finalize(result);
  created.pop_back();
  for (Value descriptor : llvm::reverse(created))
    DestroyOp::create(builder, loc, descriptor);
  ReturnOp::create(builder, loc, result);
  return success();
}
