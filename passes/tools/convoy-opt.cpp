// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs passes and phases on .mlir files, with all upstream dialects and passes and Convoy's.

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"
#include "passes/pipeline/Pipeline.h"
#include "passes/pipeline/Registration.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  convoy::registerConvoyPasses();
  convoy::registerPipelines();

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  convoy::registerCompilerDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Convoy's pass driver\n", registry));
}
