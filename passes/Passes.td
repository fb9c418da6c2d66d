// Every pass, in phase order: the table of contents of this folder. docs/architecture.md says what is legal after each phase.

#ifndef CONVOY_PASSES
#define CONVOY_PASSES

include "mlir/Pass/PassBase.td"

//===-- common -----------------------------------------------------------------------------------------------------------===//

def VerifyPhasePass : Pass<"convoy-verify-phase", "::mlir::ModuleOp"> {
  let summary = "check that only ops that are legal after a phase are left";
  let description = [{
    Reads the module, changes nothing, and names every op whose dialect is not legal at the end of `phase`, with a count an op name.
  }];
  let options = [Option<"phase", "phase", "std::string", "", "name of the phase that has just ended">];
}

//===-- normalize --------------------------------------------------------------------------------------------------------===//

//===-- group ------------------------------------------------------------------------------------------------------------===//

//===-- cudnn ------------------------------------------------------------------------------------------------------------===//

//===-- linalg -----------------------------------------------------------------------------------------------------------===//

//===-- plan -------------------------------------------------------------------------------------------------------------===//

//===-- host -------------------------------------------------------------------------------------------------------------===//

//===-- llvm -------------------------------------------------------------------------------------------------------------===//

#endif // CONVOY_PASSES
