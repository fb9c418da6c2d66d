// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Generated definitions of the cudnn ops.

#include "dialect/cudnn/CudnnOps.h"
#include "dialect/common/Regions.h"
#include "dialect/cudnn/CudnnSyntax.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace convoy::cudnn;

#define GET_OP_CLASSES
#include "dialect/cudnn/CudnnOps.cpp.inc"
