// Attention as one operation and as a composition of products, and paged caches.

cudnn.graph @sdpa_64(%q: !cudnn.tensor_desc<2x16x1024x64xf16>, %k: !cudnn.tensor_desc<2x16x1024x64xf16>,
    %v: !cudnn.tensor_desc<2x16x1024x64xf16>) -> (!cudnn.tensor_desc<2x16x1024x64xf16>) {
  %scale = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %r_o = cudnn.sdpa_forward q(%q : !cudnn.tensor_desc<2x16x1024x64xf16>) k(%k : !cudnn.tensor_desc<2x16x1024x64xf16>)
      v(%v : !cudnn.tensor_desc<2x16x1024x64xf16>) scale(%scale : !cudnn.tensor_desc<1x1x1x1xf32>) ->
      o(!cudnn.tensor_desc<2x16x1024x64xf16>)
  cudnn.return %r_o : !cudnn.tensor_desc<2x16x1024x64xf16>
}

cudnn.graph @sdpa_64_composed(%q: !cudnn.tensor_desc<2x16x1024x64xf16>,
    %k: !cudnn.tensor_desc<2x16x64x1024xf16, stride = [1048576, 65536, 1, 64]>, %v: !cudnn.tensor_desc<2x16x1024x64xf16>)
    -> (!cudnn.tensor_desc<2x16x1024x64xf16>) {
  %scale = cudnn.constant 0.125 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %s = cudnn.matmul(%q, %k) type = f32 : !cudnn.tensor_desc<2x16x1024x64xf16>,
      !cudnn.tensor_desc<2x16x64x1024xf16, stride = [1048576, 65536, 1, 64]> -> !cudnn.tensor_desc<2x16x1024x1024xf32>
  %t = cudnn.pointwise mul(%s, %scale) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32>, !cudnn.tensor_desc<1x1x1x1xf32>
      -> !cudnn.tensor_desc<2x16x1024x1024xf32>
  %max = cudnn.reduction max(%t) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32> -> !cudnn.tensor_desc<2x16x1024x1xf32>
  %sub = cudnn.pointwise sub(%t, %max) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32>, !cudnn.tensor_desc<2x16x1024x1xf32>
      -> !cudnn.tensor_desc<2x16x1024x1024xf32>
  %exp = cudnn.pointwise exp(%sub) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32> -> !cudnn.tensor_desc<2x16x1024x1024xf32>
  %sum = cudnn.reduction add(%exp) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32> -> !cudnn.tensor_desc<2x16x1024x1xf32>
  %p = cudnn.pointwise div(%exp, %sum) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32>, !cudnn.tensor_desc<2x16x1024x1xf32>
      -> !cudnn.tensor_desc<2x16x1024x1024xf16>
  %o = cudnn.matmul(%p, %v) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf16>, !cudnn.tensor_desc<2x16x1024x64xf16>
      -> !cudnn.tensor_desc<2x16x1024x64xf16>
  cudnn.return %o : !cudnn.tensor_desc<2x16x1024x64xf16>
}

cudnn.graph @sdpa_128(%q: !cudnn.tensor_desc<2x16x1024x128xf16>, %k: !cudnn.tensor_desc<2x16x1024x128xf16>,
    %v: !cudnn.tensor_desc<2x16x1024x128xf16>) -> (!cudnn.tensor_desc<2x16x1024x128xf16>) {
  %scale = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %r_o = cudnn.sdpa_forward q(%q : !cudnn.tensor_desc<2x16x1024x128xf16>) k(%k : !cudnn.tensor_desc<2x16x1024x128xf16>)
      v(%v : !cudnn.tensor_desc<2x16x1024x128xf16>) scale(%scale : !cudnn.tensor_desc<1x1x1x1xf32>) ->
      o(!cudnn.tensor_desc<2x16x1024x128xf16>)
  cudnn.return %r_o : !cudnn.tensor_desc<2x16x1024x128xf16>
}

