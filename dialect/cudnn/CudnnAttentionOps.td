// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scaled dot product attention, and loads from its paged cache.

#ifndef CONVOY_CUDNN_ATTENTION_OPS
#define CONVOY_CUDNN_ATTENTION_OPS

include "dialect/cudnn/CudnnNamedTensors.td"

def Cudnn_SdpaForwardOp : Cudnn_ComputeOp<"sdpa_forward", [AttrSizedOperandSegments, Cudnn_InferTypes]> {
  let summary = "scaled dot product attention";
  let description = [{
    `o = softmax(scale * q * transpose(k)) * v` for every batch and head, where q and o are B x H x
    Sq x D, k is B x Hk x Skv x D and v is B x Hv x Skv x Dv. Several heads of q may share a head of
    k or v. `stats` is the logarithm of the sum of exponentials, which the gradient needs.

    `block_mask` has a bit for each 128 x 128 tile of the product; tiles whose bit is 0 are skipped.
    With `page_table_k` (or `_v`), `k` (or `v`) is a container of shape blocks x Hk x rows per block
    x D, and the table maps the rows of each batch to blocks. `seq_len_q` and `seq_len_kv` are the
    lengths of each batch, where they are shorter than Sq and Skv. cuDNN 9.19 has no attributes for
    a causal mask, a bias or dropout; these need the composed form: matmul, pointwise and reduction
    operations in one graph.

    **Constraints**

    * (c1) all tensors but `scale` are of rank 4.
    * (c2) batch, depth and rows of `q`, `k`, `v` and `o` agree as above.
    * (c3) the numbers of heads of `k` and of `v` divide that of `q`.
    * (c4) `scale` has one element.
    * (c5) `stats` is B x H x Sq x 1.
    * (c6) `seq_len_q` and `seq_len_kv` come together and are B x 1 x 1 x 1, of i32.
    * (c7) a page table is B x 1 x blocks x 1, of i32, and requires `seq_len_q` and `seq_len_kv`,
      without which cuDNN 9.19 crashes.
    * (c8) `block_mask` is B x H x row tiles x column tiles / 8 (rounded up), of ui8.

    ```mlir
    %o = cudnn.sdpa_forward q(%q : !cudnn.tensor_desc<2x16x1024x64xf16, NCHW>) k(%k : !cudnn.tensor_desc<2x16x1024x64xf16, NCHW>)
        v(%v : !cudnn.tensor_desc<2x16x1024x64xf16, NCHW>) scale(%scale : !cudnn.tensor_desc<1x1x1x1xf32>)
        -> o(!cudnn.tensor_desc<2x16x1024x64xf16, NCHW>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR`: `CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC`,
    `_KDESC`, `_VDESC`, `_ODESC`, `_STATSDESC`, `_SCALEDESC`, `_BLOCK_MASK_DESC`,
    `_PAGE_TABLE_KDESC`, `_PAGE_TABLE_VDESC`, `_SEQ_LEN_QDESC`, `_SEQ_LEN_KVDESC`.
  }];
  let arguments = (ins Cudnn_TensorDescType:$q, Cudnn_TensorDescType:$k, Cudnn_TensorDescType:$v, Optional<Cudnn_TensorDescType>:$scale,
                       Optional<Cudnn_TensorDescType>:$block_mask, Optional<Cudnn_TensorDescType>:$page_table_k,
                       Optional<Cudnn_TensorDescType>:$page_table_v, Optional<Cudnn_TensorDescType>:$seq_len_q,
                       Optional<Cudnn_TensorDescType>:$seq_len_kv);
  let results = (outs Cudnn_TensorDescType:$o, Optional<Cudnn_TensorDescType>:$stats);
  let assemblyFormat = Cudnn_In<"q">.text # Cudnn_In<"k">.text # Cudnn_In<"v">.text # Cudnn_OptionalIn<"scale">.text
      # Cudnn_OptionalIn<"block_mask">.text # Cudnn_OptionalIn<"page_table_k">.text # Cudnn_OptionalIn<"page_table_v">.text
      # Cudnn_OptionalIn<"seq_len_q">.text # Cudnn_OptionalIn<"seq_len_kv">.text # "attr-dict `->` " # Cudnn_Out<"o">.text
      # Cudnn_OptionalOut<"stats">.text;
}

def Cudnn_PagedCacheLoadOp : Cudnn_ComputeOp<"paged_cache_load"> {
  let summary = "gathers the rows of a paged cache";
  let description = [{
    `container` is blocks x H x rows per block x D; `page_table` maps the rows of each batch to
    blocks, and `sequence_lengths` has the number of rows of each batch. The result is B x H x S x
    D, or B x H x D x S for a product that needs the transpose.

    **Constraints**

    * (c1) all tensors are of rank 4.
    * (c2) the result has the container's heads, depth and element type.
    * (c3) `page_table` is B x 1 x blocks that S rows need x 1, of i32.
    * (c4) `sequence_lengths` is B x 1 x 1 x 1, of i32.

    ```mlir
    %k = cudnn.paged_cache_load container(%c : !cudnn.tensor_desc<64x16x64x128xf16, NCHW>)
        page_table(%t : !cudnn.tensor_desc<2x1x16x1xi32, NCHW>) sequence_lengths(%s : !cudnn.tensor_desc<2x1x1x1xi32, NCHW>)
        -> y(!cudnn.tensor_desc<2x16x1024x128xf16, NCHW>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR`:
    `CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC`, `_YDESC`, `_SEQUENCE_DESC`,
    `_PAGE_TABLE_DESC`.
  }];
  let arguments = (ins Cudnn_TensorDescType:$container, Cudnn_TensorDescType:$page_table, Cudnn_TensorDescType:$sequence_lengths);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = Cudnn_In<"container">.text # Cudnn_In<"page_table">.text # Cudnn_In<"sequence_lengths">.text # "attr-dict `->` "
      # Cudnn_Out<"y">.text;
}

#endif // CONVOY_CUDNN_ATTENTION_OPS
