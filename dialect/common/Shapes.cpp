// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/common/Shapes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace convoy {

std::string str(ArrayRef<int64_t> array) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(array, os, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      os << '?';
    else
      os << size;
  });
  os << "]";
  return text;
}

FailureOr<SmallVector<int64_t>> broadcastShape(ArrayRef<ArrayRef<int64_t>> shapes) {
  SmallVector<int64_t> result(shapes.front());
  for (ArrayRef<int64_t> shape : shapes.drop_front())
    for (auto [i, dim] : llvm::enumerate(shape)) {
      if (dim == result[i] || dim == 1)
        continue;
      if (result[i] != 1)
        return failure();
      result[i] = dim;
    }
  return result;
}

LogicalResult expectCount(Operation *op, StringRef name, ArrayRef<int64_t> values, int64_t count,
                          int64_t minimum) {
  if (static_cast<int64_t>(values.size()) != count)
    return op->emitOpError() << "expects " << count << " numbers in '" << name << "', but got "
                             << values.size();
  for (int64_t value : values)
    if (value < minimum)
      return op->emitOpError() << "expects numbers of at least " << minimum << " in '" << name
                               << "', but got " << str(values);
  return success();
}

} // namespace convoy