cudnn.graph @sdpa_128_composed(%q: !cudnn.tensor_desc<2x16x1024x128xf16>,
    %k: !cudnn.tensor_desc<2x16x128x1024xf16, stride = [2097152, 131072, 1, 128]>, %v: !cudnn.tensor_desc<2x16x1024x128xf16>)
    -> (!cudnn.tensor_desc<2x16x1024x128xf16>) {
  %scale = cudnn.constant 0.125 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %s = cudnn.matmul(%q, %k) type = f32 : !cudnn.tensor_desc<2x16x1024x128xf16>,
      !cudnn.tensor_desc<2x16x128x1024xf16, stride = [2097152, 131072, 1, 128]> -> !cudnn.tensor_desc<2x16x1024x1024xf32>
  %t = cudnn.pointwise mul(%s, %scale) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32>, !cudnn.tensor_desc<1x1x1x1xf32>
      -> !cudnn.tensor_desc<2x16x1024x1024xf32>
  %max = cudnn.reduction max(%t) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32> -> !cudnn.tensor_desc<2x16x1024x1xf32>
  %sub = cudnn.pointwise sub(%t, %max) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32>, !cudnn.tensor_desc<2x16x1024x1xf32>
      -> !cudnn.tensor_desc<2x16x1024x1024xf32>
  %exp = cudnn.pointwise exp(%sub) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32> -> !cudnn.tensor_desc<2x16x1024x1024xf32>
  %sum = cudnn.reduction add(%exp) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32> -> !cudnn.tensor_desc<2x16x1024x1xf32>
  %p = cudnn.pointwise div(%exp, %sum) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf32>, !cudnn.tensor_desc<2x16x1024x1xf32>
      -> !cudnn.tensor_desc<2x16x1024x1024xf16>
  %o = cudnn.matmul(%p, %v) type = f32 : !cudnn.tensor_desc<2x16x1024x1024xf16>, !cudnn.tensor_desc<2x16x1024x128xf16>
      -> !cudnn.tensor_desc<2x16x1024x128xf16>
  cudnn.return %o : !cudnn.tensor_desc<2x16x1024x128xf16>
}

cudnn.graph @sdpa_grouped_stats(%q: !cudnn.tensor_desc<2x16x1024x64xf16>, %k: !cudnn.tensor_desc<2x4x512x64xf16>,
    %v: !cudnn.tensor_desc<2x4x512x128xf16>) -> (!cudnn.tensor_desc<2x16x1024x128xf16>, !cudnn.tensor_desc<2x16x1024x1xf32>) {
  %r_o, %r_stats = cudnn.sdpa_forward q(%q : !cudnn.tensor_desc<2x16x1024x64xf16>) k(%k : !cudnn.tensor_desc<2x4x512x64xf16>)
      v(%v : !cudnn.tensor_desc<2x4x512x128xf16>) -> o(!cudnn.tensor_desc<2x16x1024x128xf16>) stats(!cudnn.tensor_desc<2x16x1024x1xf32>)
  cudnn.return %r_o, %r_stats : !cudnn.tensor_desc<2x16x1024x128xf16>, !cudnn.tensor_desc<2x16x1024x1xf32>
}

cudnn.graph @sdpa_padded(%q: !cudnn.tensor_desc<2x16x1024x64xf16>, %k: !cudnn.tensor_desc<2x4x512x64xf16>,
    %v: !cudnn.tensor_desc<2x4x512x128xf16>, %seq_len_q: !cudnn.tensor_desc<2x1x1x1xi32>, %seq_len_kv: !cudnn.tensor_desc<2x1x1x1xi32>)
    -> (!cudnn.tensor_desc<2x16x1024x128xf16>) {
  %r_o = cudnn.sdpa_forward q(%q : !cudnn.tensor_desc<2x16x1024x64xf16>) k(%k : !cudnn.tensor_desc<2x4x512x64xf16>)
      v(%v : !cudnn.tensor_desc<2x4x512x128xf16>) seq_len_q(%seq_len_q : !cudnn.tensor_desc<2x1x1x1xi32>)
      seq_len_kv(%seq_len_kv : !cudnn.tensor_desc<2x1x1x1xi32>) -> o(!cudnn.tensor_desc<2x16x1024x128xf16>)
  cudnn.return %r_o : !cudnn.tensor_desc<2x16x1024x128xf16>
}

