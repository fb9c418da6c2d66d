// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reduces a module that makes a command fail: MLIR's reducer with all upstream dialects and passes
// and Convoy's. tools/interesting.py is the interestingness script.

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "passes/Passes.h"
#include "passes/pipeline/Pipeline.h"
#include "passes/pipeline/Registration.h"
#include "passes/tools/ReduceOps.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  convoy::registerConvoyPasses();
  convoy::registerPipelines();
  convoy::registerReduceOpsPass();

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  convoy::registerCompilerDialects(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
