// RUN: convoy-opt %s --verify-roundtrip | filecheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | filecheck %s

!t = !cudnn.tensor_desc<1x512x128xbf16>
!w = !cudnn.tensor_desc<8x128x256xbf16>
!o = !cudnn.tensor_desc<8x1x1xi32>
!i = !cudnn.tensor_desc<1x512x1xi32>
!y = !cudnn.tensor_desc<1x512x256xbf16>
!g = !cudnn.tensor_desc<1x1024x1xi32>
!h = !cudnn.tensor_desc<1x1024x256xbf16>
!m = !cudnn.tensor_desc<2x16x128x128xf32>
!b = !cudnn.tensor_desc<2x16x128x5xf32>
!n = !cudnn.tensor_desc<2x1x1x1xi32>
!k = !cudnn.tensor_desc<2x1x128x1xi32>

// CHECK-LABEL: cudnn.graph @experts
cudnn.graph @experts(%t: !t, %w: !w, %o: !o, %i: !i, %k: !i, %g: !g) -> (!y, !h, !y) {
  // CHECK: cudnn.moe_grouped_matmul none type = f32 token({{[^)]*}}) weight({{[^)]*}}) first_token_offset({{[^)]*}}) -> y(!cudnn.tensor_desc<1x512x256xbf16>)
  %0 = cudnn.moe_grouped_matmul none type = f32 token(%t : !t) weight(%w : !w) first_token_offset(%o : !o) -> y(!y)
  // CHECK: cudnn.moe_grouped_matmul gather type = f32 token({{[^)]*}}) weight({{[^)]*}}) first_token_offset({{[^)]*}}) token_index({{[^)]*}}) -> y(!cudnn.tensor_desc<1x1024x256xbf16>)
  %1 = cudnn.moe_grouped_matmul gather type = f32 token(%t : !t) weight(%w : !w) first_token_offset(%o : !o) token_index(%g : !g) -> y(!h)
  // CHECK: cudnn.moe_grouped_matmul scatter type = f32 top_k = 2 token({{[^)]*}}) weight({{[^)]*}}) first_token_offset({{[^)]*}}) token_index({{[^)]*}}) token_ks({{[^)]*}}) -> y({{.*}})
  %2 = cudnn.moe_grouped_matmul scatter type = f32 top_k = 2 token(%t : !t) weight(%w : !w) first_token_offset(%o : !o)
      token_index(%i : !i) token_ks(%k : !i) -> y(!y)
  cudnn.return %0, %1, %2 : !y, !h, !y
}

// CHECK-LABEL: cudnn.graph @bands
cudnn.graph @bands(%b: !b, %n: !n, %k: !k) -> (!m, !m, !b, !b) {
  // CHECK: cudnn.expand_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.000000e+00 x({{[^)]*}}) -> y({{.*}})
  %0 = cudnn.expand_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.0 x(%b : !b) -> y(!m)
  // CHECK: cudnn.expand_band_matrix lower_bandwidth = 2 upper_bandwidth = 2 axis = 3 pad_value = -1.000000e+00 x({{[^)]*}}) kv_token_offset({{[^)]*}}) speculative_mask({{[^)]*}}) -> y({{.*}})
  %1 = cudnn.expand_band_matrix lower_bandwidth = 2 upper_bandwidth = 2 axis = 3 pad_value = -1.0 x(%b : !b) kv_token_offset(%n : !n)
      speculative_mask(%k : !k) -> y(!m)
  // CHECK: cudnn.contract_band_matrix lower_bandwidth = 1 upper_bandwidth = 3 axis = 3 pad_value = 0.000000e+00 x({{[^)]*}}) -> y({{.*}})
  %2 = cudnn.contract_band_matrix lower_bandwidth = 1 upper_bandwidth = 3 axis = 3 pad_value = 0.0 x(%1 : !m) -> y(!b)
  // CHECK: cudnn.contract_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.000000e+00 max_token_value = 4 x({{[^)]*}}) -> y({{.*}})
  %3 = cudnn.contract_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.0 max_token_value = 4 x(%0 : !m) -> y(!b)
  cudnn.return %0, %1, %2, %3 : !m, !m, !b, !b
}
