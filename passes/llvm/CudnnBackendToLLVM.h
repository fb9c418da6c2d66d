// Patterns from cudnn_backend to llvm, for the pass that lowers whole modules and for the one that lowers these ops alone.

#ifndef CONVOY_PASSES_LLVM_CUDNNBACKENDTOLLVM_H
#define CONVOY_PASSES_LLVM_CUDNNBACKENDTOLLVM_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"

namespace convoy {

/// Fields of `ConvoyCudnn` in runtime/abi/convoy_abi.h, by index.
enum class CudnnField : int32_t {
  createDescriptor = 2,
  setAttribute = 3,
  finalize = 4,
  destroyDescriptor = 5,
  report = 6,
  getAttribute = 7,
  execute = 8
};

/// Fields of `ConvoyRuntime` in runtime/abi/convoy_abi.h, by index.
enum class RuntimeField : int32_t { context = 2, executeGraph = 3, launchKernel = 4, copy = 5 };

/// Both tables start with two 32-bit words, and go on with this many pointers.
inline constexpr int32_t kCudnnPointers = 7;
inline constexpr int32_t kRuntimePointers = 4;

/// Lowers builders of operation graphs and the calls of the runtime. The ops become calls through the tables of runtime/abi/convoy_abi.h.
void populateCudnnBackendToLLVMPatterns(mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);

/// The part of the patterns above that lowers `cudnn_backend.func`.
void populateCudnnBackendFuncToLLVMPatterns(mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);

/// Loads a pointer out of one of the tables: two words, then `pointers` pointers.
mlir::Value loadTableField(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value table, int32_t pointers, int32_t field);

} // namespace convoy

#endif // CONVOY_PASSES_LLVM_CUDNNBACKENDTOLLVM_H
