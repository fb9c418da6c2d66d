// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions, running totals, softmax and normalization.

#ifndef CONVOY_TCP_REDUCTION_OPS
#define CONVOY_TCP_REDUCTION_OPS

include "dialect/tcp/TcpDialect.td"

class Tcp_ReduceOp<string mnemonic, string what, string aten>
    : Tcp_Op<mnemonic, [SameOperandsAndResultElementType, SameOperandsAndResultRank, Tcp_InfersShape]> {
  let summary = what # " over dims";
  let description = "The " # what # " over `dims`, which the result keeps with size 1 (" # aten # [{).

    **Constraints**

    * (c1) `dims` are sorted, distinct and below the rank.
    * (c2) the result's shape is the input's with 1 at `dims`.
  }] # "\n```mlir\n%y = tcp." # mnemonic # " %x {dims = array<i64: 2, 3>} : tensor<1x64x7x7xf32> -> tensor<1x64x1x1xf32>\n```\n";
  let arguments = (ins Tcp_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Tcp_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tcp_ReduceSumOp : Tcp_ReduceOp<"reduce_sum", "sum", "aten.sum">;
def Tcp_ReduceMeanOp : Tcp_ReduceOp<"reduce_mean", "mean", "aten.mean">;
def Tcp_ReduceMaxOp : Tcp_ReduceOp<"reduce_max", "maximum, or NaN if any element is,", "aten.amax">;

class Tcp_CumulativeOp<string mnemonic, string what, string aten>
    : Tcp_Op<mnemonic, [SameOperandsAndResultType, Tcp_ShapeOpInterface]> {
  let summary = "running " # what # "s along one dim";
  let description = "`output[a..., i, b...]` is the " # what # " of `input[a..., 0, b...]` to "
      # "`input[a..., i, b...]`, where `i` is in `dim` (" # aten # [{). Where rounding and the order
    permit several results, those for `x` >= 0 (of a product: `x` >= 1) never fall from one element
    to the next, and an element that is 0 (1) does not change the result.

    **Constraints**

    * (c1) `dim` is a dim of the input.
    * (c2) elements are not i1.
  }] # "\n```mlir\n%y = tcp." # mnemonic # " %x {dim = 1 : index} : tensor<2x1024xf32> -> tensor<2x1024xf32>\n```\n";
  let arguments = (ins Tcp_Tensor:$input, IndexAttr:$dim);
  let results = (outs Tcp_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
}

def Tcp_CumsumOp : Tcp_CumulativeOp<"cumsum", "sum", "aten.cumsum">;
def Tcp_CumprodOp : Tcp_CumulativeOp<"cumprod", "product", "aten.cumprod">;

def Tcp_SoftmaxOp : Tcp_Op<"softmax", [SameOperandsAndResultType, Tcp_ShapeOpInterface]> {
  let summary = "softmax over one dim";
  let description = [{
    `exp(x - max) / sum(exp(x - max))` over `dim` (aten.softmax).

    **Constraints**

    * (c1) `dim` is below the rank.

    ```mlir
    %y = tcp.softmax %x {dim = 1 : i64} : tensor<1x10xf32> -> tensor<1x10xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$input, I64Attr:$dim);
  let results = (outs Tcp_FloatTensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
}

def Tcp_LayerNormOp : Tcp_Op<"layer_norm", [SameOperandsAndResultType, Tcp_ShapeOpInterface]> {
  let summary = "subtracts the mean and divides by the standard deviation over dims";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon)` over `dims`, with the biased variance and without an
    affine part: aten.layer_norm over the trailing dims, aten.group_norm over the channels of a
    group and the spatial dims. A negative `epsilon` is allowed, as in Torch: the result is NaN
    where `variance + epsilon` is negative.

    **Constraints**

    * (c1) `dims` are sorted, distinct and below the rank.

    ```mlir
    %y = tcp.layer_norm %x {dims = array<i64: 2>, epsilon = 1.0e-5 : f64} : tensor<8x197x768xf32> -> tensor<8x197x768xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$input, DenseI64ArrayAttr:$dims, F64Attr:$epsilon);
  let results = (outs Tcp_FloatTensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
}

#endif // CONVOY_TCP_REDUCTION_OPS
