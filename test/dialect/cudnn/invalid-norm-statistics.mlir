// Every error of gen_stats, bn_finalize and bn_bwd_weights. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!c2 = !cudnn.tensor_desc<1x64xf32>

cudnn.graph @gen_stats_c1(%x: !x) -> (!c, !c2) {
  // expected-error @+1 {{expects tensors of equal rank, but got 4 and 2}}
  %sum, %sq_sum = cudnn.gen_stats sum_sqsum(%x) type = f32 : !x -> !c, !c2
  cudnn.return %sum, %sq_sum : !c, !c2
}

// -----

!x2 = !cudnn.tensor_desc<8x64xf16>
!c2 = !cudnn.tensor_desc<1x64xf32>

cudnn.graph @gen_stats_c1_range(%x: !x2) -> (!c2, !c2) {
  // expected-error @+1 {{expects tensors of rank 3 to 5, but got 2}}
  %sum, %sq_sum = cudnn.gen_stats sum_sqsum(%x) type = f32 : !x2 -> !c2, !c2
  cudnn.return %sum, %sq_sum : !c2, !c2
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!d = !cudnn.tensor_desc<1x32x1x1xf32, NHWC>

cudnn.graph @gen_stats_c2(%x: !x) -> (!c, !d) {
  // expected-error @+1 {{expects 'sq_sum' of shape [1, 64, 1, 1], but got [1, 32, 1, 1]}}
  %sum, %sq_sum = cudnn.gen_stats sum_sqsum(%x) type = f32 : !x -> !c, !d
  cudnn.return %sum, %sq_sum : !c, !d
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>

cudnn.graph @gen_stats_c3(%x: !x) -> (!c, !c) {
  // expected-error @+1 {{expects compute type f64, f32, f16 or bf16, but got 'i32'}}
  %sum, %sq_sum = cudnn.gen_stats sum_sqsum(%x) type = i32 : !x -> !c, !c
  cudnn.return %sum, %sq_sum : !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!d = !cudnn.tensor_desc<1x32x1x1xf32, NHWC>
!n = !cudnn.tensor_desc<1x1x1x1xi64>

cudnn.graph @bn_finalize_c1(%y_sum: !c, %y_sq_sum: !c, %scale: !c, %bias: !d, %prev_running_mean: !c, %prev_running_var: !c)
    -> (!c, !c, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_exp_average_factor = cudnn.constant 0.1 : f32 -> !s
  %c_accum_count = cudnn.constant 100352 : i64 -> !n
  // expected-error @+1 {{expects 'bias' of shape [1, 64, 1, 1], but got [1, 32, 1, 1]}}
  %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var = cudnn.bn_finalize training type = f32
      y_sum(%y_sum : !c) y_sq_sum(%y_sq_sum : !c) scale(%scale : !c) bias(%bias : !d) prev_running_mean(%prev_running_mean : !c)
      prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) exp_average_factor(%c_exp_average_factor : !s)
      accum_count(%c_accum_count : !n) -> eq_scale(!c) eq_bias(!c) saved_mean(!c) saved_inv_std(!c) updated_running_mean(!c)
      updated_running_var(!c)
  cudnn.return %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var : !c, !c, !c, !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!c2 = !cudnn.tensor_desc<1x64xf32>
!n = !cudnn.tensor_desc<1x1x1x1xi64>

cudnn.graph @bn_finalize_c1_equal(%y_sum: !c, %y_sq_sum: !c, %scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c)
    -> (!c, !c, !c, !c, !c, !c2) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_exp_average_factor = cudnn.constant 0.1 : f32 -> !s
  %c_accum_count = cudnn.constant 100352 : i64 -> !n
  // expected-error @+1 {{expects tensors of equal rank, but got 4 and 2}}
  %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var = cudnn.bn_finalize training type = f32
      y_sum(%y_sum : !c) y_sq_sum(%y_sq_sum : !c) scale(%scale : !c) bias(%bias : !c) prev_running_mean(%prev_running_mean : !c)
      prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) exp_average_factor(%c_exp_average_factor : !s)
      accum_count(%c_accum_count : !n) -> eq_scale(!c) eq_bias(!c) saved_mean(!c) saved_inv_std(!c) updated_running_mean(!c)
      updated_running_var(!c2)
  cudnn.return %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var : !c, !c, !c, !c, !c, !c2
}

// -----

!s = !cudnn.tensor_desc<1x1x1x1xf32>
!c2 = !cudnn.tensor_desc<1x64xf32>

cudnn.graph @bn_finalize_c1_range(%scale: !c2, %bias: !c2, %prev_running_mean: !c2, %prev_running_var: !c2) -> (!c2, !c2) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects tensors of rank 3 to 5, but got 2}}
  %eq_scale, %eq_bias = cudnn.bn_finalize inference type = f32 scale(%scale : !c2) bias(%bias : !c2)
      prev_running_mean(%prev_running_mean : !c2) prev_running_var(%prev_running_var : !c2) epsilon(%c_epsilon : !s) -> eq_scale(!c2)
      eq_bias(!c2)
  cudnn.return %eq_scale, %eq_bias : !c2, !c2
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>

