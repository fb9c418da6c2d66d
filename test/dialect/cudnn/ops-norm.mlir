// RUN: convoy-opt %s --verify-roundtrip | filecheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | filecheck %s

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!p = !cudnn.tensor_desc<1x256x1x1xf32, NHWC>
!nc = !cudnn.tensor_desc<8x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!r = !cudnn.tensor_desc<4x128x1024xf16>
!w = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>
!e = !cudnn.tensor_desc<1x1x1xf32>

// All operands and results.
// CHECK-LABEL: cudnn.graph @batch_norm_training(
// CHECK-SAME: %[[X:[^:]*]]: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %[[SCALE:[^:]*]]: {{[^,]*}}, NHWC>, %[[BIAS:[^:]*]]: {{[^,]*}}, NHWC>, %[[MEAN:[^:]*]]: {{[^,]*}}, NHWC>, %[[VAR:[^:]*]]: {{[^,]*}}, NHWC>, %[[A:[^:]*]]: {{[^,]*}}, NHWC>, %[[B:[^:]*]]:
cudnn.graph @batch_norm_training(%x: !x, %scale: !c, %bias: !c, %mean: !c, %var: !c, %a: !p, %b: !p) -> (!x, !c, !c, !c, !c) {
  // CHECK: %[[EPSILON:.*]] = cudnn.constant {{.*}} : f32 -> !cudnn.tensor_desc<1x1x1x1xf32, NCHW>
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // CHECK: %[[FACTOR:.*]] = cudnn.constant 1.000000e-01 : f32
  %factor = cudnn.constant 0.1 : f32 -> !s
  // CHECK: %[[Y:.*]], %[[SM:.*]], %[[SV:.*]], %[[RM:.*]], %[[RV:.*]] = cudnn.norm_forward batch_norm training
  // CHECK-SAME: x(%[[X]] : {{[^)]*}}) scale(%[[SCALE]] : {{[^)]*}}) bias(%[[BIAS]] : {{[^)]*}}) epsilon(%[[EPSILON]] : {{[^)]*}})
  // CHECK-SAME: exp_avg_factor(%[[FACTOR]] : {{[^)]*}}) input_running_mean(%[[MEAN]] : {{[^)]*}}) input_running_var(%[[VAR]] : {{[^)]*}})
  // CHECK-SAME: peer_stats(%[[A]], %[[B]] : !cudnn.tensor_desc<1x256x1x1xf32, NHWC>, !cudnn.tensor_desc<1x256x1x1xf32, NHWC>)
  // CHECK-SAME: -> y(!cudnn.tensor_desc<8x64x16x16xf16, NHWC>) saved_mean(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) saved_inv_variance({{.*}}) output_running_mean({{.*}}) output_running_var({{.*}})
  %y, %sm, %sv, %rm, %rv = cudnn.norm_forward batch_norm training x(%x : !x) scale(%scale : !c) bias(%bias : !c) epsilon(%epsilon : !s)
      exp_avg_factor(%factor : !s) input_running_mean(%mean : !c) input_running_var(%var : !c) peer_stats(%a, %b : !p, !p)
      -> y(!x) saved_mean(!c) saved_inv_variance(!c) output_running_mean(!c) output_running_var(!c)
  // CHECK: cudnn.return %[[Y]], %[[SM]], %[[SV]], %[[RM]], %[[RV]]
  cudnn.return %y, %sm, %sv, %rm, %rv : !x, !c, !c, !c, !c
}

