// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Declarations of the passes in Passes.td: option structs, create functions, registration.

#ifndef CONVOY_PASSES_PASSES_H
#define CONVOY_PASSES_PASSES_H

#include "dialect/cudnn_backend/DescriptorTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/common/StaticShapes.h"

namespace convoy {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace convoy

#endif // CONVOY_PASSES_PASSES_H