cudnn.graph @bn_finalize_c2_epsilon(%scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c, %epsilon: !s) -> (!c, !c) {
  // expected-error @+1 {{expects 'epsilon' by value: the result of 'cudnn.constant', or an argument with 'cudnn.by_value'}}
  %eq_scale, %eq_bias = cudnn.bn_finalize inference type = f32 scale(%scale : !c) bias(%bias : !c)
      prev_running_mean(%prev_running_mean : !c) prev_running_var(%prev_running_var : !c) epsilon(%epsilon : !s) -> eq_scale(!c)
      eq_bias(!c)
  cudnn.return %eq_scale, %eq_bias : !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!n = !cudnn.tensor_desc<1x1x1x1xi64>

cudnn.graph @bn_finalize_c2_factor(%y_sum: !c, %y_sq_sum: !c, %scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c, %exp_average_factor: !s)
    -> (!c, !c, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_accum_count = cudnn.constant 100352 : i64 -> !n
  // expected-error @+1 {{expects 'exp_average_factor' by value: the result of 'cudnn.constant', or an argument with 'cudnn.by_value'}}
  %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var = cudnn.bn_finalize training type = f32
      y_sum(%y_sum : !c) y_sq_sum(%y_sq_sum : !c) scale(%scale : !c) bias(%bias : !c) prev_running_mean(%prev_running_mean : !c)
      prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) exp_average_factor(%exp_average_factor : !s)
      accum_count(%c_accum_count : !n) -> eq_scale(!c) eq_bias(!c) saved_mean(!c) saved_inv_std(!c) updated_running_mean(!c)
      updated_running_var(!c)
  cudnn.return %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var : !c, !c, !c, !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!n = !cudnn.tensor_desc<1x1x1x1xi64>

cudnn.graph @bn_finalize_c2_count(%y_sum: !c, %y_sq_sum: !c, %scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c, %accum_count: !n)
    -> (!c, !c, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_exp_average_factor = cudnn.constant 0.1 : f32 -> !s
  // expected-error @+1 {{expects 'accum_count' by value: the result of 'cudnn.constant', or an argument with 'cudnn.by_value'}}
  %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var = cudnn.bn_finalize training type = f32
      y_sum(%y_sum : !c) y_sq_sum(%y_sq_sum : !c) scale(%scale : !c) bias(%bias : !c) prev_running_mean(%prev_running_mean : !c)
      prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) exp_average_factor(%c_exp_average_factor : !s)
      accum_count(%accum_count : !n) -> eq_scale(!c) eq_bias(!c) saved_mean(!c) saved_inv_std(!c) updated_running_mean(!c)
      updated_running_var(!c)
  cudnn.return %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var : !c, !c, !c, !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>

cudnn.graph @bn_finalize_c2_type(%y_sum: !c, %y_sq_sum: !c, %scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c)
    -> (!c, !c, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_exp_average_factor = cudnn.constant 0.1 : f32 -> !s
  %c_accum_count = cudnn.constant 100352.0 : f32 -> !s
  // expected-error @+1 {{expects 'accum_count' of i64, but got 'f32'}}
  %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var = cudnn.bn_finalize training type = f32
      y_sum(%y_sum : !c) y_sq_sum(%y_sq_sum : !c) scale(%scale : !c) bias(%bias : !c) prev_running_mean(%prev_running_mean : !c)
      prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) exp_average_factor(%c_exp_average_factor : !s)
      accum_count(%c_accum_count : !s) -> eq_scale(!c) eq_bias(!c) saved_mean(!c) saved_inv_std(!c) updated_running_mean(!c)
      updated_running_var(!c)
  cudnn.return %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var : !c, !c, !c, !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!n = !cudnn.tensor_desc<1x1x1x1xi64>

cudnn.graph @bn_finalize_c3_training(%y_sq_sum: !c, %scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c)
    -> (!c, !c, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_exp_average_factor = cudnn.constant 0.1 : f32 -> !s
  %c_accum_count = cudnn.constant 100352 : i64 -> !n
  // expected-error @+1 {{expects 'y_sum' with mode training}}
  %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var = cudnn.bn_finalize training type = f32
      y_sq_sum(%y_sq_sum : !c) scale(%scale : !c) bias(%bias : !c) prev_running_mean(%prev_running_mean : !c)
      prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) exp_average_factor(%c_exp_average_factor : !s)
      accum_count(%c_accum_count : !n) -> eq_scale(!c) eq_bias(!c) saved_mean(!c) saved_inv_std(!c) updated_running_mean(!c)
      updated_running_var(!c)
  cudnn.return %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var : !c, !c, !c, !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!n = !cudnn.tensor_desc<1x1x1x1xi64>

cudnn.graph @bn_finalize_c3_saved(%y_sum: !c, %y_sq_sum: !c, %scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c)
    -> (!c, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_exp_average_factor = cudnn.constant 0.1 : f32 -> !s
  %c_accum_count = cudnn.constant 100352 : i64 -> !n
  // expected-error @+1 {{expects 'saved_inv_std' with mode training}}
  %eq_scale, %eq_bias, %saved_mean, %updated_running_mean, %updated_running_var = cudnn.bn_finalize training type = f32 y_sum(%y_sum : !c)
      y_sq_sum(%y_sq_sum : !c) scale(%scale : !c) bias(%bias : !c) prev_running_mean(%prev_running_mean : !c)
      prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) exp_average_factor(%c_exp_average_factor : !s)
      accum_count(%c_accum_count : !n) -> eq_scale(!c) eq_bias(!c) saved_mean(!c) updated_running_mean(!c) updated_running_var(!c)
  cudnn.return %eq_scale, %eq_bias, %saved_mean, %updated_running_mean, %updated_running_var : !c, !c, !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!n = !cudnn.tensor_desc<1x1x1x1xi64>

cudnn.graph @bn_finalize_c3_factor(%y_sum: !c, %y_sq_sum: !c, %scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c)
    -> (!c, !c, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_accum_count = cudnn.constant 100352 : i64 -> !n
  // expected-error @+1 {{expects 'exp_average_factor' with mode training}}
  %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var = cudnn.bn_finalize training type = f32
      y_sum(%y_sum : !c) y_sq_sum(%y_sq_sum : !c) scale(%scale : !c) bias(%bias : !c) prev_running_mean(%prev_running_mean : !c)
      prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) accum_count(%c_accum_count : !n) -> eq_scale(!c) eq_bias(!c)
      saved_mean(!c) saved_inv_std(!c) updated_running_mean(!c) updated_running_var(!c)
  cudnn.return %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var : !c, !c, !c, !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>

cudnn.graph @bn_finalize_c3_inference(%scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c) -> (!c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects no 'saved_mean' with mode inference}}
  %eq_scale, %eq_bias, %saved_mean = cudnn.bn_finalize inference type = f32 scale(%scale : !c) bias(%bias : !c)
      prev_running_mean(%prev_running_mean : !c) prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) -> eq_scale(!c)
      eq_bias(!c) saved_mean(!c)
  cudnn.return %eq_scale, %eq_bias, %saved_mean : !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!n = !cudnn.tensor_desc<1x1x1x1xi64>

