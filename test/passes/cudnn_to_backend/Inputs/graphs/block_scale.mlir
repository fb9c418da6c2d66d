// Block scales. Tests build every graph of this folder and make each of its calls fail.

cudnn.graph @block_scale_quantize(%x: !cudnn.tensor_desc<8x128x256xf16>)
    -> (!cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) {
  %y, %scale = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<8x128x256xf16>) ->
      y(!cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(!cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>)
  cudnn.return %y, %scale : !cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>
}

cudnn.graph @block_scale_quantize_rows(%x: !cudnn.tensor_desc<2x4x96x192xbf16>)
    -> (!cudnn.tensor_desc<2x4x96x192xf4E2M1FN>, !cudnn.tensor_desc<2x4x6x192xf8E4M3FN>) {
  %y, %scale = cudnn.block_scale_quantize type = f32 block_size = 16 x(%x : !cudnn.tensor_desc<2x4x96x192xbf16>) ->
      y(!cudnn.tensor_desc<2x4x96x192xf4E2M1FN>)
      scale(!cudnn.tensor_desc<2x4x6x192xf8E4M3FN>)
  cudnn.return %y, %scale : !cudnn.tensor_desc<2x4x96x192xf4E2M1FN>, !cudnn.tensor_desc<2x4x6x192xf8E4M3FN>
}

cudnn.graph @block_scale_quantize_matrix(%x: !cudnn.tensor_desc<100x96xf32>)
    -> (!cudnn.tensor_desc<100x96xf8E5M2>, !cudnn.tensor_desc<128x4xf8E8M0FNU, reordering = f8_128x4>) {
  %y, %scale = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<100x96xf32>)
      -> y(!cudnn.tensor_desc<100x96xf8E5M2>) scale(!cudnn.tensor_desc<128x4xf8E8M0FNU, reordering = f8_128x4>)
  cudnn.return %y, %scale : !cudnn.tensor_desc<100x96xf8E5M2>, !cudnn.tensor_desc<128x4xf8E8M0FNU, reordering = f8_128x4>
}

cudnn.graph @block_scale_dequantize(%x: !cudnn.tensor_desc<8x128x256xf8E4M3FN>,
    %scale: !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> !cudnn.tensor_desc<8x128x256xf16> {
  %y = cudnn.block_scale_dequantize type = f32 block_size = [32] x(%x : !cudnn.tensor_desc<8x128x256xf8E4M3FN>)
      scale(%scale : !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf16>
}

cudnn.graph @block_scale_dequantize_tiles(%x: !cudnn.tensor_desc<8x128x256xf8E4M3FN>, %scale: !cudnn.tensor_desc<8x1x2xf32>)
    -> !cudnn.tensor_desc<8x128x256xf16> {
  %y = cudnn.block_scale_dequantize type = f32 block_size = [128, 128] neg_scale = true x(%x : !cudnn.tensor_desc<8x128x256xf8E4M3FN>)
      scale(%scale : !cudnn.tensor_desc<8x1x2xf32>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf16>
}

// A product of narrow matrices, as in MXFP8.
cudnn.graph @block_scaled_matmul(%a: !cudnn.tensor_desc<8x128x256xf8E4M3FN>,
    %sa: !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>,
    %b: !cudnn.tensor_desc<8x256x128xf8E4M3FN, stride = [32768, 1, 256]>,
    %sb: !cudnn.tensor_desc<8x8x128xf8E8M0FNU, reordering = f8_128x4, stride = [1024, 1, 8]>) -> !cudnn.tensor_desc<8x128x128xf32> {
  %0 = cudnn.block_scale_dequantize type = f32 block_size = [32] x(%a : !cudnn.tensor_desc<8x128x256xf8E4M3FN>)
      scale(%sa : !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<8x128x256xf32>)
  %1 = cudnn.block_scale_dequantize type = f32 block_size = [32] x(%b : !cudnn.tensor_desc<8x256x128xf8E4M3FN, stride = [32768, 1, 256]>)
      scale(%sb : !cudnn.tensor_desc<8x8x128xf8E8M0FNU, reordering = f8_128x4, stride = [1024, 1, 8]>)
      -> y(!cudnn.tensor_desc<8x256x128xf32, stride = [32768, 1, 256]>)
  %2 = cudnn.matmul(%0, %1) type = f32 : !cudnn.tensor_desc<8x128x256xf32>, !cudnn.tensor_desc<8x256x128xf32, stride = [32768, 1, 256]>
      -> !cudnn.tensor_desc<8x128x128xf32>
  cudnn.return %2 : !cudnn.tensor_desc<8x128x128xf32>
}

// The matrix keeps its rank, because its scales are not reordered.
cudnn.graph @block_scale_quantize_plain_matrix(%x: !cudnn.tensor_desc<4096x128xf16>)
    -> (!cudnn.tensor_desc<4096x128xf8E5M2>, !cudnn.tensor_desc<128x128xf8E8M0FNU>) {
  %y, %scale = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<4096x128xf16>)
      -> y(!cudnn.tensor_desc<4096x128xf8E5M2>) scale(!cudnn.tensor_desc<128x128xf8E8M0FNU>)
  cudnn.return %y, %scale : !cudnn.tensor_desc<4096x128xf8E5M2>, !cudnn.tensor_desc<128x128xf8E8M0FNU>
}

// The scales of the second operand have their blocks along its first dim.
cudnn.graph @block_scaled_matmul_two_sizes(%a: !cudnn.tensor_desc<1x128x256xf8E4M3FN>,
    %sa: !cudnn.tensor_desc<1x128x8xf8E8M0FNU, reordering = f8_128x4>,
    %b: !cudnn.tensor_desc<1x256x128xf8E4M3FN, NWC>,
    %sb: !cudnn.tensor_desc<1x8x128xf8E8M0FNU, NWC, reordering = f8_128x4>) -> !cudnn.tensor_desc<1x128x128xf32> {
  %0 = cudnn.block_scale_dequantize type = f32 block_size = [1, 32] x(%a : !cudnn.tensor_desc<1x128x256xf8E4M3FN>)
      scale(%sa : !cudnn.tensor_desc<1x128x8xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<1x128x256xf32>)
  %1 = cudnn.block_scale_dequantize type = f32 block_size = [32, 1] x(%b : !cudnn.tensor_desc<1x256x128xf8E4M3FN, NWC>)
      scale(%sb : !cudnn.tensor_desc<1x8x128xf8E8M0FNU, NWC, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<1x256x128xf32, NWC>)
  %2 = cudnn.matmul(%0, %1) type = f32 : !cudnn.tensor_desc<1x128x256xf32>, !cudnn.tensor_desc<1x256x128xf32, NWC>
      -> !cudnn.tensor_desc<1x128x128xf32>
  cudnn.return %2 : !cudnn.tensor_desc<1x128x128xf32>
}
