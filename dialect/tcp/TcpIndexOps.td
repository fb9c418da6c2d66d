// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that read or write elements at positions given by another tensor.

#ifndef CONVOY_TCP_INDEX_OPS
#define CONVOY_TCP_INDEX_OPS

include "dialect/tcp/TcpDialect.td"

def Tcp_IotaOp : Tcp_Op<"iota", [Tcp_InfersShape]> {
  let summary = "the index along one dim";
  let description = [{
    `output[..., i, ...] = i`, where `i` is the index in `dim` (aten.arange, numpy.arange). A
    `?` of the result needs a `tcp.bind_symbolic_shape`.

    **Constraints**

    * (c1) `dim` is a dim of the result.

    ```mlir
    %i = tcp.iota {dim = 1 : index} : tensor<1x128xi64>
    ```
  }];
  let arguments = (ins IndexAttr:$dim);
  let results = (outs Tcp_IndexTensor:$output);
  let assemblyFormat = "attr-dict `:` type($output)";
  let hasVerifier = 1;
}

class Tcp_IndexOp<string mnemonic> : Tcp_Op<mnemonic, [AllElementTypesMatch<["input", "output"]>, Tcp_InfersShape]> {
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
    false for i1, 128 for ui8 and the smallest number of other integers; nothing outside of the
    input is read. With `in_bounds`, which promises that there is no such index, the result for one
    is an element of the input.

    **Constraints**

    * (c1) `dim` is a dim of the input.
    * (c2) the result's shape is the input's with `dim` replaced by the dims of `indices`.

    ```mlir
    %y = tcp.index_select %table, %ids {dim = 0 : index} : tensor<30522x768xf32>, tensor<1x128xi64> -> tensor<1x128x768xf32>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$input, Tcp_IndexTensor:$indices, IndexAttr:$dim, UnitAttr:$in_bounds);
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

def Tcp_ScatterKind : Tcp_Enum<"ScatterKind", "how tcp.scatter combines an element and an update", [
  I32EnumCase<"Set", 0, "set">, I32EnumCase<"Add", 1, "add">, I32EnumCase<"Mul", 2, "mul">,
  I32EnumCase<"Max", 3, "max">, I32EnumCase<"Min", 4, "min">]>;

def Tcp_ScatterOp : Tcp_Op<"scatter", [AllElementTypesMatch<["input", "updates", "output"]>, Tcp_InfersShape]> {
  let summary = "the input with elements replaced by, or combined with, updates";
  let description = [{
    Begins with `output = input`. For each element of `updates`, in row-major order:
    `output[a..., indices[a..., i, b...], b...] = combine(that element, updates[a..., i, b...])`,
    where `i` is in `dim` (aten.scatter, scatter_reduce, index_put, index_add). `kind` is one of
    `set` (the update), `add`, `mul`, `max`, `min`; the last two give NaN if one of both is NaN.
    `add` and `max` of i1 are `or`, `mul` and `min` are `and`. Several updates of one element apply
    in order, so the result is deterministic: with `set`, the last one remains. An update whose
    index is negative or not below the size of `dim` has no effect.

    On the CPU, the work is proportional to the number of updates. A kernel has one thread for each
    element, which reads all indices along `dim` and needs no atomics; with `set`, the elements that
    have their indices in common, because these broadcast, share that work.

    **Constraints**

    * (c1) `dim` is a dim of the input.
    * (c2) `indices` has the rank of the input; each dim except `dim` is 1, which broadcasts, or the
      input's.
    * (c3) the shape of `updates` is the input's with `dim` of the size that it has in `indices`.
    * (c4) the result's shape is the input's.
    * (c5) `kind` is one of these five.

    ```mlir
    %y = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "add"} : tensor<9x64xf32>, tensor<5x1xi64>, tensor<5x64xf32> -> tensor<9x64xf32>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$input, Tcp_IndexTensor:$indices, Tcp_Tensor:$updates, IndexAttr:$dim, Tcp_EnumString<Tcp_ScatterKind>:$kind);
  let results = (outs Tcp_Tensor:$output);
  let assemblyFormat = "$input `,` $indices `,` $updates attr-dict `:` type($input) `,` type($indices) `,` type($updates) `->` type($output)";
  let hasVerifier = 1;
}

def Tcp_ArgsortOp : Tcp_Op<"argsort", [SameOperandsAndResultShape, Tcp_ShapeOpInterface]> {
  let summary = "positions of elements in ascending or descending order, along the last dim";
  let description = [{
    `input[a..., output[a..., 0]]`, `input[a..., output[a..., 1]]`, ... are in order (aten.argsort,
    sort, topk). Equal elements keep their order, also if the order is `descending`. NaN is the
    largest, and zeros of both signs are equal.

    The work is that of a merge sort. On the CPU, it is one loop for each row. A kernel merges runs
    of one width, with a thread for each element.

    **Constraints**

    * (c1) the input has at least one dim.
    * (c2) the last dim has less than 2^31 elements.

    ```mlir
    %i = tcp.argsort %x {descending} : tensor<4x50257xf32> -> tensor<4x50257xi64>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$input, UnitAttr:$descending);
  let results = (outs Tcp_TensorOf<[I64]>:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
}

#endif // CONVOY_TCP_INDEX_OPS
