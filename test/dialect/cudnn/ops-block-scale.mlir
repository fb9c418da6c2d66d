// RUN: convoy-opt %s --verify-roundtrip | filecheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | filecheck %s

!x = !cudnn.tensor_desc<8x128x256xf16>
!narrow = !cudnn.tensor_desc<8x128x256xf8E4M3FN>
!scale = !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>

// CHECK-LABEL: cudnn.graph @block_scale(
cudnn.graph @block_scale(%x: !x, %tiles: !cudnn.tensor_desc<8x1x2xf32>) -> (!x, !x) {
  // CHECK: cudnn.block_scale_quantize type = f32 block_size = 32 x(%{{.*}} : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(!cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>)
  %0, %1 = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !x) -> y(!narrow) scale(!scale)
  // CHECK: cudnn.block_scale_dequantize type = f32 block_size = [32] x(%{{.*}} : !cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(%{{.*}} : !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  %2 = cudnn.block_scale_dequantize type = f32 block_size = [32] x(%0 : !narrow) scale(%1 : !scale) -> y(!x)
  // CHECK: block_size = [128, 128] neg_scale = true x(
  %3 = cudnn.block_scale_dequantize type = f32 block_size = [128, 128] neg_scale = true x(%0 : !narrow)
      scale(%tiles : !cudnn.tensor_desc<8x1x2xf32>) -> y(!x)
  cudnn.return %2, %3 : !x, !x
}

// CHECK-LABEL: cudnn.graph @signal(
cudnn.graph @signal(%x: !x, %f: !cudnn.tensor_desc<1x1x1xi32>) -> !x {
  // CHECK: cudnn.signal wait value = 1 flag(%{{.*}} : !cudnn.tensor_desc<1x1x1xi32>) x(%{{.*}} : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  %0 = cudnn.signal wait value = 1 flag(%f : !cudnn.tensor_desc<1x1x1xi32>) x(%x : !x) -> y(!x)
  // CHECK: cudnn.signal set value = 2 flag(
  %1 = cudnn.signal set value = 2 flag(%f : !cudnn.tensor_desc<1x1x1xi32>) x(%0 : !x) -> y(!x)
  cudnn.return %1 : !x
}

!second_scale = !cudnn.tensor_desc<1x8x128xf8E8M0FNU, NWC, reordering = f8_128x4>

// Scales of the second operand of a product, and blocks that do not divide the dims.
// CHECK-LABEL: cudnn.graph @second_operand(
cudnn.graph @second_operand(%x: !cudnn.tensor_desc<1x256x128xf8E4M3FN>, %scale: !second_scale, %w: !cudnn.tensor_desc<2x512x512xbf16>,
                            %tiles: !cudnn.tensor_desc<2x11x16xf32>) -> (!cudnn.tensor_desc<1x256x128xf16>, !cudnn.tensor_desc<2x512x512xbf16>) {
  // CHECK: cudnn.block_scale_dequantize type = f32 block_size = [32, 1] x(%{{.*}} : !cudnn.tensor_desc<1x256x128xf8E4M3FN>) scale(%{{.*}} : !cudnn.tensor_desc<1x8x128xf8E8M0FNU, NWC, reordering = f8_128x4>)
  %0 = cudnn.block_scale_dequantize type = f32 block_size = [32, 1] x(%x : !cudnn.tensor_desc<1x256x128xf8E4M3FN>) scale(%scale : !second_scale)
      -> y(!cudnn.tensor_desc<1x256x128xf16>)
  // CHECK: cudnn.block_scale_dequantize type = f32 block_size = [47, 32]
  %1 = cudnn.block_scale_dequantize type = f32 block_size = [47, 32] x(%w : !cudnn.tensor_desc<2x512x512xbf16>)
      scale(%tiles : !cudnn.tensor_desc<2x11x16xf32>) -> y(!cudnn.tensor_desc<2x512x512xbf16>)
  cudnn.return %0, %1 : !cudnn.tensor_desc<1x256x128xf16>, !cudnn.tensor_desc<2x512x512xbf16>
}

// CHECK-LABEL: cudnn.graph @matrix_scale(
cudnn.graph @matrix_scale(%x: !cudnn.tensor_desc<4096x128xf16>) -> (!cudnn.tensor_desc<4096x128xf8E5M2>, !cudnn.tensor_desc<128x128xf8E8M0FNU>) {
  %y, %s = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<4096x128xf16>)
      -> y(!cudnn.tensor_desc<4096x128xf8E5M2>) scale(!cudnn.tensor_desc<128x128xf8E8M0FNU>)
  cudnn.return %y, %s : !cudnn.tensor_desc<4096x128xf8E5M2>, !cudnn.tensor_desc<128x128xf8E8M0FNU>
}
