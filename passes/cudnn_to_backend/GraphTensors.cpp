// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cudnn_to_backend/GraphTensors.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;

StringRef convoy::cudnnDataType(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case([](Float64Type) { return "double"; })
      .Case([](Float32Type) { return "float"; })
      .Case([](Float16Type) { return "half"; })
      .Case([](BFloat16Type) { return "bfloat16"; })
      .Case([](Float8E4M3FNType) { return "fp8_e4m3"; })
      .Case([](Float8E5M2Type) { return "fp8_e5m2"; })
      .Case([](Float8E8M0FNUType) { return "fp8_e8m0"; })
      .Case([](Float4E2M1FNType) { return "fp4_e2m1"; })
      .Case([](cudnn::FastFloatForFp8Type) { return "fast_float_for_fp8"; })
      .Case([](ComplexType complex) {
        return complex.getElementType().isF64() ? "complex_fp64" : "complex_fp32";
      })
      .Case([](IntegerType integer) -> StringRef {
        switch (integer.getWidth()) {
        case 1:
          return "boolean";
        case 4:
          return integer.isUnsigned() ? "uint4" : "int4";
        case 8:
          return integer.isUnsigned() ? "uint8" : "int8";
        case 32:
          return integer.isUnsigned() ? "uint32" : "int32";
        case 64:
          return "int64";
        default:
          return "";
        }
      })
      .Default([](Type) { return ""; });
}

CudnnShape convoy::cudnnShape(Value value) {
  constexpr int64_t kLeastRank = 3;
  auto type = cast<cudnn::TensorDescType>(value.getType());
  bool quantizesMatrix =
      llvm::any_of(value.getParentBlock()->getOps<cudnn::BlockScaleQuantizeOp>(),
                   [](cudnn::BlockScaleQuantizeOp op) {
                     cudnn::TensorDescType scale = op.getScale().getType();
                     return scale.getRank() < kLeastRank &&
                            scale.getReordering() == cudnn::TensorReordering::None;
                   });
  CudnnShape shape;
  shape.added = quantizesMatrix ? 0 : std::max<int64_t>(0, kLeastRank - type.getRank());
  int64_t extent = 1;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), type.getStrides()))
    extent = std::max(extent, size * stride);
  shape.dims.append(shape.added, 1);
  shape.strides.append(shape.added, extent);
  llvm::append_range(shape.dims, type.getShape());
  llvm::append_range(shape.strides, type.getStrides());
  return shape;
}

SmallVector<RealTensor> convoy::realTensors(cudnn::GraphOp graph) {
  Block &block = graph.getBody().front();
  SmallVector<RealTensor> tensors;
  for (BlockArgument argument : block.getArguments())
    tensors.push_back({argument, 0, graph.getArgAttrDict(argument.getArgNumber())});
  for (auto [index, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    tensors.push_back({value, 0, graph.getResultAttrDict(index)});
  llvm::SmallDenseSet<int64_t> taken;
  for (RealTensor &tensor : tensors)
    if (auto uid =
            tensor.attributes ? tensor.attributes.getAs<IntegerAttr>(cudnn::kUidAttr) : nullptr)
      taken.insert(tensor.uid = uid.getInt());
  int64_t next = 1;
  for (RealTensor &tensor : tensors)
    if (tensor.uid == 0) {
      while (taken.contains(next))
        ++next;
      tensor.uid = next++;
    }
  return tensors;
}

SmallVector<Constant> convoy::graphConstants(cudnn::GraphOp graph) {
  llvm::SmallDenseSet<int64_t> taken;
  for (const RealTensor &tensor : realTensors(graph))
    taken.insert(tensor.uid);
  SmallVector<Constant> constants;
  int64_t uid = 1;
  for (auto op : graph.getBody().front().getOps<cudnn::ConstantOp>()) {
    while (taken.contains(uid))
      ++uid;
    constants.push_back({op, uid++});
  }
  return constants;
}
