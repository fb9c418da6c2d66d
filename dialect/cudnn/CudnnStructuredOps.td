// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Structured products and matrices: grouped products of a mixture of experts, and band matrices of
// attention.

#ifndef CONVOY_CUDNN_STRUCTURED_OPS
#define CONVOY_CUDNN_STRUCTURED_OPS

include "dialect/cudnn/CudnnNamedTensors.td"

def Cudnn_MoeMode : Cudnn_Enum<"MoeMode", "cudnnMoeGroupedMatmulMode_t", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Gather", 1, "gather">, I32EnumAttrCase<"Scatter", 2, "scatter">]>;
def Cudnn_MoeModeAttr : Cudnn_EnumAttr<Cudnn_MoeMode, "moe_mode">;

def Cudnn_MoeGroupedMatmulOp : Cudnn_ComputeOp<"moe_grouped_matmul", [AttrSizedOperandSegments, Cudnn_InferTypes]> {
  let summary = "grouped matrix product of a mixture of experts";
  let description = [{
    `token` is 1 x T x K, and `weight` has a K x N matrix for each expert. The rows from
    `first_token_offset` of an expert to that of the next expert are multiplied by its matrix. With
    `gather` row i of the product is computed from token `token_index[i]`. With `scatter` it is
    stored at row `token_index[i]`, and `token_ks` gives its index among the `top_k` experts of its
    token.

    **Constraints**

    * (c1) all tensors have rank 3.
    * (c2) `token` is 1 x T x K, `weight` E x K x N, the result 1 x rows x N; the rows are those of
      `token_index` for `gather`, T otherwise.
    * (c3) `first_token_offset` is E x 1 x 1, or for B batches of tokens B * E x 1 x 1, of i32 or
      i64.
    * (c4) `gather` and `scatter` have a `token_index`, 1 x rows x 1, of i32 or i64.
    * (c5) `scatter` has `token_ks` of the shape and type of `token_index`, and a positive `top_k`.
    * (c6) the compute type is f64, f32, f16 or bf16.

    ```mlir
    %y = cudnn.moe_grouped_matmul none type = f32 token(%x : !cudnn.tensor_desc<1x512x128xbf16>)
        weight(%w : !cudnn.tensor_desc<8x128x256xbf16>) first_token_offset(%o : !cudnn.tensor_desc<8x1x1xi32>)
        -> y(!cudnn.tensor_desc<1x512x256xbf16>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR`:
    `CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MODE`, `_MATH_PREC`, `_TOKEN_DESC`, `_WEIGHT_DESC`,
    `_FIRST_TOKEN_OFFSET_DESC`, `_OUTPUT_DESC`, `_TOKEN_INDEX_DESC`, `_TOKEN_KS_DESC`, `_TOP_K`.
  }];
  let arguments = (ins Cudnn_MoeModeAttr:$mode, TypeAttr:$compute_type, OptionalAttr<I64Attr>:$top_k, Cudnn_TensorDescType:$token,
                       Cudnn_TensorDescType:$weight, Cudnn_TensorDescType:$first_token_offset,
                       Optional<Cudnn_TensorDescType>:$token_index, Optional<Cudnn_TensorDescType>:$token_ks);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = "$mode `type` `=` $compute_type (`top_k` `=` $top_k^)? " # Cudnn_In<"token">.text # Cudnn_In<"weight">.text
      # Cudnn_In<"first_token_offset">.text # Cudnn_OptionalIn<"token_index">.text # Cudnn_OptionalIn<"token_ks">.text
      # "attr-dict `->` " # Cudnn_Out<"y">.text;
}

