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

def AddRuntimeArgumentPass : Pass<"add-runtime-argument", "::mlir::ModuleOp"> {
  let summary = "give functions for cuda the runtime's table and a status";
  let description = [{
    Every function with `tcp.target = "cuda"` gains a first argument `!llvm.ptr`, a pointer to the `ConvoyRuntime` of
    `runtime/abi/convoy_abi.h`, and an `i32` result, 0 when all went well. A function that has both already is left alone.

    ```mlir
    func.func @main(%x: memref<4xf32>) attributes {tcp.target = "cuda"} { return }
    // becomes
    func.func @main(%runtime: !llvm.ptr, %x: memref<4xf32>) -> i32 attributes {tcp.target = "cuda"} { return %c0_i32 : i32 }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

//===-- llvm -------------------------------------------------------------------------------------------------------------===//

#endif // CONVOY_PASSES
