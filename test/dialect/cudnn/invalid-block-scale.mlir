// Every error of cudnn.block_scale_quantize and cudnn.block_scale_dequantize. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

cudnn.graph @block_scale_quantize_c1(%x: !cudnn.tensor_desc<256xf16>) -> (!cudnn.tensor_desc<256xf8E4M3FN>, !cudnn.tensor_desc<8xf8E8M0FNU>) {
  // expected-error @+1 {{expects tensors of rank 2 to 8, but got 1}}
  %y, %s = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<256xf16>) -> y(!cudnn.tensor_desc<256xf8E4M3FN>) scale(!cudnn.tensor_desc<8xf8E8M0FNU>)
  cudnn.return %y, %s : !cudnn.tensor_desc<256xf8E4M3FN>, !cudnn.tensor_desc<8xf8E8M0FNU>
}

// -----

cudnn.graph @block_scale_quantize_c1_equal(%x: !cudnn.tensor_desc<8x128x256xf16>) -> (!cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<128x8xf8E8M0FNU, reordering = f8_128x4>) {
  // expected-error @+1 {{expects tensors of equal rank, but got 2 and 3}}
  %y, %s = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(!cudnn.tensor_desc<128x8xf8E8M0FNU, reordering = f8_128x4>)
  cudnn.return %y, %s : !cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<128x8xf8E8M0FNU, reordering = f8_128x4>
}

// -----

cudnn.graph @block_scale_quantize_c2(%x: !cudnn.tensor_desc<8x128x256xf16>) -> (!cudnn.tensor_desc<8x128x128xf8E4M3FN>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) {
  // expected-error @+1 {{expects 'y' of shape [8, 128, 256], but got [8, 128, 128]}}
  %y, %s = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x128xf8E4M3FN>) scale(!cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>)
  cudnn.return %y, %s : !cudnn.tensor_desc<8x128x128xf8E4M3FN>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>
}

// -----

cudnn.graph @block_scale_quantize_c2_type(%x: !cudnn.tensor_desc<8x128x256xf16>) -> (!cudnn.tensor_desc<8x128x256xf16>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) {
  // expected-error @+1 {{expects 'y' of f8E4M3FN, f8E5M2 or f4E2M1FN, but got 'f16'}}
  %y, %s = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x256xf16>) scale(!cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>)
  cudnn.return %y, %s : !cudnn.tensor_desc<8x128x256xf16>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>
}

// -----

cudnn.graph @block_scale_quantize_c3(%x: !cudnn.tensor_desc<8x128x256xf16>) -> (!cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) {
  // expected-error @+1 {{expects 'block_size' above 1, but got 1}}
  %y, %s = cudnn.block_scale_quantize type = f32 block_size = 1 x(%x : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(!cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>)
  cudnn.return %y, %s : !cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>
}

// -----

cudnn.graph @block_scale_quantize_c4(%x: !cudnn.tensor_desc<8x128x256xf16>) -> (!cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<8x128x7xf8E8M0FNU, reordering = f8_128x4>) {
  // expected-error @+1 {{expects 'scale' of one element per block of [32] of [8, 128, 256], with dims rounded up to 128 and 4, but got [8, 128, 7]}}
  %y, %s = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(!cudnn.tensor_desc<8x128x7xf8E8M0FNU, reordering = f8_128x4>)
  cudnn.return %y, %s : !cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<8x128x7xf8E8M0FNU, reordering = f8_128x4>
}

// -----

cudnn.graph @block_scale_quantize_c4_divides(%x: !cudnn.tensor_desc<4096x120xf16>) -> (!cudnn.tensor_desc<4096x120xf8E4M3FN>, !cudnn.tensor_desc<4096x4xf8E8M0FNU>) {
  // expected-error @+1 {{expects 'scale' of one element per block of [32] of [4096, 120], but got [4096, 4]}}
  %y, %s = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<4096x120xf16>) -> y(!cudnn.tensor_desc<4096x120xf8E4M3FN>) scale(!cudnn.tensor_desc<4096x4xf8E8M0FNU>)
  cudnn.return %y, %s : !cudnn.tensor_desc<4096x120xf8E4M3FN>, !cudnn.tensor_desc<4096x4xf8E8M0FNU>
}