cudnn.graph @bn_finalize_c3_count(%scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c) -> (!c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_accum_count = cudnn.constant 100352 : i64 -> !n
  // expected-error @+1 {{expects no 'accum_count' with mode inference}}
  %eq_scale, %eq_bias = cudnn.bn_finalize inference type = f32 scale(%scale : !c) bias(%bias : !c)
      prev_running_mean(%prev_running_mean : !c) prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s)
      accum_count(%c_accum_count : !n) -> eq_scale(!c) eq_bias(!c)
  cudnn.return %eq_scale, %eq_bias : !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!n = !cudnn.tensor_desc<1x1x1x1xi64>

cudnn.graph @bn_finalize_c4_pair(%y_sum: !c, %y_sq_sum: !c, %scale: !c, %bias: !c, %prev_running_mean: !c) -> (!c, !c, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_exp_average_factor = cudnn.constant 0.1 : f32 -> !s
  %c_accum_count = cudnn.constant 100352 : i64 -> !n
  // expected-error @+1 {{expects 'prev_running_var' with other running statistics}}
  %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var = cudnn.bn_finalize training type = f32
      y_sum(%y_sum : !c) y_sq_sum(%y_sq_sum : !c) scale(%scale : !c) bias(%bias : !c) prev_running_mean(%prev_running_mean : !c)
      epsilon(%c_epsilon : !s) exp_average_factor(%c_exp_average_factor : !s) accum_count(%c_accum_count : !n) -> eq_scale(!c) eq_bias(!c)
      saved_mean(!c) saved_inv_std(!c) updated_running_mean(!c) updated_running_var(!c)
  cudnn.return %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var : !c, !c, !c, !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!n = !cudnn.tensor_desc<1x1x1x1xi64>

cudnn.graph @bn_finalize_c4_updated(%y_sum: !c, %y_sq_sum: !c, %scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c)
    -> (!c, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_exp_average_factor = cudnn.constant 0.1 : f32 -> !s
  %c_accum_count = cudnn.constant 100352 : i64 -> !n
  // expected-error @+1 {{expects 'updated_running_mean' with other running statistics}}
  %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_var = cudnn.bn_finalize training type = f32 y_sum(%y_sum : !c)
      y_sq_sum(%y_sq_sum : !c) scale(%scale : !c) bias(%bias : !c) prev_running_mean(%prev_running_mean : !c)
      prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) exp_average_factor(%c_exp_average_factor : !s)
      accum_count(%c_accum_count : !n) -> eq_scale(!c) eq_bias(!c) saved_mean(!c) saved_inv_std(!c) updated_running_var(!c)
  cudnn.return %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_var : !c, !c, !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!n = !cudnn.tensor_desc<1x1x1x1xi64>

cudnn.graph @bn_finalize_c4_previous(%y_sum: !c, %y_sq_sum: !c, %scale: !c, %bias: !c) -> (!c, !c, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_exp_average_factor = cudnn.constant 0.1 : f32 -> !s
  %c_accum_count = cudnn.constant 100352 : i64 -> !n
  // expected-error @+1 {{expects no 'updated_running_mean' without other running statistics}}
  %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var = cudnn.bn_finalize training type = f32
      y_sum(%y_sum : !c) y_sq_sum(%y_sq_sum : !c) scale(%scale : !c) bias(%bias : !c) epsilon(%c_epsilon : !s)
      exp_average_factor(%c_exp_average_factor : !s) accum_count(%c_accum_count : !n) -> eq_scale(!c) eq_bias(!c) saved_mean(!c)
      saved_inv_std(!c) updated_running_mean(!c) updated_running_var(!c)
  cudnn.return %eq_scale, %eq_bias, %saved_mean, %saved_inv_std, %updated_running_mean, %updated_running_var : !c, !c, !c, !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>

cudnn.graph @bn_finalize_c4_inference(%scale: !c, %bias: !c, %prev_running_var: !c) -> (!c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects 'prev_running_mean' with mode inference}}
  %eq_scale, %eq_bias = cudnn.bn_finalize inference type = f32 scale(%scale : !c) bias(%bias : !c)
      prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) -> eq_scale(!c) eq_bias(!c)
  cudnn.return %eq_scale, %eq_bias : !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>

