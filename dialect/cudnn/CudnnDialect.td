// The cudnn dialect, its types and its enums. Numbers are cuDNN's own, from cudnn_graph.h of version 9.19.

#ifndef CONVOY_CUDNN_DIALECT
#define CONVOY_CUDNN_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Cudnn_Dialect : Dialect {
  let name = "cudnn";
  let cppNamespace = "::convoy::cudnn";
  let summary = "one operation graph as cuDNN sees it: tensors, operations, graphs, calls";
  let description = [{
    A `cudnn.graph` is one cuDNN operation graph: a symbol whose body is a dag of operations on tensor descriptors, called by
    `cudnn.execute` on tensors or buffers. The dims of a descriptor are logical (N, C, spatial; K, C, window for filters;
    batch, rows, columns for matrices),
    its strides say the order in memory. A tensor is virtual unless it is an argument or a result of the graph; that is derived from the
    use and written nowhere. The element types of arguments and results are the io types, those of the values in between the intermediate
    types, and each operation has its own compute type (`type = f32`).

    The inline form (`cudnn.build_and_exec_graph` with `cudnn.build_graph` inside) is turned into the symbol form by `cudnn-outline-graphs`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

//===-- types ------------------------------------------------------------------------------------------------------------===//

class Cudnn_Type<string name, string typeMnemonic> : TypeDef<Cudnn_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Cudnn_HandleType : Cudnn_Type<"Handle", "handle">, BuildableType<"::convoy::cudnn::HandleType::get($_builder.getContext())"> {
  let summary = "a cudnnHandle_t";
  let description = "The library handle of the calling thread: `!cudnn.handle`.";
}

def Cudnn_TensorDescType : Cudnn_Type<"TensorDesc", "tensor_desc"> {
  let summary = "shape, element type, strides and alignment of a tensor";
  let description = [{
    The dims are logical: N, C, then spatial. The strides, in elements, give the order in memory. They are always held in full; as text they
    are `NHWC` (`NWC`, `NDHWC`) when channels vary fastest and nothing is padded, `NCHW` (`NCW`, `NCDHW`) or nothing when packed in the
    order of the dims, and `stride = [..]` otherwise; `stride = []` means packed in the order of the dims.
    `alignment` is that of the address in bytes, 16 when not written.

    **Constraints**

    * (c1) there are 1 to 8 dims (`CUDNN_DIM_MAX`), all positive.
    * (c2) the element type is one of cuDNN's: f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i8, ui8, i1.
    * (c3) there is one positive stride a dim.
    * (c4) the alignment is a power of two.

    ```mlir
    !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
    !cudnn.tensor_desc<1x64x56x56xf32, NCHW, alignment = 1>
    !cudnn.tensor_desc<4x24x31x31xf16, stride = [46128, 1, 1488, 48]>
    ```

    Maps to `CUDNN_BACKEND_TENSOR_DESCRIPTOR`: `CUDNN_ATTR_TENSOR_DIMENSIONS`, `_STRIDES`, `_DATA_TYPE`, `_BYTE_ALIGNMENT`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, ArrayRefParameter<"int64_t">:$strides,
                        "int64_t":$alignment);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType, "bool":$channelsLast,
                                        CArg<"int64_t", "16">:$alignment)>,
  ];
  let extraClassDeclaration = [{
    static constexpr int64_t kDefaultAlignment = 16;
    int64_t getRank() const { return getShape().size(); }
    /// Packed with channels (dim 1) fastest. True as well for some tensors that are also packed in the order of their dims.
    bool isChannelsLast() const;
    /// Packed in the order of the dims.
    bool isRowMajor() const;
    /// Whether the elements fill one interval without gap, in any order.
    bool isPacked() const;
    /// The dims in the order of memory: those that vary slowest first. `isPacked()` holds.
    ::llvm::SmallVector<int64_t> getPhysicalShape() const;
    /// Whether a packed row-major buffer of `shape` holds this descriptor's elements in the same order; dims of size 1 do not count.
    bool isSameMemoryAs(::llvm::ArrayRef<int64_t> shape) const;
    /// The same tensor with another element type.
    TensorDescType withElementType(::mlir::Type elementType) const;
  }];
}

//===-- enums ------------------------------------------------------------------------------------------------------------===//

class Cudnn_Enum<string name, string what, list<I32EnumAttrCase> cases> : I32EnumAttr<name, what, cases> {
  let cppNamespace = "::convoy::cudnn";
  let genSpecializedAttr = 0;
}

class Cudnn_EnumAttr<EnumAttrInfo info, string name> : EnumAttr<Cudnn_Dialect, info, name> {
  let assemblyFormat = "$value";
}

def Cudnn_ConvolutionMode : Cudnn_Enum<"ConvolutionMode", "which of the three tensors of a convolution is computed", [
  I32EnumAttrCase<"Fprop", 0, "fprop">, I32EnumAttrCase<"Dgrad", 1, "dgrad">, I32EnumAttrCase<"Wgrad", 2, "wgrad">]>;
def Cudnn_ConvolutionModeAttr : Cudnn_EnumAttr<Cudnn_ConvolutionMode, "convolution_mode">;

def Cudnn_ConvolutionKind : Cudnn_Enum<"ConvolutionKind", "cudnnConvolutionMode_t: whether the filter is reversed", [
  I32EnumAttrCase<"Convolution", 0, "convolution">, I32EnumAttrCase<"CrossCorrelation", 1, "cross_correlation">]>;
def Cudnn_ConvolutionKindAttr : Cudnn_EnumAttr<Cudnn_ConvolutionKind, "convolution_kind">;

def Cudnn_PointwiseMode : Cudnn_Enum<"PointwiseMode", "cudnnPointwiseMode_t", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">, I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Max", 3, "max">,
  I32EnumAttrCase<"Sqrt", 4, "sqrt">, I32EnumAttrCase<"AddSquare", 5, "add_square">, I32EnumAttrCase<"Div", 6, "div">,
  I32EnumAttrCase<"Mod", 7, "mod">, I32EnumAttrCase<"Pow", 8, "pow">, I32EnumAttrCase<"Sub", 9, "sub">, I32EnumAttrCase<"Abs", 10, "abs">,
  I32EnumAttrCase<"Ceil", 11, "ceil">, I32EnumAttrCase<"Cos", 12, "cos">, I32EnumAttrCase<"Exp", 13, "exp">,
  I32EnumAttrCase<"Floor", 14, "floor">, I32EnumAttrCase<"Log", 15, "log">, I32EnumAttrCase<"Neg", 16, "neg">,
  I32EnumAttrCase<"Rsqrt", 17, "rsqrt">, I32EnumAttrCase<"Sin", 18, "sin">, I32EnumAttrCase<"Tan", 19, "tan">,
  I32EnumAttrCase<"Erf", 20, "erf">, I32EnumAttrCase<"Identity", 21, "identity">, I32EnumAttrCase<"Reciprocal", 22, "reciprocal">,
  I32EnumAttrCase<"Atan2", 23, "atan2">, I32EnumAttrCase<"ReluFwd", 100, "relu_fwd">, I32EnumAttrCase<"TanhFwd", 101, "tanh_fwd">,
  I32EnumAttrCase<"SigmoidFwd", 102, "sigmoid_fwd">, I32EnumAttrCase<"EluFwd", 103, "elu_fwd">,
  I32EnumAttrCase<"GeluFwd", 104, "gelu_fwd">, I32EnumAttrCase<"SoftplusFwd", 105, "softplus_fwd">,
  I32EnumAttrCase<"SwishFwd", 106, "swish_fwd">, I32EnumAttrCase<"GeluApproxTanhFwd", 107, "gelu_approx_tanh_fwd">,
  I32EnumAttrCase<"ReluBwd", 200, "relu_bwd">, I32EnumAttrCase<"TanhBwd", 201, "tanh_bwd">,
  I32EnumAttrCase<"SigmoidBwd", 202, "sigmoid_bwd">, I32EnumAttrCase<"EluBwd", 203, "elu_bwd">, I32EnumAttrCase<"GeluBwd", 204, "gelu_bwd">,
  I32EnumAttrCase<"SoftplusBwd", 205, "softplus_bwd">, I32EnumAttrCase<"SwishBwd", 206, "swish_bwd">,
  I32EnumAttrCase<"GeluApproxTanhBwd", 207, "gelu_approx_tanh_bwd">, I32EnumAttrCase<"CmpEq", 300, "cmp_eq">,
  I32EnumAttrCase<"CmpNeq", 301, "cmp_neq">, I32EnumAttrCase<"CmpGt", 302, "cmp_gt">, I32EnumAttrCase<"CmpGe", 303, "cmp_ge">,
  I32EnumAttrCase<"CmpLt", 304, "cmp_lt">, I32EnumAttrCase<"CmpLe", 305, "cmp_le">, I32EnumAttrCase<"LogicalAnd", 400, "logical_and">,
  I32EnumAttrCase<"LogicalOr", 401, "logical_or">, I32EnumAttrCase<"LogicalNot", 402, "logical_not">,
  I32EnumAttrCase<"GenIndex", 501, "gen_index">, I32EnumAttrCase<"BinarySelect", 601, "binary_select">]>;
