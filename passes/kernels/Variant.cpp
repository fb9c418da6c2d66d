// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/Variant.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace convoy {

bool runsFrom(const Variant &variant, StringRef chip) {
  return variant.onlyChip.empty() || chipNumber(variant.onlyChip) >= chipNumber(chip);
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
  SmallVector<Type> parameters(variant.tensors.size() + 1, pointer);
  auto nothing = LLVM::LLVMVoidType::get(context);
  auto function = LLVM::LLVMFuncOp::create(builder, loc, variant.function,
                                           LLVM::LLVMFunctionType::get(nothing, parameters));
  // As clang passes a struct. After inlining its members are constants.
  NamedAttribute byValue(LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(array));
  function.setArgAttr(variant.tensors.size(), byValue.getName(), byValue.getValue());

  SmallVector<Type> tensors(graph.getNumArguments() + graph.getNumResults(), pointer);
  auto kernel =
      LLVM::LLVMFuncOp::create(builder, loc, name, LLVM::LLVMFunctionType::get(nothing, tensors));
  auto set = [&](StringRef attribute, Attribute value) { kernel->setAttr(attribute, value); };
  set(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  set(NVVM::NVVMDialect::getMaxntidAttrName(),
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(variant.threads)}));
  if (variant.residents > 1)
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

  return builder.getDictionaryAttr({
      builder.getNamedAttr("name", builder.getStringAttr(name)),
      builder.getNamedAttr("variant", builder.getStringAttr(variant.suffix)),
      builder.getNamedAttr("grid", builder.getI64IntegerAttr(variant.blocks)),
      builder.getNamedAttr("block", builder.getI64IntegerAttr(variant.threads)),
      builder.getNamedAttr("shared_bytes", builder.getI64IntegerAttr(variant.sharedBytes)),
      builder.getNamedAttr("chip", builder.getStringAttr(chip)),
      builder.getNamedAttr("tf32", builder.getBoolAttr(variant.tf32)),
  });
}

} // namespace convoy
