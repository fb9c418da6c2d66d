// One operation graph as descriptors: what each op of the cudnn dialect is in cuDNN's backend API.

#include "passes/host/CudnnGraphBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

StringRef convoy::cudnnDataType(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case([](Float64Type) { return "double"; })
      .Case([](Float32Type) { return "float"; })
      .Case([](Float16Type) { return "half"; })
      .Case([](BFloat16Type) { return "bfloat16"; })
      .Case([](Float8E4M3FNType) { return "fp8_e4m3"; })
      .Case([](Float8E5M2Type) { return "fp8_e5m2"; })
      .Case([](IntegerType integer) -> StringRef {
        switch (integer.getWidth()) {
        case 1:
          return "boolean";
        case 8:
          return integer.isUnsigned() ? "uint8" : "int8";
        case 32:
          return "int32";
        case 64:
          return "int64";
        default:
          return "";
        }
      })
      .Default([](Type) { return ""; });
}

CudnnShape convoy::cudnnShape(cudnn::TensorDescType type) {
  CudnnShape shape;
  shape.added = std::max<int64_t>(0, 3 - type.getRank());
  int64_t extent = 1;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), type.getStrides()))
    extent = std::max(extent, size * stride);
  shape.dims.append(shape.added, 1);
  shape.strides.append(shape.added, extent);
  llvm::append_range(shape.dims, type.getShape());
  llvm::append_range(shape.strides, type.getStrides());
  return shape;
}

SmallVector<Value> convoy::realTensors(cudnn::GraphOp graph) {
  Block &block = graph.getBody().front();
  SmallVector<Value> values(block.getArguments());
  llvm::append_range(values, block.getTerminator()->getOperands());
  return values;
}

namespace {

class Writer {
public:
  Writer(OpBuilder &builder, cudnn::GraphOp graph) : builder(builder), graph(graph) {}

  LogicalResult write(FuncOp func) {
    Block &block = graph.getBody().front();
    builder.setInsertionPointToStart(&func.getBody().front());
    SmallVector<Value> reals = realTensors(graph);
    for (auto [index, value] : llvm::enumerate(reals))
      uids[value] = index + 1;

    for (BlockArgument argument : block.getArguments()) {
      if (argument.use_empty())
        return graph.emitOpError("expects every argument to be used, but argument ") << argument.getArgNumber() << " is not";
      tensor(argument);
    }
    SmallVector<Value> operations;
    for (Operation &op : block.without_terminator()) {
      loc = op.getLoc();
      tensor(op.getResult(0));
      FailureOr<Value> operation =
          llvm::TypeSwitch<Operation *, FailureOr<Value>>(&op)
              .Case<cudnn::ConvolutionOp, cudnn::MatmulOp, cudnn::PointwiseOp, cudnn::ReductionOp, cudnn::ResampleOp>(
                  [&](auto op) { return lower(op); })
              .Default([](Operation *op) { return op->emitOpError("expects to be canonicalized or outlined before its graph is built"); });
      if (failed(operation))
        return failure();
      operations.push_back(*operation);
    }

    loc = graph.getLoc();
    Value result = create(DescriptorKind::operationgraph);
    set(result, AttributeName::operationgraph_handle, func.getHandle());
    SetOp::create(builder, loc, result, AttributeName::operationgraph_ops, ValueRange(operations));
    FinalizeOp::create(builder, loc, result);
    created.pop_back();
    for (Value descriptor : llvm::reverse(created))
      DestroyOp::create(builder, loc, descriptor);
    ReturnOp::create(builder, loc, result);
    return success();
  }

private:
  Value create(DescriptorKind kind) { return created.emplace_back(CreateOp::create(builder, loc, kind)); }
  void set(Value descriptor, AttributeName name, Attribute value) { SetOp::create(builder, loc, descriptor, name, value); }
  void set(Value descriptor, AttributeName name, Value element) { SetOp::create(builder, loc, descriptor, name, ValueRange(element)); }
  void set(Value descriptor, AttributeName name, ArrayRef<int64_t> numbers) {
    set(descriptor, name, builder.getDenseI64ArrayAttr(numbers));
  }
  void setWord(Value descriptor, AttributeName name, StringRef word) { set(descriptor, name, builder.getStringAttr(word)); }

