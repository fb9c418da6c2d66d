// RUN: convoy-opt %s --verify-roundtrip | filecheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | filecheck %s

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!kp = !cudnn.tensor_desc<64x4x64x64xf16>
!kt = !cudnn.tensor_desc<2x4x64x512xf16>
!m = !cudnn.tensor_desc<2x16x8x1xui8>
!t = !cudnn.tensor_desc<2x1x8x1xi32>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!l = !cudnn.tensor_desc<2x16x1024x1xf32>

// CHECK-LABEL: cudnn.graph @attention
cudnn.graph @attention(%q: !q, %k: !k, %v: !k, %kp: !kp, %t: !t, %n: !n, %m: !m) -> (!q, !q, !l, !q, !k, !kt) {
  %scale = cudnn.constant 0.125 : f32 -> !s
  // CHECK: %{{[^,]*}} = cudnn.sdpa_forward q({{.*}}) k({{.*}}) v({{.*}}) -> o(!cudnn.tensor_desc<2x16x1024x64xf16, NCHW>)
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !k) -> o(!q)
  // CHECK: %{{.*}}, %{{.*}} = cudnn.sdpa_forward q({{.*}}) k({{.*}}) v({{.*}}) scale({{.*}}) block_mask({{.*}}) -> o({{.*}}) stats(!cudnn.tensor_desc<2x16x1024x1xf32, NCHW>)
  %os, %stats = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !k) scale(%scale : !s) block_mask(%m : !m) -> o(!q) stats(!l)
  // CHECK: cudnn.sdpa_forward q({{.*}}) k({{.*}}) v({{.*}}) page_table_k({{.*}}) page_table_v({{.*}}) seq_len_q({{.*}}) seq_len_kv({{.*}}) -> o({{.*}})
  %op = cudnn.sdpa_forward q(%q : !q) k(%kp : !kp) v(%kp : !kp) page_table_k(%t : !t) page_table_v(%t : !t) seq_len_q(%n : !n)
      seq_len_kv(%n : !n) -> o(!q)
  // CHECK: cudnn.paged_cache_load container({{.*}}) page_table({{.*}}) sequence_lengths({{.*}}) -> y(!cudnn.tensor_desc<2x4x512x64xf16, NCHW>)
  %y = cudnn.paged_cache_load container(%kp : !kp) page_table(%t : !t) sequence_lengths(%n : !n) -> y(!k)
  // CHECK: cudnn.paged_cache_load {{.*}} -> y(!cudnn.tensor_desc<2x4x64x512xf16, NCHW>)
  %yt = cudnn.paged_cache_load container(%kp : !kp) page_table(%t : !t) sequence_lengths(%n : !n) -> y(!kt)
  cudnn.return %o, %os, %stats, %op, %y, %yt : !q, !q, !l, !q, !k, !kt
}
