// Every error of attention and its cache. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

!k = !cudnn.tensor_desc<2x4x512x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!r3 = !cudnn.tensor_desc<2x16x64xf16>

cudnn.graph @sdpa_forward_c1(%q: !r3, %k: !k, %v: !v) -> !o {
  // expected-error @+1 {{expects tensors of equal rank, but got 3 and 4}}
  %o = cudnn.sdpa_forward q(%q : !r3) k(%k : !k) v(%v : !v) -> o(!o)
  cudnn.return %o : !o
}

// -----

!r3 = !cudnn.tensor_desc<2x16x64xf16>

cudnn.graph @sdpa_forward_c1_rank(%q: !r3, %k: !r3, %v: !r3) -> !r3 {
  // expected-error @+1 {{expects tensors of rank 4, but got 3}}
  %o = cudnn.sdpa_forward q(%q : !r3) k(%k : !r3) v(%v : !r3) -> o(!r3)
  cudnn.return %o : !r3
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!kd = !cudnn.tensor_desc<2x4x512x32xf16>

cudnn.graph @sdpa_forward_c2_depth(%q: !q, %k: !kd, %v: !v) -> !o {
  // expected-error @+1 {{expects 'k' of depth 64 like 'q', but got 32}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !kd) v(%v : !v) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!kb = !cudnn.tensor_desc<3x4x512x64xf16>

cudnn.graph @sdpa_forward_c2_batch(%q: !q, %k: !kb, %v: !v) -> !o {
  // expected-error @+1 {{expects 'k' of batch size 2 like 'q', but got 3}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !kb) v(%v : !v) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!vb = !cudnn.tensor_desc<3x4x512x128xf16>

cudnn.graph @sdpa_forward_c2_batch_v(%q: !q, %k: !k, %v: !vb) -> !o {
  // expected-error @+1 {{expects 'v' of batch size 2 like 'q', but got 3}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !vb) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!vr = !cudnn.tensor_desc<2x4x256x128xf16>

cudnn.graph @sdpa_forward_c2_rows(%q: !q, %k: !k, %v: !vr) -> !o {
  // expected-error @+1 {{expects 'k' and 'v' to have the same number of rows, but got 512 and 256}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !vr) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>

cudnn.graph @sdpa_forward_c2_result(%q: !q, %k: !k, %v: !v) -> !q {
  // expected-error @+1 {{expects 'o' of shape [2, 16, 1024, 128], but got [2, 16, 1024, 64]}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !v) -> o(!q)
  cudnn.return %o : !q
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!kh = !cudnn.tensor_desc<2x5x512x64xf16>

cudnn.graph @sdpa_forward_c3_k(%q: !q, %k: !kh, %v: !v) -> !o {
  // expected-error @+1 {{expects the number of heads of 'k' to divide 16, that of 'q', but got 5}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !kh) v(%v : !v) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!vh = !cudnn.tensor_desc<2x3x512x128xf16>

cudnn.graph @sdpa_forward_c3_v(%q: !q, %k: !k, %v: !vh) -> !o {
  // expected-error @+1 {{expects the number of heads of 'v' to divide 16, that of 'q', but got 3}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !vh) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!s2 = !cudnn.tensor_desc<1x1x1x2xf32>

cudnn.graph @sdpa_forward_c4(%q: !q, %k: !k, %v: !v, %scale: !s2) -> !o {
  // expected-error @+1 {{expects 'scale' to have one element, but got shape [1, 1, 1, 2]}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !v) scale(%scale : !s2) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!st2 = !cudnn.tensor_desc<2x16x1024x2xf32>

cudnn.graph @sdpa_forward_c5(%q: !q, %k: !k, %v: !v) -> (!o, !st2) {
  // expected-error @+1 {{expects 'stats' of shape [2, 16, 1024, 1], but got [2, 16, 1024, 2]}}
  %o, %stats = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !v) -> o(!o) stats(!st2)
  cudnn.return %o, %stats : !o, !st2
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!n = !cudnn.tensor_desc<2x1x1x1xi32>

cudnn.graph @sdpa_forward_c6_pair(%q: !q, %k: !k, %v: !v, %seq_len_q: !n) -> !o {
  // expected-error @+1 {{expects 'seq_len_q' and 'seq_len_kv' together, but got only 'seq_len_q'}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !v) seq_len_q(%seq_len_q : !n) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!n = !cudnn.tensor_desc<2x1x1x1xi32>

cudnn.graph @sdpa_forward_c6_pair_kv(%q: !q, %k: !k, %v: !v, %seq_len_kv: !n) -> !o {
  // expected-error @+1 {{expects 'seq_len_q' and 'seq_len_kv' together, but got only 'seq_len_kv'}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !v) seq_len_kv(%seq_len_kv : !n) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!n3 = !cudnn.tensor_desc<3x1x1x1xi32>

cudnn.graph @sdpa_forward_c6_shape(%q: !q, %k: !k, %v: !v, %seq_len_q: !n, %seq_len_kv: !n3) -> !o {
  // expected-error @+1 {{expects 'seq_len_kv' of shape [2, 1, 1, 1], but got [3, 1, 1, 1]}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !v) seq_len_q(%seq_len_q : !n) seq_len_kv(%seq_len_kv : !n3) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!n64 = !cudnn.tensor_desc<2x1x1x1xi64>

cudnn.graph @sdpa_forward_c6_type(%q: !q, %k: !k, %v: !v, %seq_len_q: !n64, %seq_len_kv: !n) -> !o {
  // expected-error @+1 {{expects 'seq_len_q' of 'i32', but got 'i64'}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !v) seq_len_q(%seq_len_q : !n64) seq_len_kv(%seq_len_kv : !n) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!pt = !cudnn.tensor_desc<2x1x8x1xi32>
!kc = !cudnn.tensor_desc<64x4x64x64xf16>
!vc = !cudnn.tensor_desc<64x4x64x128xf16>

cudnn.graph @sdpa_forward_c7_lengths(%q: !q, %k: !kc, %v: !vc, %page_table_k: !pt, %page_table_v: !pt) -> !o {
  // expected-error @+1 {{expects 'seq_len_q' and 'seq_len_kv' with 'page_table_k'}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !kc) v(%v : !vc) page_table_k(%page_table_k : !pt) page_table_v(%page_table_v : !pt) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!pt = !cudnn.tensor_desc<2x1x8x1xi32>
!ptb = !cudnn.tensor_desc<1x1x8x1xi32>
!kc = !cudnn.tensor_desc<64x4x64x64xf16>
!vc = !cudnn.tensor_desc<64x4x64x128xf16>

cudnn.graph @sdpa_forward_c7_shape(%q: !q, %k: !kc, %v: !vc, %page_table_k: !pt, %page_table_v: !ptb, %seq_len_q: !n, %seq_len_kv: !n)
    -> !o {
  // expected-error @+1 {{expects 'page_table_v' of shape [2, 1, 8, 1], but got [1, 1, 8, 1]}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !kc) v(%v : !vc) page_table_k(%page_table_k : !pt) page_table_v(%page_table_v : !ptb)
      seq_len_q(%seq_len_q : !n) seq_len_kv(%seq_len_kv : !n) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!pt = !cudnn.tensor_desc<2x1x8x1xi32>
!pt64 = !cudnn.tensor_desc<2x1x8x1xi64>
!kc = !cudnn.tensor_desc<64x4x64x64xf16>
!vc = !cudnn.tensor_desc<64x4x64x128xf16>

cudnn.graph @sdpa_forward_c7_type(%q: !q, %k: !kc, %v: !vc, %page_table_k: !pt64, %page_table_v: !pt, %seq_len_q: !n, %seq_len_kv: !n)
    -> !o {
  // expected-error @+1 {{expects 'page_table_k' of 'i32', but got 'i64'}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !kc) v(%v : !vc) page_table_k(%page_table_k : !pt64) page_table_v(%page_table_v : !pt)
      seq_len_q(%seq_len_q : !n) seq_len_kv(%seq_len_kv : !n) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!k = !cudnn.tensor_desc<2x4x512x64xf16>
!v = !cudnn.tensor_desc<2x4x512x128xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!bm2 = !cudnn.tensor_desc<2x16x8x4xui8>

cudnn.graph @sdpa_forward_c8_shape(%q: !q, %k: !k, %v: !v, %block_mask: !bm2) -> !o {
  // expected-error @+1 {{expects 'block_mask' of shape [2, 16, 8, 1], but got [2, 16, 8, 4]}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !k) v(%v : !v) block_mask(%block_mask : !bm2) -> o(!o)
  cudnn.return %o : !o
}

// -----

!q = !cudnn.tensor_desc<2x16x1024x64xf16>
!o = !cudnn.tensor_desc<2x16x1024x128xf16>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!pt = !cudnn.tensor_desc<2x1x8x1xi32>
!kc = !cudnn.tensor_desc<64x4x64x64xf16>
!vc = !cudnn.tensor_desc<64x4x64x128xf16>
!bm3 = !cudnn.tensor_desc<2x16x8x1xi8>

cudnn.graph @sdpa_forward_c8_type(%q: !q, %k: !kc, %v: !vc, %block_mask: !bm3, %page_table_k: !pt, %page_table_v: !pt, %seq_len_q: !n, %seq_len_kv: !n)
    -> !o {
  // expected-error @+1 {{expects 'block_mask' of 'ui8', but got 'i8'}}
  %o = cudnn.sdpa_forward q(%q : !q) k(%k : !kc) v(%v : !vc) block_mask(%block_mask : !bm3) page_table_k(%page_table_k : !pt)
      page_table_v(%page_table_v : !pt) seq_len_q(%seq_len_q : !n) seq_len_kv(%seq_len_kv : !n) -> o(!o)
  cudnn.return %o : !o
}

// -----

!c = !cudnn.tensor_desc<64x16x64x128xf16>
!t = !cudnn.tensor_desc<2x1x16x1xi32>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!y3 = !cudnn.tensor_desc<2x16x1024xf16>

cudnn.graph @paged_cache_load_c1(%container: !c, %page_table: !t, %sequence_lengths: !n) -> !y3 {
  // expected-error @+1 {{expects tensors of equal rank, but got 4 and 3}}
  %y = cudnn.paged_cache_load container(%container : !c) page_table(%page_table : !t) sequence_lengths(%sequence_lengths : !n) -> y(!y3)
  cudnn.return %y : !y3
}

// -----

!c = !cudnn.tensor_desc<64x16x64x128xf16>
!t = !cudnn.tensor_desc<2x1x16x1xi32>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!yh = !cudnn.tensor_desc<2x8x1024x128xf16>

cudnn.graph @paged_cache_load_c2_heads(%container: !c, %page_table: !t, %sequence_lengths: !n) -> !yh {
  // expected-error @+1 {{expects a result of 16 heads, but got 8}}
  %y = cudnn.paged_cache_load container(%container : !c) page_table(%page_table : !t) sequence_lengths(%sequence_lengths : !n) -> y(!yh)
  cudnn.return %y : !yh
}

// -----

!c = !cudnn.tensor_desc<64x16x64x128xf16>
!t = !cudnn.tensor_desc<2x1x16x1xi32>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!yd = !cudnn.tensor_desc<2x16x1024x64xf16>

cudnn.graph @paged_cache_load_c2_depth(%container: !c, %page_table: !t, %sequence_lengths: !n) -> !yd {
  // expected-error @+1 {{expects a result of depth 128 in its last dim or the one before, but got [2, 16, 1024, 64]}}
  %y = cudnn.paged_cache_load container(%container : !c) page_table(%page_table : !t) sequence_lengths(%sequence_lengths : !n) -> y(!yd)
  cudnn.return %y : !yd
}

// -----

!c = !cudnn.tensor_desc<64x16x64x128xf16>
!t = !cudnn.tensor_desc<2x1x16x1xi32>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!yt = !cudnn.tensor_desc<2x16x1024x128xf32>

cudnn.graph @paged_cache_load_c2_type(%container: !c, %page_table: !t, %sequence_lengths: !n) -> !yt {
  // expected-error @+1 {{expects a result of 'f16', but got 'f32'}}
  %y = cudnn.paged_cache_load container(%container : !c) page_table(%page_table : !t) sequence_lengths(%sequence_lengths : !n) -> y(!yt)
  cudnn.return %y : !yt
}

// -----

!c = !cudnn.tensor_desc<64x16x64x128xf16>
!t8 = !cudnn.tensor_desc<2x1x8x1xi32>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!y = !cudnn.tensor_desc<2x16x1024x128xf16>

cudnn.graph @paged_cache_load_c3(%container: !c, %page_table: !t8, %sequence_lengths: !n) -> !y {
  // expected-error @+1 {{expects 'page_table' of shape [2, 1, 16, 1], but got [2, 1, 8, 1]}}
  %y = cudnn.paged_cache_load container(%container : !c) page_table(%page_table : !t8) sequence_lengths(%sequence_lengths : !n) -> y(!y)
  cudnn.return %y : !y
}

// -----

!c = !cudnn.tensor_desc<64x16x64x128xf16>
!t64 = !cudnn.tensor_desc<2x1x16x1xi64>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!y = !cudnn.tensor_desc<2x16x1024x128xf16>

cudnn.graph @paged_cache_load_c3_type(%container: !c, %page_table: !t64, %sequence_lengths: !n) -> !y {
  // expected-error @+1 {{expects 'page_table' of 'i32', but got 'i64'}}
  %y = cudnn.paged_cache_load container(%container : !c) page_table(%page_table : !t64) sequence_lengths(%sequence_lengths : !n) -> y(!y)
  cudnn.return %y : !y
}

// -----

!c = !cudnn.tensor_desc<64x16x64x128xf16>
!t = !cudnn.tensor_desc<2x1x16x1xi32>
!n3 = !cudnn.tensor_desc<3x1x1x1xi32>
!y = !cudnn.tensor_desc<2x16x1024x128xf16>

cudnn.graph @paged_cache_load_c4(%container: !c, %page_table: !t, %sequence_lengths: !n3) -> !y {
  // expected-error @+1 {{expects 'sequence_lengths' of shape [2, 1, 1, 1], but got [3, 1, 1, 1]}}
  %y = cudnn.paged_cache_load container(%container : !c) page_table(%page_table : !t) sequence_lengths(%sequence_lengths : !n3) -> y(!y)
  cudnn.return %y : !y
}
