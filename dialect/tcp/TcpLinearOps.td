// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolutions and matrix products: the anchors of groups.

#ifndef CONVOY_TCP_LINEAR_OPS
#define CONVOY_TCP_LINEAR_OPS

include "dialect/tcp/TcpDialect.td"

class Tcp_ConvOp<string mnemonic, string rank, string example>
    : Tcp_Op<mnemonic, [Tcp_ConvOpInterface, Tcp_InfersShape,
                        AllElementTypesMatch<["input", "weights", "output"]>]> {
  let summary = rank # "-D convolution";
  let description = "Cross-correlation of the input with the weights over " # rank # [{ spatial dims (aten.convolution, not transposed).

    **Constraints**

    * (c1) input, weights and output have two dims more than there are spatial dims.
    * (c2) `stride` and `dilation` have one positive number per spatial dim, `pad` two non-negative
      numbers.
    * (c3) `groups` divides the input's and the output's channels; the weights have
      input channels / groups channels.
    * (c4) the dilated window fits into the padded input.
    * (c5) the output has the shape that follows from the operands.
  }] # "\n```mlir\n" # example # "\n```\n";
  let arguments = (ins Tcp_FloatTensor:$input, Tcp_FloatTensor:$weights, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad,
                       DenseI64ArrayAttr:$dilation, DefaultValuedAttr<I64Attr, "1">:$groups, UnitAttr:$channels_last);
  let results = (outs Tcp_FloatTensor:$output);
  let assemblyFormat = "$input `,` $weights attr-dict `:` type($input) `,` type($weights) `->` type($output)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tcp_Conv1dOp : Tcp_ConvOp<"conv1d", "1",
  "%y = tcp.conv1d %x, %w {dilation = array<i64: 1>, pad = array<i64: 1, 1>, stride = array<i64: 1>}\n"
  "    : tensor<1x8x16xf32>, tensor<4x8x3xf32> -> tensor<1x4x16xf32>">;
def Tcp_Conv2dOp : Tcp_ConvOp<"conv2d", "2",
  "%y = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}\n"
  "    : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>">;
def Tcp_Conv3dOp : Tcp_ConvOp<"conv3d", "3",
  "%y = tcp.conv3d %x, %w {dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>}\n"
  "    : tensor<1x8x4x8x8xf32>, tensor<4x8x1x1x1xf32> -> tensor<1x4x4x8x8xf32>">;

