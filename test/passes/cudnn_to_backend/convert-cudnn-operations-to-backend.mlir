// Operations with several results, and constants of the graph: in the manifest and in the builder.
// RUN: convoy-opt %s --convert-cudnn-graphs-to-backend | filecheck %s

!x = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!s = !cudnn.tensor_desc<4x128x1xf32>
!e = !cudnn.tensor_desc<1x1x1xf32>

// CHECK: tcp.manifest = {graphs = [{constants = [{bytes = "acc52737", dtype = "float32", uid = 6 : i64}, {bytes = "003c", dtype = "float16", uid = 7 : i64},
// CHECK-SAME: {bytes = "feffffffffffffff", dtype = "int64", uid = 8 : i64}], {{.*}} name = "norm", ops = ["norm_forward", "mul", "max"],
// CHECK-SAME: dtype = "float16", role = "output", {{.*}} uid = 3 : i64}, {dtype = "float32", role = "output", {{.*}} uid = 4 : i64}, {dtype = "float32", role = "output", {{.*}} uid = 5 : i64}]}]

// CHECK-LABEL: cudnn_backend.func @norm_build(
// CHECK: %[[X:.*]] = cudnn_backend.create <tensor>
// CHECK: %[[P:.*]] = cudnn_backend.create <tensor>
// CHECK: %[[E:.*]] = cudnn_backend.create <tensor>
// CHECK: cudnn_backend.set %[[E]], <tensor_unique_id>, [6]
// CHECK: cudnn_backend.set %[[E]], <tensor_is_virtual>, false
// CHECK-NEXT: cudnn_backend.set %[[E]], <tensor_is_by_value>, true
// CHECK: cudnn_backend.set %[[Y:.*]], <tensor_unique_id>, [9]
// CHECK: cudnn_backend.set %[[Y]], <tensor_is_virtual>, true
// CHECK: %[[MEAN:.*]] = cudnn_backend.create <tensor>
// CHECK: cudnn_backend.set %[[MEAN]], <tensor_unique_id>, [4]
// CHECK: %[[VAR:.*]] = cudnn_backend.create <tensor>
// CHECK: cudnn_backend.set %[[VAR]], <tensor_unique_id>, [5]
// CHECK: %[[NORM:.*]] = cudnn_backend.create <operation_norm_forward>
// CHECK-NEXT: cudnn_backend.set %[[NORM]], <operation_norm_fwd_xdesc>, %[[X]]
// CHECK-NEXT: cudnn_backend.set %[[NORM]], <operation_norm_fwd_mean_desc>, %[[MEAN]]
// CHECK-NEXT: cudnn_backend.set %[[NORM]], <operation_norm_fwd_inv_variance_desc>, %[[VAR]]
// CHECK-NEXT: cudnn_backend.set %[[NORM]], <operation_norm_fwd_scale_desc>, %[[P]]
// CHECK-NEXT: cudnn_backend.set %[[NORM]], <operation_norm_fwd_epsilon_desc>, %[[E]]
// CHECK-NEXT: cudnn_backend.set %[[NORM]], <operation_norm_fwd_ydesc>, %[[Y]]
// CHECK-NEXT: cudnn_backend.set %[[NORM]], <operation_norm_fwd_mode>, layer_norm
// CHECK-NEXT: cudnn_backend.set %[[NORM]], <operation_norm_fwd_phase>, training
// CHECK-NEXT: cudnn_backend.finalize %[[NORM]]
cudnn.graph @norm(%x: !x, %p: !p) -> (!x, !s, !s) {
  %e = cudnn.constant 1.0e-05 : f32 -> !e
  %one = cudnn.constant 1.0 : f16 -> !cudnn.tensor_desc<1x1x1xf16>
  %least = cudnn.constant -2 : i64 -> !cudnn.tensor_desc<1x1x1xi64>
  %y, %mean, %var = cudnn.norm_forward layer_norm training x(%x : !x) scale(%p : !p) epsilon(%e : !e)
      -> y(!x) saved_mean(!s) saved_inv_variance(!s)
  %0 = cudnn.pointwise mul(%y, %one) type = f32 : !x, !cudnn.tensor_desc<1x1x1xf16> -> !x
  %1 = cudnn.pointwise max(%0, %least) type = f32 : !x, !cudnn.tensor_desc<1x1x1xi64> -> !x
  cudnn.return %1, %mean, %var : !x, !s, !s
}