  using Values = SmallVector<std::pair<AttributeName, Attribute>>;
  Attribute word(StringRef text) { return builder.getStringAttr(text); }
  Attribute numbers(ArrayRef<int64_t> values) { return builder.getDenseI64ArrayAttr(values); }
  /// cuDNN scales in double where it computes in double, in float elsewhere.
  Attribute scale(const APFloat &value, Type computeType) {
    double number = value.convertToDouble();
    return computeType.isF64() ? builder.getF64FloatAttr(number) : builder.getF32FloatAttr(number);
  }

  /// A descriptor with these attributes, the one that is there already when there is one.
  Value shared(DescriptorKind kind, const Values &values) {
    SmallVector<Attribute> key{builder.getI32IntegerAttr(static_cast<int32_t>(kind))};
    for (auto [name, value] : values)
      llvm::append_values(key, builder.getI32IntegerAttr(static_cast<int32_t>(name)), value);
    Value &descriptor = operators[builder.getArrayAttr(key)];
    if (!descriptor) {
      descriptor = create(kind);
      for (auto [name, value] : values)
        set(descriptor, name, value);
      FinalizeOp::create(builder, loc, descriptor);
    }
    return descriptor;
  }

  void tensor(Value value) {
    auto type = cast<cudnn::TensorDescType>(value.getType());
    StringRef dataType = cudnnDataType(type.getElementType());
    assert(!dataType.empty() && "a tensor descriptor has an element type of cuDNN's");
    bool isVirtual = !uids.contains(value);
    int64_t uid = isVirtual ? uids.size() + 1 : uids.lookup(value);
    uids[value] = uid;
    CudnnShape shape = cudnnShape(type);
    loc = value.getLoc();
    Value descriptor = create(DescriptorKind::tensor);
    setWord(descriptor, AttributeName::tensor_data_type, dataType);
    set(descriptor, AttributeName::tensor_dimensions, shape.dims);
    set(descriptor, AttributeName::tensor_strides, shape.strides);
    set(descriptor, AttributeName::tensor_unique_id, uid);
    set(descriptor, AttributeName::tensor_byte_alignment, type.getAlignment());
    set(descriptor, AttributeName::tensor_is_virtual, builder.getBoolAttr(isVirtual));
    FinalizeOp::create(builder, loc, descriptor);
    tensors[value] = descriptor;
  }

  /// An operation: its operator, its tensors, its scales.
  Value operation(DescriptorKind kind, ArrayRef<std::pair<AttributeName, Value>> descriptors, const Values &values = {}) {
    Value result = create(kind);
    for (auto [name, descriptor] : descriptors)
      set(result, name, descriptor);
    for (auto [name, value] : values)
      set(result, name, value);
    FinalizeOp::create(builder, loc, result);
    return result;
  }