def Cudnn_ExpandBandMatrixOp : Cudnn_ComputeOp<"expand_band_matrix", [AttrSizedOperandSegments]> {
  let summary = "expands a band to a matrix";
  let description = [{
    The dim `axis` of `x` holds the elements of a band: `lower_bandwidth` below the diagonal, the
    diagonal, and `upper_bandwidth` above it. Outside the band the result is `pad_value`.

    **Constraints**

    * (c1) all tensors have the same rank of at least 2.
    * (c2) `axis` is one of the last two dims, and the other dims of operand and result are equal.
    * (c3) bandwidths are non-negative, and the band's dim has
      `lower_bandwidth + 1 + upper_bandwidth` elements.

    ```mlir
    %y = cudnn.expand_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.000000e+00
        x(%x : !cudnn.tensor_desc<2x16x128x5xf32, NCHW>) -> y(!cudnn.tensor_desc<2x16x128x128xf32, NCHW>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_EXPAND_BAND_MATRIX_DESCRIPTOR`:
    `CUDNN_ATTR_OPERATION_EXPAND_BAND_MATRIX_XDESC`, `_YDESC`, `_LOWER_BANDWIDTH`,
    `_UPPER_BANDWIDTH`, `_AXIS`, `_PAD_VALUE`, `_KV_TOKEN_OFFSET_DESC`, `_SPECULATIVE_MASK_DESC`.
  }];
  let arguments = (ins I64Attr:$lower_bandwidth, I64Attr:$upper_bandwidth, I64Attr:$axis, F32Attr:$pad_value, Cudnn_TensorDescType:$x,
                       Optional<Cudnn_TensorDescType>:$kv_token_offset, Optional<Cudnn_TensorDescType>:$speculative_mask);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    `lower_bandwidth` `=` $lower_bandwidth `upper_bandwidth` `=` $upper_bandwidth `axis` `=` $axis `pad_value` `=` $pad_value
  }] # Cudnn_In<"x">.text # Cudnn_OptionalIn<"kv_token_offset">.text # Cudnn_OptionalIn<"speculative_mask">.text # "attr-dict `->` "
      # Cudnn_Out<"y">.text;
}

def Cudnn_ContractBandMatrixOp : Cudnn_ComputeOp<"contract_band_matrix", [Cudnn_InferTypes]> {
  let summary = "extracts the band of a matrix";
  let description = [{
    The inverse of `cudnn.expand_band_matrix`: the result's dim `axis` holds the elements of the
    band.

    **Constraints**

    * (c1) operand and result have the same rank of at least 2.
    * (c2) `axis` is one of the last two dims, and the other dims of operand and result are equal.
    * (c3) bandwidths are non-negative, and the band's dim has
      `lower_bandwidth + 1 + upper_bandwidth` elements.

    ```mlir
    %y = cudnn.contract_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.000000e+00
        x(%x : !cudnn.tensor_desc<2x16x128x128xf32, NCHW>) -> y(!cudnn.tensor_desc<2x16x128x5xf32, NCHW>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_CONTRACT_BAND_MATRIX_DESCRIPTOR`:
    `CUDNN_ATTR_OPERATION_CONTRACT_BAND_MATRIX_XDESC`, `_YDESC`, `_LOWER_BANDWIDTH`,
    `_UPPER_BANDWIDTH`, `_AXIS`, `_PAD_VALUE`, and
    `CUDNN_ATTR_OPERATION_CONTRACT_BAND_MAX_TOKEN_VALUE`.
  }];
  let arguments = (ins I64Attr:$lower_bandwidth, I64Attr:$upper_bandwidth, I64Attr:$axis, F32Attr:$pad_value,
                       OptionalAttr<I64Attr>:$max_token_value, Cudnn_TensorDescType:$x);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    `lower_bandwidth` `=` $lower_bandwidth `upper_bandwidth` `=` $upper_bandwidth `axis` `=` $axis `pad_value` `=` $pad_value
    (`max_token_value` `=` $max_token_value^)?
  }] # Cudnn_In<"x">.text # "attr-dict `->` " # Cudnn_Out<"y">.text;
}

#endif // CONVOY_CUDNN_STRUCTURED_OPS
