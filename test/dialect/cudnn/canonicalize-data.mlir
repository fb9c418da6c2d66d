// RUN: convoy-opt %s --canonicalize | filecheck %s

!x = !cudnn.tensor_desc<8x4xf32>
!y = !cudnn.tensor_desc<4x8xf32>

// A reshape to the same dims is removed, except of a graph input: cuDNN has no graph without it.
// CHECK-LABEL: cudnn.graph @reshape(
// CHECK-NEXT: %[[A:.*]] = cudnn.reshape(%{{.*}}) : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
// CHECK-NEXT: %[[B:.*]] = cudnn.reshape(%[[A]]) : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<4x8xf32>
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @reshape(%x: !x) -> !y {
  %0 = cudnn.reshape(%x) : !x -> !x
  %1 = cudnn.reshape(%0) : !x -> !x
  %2 = cudnn.reshape(%1) : !x -> !y
  cudnn.return %2 : !y
}
