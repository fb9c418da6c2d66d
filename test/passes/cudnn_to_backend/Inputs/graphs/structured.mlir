// Grouped (mixture of experts) products, and bands of matrices.

cudnn.graph @moe(%token: !cudnn.tensor_desc<1x512x128xbf16>, %weight: !cudnn.tensor_desc<8x128x256xbf16, stride = [32768, 1, 128]>,
    %first_token_offset: !cudnn.tensor_desc<8x1x1xi32>) -> (!cudnn.tensor_desc<1x512x256xbf16>) {
  %r_y = cudnn.moe_grouped_matmul none type = f32 token(%token : !cudnn.tensor_desc<1x512x128xbf16>)
      weight(%weight : !cudnn.tensor_desc<8x128x256xbf16, stride = [32768, 1, 128]>)
      first_token_offset(%first_token_offset : !cudnn.tensor_desc<8x1x1xi32>) -> y(!cudnn.tensor_desc<1x512x256xbf16>)
  cudnn.return %r_y : !cudnn.tensor_desc<1x512x256xbf16>
}

cudnn.graph @moe_gather(%token: !cudnn.tensor_desc<1x512x128xbf16>, %weight: !cudnn.tensor_desc<8x128x256xbf16, stride = [32768, 1, 128]>,
    %first_token_offset: !cudnn.tensor_desc<8x1x1xi32>, %token_index: !cudnn.tensor_desc<1x1024x1xi32>)
    -> (!cudnn.tensor_desc<1x1024x256xbf16>) {
  %r_y = cudnn.moe_grouped_matmul gather type = f32 token(%token : !cudnn.tensor_desc<1x512x128xbf16>)
      weight(%weight : !cudnn.tensor_desc<8x128x256xbf16, stride = [32768, 1, 128]>)
      first_token_offset(%first_token_offset : !cudnn.tensor_desc<8x1x1xi32>) token_index(%token_index : !cudnn.tensor_desc<1x1024x1xi32>)
      -> y(!cudnn.tensor_desc<1x1024x256xbf16>)
  cudnn.return %r_y : !cudnn.tensor_desc<1x1024x256xbf16>
}

cudnn.graph @moe_scatter(%token: !cudnn.tensor_desc<1x512x128xbf16>,
    %weight: !cudnn.tensor_desc<8x128x256xbf16, stride = [32768, 1, 128]>, %first_token_offset: !cudnn.tensor_desc<8x1x1xi32>,
    %token_index: !cudnn.tensor_desc<1x512x1xi32>, %token_ks: !cudnn.tensor_desc<1x512x1xi32>) -> (!cudnn.tensor_desc<1x512x256xbf16>) {
  %r_y = cudnn.moe_grouped_matmul scatter type = f32 top_k = 2 token(%token : !cudnn.tensor_desc<1x512x128xbf16>)
      weight(%weight : !cudnn.tensor_desc<8x128x256xbf16, stride = [32768, 1, 128]>)
      first_token_offset(%first_token_offset : !cudnn.tensor_desc<8x1x1xi32>) token_index(%token_index : !cudnn.tensor_desc<1x512x1xi32>)
      token_ks(%token_ks : !cudnn.tensor_desc<1x512x1xi32>) -> y(!cudnn.tensor_desc<1x512x256xbf16>)
  cudnn.return %r_y : !cudnn.tensor_desc<1x512x256xbf16>
}

cudnn.graph @expand_band(%x: !cudnn.tensor_desc<2x16x128x5xf32>, %kv_token_offset: !cudnn.tensor_desc<2x1x1x1xi32>,
    %speculative_mask: !cudnn.tensor_desc<2x1x128x1xi32>) -> (!cudnn.tensor_desc<2x16x128x128xf32>) {
  %r_y = cudnn.expand_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = -1.0
      x(%x : !cudnn.tensor_desc<2x16x128x5xf32>) kv_token_offset(%kv_token_offset : !cudnn.tensor_desc<2x1x1x1xi32>)
      speculative_mask(%speculative_mask : !cudnn.tensor_desc<2x1x128x1xi32>) -> y(!cudnn.tensor_desc<2x16x128x128xf32>)
  cudnn.return %r_y : !cudnn.tensor_desc<2x16x128x128xf32>
}

cudnn.graph @contract_band(%x: !cudnn.tensor_desc<2x16x128x128xf32>) -> (!cudnn.tensor_desc<2x16x128x5xf32>) {
  %r_y = cudnn.contract_band_matrix lower_bandwidth = 1 upper_bandwidth = 3 axis = 3 pad_value = 0.0 max_token_value = 4
      x(%x : !cudnn.tensor_desc<2x16x128x128xf32>) -> y(!cudnn.tensor_desc<2x16x128x5xf32>)
  cudnn.return %r_y : !cudnn.tensor_desc<2x16x128x5xf32>
}
