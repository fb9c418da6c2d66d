// Where dialects of ours say how their ops become llvm; LowerToLLVM.cpp collects them all into one conversion.

#ifndef CONVOY_PASSES_LLVM_PATTERNS_H
#define CONVOY_PASSES_LLVM_PATTERNS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"

namespace convoy {

/// `cudnn_backend` ops as calls through the tables of `runtime/abi/convoy_abi.h`. Also teaches `converter` the dialect's types.
void populateCudnnBackendToLLVMPatterns(mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);

} // namespace convoy

#endif // CONVOY_PASSES_LLVM_PATTERNS_H
