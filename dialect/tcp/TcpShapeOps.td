// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that move elements.

#ifndef CONVOY_TCP_SHAPE_OPS
#define CONVOY_TCP_SHAPE_OPS

include "dialect/tcp/TcpDialect.td"

class Tcp_ShapeOp<string mnemonic, list<Trait> traits = []>
    : Tcp_Op<mnemonic, !listconcat([SameOperandsAndResultElementType, Tcp_InfersShape], traits)> {
  let results = (outs Tcp_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tcp_ReshapeOp : Tcp_ShapeOp<"reshape"> {
  let hasVerifier = 0;
  let summary = "the same elements with another shape";
  let description = [{
    Preserves the row-major order of the elements (aten.view, reshape, flatten, squeeze, unsqueeze).

    **Constraints**

    * (c1) input and result have the same number of elements. One `?` of the result follows from
      the other dims; several need a `tcp.bind_symbolic_shape`.

    ```mlir
    %y = tcp.reshape %x : tensor<1x512x1x1xf32> -> tensor<1x512xf32>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$input);
}

def Tcp_TransposeOp : Tcp_ShapeOp<"transpose", [SameOperandsAndResultRank]> {
  let summary = "permutes dims";
  let description = [{
    Result dim `i` is input dim `perm[i]` (aten.permute).

    **Constraints**

    * (c1) `perm` is a permutation of the dims.
    * (c2) the result's shape is the input's, permuted.

    ```mlir
    %y = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x3x8x9xf32> -> tensor<1x8x9x3xf32>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$input, DenseI64ArrayAttr:$perm);
  let hasCanonicalizer = 1;
}

def Tcp_SliceOp : Tcp_ShapeOp<"slice", [SameOperandsAndResultRank]> {
  let summary = "a strided slice of the input";
  let description = [{
    The elements `starts + i * strides` for `i < sizes` (aten.slice, select, split). A size of -1
    in a dim that is `?` is that of all elements from `starts` on.

    **Constraints**

    * (c1) `starts`, `sizes` and `strides` have one number per dim; starts are non-negative,
      strides positive, and sizes positive, or -1 where the input's dim is `?`.
    * (c2) the slice is inside the input.
    * (c3) the result's shape is `sizes`, with the number of elements instead of -1.

    ```mlir
    %y = tcp.slice %x {sizes = array<i64: 1, 4>, starts = array<i64: 0, 2>, strides = array<i64: 1, 2>} : tensor<1x16xf32> -> tensor<1x4xf32>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
}

def Tcp_PadOp : Tcp_ShapeOp<"pad", [SameOperandsAndResultRank]> {
  let summary = "pads or crops dims, and inserts elements between neighbors";
  let description = [{
    Inserts `interior` copies of `value` between neighbors, then `low` before and `high` after.
    Negative `low` and `high` crop (aten.constant_pad_nd; `interior` implements the stride of a
    transposed convolution).

    **Constraints**

    * (c1) `low`, `high` and `interior` have one number per dim; `interior` is non-negative.
    * (c2) the result has the shape that follows from the operands, and no dim is negative.

    ```mlir
    %y = tcp.pad %x {high = array<i64: 0, 1>, interior = array<i64: 0, 1>, low = array<i64: 0, 2>, value = 0.0 : f64} : tensor<2x3xf32> -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior, F64Attr:$value);
}

def Tcp_BroadcastOp : Tcp_ShapeOp<"broadcast", [SameOperandsAndResultRank]> {
  let hasVerifier = 0;
  let summary = "repeats dims of size 1";
  let description = [{
    Each dim of size 1 is repeated to the result's size (aten.expand). A `?` of the input is not
    repeated. A `?` of the result where the input's dim is 1 needs a `tcp.bind_symbolic_shape`.

    **Constraints**

    * (c1) each input dim equals the result's dim or is 1.

    ```mlir
    %y = tcp.broadcast %x : tensor<1x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$input);
}

def Tcp_ReverseOp : Tcp_ShapeOp<"reverse", [SameOperandsAndResultShape]> {
  let summary = "reverses the order along dims";
  let description = [{
    Represents aten.flip and the weights of a transposed convolution.

    **Constraints**

    * (c1) `dims` are sorted, distinct and below the rank.

    ```mlir
    %y = tcp.reverse %x {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$input, DenseI64ArrayAttr:$dims);
}

def Tcp_ConcatOp : Tcp_Op<"concat", [SameOperandsAndResultElementType, SameOperandsAndResultRank, Tcp_InfersShape]> {
  let summary = "concatenates tensors along a dim";
  let description = [{
    Represents aten.cat.

    **Constraints**

    * (c1) there is at least one input, and `dim` is below the rank.
    * (c2) the inputs' dims are equal except `dim`, where the result has the sum of the inputs'.

    ```mlir
    %y = tcp.concat %a, %b {dim = 1 : i64} : tensor<1x2xf32>, tensor<1x3xf32> -> tensor<1x5xf32>
    ```
  }];
  let arguments = (ins Variadic<Tcp_Tensor>:$inputs, I64Attr:$dim);
  let hasCanonicalizer = 1;
  let results = (outs Tcp_Tensor:$output);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($output)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // CONVOY_TCP_SHAPE_OPS
