// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pooling over 1 to 3 spatial dims, and the gradient of max pooling.

#ifndef CONVOY_TCP_POOLING_OPS
#define CONVOY_TCP_POOLING_OPS

include "dialect/tcp/TcpDialect.td"

class Tcp_PoolOp<string mnemonic> : Tcp_Op<mnemonic, [SameOperandsAndResultElementType, SameOperandsAndResultRank, Tcp_InfersShape]> {
  let results = (outs Tcp_FloatTensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tcp_MaxPoolOp : Tcp_PoolOp<"max_pool"> {
  let summary = "maximum over a window";
  let description = [{
    Padding is minus infinity (aten.max_pool1d, 2d, 3d). Torch's `ceil_mode` is padding at the high
    side.

    **Constraints**

    * (c1) the input has two dims more than there are spatial dims.
    * (c2) `kernel`, `stride` and `dilation` have one positive number per spatial dim, `pad` two
      non-negative numbers.
    * (c3) the output has the shape that follows from the operands.
    * (c4) the dilated window fits into the padded input.

    ```mlir
    %y = tcp.max_pool %x {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
        : tensor<1x64x112x112xf32> -> tensor<1x64x56x56xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad,
                       DenseI64ArrayAttr:$dilation, UnitAttr:$channels_last);
}

def Tcp_AvgPoolOp : Tcp_PoolOp<"avg_pool"> {
  let summary = "mean over a window";
  let description = [{
    The sum over the window of the zero-padded input, divided by `divisor` if present, otherwise by
    the number of window elements in the padded input with `count_include_pad`, or in the input
    without it (aten.avg_pool1d, 2d, 3d). `ceil_pad`, one number per spatial dim, is additional
    padding at the high side that no divisor includes, for Torch's `ceil_mode`.

    **Constraints**

    * (c1) the input has two dims more than there are spatial dims.
    * (c2) `kernel` and `stride` have one positive number per spatial dim, `pad` two and `ceil_pad`
      one non-negative number.
    * (c3) the output has the shape that follows from the operands.
    * (c4) `divisor` is not 0.
    * (c5) the window fits into the padded input.

    ```mlir
    %y = tcp.avg_pool %x {ceil_pad = array<i64: 0, 0>, count_include_pad, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
        : tensor<1x64x8x8xf32> -> tensor<1x64x4x4xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad,
                       DenseI64ArrayAttr:$ceil_pad, UnitAttr:$count_include_pad, OptionalAttr<I64Attr>:$divisor, UnitAttr:$channels_last);
}

def Tcp_MaxPoolIndicesOp : Tcp_Op<"max_pool_indices", [AllElementTypesMatch<["input", "maxima"]>, Tcp_InfersShape]> {
  let summary = "place of the maximum of each window";
  let description = [{
    For each window of a `tcp.max_pool` of the input, whose result is `maxima`, the row-major index
    in the input's spatial dims of the maximum: of the first element that equals it, or of the last
    NaN (the indices of aten.max_pool2d_with_indices). If a window has neither, its index is the
    largest integer.

    **Constraints**

    * (c1) the input has two dims more than there are spatial dims.
    * (c2) `kernel`, `stride` and `dilation` have one positive number per spatial dim, `pad` two
      non-negative numbers.
    * (c3) the maxima and the result have the shape of the pooling's result.
    * (c4) the dilated window fits into the padded input.

    ```mlir
    %i = tcp.max_pool_indices %x, %y {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>}
        : tensor<1x4x8xf32>, tensor<1x4x4xf32> -> tensor<1x4x4xi64>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$input, Tcp_FloatTensor:$maxima, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$pad, DenseI64ArrayAttr:$dilation, UnitAttr:$channels_last);
  let results = (outs Tcp_IndexTensor:$output);
  let assemblyFormat = "$input `,` $maxima attr-dict `:` type($input) `,` type($maxima) `->` type($output)";
  let hasVerifier = 1;
}

def Tcp_MaxPoolBackwardOp : Tcp_Op<"max_pool_backward", [AllElementTypesMatch<["gradient", "output"]>, Tcp_InfersShape]> {
  let summary = "gradient of a max pooling with respect to its input";
  let description = [{
    Each element is the sum of the gradients of those windows around it whose index, from
    `tcp.max_pool_indices`, is that of the element (aten.max_pool2d_with_indices_backward). An
    index outside its window contributes nothing.

    **Constraints**

    * (c1) the result has two dims more than there are spatial dims.
    * (c2) `kernel`, `stride` and `dilation` have one positive number per spatial dim, `pad` two
      non-negative numbers.
    * (c3) the gradient and the indices have the shape of the pooling of a tensor of the result's shape.
    * (c4) the dilated window fits into the padded input.

    ```mlir
    %dx = tcp.max_pool_backward %dy, %i {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>}
        : tensor<1x4x4xf32>, tensor<1x4x4xi64> -> tensor<1x4x8xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$gradient, Tcp_IndexTensor:$indices, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$pad, DenseI64ArrayAttr:$dilation, UnitAttr:$channels_last);
  let results = (outs Tcp_FloatTensor:$output);
  let assemblyFormat = "$gradient `,` $indices attr-dict `:` type($gradient) `,` type($indices) `->` type($output)";
  let hasVerifier = 1;
}

#endif // CONVOY_TCP_POOLING_OPS