// CHECK-LABEL: cudnn.graph @inference
cudnn.graph @inference(%x: !x, %r: !r, %scale: !c, %bias: !c, %mean: !c, %var: !c, %w: !w, %epsilon_4: !s {cudnn.by_value})
    -> (!x, !x, !r, !r, !r) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  // CHECK: %{{.*}} = cudnn.norm_forward batch_norm inference x({{.*}}) mean({{.*}}) inv_variance({{.*}}) scale({{.*}}) bias({{.*}}) -> y({{.*}})
  %0 = cudnn.norm_forward batch_norm inference x(%x : !x) mean(%mean : !c) inv_variance(%var : !c) scale(%scale : !c) bias(%bias : !c) -> y(!x)
  // CHECK: %{{.*}} = cudnn.norm_forward instance_norm inference x({{.*}}) scale({{.*}}) bias({{.*}}) epsilon({{.*}}) -> y({{.*}})
  %1 = cudnn.norm_forward instance_norm inference x(%x : !x) scale(%scale : !c) bias(%bias : !c) epsilon(%epsilon_4 : !s) -> y(!x)
  // CHECK: cudnn.norm_forward rms_norm inference x({{.*}}) scale({{.*}}) epsilon({{.*}}) -> y({{.*}})
  %2 = cudnn.norm_forward rms_norm inference x(%r : !r) scale(%w : !w) epsilon(%epsilon : !e) -> y(!r)
  // CHECK: cudnn.norm_forward layer_norm inference x({{.*}}) -> y({{.*}})
  %3 = cudnn.norm_forward layer_norm inference x(%2 : !r) -> y(!r)
  // CHECK: cudnn.norm_forward ada_layer_norm inference
  %4 = cudnn.norm_forward ada_layer_norm inference x(%3 : !r) epsilon(%epsilon : !e) -> y(!r)
  cudnn.return %0, %1, %2, %3, %4 : !x, !x, !r, !r, !r
}

// CHECK-LABEL: cudnn.graph @training
cudnn.graph @training(%x: !x, %r: !r, %scale: !c, %w: !w) -> (!x, !nc, !nc, !r, !t, !r, !t, !t) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %epsilon_3 = cudnn.constant 1.0e-05 : f32 -> !e
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = cudnn.norm_forward instance_norm training
  %y, %mean, %var = cudnn.norm_forward instance_norm training x(%x : !x) scale(%scale : !c) epsilon(%epsilon : !s)
      -> y(!x) saved_mean(!nc) saved_inv_variance(!nc)
  // CHECK: %{{[^,]*}}, %{{[^,]*}} = cudnn.norm_forward rms_norm training {{.*}} -> y({{.*}}) saved_inv_variance(!cudnn.tensor_desc<4x128x1xf32>)
  %z, %zv = cudnn.norm_forward rms_norm training x(%r : !r) scale(%w : !w) epsilon(%epsilon_3 : !e) -> y(!r) saved_inv_variance(!t)
  %l, %lm, %lv = cudnn.norm_forward layer_norm training x(%r : !r) scale(%w : !w) epsilon(%epsilon_3 : !e)
      -> y(!r) saved_mean(!t) saved_inv_variance(!t)
  cudnn.return %y, %mean, %var, %z, %zv, %l, %lm, %lv : !x, !nc, !nc, !r, !t, !r, !t, !t
}

// CHECK-LABEL: cudnn.graph @gradients
cudnn.graph @gradients(%x: !x, %dy: !x, %mean: !c, %var: !c, %scale: !c, %p: !p, %r: !r, %dr: !r, %v: !t, %w: !w)
    -> (!x, !c, !c, !r, !w) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = cudnn.norm_backward batch_norm dy({{.*}}) x({{.*}}) mean({{.*}}) inv_variance({{.*}}) scale({{.*}}) epsilon({{.*}}) peer_stats({{.*}}) -> dx({{.*}}) dscale({{.*}}) dbias({{.*}})
  %dx, %dscale, %dbias = cudnn.norm_backward batch_norm dy(%dy : !x) x(%x : !x) mean(%mean : !c) inv_variance(%var : !c) scale(%scale : !c)
      epsilon(%epsilon : !s) peer_stats(%p : !p) -> dx(!x) dscale(!c) dbias(!c)
  // CHECK: %{{[^,]*}}, %{{[^,]*}} = cudnn.norm_backward rms_norm dy({{.*}}) x({{.*}}) inv_variance({{.*}}) scale({{.*}}) -> dx({{.*}}) dscale({{.*}})
  %dz, %dw = cudnn.norm_backward rms_norm dy(%dr : !r) x(%r : !r) inv_variance(%v : !t) scale(%w : !w) -> dx(!r) dscale(!w)
  cudnn.return %dx, %dscale, %dbias, %dz, %dw : !x, !c, !c, !r, !w
}

