// Every error of norm_forward. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!x3 = !cudnn.tensor_desc<1x64x1xf32>

cudnn.graph @norm_forward_c1_equal(%x: !x, %scale: !x3, %bias: !c) -> (!x, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects tensors of equal rank, but got 3 and 4}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward batch_norm training x(%x : !x) scale(%scale : !x3) bias(%bias : !c)
      epsilon(%c_epsilon : !s) -> y(!x) saved_mean(!c) saved_inv_variance(!c)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !x, !c, !c
}

// -----

!x2 = !cudnn.tensor_desc<8x64xf16>
!c2 = !cudnn.tensor_desc<1x64xf32>
!s2 = !cudnn.tensor_desc<1x1xf32>

cudnn.graph @norm_forward_c1_batch(%x: !x2, %scale: !c2, %bias: !c2) -> (!x2, !c2, !c2) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s2
  // expected-error @+1 {{expects tensors of rank 3 to 5, but got 2}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward batch_norm training x(%x : !x2) scale(%scale : !c2) bias(%bias : !c2)
      epsilon(%c_epsilon : !s2) -> y(!x2) saved_mean(!c2) saved_inv_variance(!c2)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !x2, !c2, !c2
}

// -----

!x6 = !cudnn.tensor_desc<2x8x4x4x4x4xf16>
!c6 = !cudnn.tensor_desc<1x8x1x1x1x1xf32>
!s6 = !cudnn.tensor_desc<1x1x1x1x1x1xf32>

cudnn.graph @norm_forward_c1_instance(%x: !x6, %scale: !c6, %bias: !c6) -> !x6 {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s6
  // expected-error @+1 {{expects tensors of rank 3 to 5, but got 6}}
  %y = cudnn.norm_forward instance_norm inference x(%x : !x6) scale(%scale : !c6) bias(%bias : !c6) epsilon(%c_epsilon : !s6) -> y(!x6)
  cudnn.return %y : !x6
}

// -----

!x2 = !cudnn.tensor_desc<8x64xf16>
!c2 = !cudnn.tensor_desc<1x64xf32>
!s2 = !cudnn.tensor_desc<1x1xf32>

cudnn.graph @norm_forward_c1_adaptive(%x: !x2, %scale: !c2, %bias: !c2) -> !x2 {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s2
  // expected-error @+1 {{expects tensors of rank 3 to 8, but got 2}}
  %y = cudnn.norm_forward ada_layer_norm inference x(%x : !x2) scale(%scale : !c2) bias(%bias : !c2) epsilon(%c_epsilon : !s2) -> y(!x2)
  cudnn.return %y : !x2
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!h = !cudnn.tensor_desc<8x64x16x15xf16, NHWC>

cudnn.graph @norm_forward_c2(%x: !x, %scale: !c, %bias: !c) -> (!h, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects 'y' of shape [8, 64, 16, 16], but got [8, 64, 16, 15]}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward batch_norm training x(%x : !x) scale(%scale : !c) bias(%bias : !c)
      epsilon(%c_epsilon : !s) -> y(!h) saved_mean(!c) saved_inv_variance(!c)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !h, !c, !c
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!d = !cudnn.tensor_desc<1x32x1x1xf32, NHWC>

cudnn.graph @norm_forward_c3_scale(%x: !x, %scale: !d, %bias: !c) -> (!x, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects 'scale' of shape [1, 64, 1, 1], but got [1, 32, 1, 1]}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward batch_norm training x(%x : !x) scale(%scale : !d) bias(%bias : !c)
      epsilon(%c_epsilon : !s) -> y(!x) saved_mean(!c) saved_inv_variance(!c)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !x, !c, !c
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!m = !cudnn.tensor_desc<8x64x1x1xf32, NHWC>

cudnn.graph @norm_forward_c3_statistics(%x: !x, %scale: !c, %bias: !c) -> (!x, !c, !m) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects 'saved_mean' of shape [8, 64, 1, 1], but got [1, 64, 1, 1]}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward instance_norm training x(%x : !x) scale(%scale : !c) bias(%bias : !c)
      epsilon(%c_epsilon : !s) -> y(!x) saved_mean(!c) saved_inv_variance(!m)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !x, !c, !m
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!d = !cudnn.tensor_desc<1x32x1x1xf32, NHWC>

