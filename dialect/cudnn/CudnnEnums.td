// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Enums of the cudnn dialect. Values of cuDNN's enums are those of cudnn_graph.h of cuDNN 9.19.

#ifndef CONVOY_CUDNN_ENUMS
#define CONVOY_CUDNN_ENUMS

include "dialect/cudnn/CudnnDialect.td"
include "mlir/IR/EnumAttr.td"

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

def Cudnn_NanPropagation : Cudnn_Enum<"NanPropagation", "cudnnNanPropagation_t", [
  I32EnumAttrCase<"NotPropagateNan", 0, "not_propagate_nan">, I32EnumAttrCase<"PropagateNan", 1, "propagate_nan">]>;
def Cudnn_NanPropagationAttr : Cudnn_EnumAttr<Cudnn_NanPropagation, "nan_propagation">;

def Cudnn_RecurrentMode : Cudnn_Enum<"RecurrentMode", "cudnnRNNMode_t", [
  I32EnumAttrCase<"RnnRelu", 0, "rnn_relu">, I32EnumAttrCase<"RnnTanh", 1, "rnn_tanh">, I32EnumAttrCase<"Lstm", 2, "lstm">,
  I32EnumAttrCase<"Gru", 3, "gru">]>;
def Cudnn_RecurrentModeAttr : Cudnn_EnumAttr<Cudnn_RecurrentMode, "recurrent_mode">;

def Cudnn_TensorReordering : Cudnn_Enum<"TensorReordering", "cudnnBackendTensorReordering_t", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Int8x32", 1, "int8x32">, I32EnumAttrCase<"F16x16", 2, "f16x16">,
  I32EnumAttrCase<"F8_128x4", 3, "f8_128x4">]>;

def Cudnn_Preference : Cudnn_Enum<"Preference", "`cudnn.preference`: what runs a graph with kernels if it is not tuned", [
  I32EnumAttrCase<"Kernel", 0, "kernel">, I32EnumAttrCase<"Plan", 1, "plan">, I32EnumAttrCase<"OnlyKernel", 2, "only_kernel">]>;

#endif // CONVOY_CUDNN_ENUMS
