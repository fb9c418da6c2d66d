// The calls of `cudnn_backend.func`s as the data that runtime/support/convoy_calls.h describes.

#ifndef CONVOY_PASSES_LLVM_CUDNNCALLS_H
#define CONVOY_PASSES_LLVM_CUDNNCALLS_H

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <tuple>

namespace convoy {

/// What the functions of one module share, each content once: kinds of calls, and the bytes that
/// operands are offsets into.
class CudnnCallTables {
public:
  /// The number of a kind of call (`ConvoyCallKind`).
  uint32_t kind(int32_t action, int32_t number = 0, int32_t type = 0, const std::string &what = {});
  /// The offset of a text that ends with a null.
  uint32_t text(const std::string &text);
  /// The offset of `count` and then these bytes.
  uint32_t payload(int64_t count, llvm::StringRef bytes);
  /// The offset of the length of a list and its elements.
  uint32_t list(llvm::ArrayRef<int64_t> elements);

  /// The kinds in the order of their numbers, four words each.
  llvm::ArrayRef<int32_t> getKinds() const { return kinds; }
  llvm::StringRef getData() const { return data; }

private:
  llvm::DenseMap<std::tuple<int32_t, int32_t, int32_t, uint32_t>, uint32_t> numbers;
  llvm::StringMap<uint32_t> texts, payloads;
  llvm::SmallVector<int32_t> kinds;
  std::string data;
};

/// A function as `ConvoyCalls`: its header, then two words a call.
llvm::SmallVector<int32_t> encodeCalls(cudnn_backend::FuncOp func, CudnnCallTables &tables);

} // namespace convoy

#endif // CONVOY_PASSES_LLVM_CUDNNCALLS_H
