// Every error of grouped products and bands. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>
!t2 = !cudnn.tensor_desc<512x128xbf16>

cudnn.graph @moe_grouped_matmul_c1(%token: !t2, %weight: !w, %first_token_offset: !o) -> !y {
  // expected-error @+1 {{expects tensors of equal rank, but got 2 and 3}}
  %y = cudnn.moe_grouped_matmul none type = f32 token(%token : !t2) weight(%weight : !w) first_token_offset(%first_token_offset : !o) ->
      y(!y)
  cudnn.return %y : !y
}

// -----

!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>
!tb = !cudnn.tensor_desc<2x512x128xbf16>

cudnn.graph @moe_grouped_matmul_c2_batch(%token: !tb, %weight: !w, %first_token_offset: !o) -> !y {
  // expected-error @+1 {{expects 'token' of shape 1 x T x 128 for 'weight' [8, 128, 256], but got [2, 512, 128]}}
  %y = cudnn.moe_grouped_matmul none type = f32 token(%token : !tb) weight(%weight : !w) first_token_offset(%first_token_offset : !o) ->
      y(!y)
  cudnn.return %y : !y
}

// -----

!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>
!tk = !cudnn.tensor_desc<1x512x64xbf16>

cudnn.graph @moe_grouped_matmul_c2_inner(%token: !tk, %weight: !w, %first_token_offset: !o) -> !y {
  // expected-error @+1 {{expects 'token' of shape 1 x T x 128 for 'weight' [8, 128, 256], but got [1, 512, 64]}}
  %y = cudnn.moe_grouped_matmul none type = f32 token(%token : !tk) weight(%weight : !w) first_token_offset(%first_token_offset : !o) ->
      y(!y)
  cudnn.return %y : !y
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y2 = !cudnn.tensor_desc<1x256x256xbf16>

cudnn.graph @moe_grouped_matmul_c2_result(%token: !t, %weight: !w, %first_token_offset: !o) -> !y2 {
  // expected-error @+1 {{expects result of shape [1, 512, 256], but got [1, 256, 256]}}
  %y = cudnn.moe_grouped_matmul none type = f32 token(%token : !t) weight(%weight : !w) first_token_offset(%first_token_offset : !o) ->
      y(!y2)
  cudnn.return %y : !y2
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>
!i = !cudnn.tensor_desc<1x1024x1xi32>

cudnn.graph @moe_grouped_matmul_c2_gather(%token: !t, %weight: !w, %first_token_offset: !o, %token_index: !i) -> !y {
  // expected-error @+1 {{expects result of shape [1, 1024, 256], but got [1, 512, 256]}}
  %y = cudnn.moe_grouped_matmul gather type = f32 token(%token : !t) weight(%weight : !w) first_token_offset(%first_token_offset : !o)
      token_index(%token_index : !i) -> y(!y)
  cudnn.return %y : !y
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!y = !cudnn.tensor_desc<1x512x256xbf16>
!o2 = !cudnn.tensor_desc<9x1x1xi32>

cudnn.graph @moe_grouped_matmul_c3(%token: !t, %weight: !w, %first_token_offset: !o2) -> !y {
  // expected-error @+1 {{expects 'first_token_offset' of shape [8, 1, 1], but got [9, 1, 1]}}
  %y = cudnn.moe_grouped_matmul none type = f32 token(%token : !t) weight(%weight : !w) first_token_offset(%first_token_offset : !o2) ->
      y(!y)
  cudnn.return %y : !y
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!y = !cudnn.tensor_desc<1x512x256xbf16>
!of = !cudnn.tensor_desc<8x1x1xf32>

cudnn.graph @moe_grouped_matmul_c3_type(%token: !t, %weight: !w, %first_token_offset: !of) -> !y {
  // expected-error @+1 {{expects 'first_token_offset' of i32 or i64, but got 'f32'}}
  %y = cudnn.moe_grouped_matmul none type = f32 token(%token : !t) weight(%weight : !w) first_token_offset(%first_token_offset : !of) ->
      y(!y)
  cudnn.return %y : !y
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>

cudnn.graph @moe_grouped_matmul_c4_missing(%token: !t, %weight: !w, %first_token_offset: !o) -> !y {
  // expected-error @+1 {{expects 'token_index' with mode gather}}
  %y = cudnn.moe_grouped_matmul gather type = f32 token(%token : !t) weight(%weight : !w) first_token_offset(%first_token_offset : !o) ->
      y(!y)
  cudnn.return %y : !y
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!i = !cudnn.tensor_desc<1x1024x1xi32>
!yi = !cudnn.tensor_desc<1x1024x256xbf16>

cudnn.graph @moe_grouped_matmul_c4_none(%token: !t, %weight: !w, %first_token_offset: !o, %token_index: !i) -> !yi {
  // expected-error @+1 {{expects no 'token_index' with mode none}}
  %y = cudnn.moe_grouped_matmul none type = f32 token(%token : !t) weight(%weight : !w) first_token_offset(%first_token_offset : !o)
      token_index(%token_index : !i) -> y(!yi)
  cudnn.return %y : !yi
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>
!ib = !cudnn.tensor_desc<1x512x2xi32>

cudnn.graph @moe_grouped_matmul_c4_shape(%token: !t, %weight: !w, %first_token_offset: !o, %token_index: !ib, %token_ks: !ib) -> !y {
  // expected-error @+1 {{expects 'token_index' of shape [1, 512, 1], but got [1, 512, 2]}}
  %y = cudnn.moe_grouped_matmul scatter type = f32 top_k = 2 token(%token : !t) weight(%weight : !w)
      first_token_offset(%first_token_offset : !o) token_index(%token_index : !ib) token_ks(%token_ks : !ib) -> y(!y)
  cudnn.return %y : !y
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>
!i5 = !cudnn.tensor_desc<1x512x1xi32>

cudnn.graph @moe_grouped_matmul_c5_missing(%token: !t, %weight: !w, %first_token_offset: !o, %token_index: !i5) -> !y {
  // expected-error @+1 {{expects 'token_ks' with mode scatter}}
  %y = cudnn.moe_grouped_matmul scatter type = f32 top_k = 2 token(%token : !t) weight(%weight : !w)
      first_token_offset(%first_token_offset : !o) token_index(%token_index : !i5) -> y(!y)
  cudnn.return %y : !y
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!i = !cudnn.tensor_desc<1x1024x1xi32>
!yi = !cudnn.tensor_desc<1x1024x256xbf16>

cudnn.graph @moe_grouped_matmul_c5_gather(%token: !t, %weight: !w, %first_token_offset: !o, %token_index: !i, %token_ks: !i) -> !yi {
  // expected-error @+1 {{expects no 'token_ks' with mode gather}}
  %y = cudnn.moe_grouped_matmul gather type = f32 token(%token : !t) weight(%weight : !w) first_token_offset(%first_token_offset : !o)
      token_index(%token_index : !i) token_ks(%token_ks : !i) -> y(!yi)
  cudnn.return %y : !yi
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>
!i5 = !cudnn.tensor_desc<1x512x1xi32>
!i6 = !cudnn.tensor_desc<1x512x1xi64>

cudnn.graph @moe_grouped_matmul_c5_type(%token: !t, %weight: !w, %first_token_offset: !o, %token_index: !i5, %token_ks: !i6) -> !y {
  // expected-error @+1 {{expects 'token_ks' to have the type of 'token_index', '!cudnn.tensor_desc<1x512x1xi32>', but got '!cudnn.tensor_desc<1x512x1xi64>'}}
  %y = cudnn.moe_grouped_matmul scatter type = f32 top_k = 2 token(%token : !t) weight(%weight : !w)
      first_token_offset(%first_token_offset : !o) token_index(%token_index : !i5) token_ks(%token_ks : !i6) -> y(!y)
  cudnn.return %y : !y
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>
!i5 = !cudnn.tensor_desc<1x512x1xi32>

cudnn.graph @moe_grouped_matmul_c5_top_k(%token: !t, %weight: !w, %first_token_offset: !o, %token_index: !i5, %token_ks: !i5) -> !y {
  // expected-error @+1 {{expects a positive 'top_k' with mode scatter}}
  %y = cudnn.moe_grouped_matmul scatter type = f32 token(%token : !t) weight(%weight : !w) first_token_offset(%first_token_offset : !o)
      token_index(%token_index : !i5) token_ks(%token_ks : !i5) -> y(!y)
  cudnn.return %y : !y
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>

cudnn.graph @moe_grouped_matmul_c5_negative(%token: !t, %weight: !w, %first_token_offset: !o) -> !y {
  // expected-error @+1 {{expects a positive 'top_k' with mode none}}
  %y = cudnn.moe_grouped_matmul none type = f32 top_k = 0 token(%token : !t) weight(%weight : !w)
      first_token_offset(%first_token_offset : !o) -> y(!y)
  cudnn.return %y : !y
}

// -----

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>

cudnn.graph @moe_grouped_matmul_c6(%token: !t, %weight: !w, %first_token_offset: !o) -> !y {
  // expected-error @+1 {{expects compute type f64, f32, f16 or bf16, but got 'i32'}}
  %y = cudnn.moe_grouped_matmul none type = i32 token(%token : !t) weight(%weight : !w) first_token_offset(%first_token_offset : !o) ->
      y(!y)
  cudnn.return %y : !y
}

// -----

!m = !cudnn.tensor_desc<2x16x128x128xf32>
!r3 = !cudnn.tensor_desc<16x128x5xf32>

cudnn.graph @expand_band_matrix_c1(%x: !r3) -> !m {
  // expected-error @+1 {{expects tensors of equal rank, but got 3 and 4}}
  %y = cudnn.expand_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.0 x(%x : !r3) -> y(!m)
  cudnn.return %y : !m
}

// -----

!v = !cudnn.tensor_desc<128xf32>
!w = !cudnn.tensor_desc<5xf32>

cudnn.graph @expand_band_matrix_c1_rank(%x: !w) -> !v {
  // expected-error @+1 {{expects tensors of rank 2 to 8, but got 1}}
  %y = cudnn.expand_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 0 pad_value = 0.0 x(%x : !w) -> y(!v)
  cudnn.return %y : !v
}

// -----

!m = !cudnn.tensor_desc<2x16x128x128xf32>
!b = !cudnn.tensor_desc<2x16x128x5xf32>

cudnn.graph @expand_band_matrix_c2_axis(%x: !b) -> !m {
  // expected-error @+1 {{expects 'axis' 2 or 3, but got 1}}
  %y = cudnn.expand_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 1 pad_value = 0.0 x(%x : !b) -> y(!m)
  cudnn.return %y : !m
}

// -----

!m = !cudnn.tensor_desc<2x16x128x128xf32>
!bo = !cudnn.tensor_desc<2x8x128x5xf32>

cudnn.graph @expand_band_matrix_c2_dims(%x: !bo) -> !m {
  // expected-error @+1 {{expects dims that differ only along 'axis', but got [2, 8, 128, 5] and [2, 16, 128, 128]}}
  %y = cudnn.expand_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.0 x(%x : !bo) -> y(!m)
  cudnn.return %y : !m
}

// -----

!m = !cudnn.tensor_desc<2x16x128x128xf32>
!b = !cudnn.tensor_desc<2x16x128x5xf32>

cudnn.graph @expand_band_matrix_c3_negative(%x: !b) -> !m {
  // expected-error @+1 {{expects non-negative bandwidths, but got 5 and -1}}
  %y = cudnn.expand_band_matrix lower_bandwidth = 5 upper_bandwidth = -1 axis = 3 pad_value = 0.0 x(%x : !b) -> y(!m)
  cudnn.return %y : !m
}

// -----

!m = !cudnn.tensor_desc<2x16x128x128xf32>
!b4 = !cudnn.tensor_desc<2x16x128x4xf32>

cudnn.graph @expand_band_matrix_c3_size(%x: !b4) -> !m {
  // expected-error @+1 {{expects a band of 5 elements along 'axis', but got [2, 16, 128, 4]}}
  %y = cudnn.expand_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.0 x(%x : !b4) -> y(!m)
  cudnn.return %y : !m
}

// -----

!m = !cudnn.tensor_desc<2x16x128x128xf32>
!r3 = !cudnn.tensor_desc<16x128x5xf32>

cudnn.graph @contract_band_matrix_c1(%x: !m) -> !r3 {
  // expected-error @+1 {{expects tensors of equal rank, but got 4 and 3}}
  %y = cudnn.contract_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.0 x(%x : !m) -> y(!r3)
  cudnn.return %y : !r3
}

// -----

!m = !cudnn.tensor_desc<2x16x128x128xf32>
!b = !cudnn.tensor_desc<2x16x128x5xf32>

cudnn.graph @contract_band_matrix_c2_axis(%x: !m) -> !b {
  // expected-error @+1 {{expects 'axis' 2 or 3, but got 4}}
  %y = cudnn.contract_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 4 pad_value = 0.0 x(%x : !m) -> y(!b)
  cudnn.return %y : !b
}

// -----

!m = !cudnn.tensor_desc<2x16x128x128xf32>
!bo = !cudnn.tensor_desc<2x8x128x5xf32>

cudnn.graph @contract_band_matrix_c2_dims(%x: !m) -> !bo {
  // expected-error @+1 {{expects dims that differ only along 'axis', but got [2, 8, 128, 5] and [2, 16, 128, 128]}}
  %y = cudnn.contract_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.0 x(%x : !m) -> y(!bo)
  cudnn.return %y : !bo
}

// -----

!m = !cudnn.tensor_desc<2x16x128x128xf32>
!b = !cudnn.tensor_desc<2x16x128x5xf32>

cudnn.graph @contract_band_matrix_c3_negative(%x: !m) -> !b {
  // expected-error @+1 {{expects non-negative bandwidths, but got -1 and 5}}
  %y = cudnn.contract_band_matrix lower_bandwidth = -1 upper_bandwidth = 5 axis = 3 pad_value = 0.0 x(%x : !m) -> y(!b)
  cudnn.return %y : !b
}

// -----

!m = !cudnn.tensor_desc<2x16x128x128xf32>
!b4 = !cudnn.tensor_desc<2x16x128x4xf32>

cudnn.graph @contract_band_matrix_c3_size(%x: !m) -> !b4 {
  // expected-error @+1 {{expects a band of 5 elements along 'axis', but got [2, 16, 128, 4]}}
  %y = cudnn.contract_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.0 x(%x : !m) -> y(!b4)
  cudnn.return %y : !b4
}