cudnn.graph @bn_finalize_c4_inference_updated(%scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c) -> (!c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects no 'updated_running_var' with mode inference}}
  %eq_scale, %eq_bias, %updated_running_var = cudnn.bn_finalize inference type = f32 scale(%scale : !c) bias(%bias : !c)
      prev_running_mean(%prev_running_mean : !c) prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) -> eq_scale(!c)
      eq_bias(!c) updated_running_var(!c)
  cudnn.return %eq_scale, %eq_bias, %updated_running_var : !c, !c, !c
}

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>

cudnn.graph @bn_finalize_c5(%scale: !c, %bias: !c, %prev_running_mean: !c, %prev_running_var: !c) -> (!c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects compute type f64, f32, f16 or bf16, but got 'i32'}}
  %eq_scale, %eq_bias = cudnn.bn_finalize inference type = i32 scale(%scale : !c) bias(%bias : !c)
      prev_running_mean(%prev_running_mean : !c) prev_running_var(%prev_running_var : !c) epsilon(%c_epsilon : !s) -> eq_scale(!c)
      eq_bias(!c)
  cudnn.return %eq_scale, %eq_bias : !c, !c
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!c2 = !cudnn.tensor_desc<1x64xf32>

cudnn.graph @bn_bwd_weights_c1(%x: !x, %dy: !x, %mean: !c, %inv_std: !c, %scale: !c) -> (!c, !c, !c, !c, !c2) {
  // expected-error @+1 {{expects tensors of equal rank, but got 4 and 2}}
  %dscale, %dbias, %eq_dy_scale, %eq_x_scale, %eq_bias = cudnn.bn_bwd_weights type = f32 x(%x : !x) dy(%dy : !x) mean(%mean : !c)
      inv_std(%inv_std : !c) scale(%scale : !c) -> dscale(!c) dbias(!c) eq_dy_scale(!c) eq_x_scale(!c) eq_bias(!c2)
  cudnn.return %dscale, %dbias, %eq_dy_scale, %eq_x_scale, %eq_bias : !c, !c, !c, !c, !c2
}