// -----

cudnn.graph @block_scale_quantize_c4_plain(%x: !cudnn.tensor_desc<2x4x96x192xf16>) -> (!cudnn.tensor_desc<2x4x96x192xf8E4M3FN>, !cudnn.tensor_desc<2x4x96x192xf8E8M0FNU>) {
  // expected-error @+1 {{expects 'scale' of one element per block of [32] of [2, 4, 96, 192], but got [2, 4, 96, 192]}}
  %y, %s = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<2x4x96x192xf16>) -> y(!cudnn.tensor_desc<2x4x96x192xf8E4M3FN>) scale(!cudnn.tensor_desc<2x4x96x192xf8E8M0FNU>)
  cudnn.return %y, %s : !cudnn.tensor_desc<2x4x96x192xf8E4M3FN>, !cudnn.tensor_desc<2x4x96x192xf8E8M0FNU>
}

// -----

cudnn.graph @block_scale_quantize_c5_low(%x: !cudnn.tensor_desc<8x128x256xf16>) -> (!cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU>) {
  // expected-error @+1 {{expects reordering f8_128x4 of 'scale' at rank 3}}
  %y, %s = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(!cudnn.tensor_desc<8x128x8xf8E8M0FNU>)
  cudnn.return %y, %s : !cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU>
}

// -----

cudnn.graph @block_scale_quantize_c5_high(%x: !cudnn.tensor_desc<2x4x96x192xf16>) -> (!cudnn.tensor_desc<2x4x96x192xf8E4M3FN>, !cudnn.tensor_desc<2x4x96x6xf8E8M0FNU, reordering = f8_128x4>) {
  // expected-error @+1 {{expects no reordering f8_128x4 of 'scale' at rank 4}}
  %y, %s = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<2x4x96x192xf16>) -> y(!cudnn.tensor_desc<2x4x96x192xf8E4M3FN>) scale(!cudnn.tensor_desc<2x4x96x6xf8E8M0FNU, reordering = f8_128x4>)
  cudnn.return %y, %s : !cudnn.tensor_desc<2x4x96x192xf8E4M3FN>, !cudnn.tensor_desc<2x4x96x6xf8E8M0FNU, reordering = f8_128x4>
}

// -----