def Tcp_ConvTransposeOp : Tcp_Op<"conv_transpose", [Tcp_InfersShape, AllElementTypesMatch<["input", "weights", "output"]>]> {
  let summary = "transposed convolution over 1 to 3 spatial dims";
  let description = [{
    The gradient of a convolution with respect to its input (aten.convolution, transposed). Weights
    are C x K/groups x window. Output size:
    `(in - 1) * stride - pad_low - pad_high + dilation * (window - 1) + output_pad + 1`.

    **Constraints**

    * (c1) input, weights and output have two dims more than there are spatial dims.
    * (c2) `stride` and `dilation` have one positive number per spatial dim, `output_pad` one and
      `pad` two non-negative numbers.
    * (c3) `groups` divides the input's channels, and the weights' first dim is the input's
      channels.
    * (c4) the output has the shape that follows from the operands.

    ```mlir
    %y = tcp.conv_transpose %x, %w {dilation = array<i64: 1, 1>, output_pad = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
        : tensor<1x8x4x4xf32>, tensor<8x4x3x3xf32> -> tensor<1x4x8x8xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$input, Tcp_FloatTensor:$weights, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad,
                       DenseI64ArrayAttr:$output_pad, DenseI64ArrayAttr:$dilation, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Tcp_FloatTensor:$output);
  let assemblyFormat = "$input `,` $weights attr-dict `:` type($input) `,` type($weights) `->` type($output)";
  let hasVerifier = 1;
}

class Tcp_ConvGradientOp<string mnemonic, list<Trait> traits> : Tcp_Op<mnemonic, traits> {
  let results = (outs Tcp_FloatTensor:$output);
  let hasVerifier = 1;
}

def Tcp_ConvBackwardDataOp
    : Tcp_ConvGradientOp<"conv_backward_data", [Tcp_InfersShape, AllElementTypesMatch<["gradient", "weights", "output"]>]> {
  let summary = "gradient of a convolution with respect to its input";
  let description = [{
    The gradient of the input, from the gradient of the output and the weights of a convolution with
    these attributes (aten.convolution_backward). The result has the input's shape, which the
    operands do not determine if the stride is above 1. `tcp.conv_transpose` is the same computation
    as the forward op of a network.

    **Constraints**

    * (c1) there are 1 to 3 spatial dims, and all tensors have two dims more.
    * (c2) `stride` and `dilation` have one positive number per spatial dim, `pad` two non-negative
      numbers.
    * (c3) `groups` divides the channels of the result and of the gradient; the weights have
      channels of the result / groups channels.
    * (c4) the gradient has the shape of the convolution of the result with the weights, and no dim
      of size 0.

    ```mlir
    %dx = tcp.conv_backward_data %dy, %w {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
        : tensor<1x8x4x4xf32>, tensor<8x4x3x3xf32> -> tensor<1x4x8x8xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$gradient, Tcp_FloatTensor:$weights, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad,
                       DenseI64ArrayAttr:$dilation, DefaultValuedAttr<I64Attr, "1">:$groups, UnitAttr:$channels_last);
  let assemblyFormat = "$gradient `,` $weights attr-dict `:` type($gradient) `,` type($weights) `->` type($output)";
}

def Tcp_ConvBackwardFilterOp
    : Tcp_ConvGradientOp<"conv_backward_filter", [Tcp_InfersShape, AllElementTypesMatch<["input", "gradient", "output"]>]> {
  let summary = "gradient of a convolution with respect to its weights";
  let description = [{
    The gradient of the weights, from the input and the gradient of the output of a convolution with
    these attributes (aten.convolution_backward). The result has the weights' shape, which the
    operands do not determine if the stride is above 1.

    **Constraints**

    * (c1) there are 1 to 3 spatial dims, and all tensors have two dims more.
    * (c2) `stride` and `dilation` have one positive number per spatial dim, `pad` two non-negative
      numbers.
    * (c3) `groups` divides the channels of the input and of the gradient; the result has
      channels of the input / groups channels.
    * (c4) the gradient has the shape of the convolution of the input with the result, and no dim of
      size 0.

    ```mlir
    %dw = tcp.conv_backward_filter %x, %dy {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
        : tensor<1x4x8x8xf32>, tensor<1x8x4x4xf32> -> tensor<8x4x3x3xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$input, Tcp_FloatTensor:$gradient, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad,
                       DenseI64ArrayAttr:$dilation, DefaultValuedAttr<I64Attr, "1">:$groups, UnitAttr:$channels_last);
  let assemblyFormat = "$input `,` $gradient attr-dict `:` type($input) `,` type($gradient) `->` type($output)";
}

def Tcp_MatmulOp : Tcp_Op<"matmul", [SameOperandsAndResultElementType, SameOperandsAndResultRank, Tcp_InfersShape]> {
  let summary = "matrix product, batched over the leading dims";
  let description = [{
    `B... x M x K` times `B... x K x N` gives `B... x M x N` (aten.mm, bmm, matmul).

    **Constraints**

    * (c1) the rank is at least 2.
    * (c2) the last dim of `lhs` equals the second last of `rhs`.
    * (c3) batch dims are equal or 1, and the output has the shape that follows from the operands.

    ```mlir
    %y = tcp.matmul %a, %b : tensor<8x128x64xf32>, tensor<1x64x32xf32> -> tensor<8x128x32xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$lhs, Tcp_FloatTensor:$rhs);
  let results = (outs Tcp_FloatTensor:$output);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($output)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tcp_AttentionOp : Tcp_Op<"attention", [SameOperandsAndResultElementType, Tcp_InfersShape]> {
  let summary = "scaled dot product attention";
  let description = [{
    `softmax(scale * query * transpose(key) + mask) * value` for every batch and head
    (aten.scaled_dot_product_attention). With query B x H x M x D, key B x G x N x D and value
    B x G x N x E the result is B x H x M x E; heads `i * H / G` to `(i + 1) * H / G - 1` of the query
    share head `i` of key and value. With `causal`, a row of the query ignores the columns after its
    own index, and with `window` those that are `window` or more before it. With `softcap`, a scaled
    product `s` becomes `softcap * tanh(s / softcap)` before the mask. Rows whose scores are all minus
    infinity are 0.

    **Constraints**

    * (c1) query, key and value have rank 4, with the shapes above, and at least one column.
    * (c2) the heads of the key divide those of the query.
    * (c3) each dim of the mask is that of B x H x M x N, or 1.
    * (c4) the output has the shape that follows from the operands.
    * (c5) `softcap` is positive and finite.
    * (c6) `window` is positive.

    ```mlir
    %o = tcp.attention %q, %k, %v mask %m {scale = 0.125 : f64}
        : tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>, tensor<1x1x1x128xf32> -> tensor<1x12x128x64xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$query, Tcp_FloatTensor:$key, Tcp_FloatTensor:$value, Optional<Tcp_FloatTensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal, OptionalAttr<F64Attr>:$softcap,
                       OptionalAttr<I64Attr>:$window);
  let results = (outs Tcp_FloatTensor:$output);
  let assemblyFormat = "$query `,` $key `,` $value (`mask` $mask^)? attr-dict `:` type(operands) `->` type($output)";
  let hasVerifier = 1;
}

#endif // CONVOY_TCP_LINEAR_OPS
