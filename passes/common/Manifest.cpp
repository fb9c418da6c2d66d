// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/Manifest.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace convoy {

StringRef torchDtype(Type type) {
  if (type.isF64())
    return "float64";
  if (type.isF32())
    return "float32";
  if (type.isF16())
    return "float16";
  if (type.isBF16())
    return "bfloat16";
  if (type.isInteger(64))
    return "int64";
  if (type.isInteger(32))
    return "int32";
  if (type.isInteger(16))
    return "int16";
  if (type.isUnsignedInteger(8))
    return "uint8";
  if (type.isInteger(8))
    return "int8";
  if (type.isInteger(1))
    return "bool";
  return {};
}

DictionaryAttr describeTensor(StringRef name, ShapedType type, DenseI64ArrayAttr dimOrder,
                              StringAttr origin) {
  Builder builder(type.getContext());
  StringRef dtype = torchDtype(type.getElementType());
  assert(!dtype.empty() && "the caller checks the element type");
  SmallVector<int64_t> shape(type.getShape()), strides = computeStrides(shape);
  if (dimOrder) {
    SmallVector<int64_t> position = invertPermutationVector(dimOrder);
    applyPermutationToVector(shape, position);
    applyPermutationToVector(strides, position);
  }
  // A dim of size 1 may have any stride.
  bool isPacked =
      llvm::all_of(llvm::zip_equal(shape, strides, computeStrides(shape)), [](const auto &each) {
        auto [size, stride, packed] = each;
        return size == 1 || stride == packed;
      });
  SmallVector<NamedAttribute> entries = {
      builder.getNamedAttr("name", builder.getStringAttr(name)),
      builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(shape)),
      builder.getNamedAttr("dtype", builder.getStringAttr(dtype))};
  if (!isPacked)
    entries.push_back(builder.getNamedAttr("strides", builder.getDenseI64ArrayAttr(strides)));
  if (origin)
    entries.push_back(builder.getNamedAttr("origin", origin));
  return builder.getDictionaryAttr(entries);
}

void setManifest(ModuleOp module, StringRef key, Attribute value) {
  NamedAttrList entries(module->getAttrOfType<DictionaryAttr>(kManifestAttr));
  entries.set(key, value);
  module->setAttr(kManifestAttr, entries.getDictionary(module.getContext()));
}

Attribute getManifest(ModuleOp module, StringRef key) {
  auto manifest = module->getAttrOfType<DictionaryAttr>(kManifestAttr);
  return manifest ? manifest.get(key) : Attribute();
}

static FailureOr<llvm::json::Value> toJson(Attribute attribute) {
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    llvm::json::Object object;
    for (NamedAttribute entry : dictionary) {
      FailureOr<llvm::json::Value> value = toJson(entry.getValue());
      if (failed(value))
        return failure();
      object[entry.getName().getValue()] = std::move(*value);
    }
    return llvm::json::Value(std::move(object));
  }
  if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    llvm::json::Array values;
    for (Attribute element : array) {
      FailureOr<llvm::json::Value> value = toJson(element);
      if (failed(value))
        return failure();
      values.push_back(std::move(*value));
    }
    return llvm::json::Value(std::move(values));
  }
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute))
    return llvm::json::Value(llvm::json::Array(numbers.asArrayRef()));
  if (auto text = dyn_cast<StringAttr>(attribute))
    return llvm::json::Value(text.getValue().str());
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return llvm::json::Value(flag.getValue());
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return llvm::json::Value(number.getValue().getSExtValue());
  return failure();
}

FailureOr<std::string> manifestToJson(ModuleOp module) {
  auto manifest = module->getAttrOfType<DictionaryAttr>(kManifestAttr);
  if (!manifest)
    return module.emitError("expected the module to have '")
           << kManifestAttr << "', which phase 'plan' adds";
  llvm::json::Object object;
  for (NamedAttribute entry : manifest) {
    FailureOr<llvm::json::Value> value = toJson(entry.getValue());
    if (failed(value))
      return module.emitError("expected '")
             << kManifestAttr << "' to hold dictionaries, arrays, strings and numbers, but '"
             << entry.getName().getValue() << "' holds " << entry.getValue();
    object[entry.getName().getValue()] = std::move(*value);
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
  return text;
}

} // namespace convoy