  FailureOr<Value> lower(cudnn::ConvolutionOp op) {
    Value convolution =
        shared(DescriptorKind::convolution, {{AttributeName::convolution_comp_type, word(cudnnDataType(op.getComputeType()))},
                                             {AttributeName::convolution_conv_mode, word(cudnn::stringifyConvolutionKind(op.getKind()))},
                                             {AttributeName::convolution_spatial_dims, numbers(op.getSpatialRank())},
                                             {AttributeName::convolution_pre_paddings, numbers(op.getPrePadding())},
                                             {AttributeName::convolution_post_paddings, numbers(op.getPostPadding())},
                                             {AttributeName::convolution_filter_strides, numbers(op.getSpatialStride())},
                                             {AttributeName::convolution_dilations, numbers(op.getDilation())}});
    Value x = tensors.lookup(op.getX()), w = tensors.lookup(op.getW()), y = tensors.lookup(op.getY());
    Attribute alpha = scale(op.getAlpha(), op.getComputeType()), beta = scale(op.getBeta(), op.getComputeType());
    switch (op.getMode()) {
    case cudnn::ConvolutionMode::Fprop:
      return operation(
          DescriptorKind::operation_convolution_forward,
          {{AttributeName::operation_convolution_forward_conv_desc, convolution},
           {AttributeName::operation_convolution_forward_x, x},
           {AttributeName::operation_convolution_forward_w, w},
           {AttributeName::operation_convolution_forward_y, y}},
          {{AttributeName::operation_convolution_forward_alpha, alpha}, {AttributeName::operation_convolution_forward_beta, beta}});
    case cudnn::ConvolutionMode::Dgrad: // the gradient of the output and the filter give the gradient of the input
      return operation(
          DescriptorKind::operation_convolution_backward_data,
          {{AttributeName::operation_convolution_bwd_data_conv_desc, convolution},
           {AttributeName::operation_convolution_bwd_data_dy, x},
           {AttributeName::operation_convolution_bwd_data_w, w},
           {AttributeName::operation_convolution_bwd_data_dx, y}},
          {{AttributeName::operation_convolution_bwd_data_alpha, alpha}, {AttributeName::operation_convolution_bwd_data_beta, beta}});
    case cudnn::ConvolutionMode::Wgrad: // the input and the gradient of the output give the gradient of the filter
      return operation(
          DescriptorKind::operation_convolution_backward_filter,
          {{AttributeName::operation_convolution_bwd_filter_conv_desc, convolution},
           {AttributeName::operation_convolution_bwd_filter_x, x},
           {AttributeName::operation_convolution_bwd_filter_dy, w},
           {AttributeName::operation_convolution_bwd_filter_dw, y}},
          {{AttributeName::operation_convolution_bwd_filter_alpha, alpha}, {AttributeName::operation_convolution_bwd_filter_beta, beta}});
    }
    llvm_unreachable("a convolution has one of three modes");
  }

  FailureOr<Value> lower(cudnn::MatmulOp op) {
    Value matmul = shared(DescriptorKind::matmul, {{AttributeName::matmul_comp_type, word(cudnnDataType(op.getComputeType()))}});
    return operation(DescriptorKind::operation_matmul, {{AttributeName::operation_matmul_desc, matmul},
                                                        {AttributeName::operation_matmul_adesc, tensors.lookup(op.getA())},
                                                        {AttributeName::operation_matmul_bdesc, tensors.lookup(op.getB())},
                                                        {AttributeName::operation_matmul_cdesc, tensors.lookup(op.getY())}});
  }

  FailureOr<Value> lower(cudnn::PointwiseOp op) {
    cudnn::PointwiseMode mode = op.getMode();
    StringRef name = cudnn::stringifyPointwiseMode(mode);
    if (!lookupEnumerator(AttributeType::pointwise_mode, name))
      return op.emitOpError("expects a mode that graphs of cuDNN take, but got ") << name;
    Values values = {{AttributeName::pointwise_mode, word(name)},
                     {AttributeName::pointwise_math_prec, word(cudnnDataType(op.getComputeType()))}};
    auto number = [&](AttributeName attribute, FloatAttr value) {
      if (value)
        values.emplace_back(attribute, value);
    };
    if (mode == cudnn::PointwiseMode::ReluFwd || mode == cudnn::PointwiseMode::ReluBwd) {
      values.emplace_back(AttributeName::pointwise_nan_propagation, word("propagate_nan")); // as torch does
      FloatAttr lower = op.getLowerClipAttr();
      number(AttributeName::pointwise_relu_lower_clip, lower ? lower : builder.getF64FloatAttr(0.0));
    }
    number(AttributeName::pointwise_relu_upper_clip, op.getUpperClipAttr());
    number(AttributeName::pointwise_relu_lower_clip_slope, op.getLowerClipSlopeAttr());
    number(AttributeName::pointwise_elu_alpha, op.getEluAlphaAttr());
    number(AttributeName::pointwise_softplus_beta, op.getSoftplusBetaAttr());
    number(AttributeName::pointwise_swish_beta, op.getSwishBetaAttr());
    if (auto axis = op.getAxis())
      values.emplace_back(AttributeName::pointwise_axis, numbers(*axis + cudnnShape(op.getY().getType()).added));

    using Name = AttributeName;
    bool backward = cudnn::isBackward(mode);
    const Name forward[] = {Name::operation_pointwise_xdesc, Name::operation_pointwise_bdesc, Name::operation_pointwise_tdesc};
    const Name gradient[] = {Name::operation_pointwise_dydesc, Name::operation_pointwise_xdesc};
    SmallVector<std::pair<Name, Value>> descriptors{{Name::operation_pointwise_pw_descriptor, shared(DescriptorKind::pointwise, values)}};
    for (auto [index, input] : llvm::enumerate(op.getInputs()))
      descriptors.emplace_back((backward ? ArrayRef<Name>(gradient) : ArrayRef<Name>(forward))[index], tensors.lookup(input));
    descriptors.emplace_back(backward ? Name::operation_pointwise_dxdesc : Name::operation_pointwise_ydesc, tensors.lookup(op.getY()));

    Values scales;
    if (!op.getAlpha1().isExactlyValue(1.0))
      scales.emplace_back(Name::operation_pointwise_alpha1, scale(op.getAlpha1(), op.getComputeType()));
    if (!op.getAlpha2().isExactlyValue(1.0))
      scales.emplace_back(Name::operation_pointwise_alpha2, scale(op.getAlpha2(), op.getComputeType()));
    return operation(DescriptorKind::operation_pointwise, descriptors, scales);
  }

