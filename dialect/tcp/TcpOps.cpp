// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Generated definitions of the tcp ops: accessors, parsers, printers.

#include "dialect/tcp/TcpOps.h"
#include "dialect/common/Regions.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace convoy::tcp;

#include "dialect/tcp/TcpInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/tcp/TcpOps.cpp.inc"
