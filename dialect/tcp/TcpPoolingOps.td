// Pooling over 1 to 3 spatial dims.

#ifndef CONVOY_TCP_POOLING_OPS
#define CONVOY_TCP_POOLING_OPS

include "dialect/tcp/TcpDialect.td"

class Tcp_PoolOp<string mnemonic> : Tcp_Op<mnemonic, [SameOperandsAndResultElementType, SameOperandsAndResultRank]> {
  let results = (outs Tcp_FloatTensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tcp_MaxPoolOp : Tcp_PoolOp<"max_pool"> {
  let summary = "maximum over a window";
  let description = [{
    Padding is minus infinity (aten.max_pool1d, 2d, 3d). `ceil_mode` is padding at the high side.

    **Constraints**

    * (c1) the input has two dims more than there are spatial dims.
    * (c2) `kernel`, `stride` and `dilation` have one positive number a spatial dim, `pad` two that
      are not negative.
    * (c3) the output's shape is the one that the operands give.
    * (c4) the window, dilated, fits into the padded input.

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
    The sum over the window, padded with zeros, divided by `divisor` if there is one; else, with
    `count_include_pad`, by the number of window elements inside the padded input; else by the
    number inside the input (aten.avg_pool1d, 2d, 3d). `ceil_pad` widens the input at the high side,
    one number a spatial dim, and is counted in no divisor: it is what `ceil_mode` adds.

    **Constraints**

    * (c1) the input has two dims more than there are spatial dims.
    * (c2) `kernel` and `stride` have one positive number a spatial dim, `pad` two and `ceil_pad`
      one that are not negative.
    * (c3) the output's shape is the one that the operands give.
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

#endif // CONVOY_TCP_POOLING_OPS