  FailureOr<Value> lower(cudnn::ReductionOp op) {
    StringRef name = cudnn::stringifyReductionMode(op.getMode());
    if (!lookupEnumerator(AttributeType::reduction_operator_type, name))
      return op.emitOpError("expects a mode that graphs of cuDNN take, but got ") << name;
    Value reduction = shared(DescriptorKind::reduction, {{AttributeName::reduction_operator, word(name)},
                                                         {AttributeName::reduction_comp_type, word(cudnnDataType(op.getComputeType()))}});
    return operation(DescriptorKind::operation_reduction, {{AttributeName::operation_reduction_desc, reduction},
                                                           {AttributeName::operation_reduction_xdesc, tensors.lookup(op.getX())},
                                                           {AttributeName::operation_reduction_ydesc, tensors.lookup(op.getY())}});
  }

  FailureOr<Value> lower(cudnn::ResampleOp op) {
    int64_t spatialRank = op.getWindow().size();
    Value resample =
        shared(DescriptorKind::resample, {{AttributeName::resample_mode, word(cudnn::stringifyResampleMode(op.getMode()))},
                                          {AttributeName::resample_comp_type, word(cudnnDataType(op.getComputeType()))},
                                          {AttributeName::resample_nan_propagation, word("propagate_nan")}, // as torch does
                                          {AttributeName::resample_padding_mode, word(cudnn::stringifyPaddingMode(op.getPaddingMode()))},
                                          {AttributeName::resample_spatial_dims, numbers(spatialRank)},
                                          {AttributeName::resample_window_dims, numbers(op.getWindow())},
                                          {AttributeName::resample_pre_paddings, numbers(op.getPrePadding())},
                                          {AttributeName::resample_post_paddings, numbers(op.getPostPadding())},
                                          {AttributeName::resample_strides, numbers(op.getStride())}});
    return operation(DescriptorKind::operation_resample_fwd, {{AttributeName::operation_resample_fwd_desc, resample},
                                                              {AttributeName::operation_resample_fwd_xdesc, tensors.lookup(op.getX())},
                                                              {AttributeName::operation_resample_fwd_ydesc, tensors.lookup(op.getY())}});
  }

  OpBuilder &builder;
  cudnn::GraphOp graph;
  Location loc = UnknownLoc::get(builder.getContext());
  llvm::DenseMap<Value, int64_t> uids;
  llvm::DenseMap<Value, Value> tensors;
  llvm::DenseMap<Attribute, Value> operators;
  SmallVector<Value> created;
};

} // namespace

FailureOr<FuncOp> convoy::writeGraphBuilder(OpBuilder &builder, cudnn::GraphOp graph, int64_t minimumVersion) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(graph);
  auto func = FuncOp::create(builder, graph.getLoc(), (graph.getSymName() + "_build").str());
  func.setMinimumVersion(minimumVersion);
  if (failed(Writer(builder, graph).write(func)))
    return failure();
  return func;
}
