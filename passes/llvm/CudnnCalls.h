// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Encodes the calls of `cudnn_backend.func`s as the data of runtime/support/convoy_calls.h.

#ifndef CONVOY_PASSES_LLVM_CUDNNCALLS_H
#define CONVOY_PASSES_LLVM_CUDNNCALLS_H

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <tuple>

namespace convoy {

/// Deduplicated tables shared by the functions of one module: kinds of calls, and the bytes that
/// operands are offsets into.
class CudnnCallTables {
public:
  /// The index of a kind of call (`ConvoyCallKind`).
  uint32_t kind(int32_t action, int32_t number = 0, int32_t type = 0, const std::string &what = {});
  /// The offset of a null-terminated string.
  uint32_t text(const std::string &text);
  /// The offset of `count` followed by `bytes`.
  uint32_t payload(int64_t count, llvm::StringRef bytes);
  /// The offset of a list: its length followed by its elements.
  uint32_t list(llvm::ArrayRef<int64_t> elements);

  /// The kinds by index, four integers each.
  llvm::ArrayRef<int32_t> getKinds() const { return kinds; }
  llvm::StringRef getData() const { return data; }

private:
  llvm::DenseMap<std::tuple<int32_t, int32_t, int32_t, uint32_t>, uint32_t> numbers;
  llvm::StringMap<uint32_t> texts, payloads;
  llvm::SmallVector<int32_t> kinds;
  std::string data;
};

/// Encodes a function as `ConvoyCalls`: its header, then two integers per call.
llvm::SmallVector<int32_t> encodeCalls(cudnn_backend::FuncOp func, CudnnCallTables &tables);

} // namespace convoy

#endif // CONVOY_PASSES_LLVM_CUDNNCALLS_H
