// RUN: convoy-opt %s --split-input-file --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | filecheck %s

cudnn.graph @relu(%x: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// The outs become buffers. Their contents are not used, so nothing is copied into them.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: memref<1x4x4x8xf16>)
// CHECK-NEXT: %[[A:.*]] = memref.alloc()
// CHECK-NEXT: cudnn.execute @relu ins(%[[X]] : memref<1x4x4x8xf16>) outs(%[[A]] : memref<1x4x4x8xf16>)
// CHECK-NEXT: %[[B:.*]] = memref.alloc()
// CHECK-NEXT: cudnn.execute @relu ins(%[[A]] : memref<1x4x4x8xf16>) outs(%[[B]] : memref<1x4x4x8xf16>)
// CHECK-NEXT: return %[[B]]
func.func @chain(%x: tensor<1x4x4x8xf16>) -> tensor<1x4x4x8xf16> {
  %o = tensor.empty() : tensor<1x4x4x8xf16>
  %y = cudnn.execute @relu ins(%x : tensor<1x4x4x8xf16>) outs(%o : tensor<1x4x4x8xf16>) -> tensor<1x4x4x8xf16>
  %p = tensor.empty() : tensor<1x4x4x8xf16>
  %z = cudnn.execute @relu ins(%y : tensor<1x4x4x8xf16>) outs(%p : tensor<1x4x4x8xf16>) -> tensor<1x4x4x8xf16>
  return %z : tensor<1x4x4x8xf16>
}

// -----

cudnn.graph @relu(%x: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// A slice is not packed, so it is copied in and out.
// CHECK-LABEL: func.func @slices(
// CHECK: %[[IN:.*]] = memref.subview
// CHECK: %[[A:.*]] = memref.alloc() : memref<1x4x4x8xf16>
// CHECK: memref.copy %[[IN]], %[[A]]
// CHECK: cudnn.execute @relu ins(%[[A]] : memref<1x4x4x8xf16>)
func.func @slices(%x: tensor<1x4x4x16xf16>) -> tensor<1x4x4x16xf16> {
  %s = tensor.extract_slice %x[0, 0, 0, 0] [1, 4, 4, 8] [1, 1, 1, 1] : tensor<1x4x4x16xf16> to tensor<1x4x4x8xf16>
  %o = tensor.empty() : tensor<1x4x4x16xf16>
  %d = tensor.extract_slice %o[0, 0, 0, 8] [1, 4, 4, 8] [1, 1, 1, 1] : tensor<1x4x4x16xf16> to tensor<1x4x4x8xf16>
  %y = cudnn.execute @relu ins(%s : tensor<1x4x4x8xf16>) outs(%d : tensor<1x4x4x8xf16>) -> tensor<1x4x4x8xf16>
  %r = tensor.insert_slice %y into %o[0, 0, 0, 8] [1, 4, 4, 8] [1, 1, 1, 1] : tensor<1x4x4x8xf16> into tensor<1x4x4x16xf16>
  return %r : tensor<1x4x4x16xf16>
}

// -----

cudnn.graph @relu(%x: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}
cudnn.graph @odd(%x: !cudnn.tensor_desc<1x3x1x1xf16, NHWC>) -> !cudnn.tensor_desc<1x3x1x1xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x3x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x3x1x1xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x3x1x1xf16, NHWC>
}

// A packed slice is used as it is if it is aligned, whatever its index is. One of 6 bytes is copied.
// CHECK-LABEL: func.func @packed_slices(
// CHECK-SAME: %[[X:[^:]*]]: memref<5x4x4x8xf16>, %[[Y:[^:]*]]: memref<5x1x1x3xf16>, %[[I:.*]]: index)
// CHECK: %[[A:.*]] = memref.subview %[[X]][%[[I]], 0, 0, 0]
// CHECK: cudnn.execute @relu ins(%[[A]] : memref<1x4x4x8xf16, strided<[128, 32, 8, 1], offset: ?>>)
// CHECK: %[[B:.*]] = memref.subview %[[Y]][%[[I]], 0, 0, 0]
// CHECK: %[[C:.*]] = memref.alloc() : memref<1x1x1x3xf16>
// CHECK: memref.copy %[[B]], %[[C]]
// CHECK: cudnn.execute @odd ins(%[[C]] : memref<1x1x1x3xf16>)
func.func @packed_slices(%x: tensor<5x4x4x8xf16>, %y: tensor<5x1x1x3xf16>, %i: index) -> (tensor<1x4x4x8xf16>, tensor<1x1x1x3xf16>) {
  %a = tensor.extract_slice %x[%i, 0, 0, 0] [1, 4, 4, 8] [1, 1, 1, 1] : tensor<5x4x4x8xf16> to tensor<1x4x4x8xf16>
  %o = tensor.empty() : tensor<1x4x4x8xf16>
  %0 = cudnn.execute @relu ins(%a : tensor<1x4x4x8xf16>) outs(%o : tensor<1x4x4x8xf16>) -> tensor<1x4x4x8xf16>
  %b = tensor.extract_slice %y[%i, 0, 0, 0] [1, 1, 1, 3] [1, 1, 1, 1] : tensor<5x1x1x3xf16> to tensor<1x1x1x3xf16>
  %p = tensor.empty() : tensor<1x1x1x3xf16>
  %1 = cudnn.execute @odd ins(%b : tensor<1x1x1x3xf16>) outs(%p : tensor<1x1x1x3xf16>) -> tensor<1x1x1x3xf16>
  return %0, %1 : tensor<1x4x4x8xf16>, tensor<1x1x1x3xf16>
}
