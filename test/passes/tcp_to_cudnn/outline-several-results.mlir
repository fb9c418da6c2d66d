// Outlining and bufferization of an inline graph with several results.
// RUN: convoy-opt %s --cudnn-outline-graphs | filecheck %s
// RUN: convoy-opt %s --cudnn-outline-graphs \
// RUN:     --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:     | filecheck %s --check-prefix=BUFFERS

!x = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!s = !cudnn.tensor_desc<4x128x1xf32>
!e = !cudnn.tensor_desc<1x1x1xf32>

// The constant is not part of the graph's name.
// CHECK-LABEL: cudnn.graph @norm_forward_relu_fwd_0(
// CHECK-SAME: -> (!cudnn.tensor_desc<4x128x1xf32>, !cudnn.tensor_desc<4x128x1xf32>, !cudnn.tensor_desc<4x128x1024xf16>) {
// CHECK-NEXT: %[[E:.*]] = cudnn.constant
// CHECK-NEXT: %[[Y:.*]], %[[MEAN:.*]], %[[VAR:.*]] = cudnn.norm_forward layer_norm training
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise relu_fwd(%[[Y]])
// CHECK-NEXT: cudnn.return %[[MEAN]], %[[VAR]], %[[R]]
// CHECK-LABEL: func.func @layer_norm(
// CHECK: %[[OUT:.*]]:3 = cudnn.execute @norm_forward_relu_fwd_0 ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) -> tensor<4x128x1xf32>, tensor<4x128x1xf32>, tensor<4x128x1024xf16>
// CHECK-NEXT: return %[[OUT]]#2, %[[OUT]]#0

// BUFFERS-LABEL: func.func @layer_norm(
// BUFFERS-SAME: %[[X:[^ ]*]]: memref<4x128x1024xf16>, %[[SCALE:[^ ]*]]: memref<1x1x1024xf16>, %[[BIAS:[^ ]*]]: memref<1x1x1024xf16>)
// BUFFERS: %[[MEAN:.*]] = memref.alloc() {{.*}} : memref<4x128x1xf32>
// BUFFERS: %[[VAR:.*]] = memref.alloc() {{.*}} : memref<4x128x1xf32>
// BUFFERS: %[[Y:.*]] = memref.alloc() {{.*}} : memref<4x128x1024xf16>
// BUFFERS: cudnn.execute @norm_forward_relu_fwd_0 ins(%[[X]], %[[SCALE]], %[[BIAS]] : {{.*}}) outs(%[[MEAN]], %[[VAR]], %[[Y]] : {{.*}})
// BUFFERS-NEXT: return %[[Y]], %[[MEAN]]
func.func @layer_norm(%x: tensor<4x128x1024xf16>, %scale: tensor<1x1x1024xf16>, %bias: tensor<1x1x1024xf16>)
    -> (tensor<4x128x1024xf16>, tensor<4x128x1xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  %0:3 = cudnn.build_and_exec_graph %h %x, %scale, %bias {
  ^bb0(%a: !x, %s: !p, %b: !p):
    %e = cudnn.constant 1.0e-05 : f32 -> !e
    %y, %mean, %var = cudnn.norm_forward layer_norm training x(%a : !x) scale(%s : !p) bias(%b : !p) epsilon(%e : !e)
        -> y(!x) saved_mean(!s) saved_inv_variance(!s)
    %r = cudnn.pointwise relu_fwd(%y) type = f32 : !x -> !x
    cudnn.build_graph(%mean, %var, %r) : !s, !s, !x
  } : tensor<4x128x1024xf16>, tensor<1x1x1024xf16>, tensor<1x1x1024xf16> -> tensor<4x128x1xf32>, tensor<4x128x1xf32>, tensor<4x128x1024xf16>
  return %0#2, %0#0 : tensor<4x128x1024xf16>, tensor<4x128x1xf32>
}
