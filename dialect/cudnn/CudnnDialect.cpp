// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Registers the cudnn dialect with its enums and ops.

#include "dialect/cudnn/CudnnOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy::cudnn;

#include "dialect/cudnn/CudnnDialect.cpp.inc"
#include "dialect/cudnn/CudnnEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/cudnn/CudnnAttrs.cpp.inc"

void CudnnDialect::initialize() {
  registerTypes();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/cudnn/CudnnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/cudnn/CudnnOps.cpp.inc"
      >();
}