def Cudnn_PointwiseModeAttr : Cudnn_EnumAttr<Cudnn_PointwiseMode, "pointwise_mode">;

def Cudnn_ReductionMode : Cudnn_Enum<"ReductionMode", "cudnnReduceTensorOp_t", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">, I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Max", 3, "max">,
  I32EnumAttrCase<"Amax", 4, "amax">, I32EnumAttrCase<"Avg", 5, "avg">, I32EnumAttrCase<"Norm1", 6, "norm1">,
  I32EnumAttrCase<"Norm2", 7, "norm2">, I32EnumAttrCase<"MulNoZeros", 8, "mul_no_zeros">]>;
def Cudnn_ReductionModeAttr : Cudnn_EnumAttr<Cudnn_ReductionMode, "reduction_mode">;

def Cudnn_ResampleMode : Cudnn_Enum<"ResampleMode", "cudnnResampleMode_t", [
  I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Bilinear", 1, "bilinear">,
  I32EnumAttrCase<"AvgpoolIncludePadding", 2, "avgpool_include_padding">, I32EnumAttrCase<"Maxpool", 3, "maxpool">,
  I32EnumAttrCase<"AvgpoolExcludePadding", 4, "avgpool_exclude_padding">]>;
def Cudnn_ResampleModeAttr : Cudnn_EnumAttr<Cudnn_ResampleMode, "resample_mode">;

def Cudnn_PaddingMode : Cudnn_Enum<"PaddingMode", "cudnnPaddingMode_t", [
  I32EnumAttrCase<"ZeroPad", 0, "zero_pad">, I32EnumAttrCase<"NegInfPad", 1, "neg_inf_pad">,
  I32EnumAttrCase<"EdgeValPad", 2, "edge_val_pad">]>;
def Cudnn_PaddingModeAttr : Cudnn_EnumAttr<Cudnn_PaddingMode, "padding_mode">;

#endif // CONVOY_CUDNN_DIALECT
