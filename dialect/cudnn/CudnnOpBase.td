// What the operations of a graph have in common.

#ifndef CONVOY_CUDNN_OP_BASE
#define CONVOY_CUDNN_OP_BASE

include "dialect/cudnn/CudnnEnums.td"
include "dialect/cudnn/CudnnTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// On an op that may stand in a graph.
def Cudnn_GraphOperation : NativeOpTrait<"GraphOperation"> {
  let cppNamespace = "::convoy::cudnn";
}

class Cudnn_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Op<Cudnn_Dialect, mnemonic, !listconcat([Pure, Cudnn_GraphOperation, ParentOneOf<["GraphOp", "BuildAndExecGraphOp"]>], traits)> {
  let hasVerifier = 1;
}

#endif // CONVOY_CUDNN_OP_BASE