// -----

!x2 = !cudnn.tensor_desc<8x64xf16>
!c2 = !cudnn.tensor_desc<1x64xf32>

cudnn.graph @bn_bwd_weights_c1_range(%x: !x2, %dy: !x2, %mean: !c2, %inv_std: !c2, %scale: !c2) -> (!c2, !c2, !c2, !c2, !c2) {
  // expected-error @+1 {{expects tensors of rank 3 to 5, but got 2}}
  %dscale, %dbias, %eq_dy_scale, %eq_x_scale, %eq_bias = cudnn.bn_bwd_weights type = f32 x(%x : !x2) dy(%dy : !x2) mean(%mean : !c2)
      inv_std(%inv_std : !c2) scale(%scale : !c2) -> dscale(!c2) dbias(!c2) eq_dy_scale(!c2) eq_x_scale(!c2) eq_bias(!c2)
  cudnn.return %dscale, %dbias, %eq_dy_scale, %eq_x_scale, %eq_bias : !c2, !c2, !c2, !c2, !c2
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!h = !cudnn.tensor_desc<8x64x16x15xf16, NHWC>

cudnn.graph @bn_bwd_weights_c2(%x: !x, %dy: !h, %mean: !c, %inv_std: !c, %scale: !c) -> (!c, !c, !c, !c, !c) {
  // expected-error @+1 {{expects 'dy' of shape [8, 64, 16, 16], but got [8, 64, 16, 15]}}
  %dscale, %dbias, %eq_dy_scale, %eq_x_scale, %eq_bias = cudnn.bn_bwd_weights type = f32 x(%x : !x) dy(%dy : !h) mean(%mean : !c)
      inv_std(%inv_std : !c) scale(%scale : !c) -> dscale(!c) dbias(!c) eq_dy_scale(!c) eq_x_scale(!c) eq_bias(!c)
  cudnn.return %dscale, %dbias, %eq_dy_scale, %eq_x_scale, %eq_bias : !c, !c, !c, !c, !c
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!d = !cudnn.tensor_desc<1x32x1x1xf32, NHWC>

cudnn.graph @bn_bwd_weights_c3(%x: !x, %dy: !x, %mean: !c, %inv_std: !c, %scale: !c) -> (!c, !c, !c, !d, !c) {
  // expected-error @+1 {{expects 'eq_x_scale' of shape [1, 64, 1, 1], but got [1, 32, 1, 1]}}
  %dscale, %dbias, %eq_dy_scale, %eq_x_scale, %eq_bias = cudnn.bn_bwd_weights type = f32 x(%x : !x) dy(%dy : !x) mean(%mean : !c)
      inv_std(%inv_std : !c) scale(%scale : !c) -> dscale(!c) dbias(!c) eq_dy_scale(!c) eq_x_scale(!d) eq_bias(!c)
  cudnn.return %dscale, %dbias, %eq_dy_scale, %eq_x_scale, %eq_bias : !c, !c, !c, !d, !c
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>

cudnn.graph @bn_bwd_weights_c4(%x: !x, %dy: !x, %mean: !c, %inv_std: !c, %scale: !c) -> (!c, !c, !c, !c, !c) {
  // expected-error @+1 {{expects compute type f64, f32, f16 or bf16, but got 'i32'}}
  %dscale, %dbias, %eq_dy_scale, %eq_x_scale, %eq_bias = cudnn.bn_bwd_weights type = i32 x(%x : !x) dy(%dy : !x) mean(%mean : !c)
      inv_std(%inv_std : !c) scale(%scale : !c) -> dscale(!c) dbias(!c) eq_dy_scale(!c) eq_x_scale(!c) eq_bias(!c)
  cudnn.return %dscale, %dbias, %eq_dy_scale, %eq_x_scale, %eq_bias : !c, !c, !c, !c, !c
}
