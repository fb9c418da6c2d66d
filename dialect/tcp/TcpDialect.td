// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The tcp dialect and the base classes of its ops.

#ifndef CONVOY_TCP_DIALECT
#define CONVOY_TCP_DIALECT

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/tcp/TcpInterfaces.td"

def Tcp_Dialect : Dialect {
  let name = "tcp";
  let cppNamespace = "::convoy::tcp";
  let summary = "tensor ops with Torch semantics, after decompositions";
  let description = [{
    Tensor Compute Primitives: the ops of a Torch model after decompositions, with explicit type
    promotion and shapes. Values are immutable ranked tensors. Elementwise ops have
    operands of equal rank and broadcast dims of size 1; batch dims of `matmul` broadcast as well.
    Reductions keep the reduced dims with size 1. Dims are in Torch's order (N, C, spatial) unless
    `channels_last` is set. Simplifications preserve all values including infinities and NaN, except
    the sign of zero.

    A dim may be `?`. It never broadcasts: its size is that of the result, also if it is 1.
    Verifiers check all dims that are numbers, and accept a `?` where a number follows from the
    operands. `tcp.symbolic_int` declares a symbol, and `tcp.bind_symbolic_shape` gives a value the
    sizes that it has for values of the symbols. `tcp-specialize-symbols` replaces all of them by
    numbers, which the phases expect.

    Attributes of the dialect on functions and modules: `tcp.input`, `tcp.weight`, `tcp.prepared`
    and `tcp.output`, the names of arguments and results, and `tcp.target` are strings; `tcp.arena`
    of an argument is a unit, and so is `tcp.unsigned` of an argument or result of i8 that is a
    uint8 of the model. `tcp.dim_order` of an input or a result lists its dims from the outermost to
    the innermost in memory, as `torch.Tensor.dim_order` does: `array<i64: 0, 2, 3, 1>` for
    channels-last. Without it the tensor is packed row-major.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasCanonicalizer = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let extraClassDeclaration = [{
    /// Parses ops of mlir-tcp that have another spelling here (TcpAliases.cpp).
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef opName) const override;
  }];
}

class Tcp_Enum<string name, string what, list<I32EnumCase> cases> : I32Enum<name, what, cases> {
  let cppNamespace = "::convoy::tcp";
}

def Tcp_Target : Tcp_Enum<"Target", "`tcp.target`: the processor that a function runs on", [
  I32EnumCase<"Cpu", 0, "cpu">, I32EnumCase<"Cuda", 1, "cuda">]>;

/// A string attribute with the spelling of an enum's cases. Python builds it from a `str`, as its
/// base. The op's verifier checks the spelling.
class Tcp_EnumString<EnumInfo info> : Attr<StrAttr.predicate, StrAttr.summary> {
  let storageType = StrAttr.storageType;
  let returnType = info.cppType;
  let convertFromStorage = "*" # info.cppNamespace # "::" # info.stringToSymbolFnName # "($_self.getValue())";
  let constBuilderCall = "$_builder.getStringAttr(" # info.cppNamespace # "::" # info.symbolToStringFnName # "($0))";
  let valueType = StrAttr.valueType;
  let baseAttr = StrAttr;
}

/// Tensors whose sizes and offsets in bytes fit into 64 bits, with a margin for padding, strides
/// and packing, if each `?` is 1.
class Tcp_TensorOf<list<Type> elements>
    : ConfinedType<RankedTensorOf<elements>, [CPred<"::convoy::tcp::hasTensorSize(::llvm::cast<::mlir::ShapedType>($_self))">],
                   RankedTensorOf<elements>.summary # " of at most 2^40 elements", "::mlir::RankedTensorType">;
/// The integers of `arith`, which are signed, and the unsigned ones that phase `normalize` replaces.
def Tcp_Tensor : Tcp_TensorOf<[AnyFloat, AnySignlessInteger, UI8]>;
def Tcp_FloatTensor : Tcp_TensorOf<[AnyFloat]>;
def Tcp_IntTensor : Tcp_TensorOf<[AnySignlessInteger, UI8]>;
def Tcp_BoolTensor : Tcp_TensorOf<[I1]>;
def Tcp_IndexTensor : Tcp_TensorOf<[I32, I64]>;

/// The result's shape is the broadcast of the operands' shapes, and each element depends only on
/// the operands' elements at its index.
def Tcp_Elementwise : NativeOpTrait<"Elementwise"> {
  let cppNamespace = "::convoy::tcp";
}

/// The op has its own rule for the shape of its result (TcpInferShapes.cpp, TcpInferWindows.cpp).
def Tcp_InfersShape : DeclareOpInterfaceMethods<Tcp_ShapeOpInterface, ["inferShape"]>;

class Tcp_Op<string mnemonic, list<Trait> traits = []> : Op<Tcp_Dialect, mnemonic, !listconcat([Pure], traits)>;

#endif // CONVOY_TCP_DIALECT