cudnn.graph @block_scale_quantize_c6(%x: !cudnn.tensor_desc<8x128x256xf16>) -> (!cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) {
  // expected-error @+1 {{expects compute type f64, f32, f16 or bf16, but got 'i32'}}
  %y, %s = cudnn.block_scale_quantize type = i32 block_size = 32 x(%x : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(!cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>)
  cudnn.return %y, %s : !cudnn.tensor_desc<8x128x256xf8E4M3FN>, !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>
}

// -----

cudnn.graph @block_scale_dequantize_c1(%x: !cudnn.tensor_desc<256xf8E4M3FN>, %s: !cudnn.tensor_desc<8xf8E8M0FNU>) -> !cudnn.tensor_desc<256xf16> {
  // expected-error @+1 {{expects tensors of rank 2 to 8, but got 1}}
  %y = cudnn.block_scale_dequantize type = f32 block_size = [32] x(%x : !cudnn.tensor_desc<256xf8E4M3FN>) scale(%s : !cudnn.tensor_desc<8xf8E8M0FNU>) -> y(!cudnn.tensor_desc<256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<256xf16>
}

// -----

cudnn.graph @block_scale_dequantize_c2(%x: !cudnn.tensor_desc<8x128x256xf8E4M3FN>, %s: !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> !cudnn.tensor_desc<8x128x128xf16> {
  // expected-error @+1 {{expects 'y' of shape [8, 128, 256], but got [8, 128, 128]}}
  %y = cudnn.block_scale_dequantize type = f32 block_size = [32] x(%x : !cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(%s : !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<8x128x128xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x128xf16>
}

// -----

cudnn.graph @block_scale_dequantize_c3_none(%x: !cudnn.tensor_desc<8x128x256xf8E4M3FN>, %s: !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> !cudnn.tensor_desc<8x128x256xf16> {
  // expected-error @+1 {{expects one 'block_size' above 1 or two of at least 1, but got []}}
  %y = cudnn.block_scale_dequantize type = f32 block_size = [] x(%x : !cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(%s : !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf16>
}

// -----

cudnn.graph @block_scale_dequantize_c3_one(%x: !cudnn.tensor_desc<8x128x256xf8E4M3FN>, %s: !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> !cudnn.tensor_desc<8x128x256xf16> {
  // expected-error @+1 {{expects one 'block_size' above 1 or two of at least 1, but got [1]}}
  %y = cudnn.block_scale_dequantize type = f32 block_size = [1] x(%x : !cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(%s : !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf16>
}

// -----

cudnn.graph @block_scale_dequantize_c3_two(%x: !cudnn.tensor_desc<8x128x256xf8E4M3FN>, %s: !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> !cudnn.tensor_desc<8x128x256xf16> {
  // expected-error @+1 {{expects one 'block_size' above 1 or two of at least 1, but got [0, 32]}}
  %y = cudnn.block_scale_dequantize type = f32 block_size = [0, 32] x(%x : !cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(%s : !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf16>
}

// -----

cudnn.graph @block_scale_dequantize_c3_three(%x: !cudnn.tensor_desc<8x128x256xf8E4M3FN>, %s: !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> !cudnn.tensor_desc<8x128x256xf16> {
  // expected-error @+1 {{expects one 'block_size' above 1 or two of at least 1, but got [1, 1, 32]}}
  %y = cudnn.block_scale_dequantize type = f32 block_size = [1, 1, 32] x(%x : !cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(%s : !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf16>
}

// -----

cudnn.graph @block_scale_dequantize_c4(%x: !cudnn.tensor_desc<8x128x256xf8E4M3FN>, %s: !cudnn.tensor_desc<8x128x16xf32>) -> !cudnn.tensor_desc<8x128x256xf16> {
  // expected-error @+1 {{expects 'scale' of one element per block of [32] of [8, 128, 256], but got [8, 128, 16]}}
  %y = cudnn.block_scale_dequantize type = f32 block_size = [32] x(%x : !cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(%s : !cudnn.tensor_desc<8x128x16xf32>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf16>
}

// -----

// The blocks are along the first dim of the matrices, so that this dim is rounded up to 4.
cudnn.graph @block_scale_dequantize_c4_second_operand(%x: !cudnn.tensor_desc<1x256x128xf8E4M3FN>, %s: !cudnn.tensor_desc<1x128x128xf8E8M0FNU, reordering = f8_128x4>) -> !cudnn.tensor_desc<1x256x128xf16> {
  // expected-error @+1 {{expects 'scale' of one element per block of [32, 1] of [1, 256, 128], with dims rounded up to 128 and 4, but got [1, 128, 128]}}
  %y = cudnn.block_scale_dequantize type = f32 block_size = [32, 1] x(%x : !cudnn.tensor_desc<1x256x128xf8E4M3FN>) scale(%s : !cudnn.tensor_desc<1x128x128xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<1x256x128xf16>)
  cudnn.return %y : !cudnn.tensor_desc<1x256x128xf16>
}

// -----

cudnn.graph @block_scale_dequantize_c4_tiles(%x: !cudnn.tensor_desc<8x128x256xf8E4M3FN>, %s: !cudnn.tensor_desc<8x2x1xf32>) -> !cudnn.tensor_desc<8x128x256xf16> {
  // expected-error @+1 {{expects 'scale' of one element per block of [128, 128] of [8, 128, 256], but got [8, 2, 1]}}
  %y = cudnn.block_scale_dequantize type = f32 block_size = [128, 128] x(%x : !cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(%s : !cudnn.tensor_desc<8x2x1xf32>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf16>
}

// -----

cudnn.graph @block_scale_dequantize_c5(%x: !cudnn.tensor_desc<8x128x256xf8E4M3FN>, %s: !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> !cudnn.tensor_desc<8x128x256xf16> {
  // expected-error @+1 {{expects compute type f64, f32, f16 or bf16, but got 'i32'}}
  %y = cudnn.block_scale_dequantize type = i32 block_size = [32] x(%x : !cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(%s : !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf16>
}
