// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The public header of the cudnn_backend dialect.

#ifndef CONVOY_DIALECT_CUDNN_BACKEND_CUDNNBACKENDOPS_H
#define CONVOY_DIALECT_CUDNN_BACKEND_CUDNNBACKENDOPS_H

#include "dialect/cudnn_backend/DescriptorTable.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir {

template <> struct FieldParser<convoy::cudnn_backend::DescriptorKind> {
  static FailureOr<convoy::cudnn_backend::DescriptorKind> parse(AsmParser &parser);
};

template <> struct FieldParser<convoy::cudnn_backend::AttributeName> {
  static FailureOr<convoy::cudnn_backend::AttributeName> parse(AsmParser &parser);
};

} // namespace mlir

#include "dialect/cudnn_backend/CudnnBackendDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/cudnn_backend/CudnnBackendAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/cudnn_backend/CudnnBackendTypes.h.inc"

#define GET_OP_CLASSES
#include "dialect/cudnn_backend/CudnnBackendOps.h.inc"

#endif // CONVOY_DIALECT_CUDNN_BACKEND_CUDNNBACKENDOPS_H