cudnn.graph @norm_forward_c3_running(%x: !x, %scale: !c, %bias: !c, %input_running_mean: !c, %input_running_var: !d)
    -> (!x, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_exp_avg_factor = cudnn.constant 0.1 : f32 -> !s
  // expected-error @+1 {{expects 'input_running_var' of shape [1, 64, 1, 1], but got [1, 32, 1, 1]}}
  %y, %saved_mean, %saved_inv_variance, %output_running_mean, %output_running_var = cudnn.norm_forward batch_norm training x(%x : !x)
      scale(%scale : !c) bias(%bias : !c) epsilon(%c_epsilon : !s) exp_avg_factor(%c_exp_avg_factor : !s)
      input_running_mean(%input_running_mean : !c) input_running_var(%input_running_var : !d) -> y(!x) saved_mean(!c)
      saved_inv_variance(!c) output_running_mean(!c) output_running_var(!c)
  cudnn.return %y, %saved_mean, %saved_inv_variance, %output_running_mean, %output_running_var : !x, !c, !c, !c, !c
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!g = !cudnn.tensor_desc<8x7x1x1xf32, NHWC>

cudnn.graph @norm_forward_c3_groups(%x: !x, %scale: !c, %bias: !c) -> (!x, !g, !g) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects groups that divide 64 channels, but got 7}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward group_norm training x(%x : !x) scale(%scale : !c) bias(%bias : !c)
      epsilon(%c_epsilon : !s) -> y(!x) saved_mean(!g) saved_inv_variance(!g)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !x, !g, !g
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!q = !cudnn.tensor_desc<1x128x1xf16>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c3_trailing(%x: !r, %scale: !q, %bias: !q) -> !r {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  // expected-error @+1 {{expects parameters of the trailing dims of x and statistics of its leading dims, 1 elsewhere, but got x [4, 128, 1024], parameters [1, 128, 1]}}
  %y = cudnn.norm_forward layer_norm inference x(%x : !r) scale(%scale : !q) bias(%bias : !q) epsilon(%c_epsilon : !e) -> y(!r)
  cudnn.return %y : !r
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!u = !cudnn.tensor_desc<4x1x1xf32>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c3_leading(%x: !r, %scale: !p, %bias: !p) -> (!r, !u, !u) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  // expected-error @+1 {{expects parameters of the trailing dims of x and statistics of its leading dims, 1 elsewhere, but got x [4, 128, 1024], parameters [1, 1, 1024], statistics [4, 1, 1]}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward layer_norm training x(%x : !r) scale(%scale : !p) bias(%bias : !p)
      epsilon(%c_epsilon : !e) -> y(!r) saved_mean(!u) saved_inv_variance(!u)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !r, !u, !u
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c3_adaptive(%x: !r, %scale: !p, %bias: !p) -> !r {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  // expected-error @+1 {{expects parameters of the first and the trailing dims of x and statistics of its leading dims, 1 elsewhere, but got x [4, 128, 1024], parameters [1, 1, 1024]}}
  %y = cudnn.norm_forward ada_layer_norm inference x(%x : !r) scale(%scale : !p) bias(%bias : !p) epsilon(%c_epsilon : !e) -> y(!r)
  cudnn.return %y : !r
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!q = !cudnn.tensor_desc<1x128x1xf16>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c3_equal(%x: !r, %scale: !p, %bias: !q) -> !r {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  // expected-error @+1 {{expects 'bias' of shape [1, 1, 1024], but got [1, 128, 1]}}
  %y = cudnn.norm_forward layer_norm inference x(%x : !r) scale(%scale : !p) bias(%bias : !q) epsilon(%c_epsilon : !e) -> y(!r)
  cudnn.return %y : !r
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c4(%x: !r, %bias: !p) -> !r {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  // expected-error @+1 {{expects 'scale' with 'bias'}}
  %y = cudnn.norm_forward layer_norm inference x(%x : !r) bias(%bias : !p) epsilon(%c_epsilon : !e) -> y(!r)
  cudnn.return %y : !r
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>

cudnn.graph @norm_forward_c5_missing(%x: !r, %scale: !p, %bias: !p) -> (!r, !t, !t) {
  // expected-error @+1 {{expects 'epsilon' with layer_norm training}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward layer_norm training x(%x : !r) scale(%scale : !p) bias(%bias : !p) -> y(!r)
      saved_mean(!t) saved_inv_variance(!t)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !r, !t, !t
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c5_epsilon(%x: !r, %scale: !p, %bias: !p, %epsilon: !e) -> !r {
  // expected-error @+1 {{expects 'epsilon' by value: the result of 'cudnn.constant', or an argument with 'cudnn.by_value'}}
  %y = cudnn.norm_forward layer_norm inference x(%x : !r) scale(%scale : !p) bias(%bias : !p) epsilon(%epsilon : !e) -> y(!r)
  cudnn.return %y : !r
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>

cudnn.graph @norm_forward_c5_factor(%x: !x, %scale: !c, %bias: !c, %exp_avg_factor: !s, %input_running_mean: !c, %input_running_var: !c)
    -> (!x, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects 'exp_avg_factor' by value: the result of 'cudnn.constant', or an argument with 'cudnn.by_value'}}
  %y, %saved_mean, %saved_inv_variance, %output_running_mean, %output_running_var = cudnn.norm_forward batch_norm training x(%x : !x)
      scale(%scale : !c) bias(%bias : !c) epsilon(%c_epsilon : !s) exp_avg_factor(%exp_avg_factor : !s)
      input_running_mean(%input_running_mean : !c) input_running_var(%input_running_var : !c) -> y(!x) saved_mean(!c)
      saved_inv_variance(!c) output_running_mean(!c) output_running_var(!c)
  cudnn.return %y, %saved_mean, %saved_inv_variance, %output_running_mean, %output_running_var : !x, !c, !c, !c, !c
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c6_missing(%x: !r, %scale: !p, %bias: !p) -> (!r, !t) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  // expected-error @+1 {{expects 'saved_mean' with layer_norm training}}
  %y, %saved_inv_variance = cudnn.norm_forward layer_norm training x(%x : !r) scale(%scale : !p) bias(%bias : !p) epsilon(%c_epsilon : !e)
      -> y(!r) saved_inv_variance(!t)
  cudnn.return %y, %saved_inv_variance : !r, !t
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c6_variance(%x: !r, %scale: !p) -> !r {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  // expected-error @+1 {{expects 'saved_inv_variance' with rms_norm training}}
  %y = cudnn.norm_forward rms_norm training x(%x : !r) scale(%scale : !p) epsilon(%c_epsilon : !e) -> y(!r)
  cudnn.return %y : !r
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c6_rms(%x: !r, %scale: !p) -> (!r, !t, !t) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  // expected-error @+1 {{expects no 'saved_mean' with rms_norm training}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward rms_norm training x(%x : !r) scale(%scale : !p) epsilon(%c_epsilon : !e) ->
      y(!r) saved_mean(!t) saved_inv_variance(!t)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !r, !t, !t
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c6_inference(%x: !r, %scale: !p, %bias: !p) -> (!r, !t) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  // expected-error @+1 {{expects no 'saved_inv_variance' with layer_norm inference}}
  %y, %saved_inv_variance = cudnn.norm_forward layer_norm inference x(%x : !r) scale(%scale : !p) bias(%bias : !p)
      epsilon(%c_epsilon : !e) -> y(!r) saved_inv_variance(!t)
  cudnn.return %y, %saved_inv_variance : !r, !t
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>

cudnn.graph @norm_forward_c7_missing(%x: !x, %inv_variance: !c, %scale: !c, %bias: !c) -> !x {
  // expected-error @+1 {{expects 'mean' with batch_norm inference}}
  %y = cudnn.norm_forward batch_norm inference x(%x : !x) inv_variance(%inv_variance : !c) scale(%scale : !c) bias(%bias : !c) -> y(!x)
  cudnn.return %y : !x
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c7_layer(%x: !r, %inv_variance: !t, %scale: !p, %bias: !p) -> !r {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  // expected-error @+1 {{expects no 'inv_variance' with layer_norm inference}}
  %y = cudnn.norm_forward layer_norm inference x(%x : !r) inv_variance(%inv_variance : !t) scale(%scale : !p) bias(%bias : !p)
      epsilon(%c_epsilon : !e) -> y(!r)
  cudnn.return %y : !r
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>

cudnn.graph @norm_forward_c7_training(%x: !x, %mean: !c, %scale: !c, %bias: !c) -> (!x, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects no 'mean' with batch_norm training}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward batch_norm training x(%x : !x) mean(%mean : !c) scale(%scale : !c)
      bias(%bias : !c) epsilon(%c_epsilon : !s) -> y(!x) saved_mean(!c) saved_inv_variance(!c)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !x, !c, !c
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>

cudnn.graph @norm_forward_c8_some(%x: !x, %scale: !c, %bias: !c, %input_running_mean: !c) -> (!x, !c, !c, !c, !c) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  %c_exp_avg_factor = cudnn.constant 0.1 : f32 -> !s
  // expected-error @+1 {{expects 'input_running_var' with other running statistics}}
  %y, %saved_mean, %saved_inv_variance, %output_running_mean, %output_running_var = cudnn.norm_forward batch_norm training x(%x : !x)
      scale(%scale : !c) bias(%bias : !c) epsilon(%c_epsilon : !s) exp_avg_factor(%c_exp_avg_factor : !s)
      input_running_mean(%input_running_mean : !c) -> y(!x) saved_mean(!c) saved_inv_variance(!c) output_running_mean(!c)
      output_running_var(!c)
  cudnn.return %y, %saved_mean, %saved_inv_variance, %output_running_mean, %output_running_var : !x, !c, !c, !c, !c
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>

cudnn.graph @norm_forward_c8_inference(%x: !x, %mean: !c, %inv_variance: !c, %scale: !c, %bias: !c, %input_running_mean: !c) -> !x {
  // expected-error @+1 {{expects no 'input_running_mean' with batch_norm inference}}
  %y = cudnn.norm_forward batch_norm inference x(%x : !x) mean(%mean : !c) inv_variance(%inv_variance : !c) scale(%scale : !c)
      bias(%bias : !c) input_running_mean(%input_running_mean : !c) -> y(!x)
  cudnn.return %y : !x
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_forward_c8_layer(%x: !r, %scale: !p, %bias: !p) -> (!r, !t, !t) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !e
  %c_exp_avg_factor = cudnn.constant 0.1 : f32 -> !e
  // expected-error @+1 {{expects no 'exp_avg_factor' with layer_norm training}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward layer_norm training x(%x : !r) scale(%scale : !p) bias(%bias : !p)
      epsilon(%c_epsilon : !e) exp_avg_factor(%c_exp_avg_factor : !e) -> y(!r) saved_mean(!t) saved_inv_variance(!t)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !r, !t, !t
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>
!m = !cudnn.tensor_desc<8x64x1x1xf32, NHWC>

cudnn.graph @norm_forward_c8_peers(%x: !x, %scale: !c, %bias: !c, %peer_stats: !m) -> (!x, !m, !m) {
  %c_epsilon = cudnn.constant 1.0e-05 : f32 -> !s
  // expected-error @+1 {{expects no 'peer_stats' with instance_norm training}}
  %y, %saved_mean, %saved_inv_variance = cudnn.norm_forward instance_norm training x(%x : !x) scale(%scale : !c) bias(%bias : !c)
      epsilon(%c_epsilon : !s) peer_stats(%peer_stats : !m) -> y(!x) saved_mean(!m) saved_inv_variance(!m)
  cudnn.return %y, %saved_mean, %saved_inv_variance : !x, !m, !m
}
