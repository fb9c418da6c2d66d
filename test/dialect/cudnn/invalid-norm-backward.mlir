// Every error of norm_backward. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

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
