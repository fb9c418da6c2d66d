// Every error of the normalizations. Labels refer to the constraints in the op description.
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

// -----

!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>

cudnn.graph @norm_backward_c1_equal(%dy: !r, %x: !r, %mean: !t, %inv_variance: !c, %scale: !p) -> (!r, !p, !p) {
  // expected-error @+1 {{expects tensors of equal rank, but got 3 and 4}}
  %dx, %dscale, %dbias = cudnn.norm_backward layer_norm dy(%dy : !r) x(%x : !r) mean(%mean : !t) inv_variance(%inv_variance : !c)
      scale(%scale : !p) -> dx(!r) dscale(!p) dbias(!p)
  cudnn.return %dx, %dscale, %dbias : !r, !p, !p
}

// -----

!x2 = !cudnn.tensor_desc<8x64xf16>
!c2 = !cudnn.tensor_desc<1x64xf32>

cudnn.graph @norm_backward_c1_range(%dy: !x2, %x: !x2, %mean: !c2, %inv_variance: !c2, %scale: !c2) -> (!x2, !c2, !c2) {
  // expected-error @+1 {{expects tensors of rank 3 to 5, but got 2}}
  %dx, %dscale, %dbias = cudnn.norm_backward batch_norm dy(%dy : !x2) x(%x : !x2) mean(%mean : !c2) inv_variance(%inv_variance : !c2)
      scale(%scale : !c2) -> dx(!x2) dscale(!c2) dbias(!c2)
  cudnn.return %dx, %dscale, %dbias : !x2, !c2, !c2
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!h = !cudnn.tensor_desc<8x64x16x15xf16, NHWC>

cudnn.graph @norm_backward_c2_dy(%dy: !h, %x: !x, %mean: !c, %inv_variance: !c, %scale: !c) -> (!x, !c, !c) {
  // expected-error @+1 {{expects 'dy' of shape [8, 64, 16, 16], but got [8, 64, 16, 15]}}
  %dx, %dscale, %dbias = cudnn.norm_backward batch_norm dy(%dy : !h) x(%x : !x) mean(%mean : !c) inv_variance(%inv_variance : !c)
      scale(%scale : !c) -> dx(!x) dscale(!c) dbias(!c)
  cudnn.return %dx, %dscale, %dbias : !x, !c, !c
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!h = !cudnn.tensor_desc<8x64x16x15xf16, NHWC>

cudnn.graph @norm_backward_c2_dx(%dy: !x, %x: !x, %mean: !c, %inv_variance: !c, %scale: !c) -> (!h, !c, !c) {
  // expected-error @+1 {{expects 'dx' of shape [8, 64, 16, 16], but got [8, 64, 16, 15]}}
  %dx, %dscale, %dbias = cudnn.norm_backward batch_norm dy(%dy : !x) x(%x : !x) mean(%mean : !c) inv_variance(%inv_variance : !c)
      scale(%scale : !c) -> dx(!h) dscale(!c) dbias(!c)
  cudnn.return %dx, %dscale, %dbias : !h, !c, !c
}

// -----

!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!d = !cudnn.tensor_desc<1x32x1x1xf32, NHWC>

cudnn.graph @norm_backward_c3(%dy: !x, %x: !x, %mean: !c, %inv_variance: !c, %scale: !c) -> (!x, !c, !d) {
  // expected-error @+1 {{expects 'dbias' of shape [1, 64, 1, 1], but got [1, 32, 1, 1]}}
  %dx, %dscale, %dbias = cudnn.norm_backward batch_norm dy(%dy : !x) x(%x : !x) mean(%mean : !c) inv_variance(%inv_variance : !c)
      scale(%scale : !c) -> dx(!x) dscale(!c) dbias(!d)
  cudnn.return %dx, %dscale, %dbias : !x, !c, !d
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!u = !cudnn.tensor_desc<4x1x1xf32>

cudnn.graph @norm_backward_c3_leading(%dy: !r, %x: !r, %mean: !u, %inv_variance: !u, %scale: !p) -> (!r, !p, !p) {
  // expected-error @+1 {{expects parameters of the trailing dims of x and statistics of its leading dims, 1 elsewhere, but got x [4, 128, 1024], parameters [1, 1, 1024], statistics [4, 1, 1]}}
  %dx, %dscale, %dbias = cudnn.norm_backward layer_norm dy(%dy : !r) x(%x : !r) mean(%mean : !u) inv_variance(%inv_variance : !u)
      scale(%scale : !p) -> dx(!r) dscale(!p) dbias(!p)
  cudnn.return %dx, %dscale, %dbias : !r, !p, !p
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>

cudnn.graph @norm_backward_c4_scale(%dy: !r, %x: !r, %mean: !t, %inv_variance: !t, %scale: !p) -> !r {
  // expected-error @+1 {{expects 'scale' and 'dscale' together, but got only 'scale'}}
  %dx = cudnn.norm_backward layer_norm dy(%dy : !r) x(%x : !r) mean(%mean : !t) inv_variance(%inv_variance : !t) scale(%scale : !p) ->
      dx(!r)
  cudnn.return %dx : !r
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>

cudnn.graph @norm_backward_c4_dscale(%dy: !r, %x: !r, %mean: !t, %inv_variance: !t) -> (!r, !p, !p) {
  // expected-error @+1 {{expects 'scale' and 'dscale' together, but got only 'dscale'}}
  %dx, %dscale, %dbias = cudnn.norm_backward layer_norm dy(%dy : !r) x(%x : !r) mean(%mean : !t) inv_variance(%inv_variance : !t) ->
      dx(!r) dscale(!p) dbias(!p)
  cudnn.return %dx, %dscale, %dbias : !r, !p, !p
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>

cudnn.graph @norm_backward_c4_dbias(%dy: !r, %x: !r, %mean: !t, %inv_variance: !t) -> (!r, !p) {
  // expected-error @+1 {{expects 'dscale' with 'dbias'}}
  %dx, %dbias = cudnn.norm_backward layer_norm dy(%dy : !r) x(%x : !r) mean(%mean : !t) inv_variance(%inv_variance : !t) -> dx(!r)
      dbias(!p)
  cudnn.return %dx, %dbias : !r, !p
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>
!e = !cudnn.tensor_desc<1x1x1xf32>

cudnn.graph @norm_backward_c5(%dy: !r, %x: !r, %mean: !t, %inv_variance: !t, %scale: !p, %epsilon: !e) -> (!r, !p, !p) {
  // expected-error @+1 {{expects 'epsilon' by value: the result of 'cudnn.constant', or an argument with 'cudnn.by_value'}}
  %dx, %dscale, %dbias = cudnn.norm_backward layer_norm dy(%dy : !r) x(%x : !r) mean(%mean : !t) inv_variance(%inv_variance : !t)
      scale(%scale : !p) epsilon(%epsilon : !e) -> dx(!r) dscale(!p) dbias(!p)
  cudnn.return %dx, %dscale, %dbias : !r, !p, !p
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>

cudnn.graph @norm_backward_c6_missing(%dy: !r, %x: !r, %inv_variance: !t, %scale: !p) -> (!r, !p, !p) {
  // expected-error @+1 {{expects 'mean' with layer_norm}}
  %dx, %dscale, %dbias = cudnn.norm_backward layer_norm dy(%dy : !r) x(%x : !r) inv_variance(%inv_variance : !t) scale(%scale : !p) ->
      dx(!r) dscale(!p) dbias(!p)
  cudnn.return %dx, %dscale, %dbias : !r, !p, !p
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>

cudnn.graph @norm_backward_c6_rms(%dy: !r, %x: !r, %mean: !t, %inv_variance: !t, %scale: !p) -> (!r, !p, !p) {
  // expected-error @+1 {{expects no 'mean' with rms_norm}}
  %dx, %dscale, %dbias = cudnn.norm_backward rms_norm dy(%dy : !r) x(%x : !r) mean(%mean : !t) inv_variance(%inv_variance : !t)
      scale(%scale : !p) -> dx(!r) dscale(!p) dbias(!p)
  cudnn.return %dx, %dscale, %dbias : !r, !p, !p
}

// -----

!r = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf16>
!t = !cudnn.tensor_desc<4x128x1xf32>

cudnn.graph @norm_backward_c7(%dy: !r, %x: !r, %mean: !t, %inv_variance: !t, %scale: !p, %peer_stats: !t) -> (!r, !p, !p) {
  // expected-error @+1 {{expects no 'peer_stats' with layer_norm}}
  %dx, %dscale, %dbias = cudnn.norm_backward layer_norm dy(%dy : !r) x(%x : !r) mean(%mean : !t) inv_variance(%inv_variance : !t)
      scale(%scale : !p) peer_stats(%peer_stats : !t) -> dx(!r) dscale(!p) dbias(!p)
  cudnn.return %dx, %dscale, %dbias : !r, !p, !p
}

// -----

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
