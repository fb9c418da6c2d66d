// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that read elements at positions given by another tensor.

#ifndef CONVOY_TCP_INDEX_OPS
#define CONVOY_TCP_INDEX_OPS

include "dialect/tcp/TcpDialect.td"

class Tcp_IndexOp<string mnemonic> : Tcp_Op<mnemonic, [AllElementTypesMatch<["input", "output"]>]> {
  let arguments = (ins Tcp_Tensor:$input, Tcp_IndexTensor:$indices, IndexAttr:$dim);
  let results = (outs Tcp_Tensor:$output);
  let assemblyFormat = "$input `,` $indices attr-dict `:` type($input) `,` type($indices) `->` type($output)";
  let hasVerifier = 1;
}

def Tcp_IndexSelectOp : Tcp_IndexOp<"index_select"> {
  let summary = "slices of the input along one dim";
  let description = [{
    `output[a..., i..., b...] = input[a..., indices[i...], b...]`, where `a...` are the dims before
    `dim` and `b...` those after it (aten.index_select, aten.embedding, numpy.take). Indices are
    signed. Where an index is negative or not below the size of `dim`, the result is NaN for floats,
    false for i1 and the smallest number of other integers; nothing outside of the input is read.

    **Constraints**

    * (c1) `dim` is a dim of the input.
    * (c2) the result's shape is the input's with `dim` replaced by the dims of `indices`.

    ```mlir
    %y = tcp.index_select %table, %ids {dim = 0 : index} : tensor<30522x768xf32>, tensor<1x128xi64> -> tensor<1x128x768xf32>
    ```
  }];
}

def Tcp_GatherOp : Tcp_IndexOp<"gather"> {
  let summary = "one element of the input for each index, along one dim";
  let description = [{
    `output[a..., i, b...] = input[a..., indices[a..., i, b...], b...]`, where `i` is in `dim`
    (aten.gather, numpy.take_along_axis). Indices out of range have the results of
    `tcp.index_select`.

    **Constraints**

    * (c1) `dim` is a dim of the input.
    * (c2) `indices` has the rank of the input, and no dim except `dim` is larger than the input's.
    * (c3) the result's shape is that of `indices`.

    ```mlir
    %y = tcp.gather %x, %i {dim = 1 : index} : tensor<4x8xf32>, tensor<4x3xi64> -> tensor<4x3xf32>
    ```
  }];
}

#endif // CONVOY_TCP_INDEX_OPS
