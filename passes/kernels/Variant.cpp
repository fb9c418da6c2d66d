// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/Variant.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace convoy {

bool runsFrom(const Variant &variant, StringRef chip) {
  return variant.onlyChip.empty() || chipNumber(variant.onlyChip) >= chipNumber(chip);
}

/// Makes an argument of a kernel a tensor map: 128 bytes by value, which copies address where the
/// driver puts them.
static void setTensorMap(OpBuilder &builder, LLVM::LLVMFuncOp kernel, unsigned place) {
  Type map = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  kernel.setArgAttr(place, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(map));
  kernel.setArgAttr(place, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(64));
  kernel.setArgAttr(place, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
}

static ArrayAttr describeMaps(OpBuilder &builder, ArrayRef<TensorMap> maps) {
  auto describe = [&](const TensorMap &map) -> Attribute {
    SmallVector<NamedAttribute> entry = {
        builder.getNamedAttr("tensor", builder.getI64IntegerAttr(map.tensor)),
        builder.getNamedAttr("shape", builder.getI64ArrayAttr(map.shape)),
        builder.getNamedAttr("box", builder.getI64ArrayAttr(map.box)),
    };
    if (!map.strides.empty()) {
      entry.push_back(builder.getNamedAttr("low", builder.getI64ArrayAttr(map.low)));
      entry.push_back(builder.getNamedAttr("high", builder.getI64ArrayAttr(map.high)));
      entry.push_back(builder.getNamedAttr("reach", builder.getI64ArrayAttr(map.reach)));
      entry.push_back(builder.getNamedAttr("strides", builder.getI64ArrayAttr(map.strides)));
    }
    return builder.getDictionaryAttr(entry);
  };
  return builder.getArrayAttr(llvm::map_to_vector(maps, describe));
}

DictionaryAttr writeVariant(OpBuilder &builder, cudnn::GraphOp graph, const Variant &variant,
                            StringRef chip) {
  OpBuilder::InsertionGuard guard(builder);
  MLIRContext *context = builder.getContext();
  Location loc = graph.getLoc();
  std::string name = (graph.getSymName() + "_" + variant.suffix).str();
  if (!variant.onlyChip.empty())
    chip = variant.onlyChip;
  else if (variant.cluster > 1)
    chip = chipNumber(chip) < 90 ? "sm_90" : chip;
  // Cluster barriers with memory ordering and architecture-specific features need PTX 8.0.
  StringRef features = variant.cluster > 1 || !variant.onlyChip.empty() ? ptx80For(chip) : "";
  Attribute target =
      NVVM::NVVMTargetAttr::get(context, /*optLevel=*/3, kNvptxTriple, chip, features);
  auto module = gpu::GPUModuleOp::create(builder, loc, name, ArrayRef<Attribute>(target));

  builder.setInsertionPointToStart(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(context), word = builder.getI32Type(),
       array = LLVM::LLVMArrayType::get(word, variant.arguments.size());
  SmallVector<Type> parameters(variant.tensors.size() + variant.maps.size(), pointer);
  if (variant.launches > 1)
    parameters.push_back(word);
  size_t structPlace = parameters.size();
  parameters.push_back(pointer);
  auto nothing = LLVM::LLVMVoidType::get(context);
  auto function = LLVM::LLVMFuncOp::create(builder, loc, variant.function,
                                           LLVM::LLVMFunctionType::get(nothing, parameters));
  // As clang passes a struct. After inlining its members are constants.
  NamedAttribute byValue(LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(array));
  function.setArgAttr(structPlace, byValue.getName(), byValue.getValue());

  size_t tensors = graph.getNumArguments() + graph.getNumResults();
  size_t pointers = tensors + variant.maps.size();
  SmallVector<Type> types(pointers, pointer);
  if (variant.launches > 1)
    types.push_back(word);
  auto kernel =
      LLVM::LLVMFuncOp::create(builder, loc, name, LLVM::LLVMFunctionType::get(nothing, types));
  for (size_t place = 0; place < tensors; ++place)
    kernel.setArgAttr(place, LLVM::LLVMDialect::getNonNullAttrName(), builder.getUnitAttr());
  for (size_t place = tensors; place < pointers; ++place)
    setTensorMap(builder, kernel, place);
  auto set = [&](StringRef attribute, Attribute value) { kernel->setAttr(attribute, value); };
  set(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  set(NVVM::NVVMDialect::getMaxntidAttrName(),
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(variant.threads)}));
  if (variant.residents > 0)
    set(NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(variant.residents));
  if (variant.cluster > 1)
    set(NVVM::NVVMDialect::getClusterDimAttrName(),
        builder.getDenseI32ArrayAttr({static_cast<int32_t>(variant.cluster), 1, 1}));
  Block *body = kernel.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);
  SmallVector<Value> arguments;
  for (std::optional<unsigned> tensor : variant.tensors)
    arguments.push_back(tensor ? Value(body->getArgument(*tensor))
                               : Value(LLVM::ZeroOp::create(builder, loc, pointer)));
  llvm::append_range(arguments, body->getArguments().drop_front(tensors));
  auto one = LLVM::ConstantOp::create(builder, loc, word, builder.getI32IntegerAttr(1));
  auto place = LLVM::AllocaOp::create(builder, loc, pointer, array, one, /*alignment=*/4);
  auto type = RankedTensorType::get(variant.arguments.size(), word);
  auto values = DenseElementsAttr::get(type, ArrayRef<int32_t>(variant.arguments));
  LLVM::StoreOp::create(builder, loc, LLVM::ConstantOp::create(builder, loc, array, values), place,
                        /*alignment=*/4);
  arguments.push_back(place);
  auto call = LLVM::CallOp::create(builder, loc, function, arguments);
  SmallVector<Attribute> attributes(arguments.size(), builder.getDictionaryAttr({}));
  attributes.back() = builder.getDictionaryAttr(byValue);
  call.setArgAttrsAttr(builder.getArrayAttr(attributes));
  LLVM::ReturnOp::create(builder, loc, ValueRange());

  SmallVector<NamedAttribute> entry = {
      builder.getNamedAttr("name", builder.getStringAttr(name)),
      builder.getNamedAttr("variant", builder.getStringAttr(variant.suffix)),
      builder.getNamedAttr("grid", builder.getI64IntegerAttr(variant.blocks)),
      builder.getNamedAttr("block", builder.getI64IntegerAttr(variant.threads)),
      builder.getNamedAttr("shared_bytes", builder.getI64IntegerAttr(variant.sharedBytes)),
      builder.getNamedAttr("chip", builder.getStringAttr(chip)),
      builder.getNamedAttr("tf32", builder.getBoolAttr(variant.tf32)),
  };
  if (variant.launches > 1)
    entry.push_back(builder.getNamedAttr("launches", builder.getI64IntegerAttr(variant.launches)));
  if (!variant.maps.empty())
    entry.push_back(builder.getNamedAttr("tensor_maps", describeMaps(builder, variant.maps)));
  return builder.getDictionaryAttr(entry);
}

} // namespace convoy
