// The tcp dialect and the base classes of its ops.

#ifndef CONVOY_TCP_DIALECT
#define CONVOY_TCP_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tcp_Dialect : Dialect {
  let name = "tcp";
  let cppNamespace = "::convoy::tcp";
  let summary = "tensor ops in Torch's terms, after normalization";
  let description = [{
    Tensor Compute Primitives: what a Torch model computes, once decompositions, type promotion and implicit shapes are made explicit.
    Values are immutable tensors of static shape. Binary ops take operands of equal rank and broadcast dims of size 1; nothing else
    broadcasts. Reductions keep the reduced dims as 1. Dims are in Torch's order (N, C, spatial) unless `channels_last` is set.
    Simplifications keep every number, infinities and NaN, but not the sign of zero.
  }];
  let hasCanonicalizer = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Tcp_Tensor : StaticShapeTensorOf<[AnyFloat, AnySignlessInteger]>;
def Tcp_FloatTensor : StaticShapeTensorOf<[AnyFloat]>;
def Tcp_BoolTensor : StaticShapeTensorOf<[I1]>;

/// The result's shape is the broadcast of the operands' shapes, and each element depends on the operands' elements at its index only.
def Tcp_Elementwise : NativeOpTrait<"Elementwise"> {
  let cppNamespace = "::convoy::tcp";
}

class Tcp_Op<string mnemonic, list<Trait> traits = []> : Op<Tcp_Dialect, mnemonic, !listconcat([Pure], traits)>;

#endif // CONVOY_TCP_DIALECT