cudnn.graph @sdpa_paged(%q: !cudnn.tensor_desc<2x16x1024x64xf16>, %k: !cudnn.tensor_desc<64x4x64x64xf16>,
    %v: !cudnn.tensor_desc<64x4x64x64xf16>, %page_table_k: !cudnn.tensor_desc<2x1x8x1xi32>,
    %page_table_v: !cudnn.tensor_desc<2x1x8x1xi32>, %seq_len_q: !cudnn.tensor_desc<2x1x1x1xi32>,
    %seq_len_kv: !cudnn.tensor_desc<2x1x1x1xi32>) -> (!cudnn.tensor_desc<2x16x1024x64xf16>) {
  %r_o = cudnn.sdpa_forward q(%q : !cudnn.tensor_desc<2x16x1024x64xf16>) k(%k : !cudnn.tensor_desc<64x4x64x64xf16>)
      v(%v : !cudnn.tensor_desc<64x4x64x64xf16>) page_table_k(%page_table_k : !cudnn.tensor_desc<2x1x8x1xi32>)
      page_table_v(%page_table_v : !cudnn.tensor_desc<2x1x8x1xi32>) seq_len_q(%seq_len_q : !cudnn.tensor_desc<2x1x1x1xi32>)
      seq_len_kv(%seq_len_kv : !cudnn.tensor_desc<2x1x1x1xi32>) -> o(!cudnn.tensor_desc<2x16x1024x64xf16>)
  cudnn.return %r_o : !cudnn.tensor_desc<2x16x1024x64xf16>
}

cudnn.graph @sdpa_block_mask(%q: !cudnn.tensor_desc<2x16x1024x64xf16>, %k: !cudnn.tensor_desc<2x4x512x64xf16>,
    %v: !cudnn.tensor_desc<2x4x512x128xf16>, %block_mask: !cudnn.tensor_desc<2x16x8x1xui8>) -> (!cudnn.tensor_desc<2x16x1024x128xf16>) {
  %r_o = cudnn.sdpa_forward q(%q : !cudnn.tensor_desc<2x16x1024x64xf16>) k(%k : !cudnn.tensor_desc<2x4x512x64xf16>)
      v(%v : !cudnn.tensor_desc<2x4x512x128xf16>) block_mask(%block_mask : !cudnn.tensor_desc<2x16x8x1xui8>) ->
      o(!cudnn.tensor_desc<2x16x1024x128xf16>)
  cudnn.return %r_o : !cudnn.tensor_desc<2x16x1024x128xf16>
}

cudnn.graph @paged_cache_load(%container: !cudnn.tensor_desc<64x4x64x64xf16>, %page_table: !cudnn.tensor_desc<2x1x8x1xi32>,
    %sequence_lengths: !cudnn.tensor_desc<2x1x1x1xi32>) -> (!cudnn.tensor_desc<2x4x512x64xf16>) {
  %r_y = cudnn.paged_cache_load container(%container : !cudnn.tensor_desc<64x4x64x64xf16>)
      page_table(%page_table : !cudnn.tensor_desc<2x1x8x1xi32>) sequence_lengths(%sequence_lengths : !cudnn.tensor_desc<2x1x1x1xi32>) ->
      y(!cudnn.tensor_desc<2x4x512x64xf16>)
  cudnn.return %r_y : !cudnn.tensor_desc<2x4x512x64xf16>
}