// CHECK-LABEL: cudnn.graph @statistics
cudnn.graph @statistics(%x: !x, %dy: !x, %scale: !c, %bias: !c, %mean: !c, %var: !c)
    -> (!c, !c, !c, !c, !c, !c, !c, !c, !c, !c, !c, !c, !c) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %factor = cudnn.constant 0.1 : f32 -> !s
  // CHECK: cudnn.constant 2048 : i64 -> !cudnn.tensor_desc<1x1x1x1xi64, NCHW>
  %count = cudnn.constant 2048 : i64 -> !cudnn.tensor_desc<1x1x1x1xi64>
  // CHECK: %[[SUM:.*]], %[[SQ:.*]] = cudnn.gen_stats sum_sqsum(%{{.*}}) type = f32 :
  %sum, %sq = cudnn.gen_stats sum_sqsum(%x) type = f32 : !x -> !c, !c
  // CHECK: cudnn.bn_finalize training type = f32 y_sum(%[[SUM]] : {{[^)]*}}) y_sq_sum(%[[SQ]] : {{[^)]*}}) scale({{[^)]*}}) bias({{[^)]*}}) prev_running_mean({{[^)]*}}) prev_running_var({{[^)]*}}) epsilon({{[^)]*}}) exp_average_factor({{[^)]*}}) accum_count({{[^)]*}})
  // CHECK-SAME: -> eq_scale({{.*}}) eq_bias({{.*}}) saved_mean({{.*}}) saved_inv_std({{.*}}) updated_running_mean({{.*}}) updated_running_var({{.*}})
  %es, %eb, %sm, %sv, %um, %uv = cudnn.bn_finalize training type = f32 y_sum(%sum : !c) y_sq_sum(%sq : !c) scale(%scale : !c) bias(%bias : !c)
      prev_running_mean(%mean : !c) prev_running_var(%var : !c) epsilon(%epsilon : !s) exp_average_factor(%factor : !s)
      accum_count(%count : !cudnn.tensor_desc<1x1x1x1xi64>)
      -> eq_scale(!c) eq_bias(!c) saved_mean(!c) saved_inv_std(!c) updated_running_mean(!c) updated_running_var(!c)
  // CHECK: cudnn.bn_finalize inference type = f32 scale({{.*}}) bias({{.*}}) prev_running_mean({{.*}}) prev_running_var({{.*}}) epsilon({{.*}}) -> eq_scale({{.*}}) eq_bias({{.*}})
  %is, %ib = cudnn.bn_finalize inference type = f32 scale(%scale : !c) bias(%bias : !c) prev_running_mean(%mean : !c)
      prev_running_var(%var : !c) epsilon(%epsilon : !s) -> eq_scale(!c) eq_bias(!c)
  // CHECK: cudnn.bn_bwd_weights type = f32 x({{.*}}) dy({{.*}}) mean({{.*}}) inv_std({{.*}}) scale({{.*}}) -> dscale({{.*}}) dbias({{.*}}) eq_dy_scale({{.*}}) eq_x_scale({{.*}}) eq_bias({{.*}})
  %ds, %db, %dys, %xs, %be = cudnn.bn_bwd_weights type = f32 x(%x : !x) dy(%dy : !x) mean(%sm : !c) inv_std(%sv : !c) scale(%scale : !c)
      -> dscale(!c) dbias(!c) eq_dy_scale(!c) eq_x_scale(!c) eq_bias(!c)
  cudnn.return %es, %eb, %sm, %sv, %um, %uv, %is, %ib, %ds, %db, %dys, %xs, %be : !c, !c, !c, !c, !c, !c, !c, !c, !c, !c, !c, !c, !c
}
