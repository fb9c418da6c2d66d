// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Patterns from cudnn_backend to llvm, for lower-to-llvm and convert-cudnn-backend-to-llvm.

#ifndef CONVOY_PASSES_LLVM_CUDNNBACKENDTOLLVM_H
#define CONVOY_PASSES_LLVM_CUDNNBACKENDTOLLVM_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"

namespace convoy {

/// Fields of `ConvoyRuntime` in runtime/abi/convoy_abi.h, by index.
enum class RuntimeField : int32_t { context = 2, executeGraph = 3, launchKernel = 4, copy = 5 };

/// Lowers the calls of the runtime to calls through `ConvoyRuntime` of runtime/abi/convoy_abi.h.
void populateCudnnBackendToLLVMPatterns(mlir::LLVMTypeConverter &converter,
                                        mlir::RewritePatternSet &patterns);

/// Lowers every `cudnn_backend.func` to data. Must run before the conversion with the patterns
/// above.
void lowerCudnnBackendFuncs(mlir::ModuleOp module);

} // namespace convoy

#endif // CONVOY_PASSES_LLVM_CUDNNBACKENDTOLLVM_H
