// Normalizations, forward and backward, and the last operations of batch normalizations.

cudnn.graph @batch_norm_inference(%x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %mean: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %inv_variance: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %bias: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>) {
  %r_y = cudnn.norm_forward batch_norm inference x(%x : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      mean(%mean : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) inv_variance(%inv_variance : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) bias(%bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) ->
      y(!cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
  cudnn.return %r_y : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>
}

cudnn.graph @batch_norm_training(%x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %bias: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %input_running_mean: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %input_running_var: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>,
    !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %exp_avg_factor = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %r_y, %r_saved_mean, %r_saved_inv_variance, %r_output_running_mean, %r_output_running_var = cudnn.norm_forward batch_norm training
      x(%x : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>) scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      bias(%bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) epsilon(%epsilon : !cudnn.tensor_desc<1x1x1x1xf32>)
      exp_avg_factor(%exp_avg_factor : !cudnn.tensor_desc<1x1x1x1xf32>)
      input_running_mean(%input_running_mean : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      input_running_var(%input_running_var : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> y(!cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      saved_mean(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) saved_inv_variance(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      output_running_mean(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) output_running_var(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
  cudnn.return %r_y, %r_saved_mean, %r_saved_inv_variance, %r_output_running_mean, %r_output_running_var
      : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

cudnn.graph @batch_norm_peers(%x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %bias: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %input_running_mean: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %input_running_var: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %peer_0: !cudnn.tensor_desc<2x256x1x1xf32, NHWC>,
    %peer_1: !cudnn.tensor_desc<2x256x1x1xf32, NHWC>)
    -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %exp_avg_factor = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %r_y, %r_saved_mean, %r_saved_inv_variance, %r_output_running_mean, %r_output_running_var = cudnn.norm_forward batch_norm training
      x(%x : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>) scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      bias(%bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) epsilon(%epsilon : !cudnn.tensor_desc<1x1x1x1xf32>)
      exp_avg_factor(%exp_avg_factor : !cudnn.tensor_desc<1x1x1x1xf32>)
      input_running_mean(%input_running_mean : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      input_running_var(%input_running_var : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      peer_stats(%peer_0, %peer_1
      : !cudnn.tensor_desc<2x256x1x1xf32, NHWC>, !cudnn.tensor_desc<2x256x1x1xf32, NHWC>) -> y(!cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      saved_mean(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) saved_inv_variance(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      output_running_mean(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) output_running_var(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
  cudnn.return %r_y, %r_saved_mean, %r_saved_inv_variance, %r_output_running_mean, %r_output_running_var
      : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

cudnn.graph @batch_norm_no_running(%x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %bias: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %r_y, %r_saved_mean, %r_saved_inv_variance = cudnn.norm_forward batch_norm training x(%x : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) bias(%bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1x1xf32>) -> y(!cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      saved_mean(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) saved_inv_variance(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
  cudnn.return %r_y, %r_saved_mean, %r_saved_inv_variance : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

cudnn.graph @instance_norm_inference(%x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %bias: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %r_y = cudnn.norm_forward instance_norm inference x(%x : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) bias(%bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1x1xf32>) -> y(!cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
  cudnn.return %r_y : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>
}

cudnn.graph @instance_norm_training(%x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %bias: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<32x64x1x1xf32, NHWC>,
    !cudnn.tensor_desc<32x64x1x1xf32, NHWC>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %r_y, %r_saved_mean, %r_saved_inv_variance = cudnn.norm_forward instance_norm training x(%x : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) bias(%bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1x1xf32>) -> y(!cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      saved_mean(!cudnn.tensor_desc<32x64x1x1xf32, NHWC>) saved_inv_variance(!cudnn.tensor_desc<32x64x1x1xf32, NHWC>)
  cudnn.return %r_y, %r_saved_mean, %r_saved_inv_variance : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>,
      !cudnn.tensor_desc<32x64x1x1xf32, NHWC>, !cudnn.tensor_desc<32x64x1x1xf32, NHWC>
}

cudnn.graph @group_norm_inference(%x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %bias: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %r_y = cudnn.norm_forward group_norm inference x(%x : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) bias(%bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1x1xf32>) -> y(!cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
  cudnn.return %r_y : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>
}

cudnn.graph @layer_norm_inference(%x: !cudnn.tensor_desc<4x128x1024xf16>, %scale: !cudnn.tensor_desc<1x1x1024xf16>,
    %bias: !cudnn.tensor_desc<1x1x1024xf16>) -> (!cudnn.tensor_desc<4x128x1024xf16>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1xf32>
  %r_y = cudnn.norm_forward layer_norm inference x(%x : !cudnn.tensor_desc<4x128x1024xf16>)
      scale(%scale : !cudnn.tensor_desc<1x1x1024xf16>) bias(%bias : !cudnn.tensor_desc<1x1x1024xf16>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1xf32>) -> y(!cudnn.tensor_desc<4x128x1024xf16>)
  cudnn.return %r_y : !cudnn.tensor_desc<4x128x1024xf16>
}

cudnn.graph @layer_norm_training(%x: !cudnn.tensor_desc<4x128x1024xf16>, %scale: !cudnn.tensor_desc<1x1x1024xf16>,
    %bias: !cudnn.tensor_desc<1x1x1024xf16>) -> (!cudnn.tensor_desc<4x128x1024xf16>, !cudnn.tensor_desc<4x128x1xf32>,
    !cudnn.tensor_desc<4x128x1xf32>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1xf32>
  %r_y, %r_saved_mean, %r_saved_inv_variance = cudnn.norm_forward layer_norm training x(%x : !cudnn.tensor_desc<4x128x1024xf16>)
      scale(%scale : !cudnn.tensor_desc<1x1x1024xf16>) bias(%bias : !cudnn.tensor_desc<1x1x1024xf16>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1xf32>) -> y(!cudnn.tensor_desc<4x128x1024xf16>)
      saved_mean(!cudnn.tensor_desc<4x128x1xf32>) saved_inv_variance(!cudnn.tensor_desc<4x128x1xf32>)
  cudnn.return %r_y, %r_saved_mean, %r_saved_inv_variance : !cudnn.tensor_desc<4x128x1024xf16>, !cudnn.tensor_desc<4x128x1xf32>,
      !cudnn.tensor_desc<4x128x1xf32>
}

cudnn.graph @layer_norm_no_scale(%x: !cudnn.tensor_desc<4x128x1024xf16>) -> (!cudnn.tensor_desc<4x128x1024xf16>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1xf32>
  %r_y = cudnn.norm_forward layer_norm inference x(%x : !cudnn.tensor_desc<4x128x1024xf16>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1xf32>) -> y(!cudnn.tensor_desc<4x128x1024xf16>)
  cudnn.return %r_y : !cudnn.tensor_desc<4x128x1024xf16>
}

cudnn.graph @layer_norm_two_dims(%x: !cudnn.tensor_desc<4x128x1024xf16>, %scale: !cudnn.tensor_desc<1x128x1024xf16>,
    %bias: !cudnn.tensor_desc<1x128x1024xf16>) -> (!cudnn.tensor_desc<4x128x1024xf16>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1xf32>
  %r_y = cudnn.norm_forward layer_norm inference x(%x : !cudnn.tensor_desc<4x128x1024xf16>)
      scale(%scale : !cudnn.tensor_desc<1x128x1024xf16>) bias(%bias : !cudnn.tensor_desc<1x128x1024xf16>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1xf32>) -> y(!cudnn.tensor_desc<4x128x1024xf16>)
  cudnn.return %r_y : !cudnn.tensor_desc<4x128x1024xf16>
}

cudnn.graph @layer_norm_rank_two(%x: !cudnn.tensor_desc<512x1024xf16>, %scale: !cudnn.tensor_desc<1x1024xf16>)
    -> (!cudnn.tensor_desc<512x1024xf16>) {
  %r_y = cudnn.norm_forward layer_norm inference x(%x : !cudnn.tensor_desc<512x1024xf16>) scale(%scale : !cudnn.tensor_desc<1x1024xf16>)
      -> y(!cudnn.tensor_desc<512x1024xf16>)
  cudnn.return %r_y : !cudnn.tensor_desc<512x1024xf16>
}

cudnn.graph @rms_norm_inference(%x: !cudnn.tensor_desc<4x128x1024xf16>, %scale: !cudnn.tensor_desc<1x1x1024xf16>)
    -> (!cudnn.tensor_desc<4x128x1024xf16>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1xf32>
  %r_y = cudnn.norm_forward rms_norm inference x(%x : !cudnn.tensor_desc<4x128x1024xf16>) scale(%scale : !cudnn.tensor_desc<1x1x1024xf16>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1xf32>) -> y(!cudnn.tensor_desc<4x128x1024xf16>)
  cudnn.return %r_y : !cudnn.tensor_desc<4x128x1024xf16>
}

cudnn.graph @rms_norm_training(%x: !cudnn.tensor_desc<4x128x1024xf16>, %scale: !cudnn.tensor_desc<1x1x1024xf16>)
    -> (!cudnn.tensor_desc<4x128x1024xf16>, !cudnn.tensor_desc<4x128x1xf32>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1xf32>
  %r_y, %r_saved_inv_variance = cudnn.norm_forward rms_norm training x(%x : !cudnn.tensor_desc<4x128x1024xf16>)
      scale(%scale : !cudnn.tensor_desc<1x1x1024xf16>) epsilon(%epsilon : !cudnn.tensor_desc<1x1x1xf32>) ->
      y(!cudnn.tensor_desc<4x128x1024xf16>) saved_inv_variance(!cudnn.tensor_desc<4x128x1xf32>)
  cudnn.return %r_y, %r_saved_inv_variance : !cudnn.tensor_desc<4x128x1024xf16>, !cudnn.tensor_desc<4x128x1xf32>
}

cudnn.graph @ada_layer_norm_inference(%x: !cudnn.tensor_desc<4x128x1024xf16>, %scale: !cudnn.tensor_desc<4x1x1024xf16>,
    %bias: !cudnn.tensor_desc<4x1x1024xf16>) -> (!cudnn.tensor_desc<4x128x1024xf16>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1xf32>
  %r_y = cudnn.norm_forward ada_layer_norm inference x(%x : !cudnn.tensor_desc<4x128x1024xf16>)
      scale(%scale : !cudnn.tensor_desc<4x1x1024xf16>) bias(%bias : !cudnn.tensor_desc<4x1x1024xf16>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1xf32>) -> y(!cudnn.tensor_desc<4x128x1024xf16>)
  cudnn.return %r_y : !cudnn.tensor_desc<4x128x1024xf16>
}

cudnn.graph @ada_layer_norm_training(%x: !cudnn.tensor_desc<4x128x1024xf16>, %scale: !cudnn.tensor_desc<4x1x1024xf16>,
    %bias: !cudnn.tensor_desc<4x1x1024xf16>) -> (!cudnn.tensor_desc<4x128x1024xf16>, !cudnn.tensor_desc<4x128x1xf32>,
    !cudnn.tensor_desc<4x128x1xf32>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1xf32>
  %r_y, %r_saved_mean, %r_saved_inv_variance = cudnn.norm_forward ada_layer_norm training x(%x : !cudnn.tensor_desc<4x128x1024xf16>)
      scale(%scale : !cudnn.tensor_desc<4x1x1024xf16>) bias(%bias : !cudnn.tensor_desc<4x1x1024xf16>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1xf32>) -> y(!cudnn.tensor_desc<4x128x1024xf16>)
      saved_mean(!cudnn.tensor_desc<4x128x1xf32>) saved_inv_variance(!cudnn.tensor_desc<4x128x1xf32>)
  cudnn.return %r_y, %r_saved_mean, %r_saved_inv_variance : !cudnn.tensor_desc<4x128x1024xf16>, !cudnn.tensor_desc<4x128x1xf32>,
      !cudnn.tensor_desc<4x128x1xf32>
}

cudnn.graph @batch_norm_backward(%dy: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>,
    %mean: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %inv_variance: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %r_dx, %r_dscale, %r_dbias = cudnn.norm_backward batch_norm dy(%dy : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      x(%x : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>) mean(%mean : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      inv_variance(%inv_variance : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) ->
      dx(!cudnn.tensor_desc<32x64x28x28xf16, NHWC>) dscale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      dbias(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
  cudnn.return %r_dx, %r_dscale, %r_dbias : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

cudnn.graph @batch_norm_backward_peers(%dy: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>,
    %mean: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %inv_variance: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %peer_stats: !cudnn.tensor_desc<2x256x1x1xf32, NHWC>)
    -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %r_dx, %r_dscale, %r_dbias = cudnn.norm_backward batch_norm dy(%dy : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      x(%x : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>) mean(%mean : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      inv_variance(%inv_variance : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1x1xf32>) peer_stats(%peer_stats : !cudnn.tensor_desc<2x256x1x1xf32, NHWC>) ->
      dx(!cudnn.tensor_desc<32x64x28x28xf16, NHWC>) dscale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      dbias(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
  cudnn.return %r_dx, %r_dscale, %r_dbias : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

cudnn.graph @instance_norm_backward(%dy: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>,
    %mean: !cudnn.tensor_desc<32x64x1x1xf32, NHWC>, %inv_variance: !cudnn.tensor_desc<32x64x1x1xf32, NHWC>,
    %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %r_dx, %r_dscale, %r_dbias = cudnn.norm_backward instance_norm dy(%dy : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      x(%x : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>) mean(%mean : !cudnn.tensor_desc<32x64x1x1xf32, NHWC>)
      inv_variance(%inv_variance : !cudnn.tensor_desc<32x64x1x1xf32, NHWC>) scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) ->
      dx(!cudnn.tensor_desc<32x64x28x28xf16, NHWC>) dscale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      dbias(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
  cudnn.return %r_dx, %r_dscale, %r_dbias : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

cudnn.graph @layer_norm_backward(%dy: !cudnn.tensor_desc<4x128x1024xf16>, %x: !cudnn.tensor_desc<4x128x1024xf16>,
    %mean: !cudnn.tensor_desc<4x128x1xf32>, %inv_variance: !cudnn.tensor_desc<4x128x1xf32>, %scale: !cudnn.tensor_desc<1x1x1024xf16>)
    -> (!cudnn.tensor_desc<4x128x1024xf16>, !cudnn.tensor_desc<1x1x1024xf16>, !cudnn.tensor_desc<1x1x1024xf16>) {
  %r_dx, %r_dscale, %r_dbias = cudnn.norm_backward layer_norm dy(%dy : !cudnn.tensor_desc<4x128x1024xf16>)
      x(%x : !cudnn.tensor_desc<4x128x1024xf16>) mean(%mean : !cudnn.tensor_desc<4x128x1xf32>)
      inv_variance(%inv_variance : !cudnn.tensor_desc<4x128x1xf32>) scale(%scale : !cudnn.tensor_desc<1x1x1024xf16>) ->
      dx(!cudnn.tensor_desc<4x128x1024xf16>) dscale(!cudnn.tensor_desc<1x1x1024xf16>) dbias(!cudnn.tensor_desc<1x1x1024xf16>)
  cudnn.return %r_dx, %r_dscale, %r_dbias : !cudnn.tensor_desc<4x128x1024xf16>, !cudnn.tensor_desc<1x1x1024xf16>,
      !cudnn.tensor_desc<1x1x1024xf16>
}

cudnn.graph @layer_norm_backward_no_scale(%dy: !cudnn.tensor_desc<4x128x1024xf16>, %x: !cudnn.tensor_desc<4x128x1024xf16>,
    %mean: !cudnn.tensor_desc<4x128x1xf32>, %inv_variance: !cudnn.tensor_desc<4x128x1xf32>) -> (!cudnn.tensor_desc<4x128x1024xf16>) {
  %r_dx = cudnn.norm_backward layer_norm dy(%dy : !cudnn.tensor_desc<4x128x1024xf16>) x(%x : !cudnn.tensor_desc<4x128x1024xf16>)
      mean(%mean : !cudnn.tensor_desc<4x128x1xf32>) inv_variance(%inv_variance : !cudnn.tensor_desc<4x128x1xf32>) ->
      dx(!cudnn.tensor_desc<4x128x1024xf16>)
  cudnn.return %r_dx : !cudnn.tensor_desc<4x128x1024xf16>
}

cudnn.graph @rms_norm_backward(%dy: !cudnn.tensor_desc<4x128x1024xf16>, %x: !cudnn.tensor_desc<4x128x1024xf16>,
    %inv_variance: !cudnn.tensor_desc<4x128x1xf32>, %scale: !cudnn.tensor_desc<1x1x1024xf16>) -> (!cudnn.tensor_desc<4x128x1024xf16>,
    !cudnn.tensor_desc<1x1x1024xf16>) {
  %r_dx, %r_dscale = cudnn.norm_backward rms_norm dy(%dy : !cudnn.tensor_desc<4x128x1024xf16>) x(%x : !cudnn.tensor_desc<4x128x1024xf16>)
      inv_variance(%inv_variance : !cudnn.tensor_desc<4x128x1xf32>) scale(%scale : !cudnn.tensor_desc<1x1x1024xf16>) ->
      dx(!cudnn.tensor_desc<4x128x1024xf16>) dscale(!cudnn.tensor_desc<1x1x1024xf16>)
  cudnn.return %r_dx, %r_dscale : !cudnn.tensor_desc<4x128x1024xf16>, !cudnn.tensor_desc<1x1x1024xf16>
}

cudnn.graph @ada_layer_norm_backward(%dy: !cudnn.tensor_desc<4x128x1024xf16>, %x: !cudnn.tensor_desc<4x128x1024xf16>,
    %mean: !cudnn.tensor_desc<4x128x1xf32>, %inv_variance: !cudnn.tensor_desc<4x128x1xf32>, %scale: !cudnn.tensor_desc<4x1x1024xf16>)
    -> (!cudnn.tensor_desc<4x128x1024xf16>, !cudnn.tensor_desc<4x1x1024xf16>, !cudnn.tensor_desc<4x1x1024xf16>) {
  %r_dx, %r_dscale, %r_dbias = cudnn.norm_backward ada_layer_norm dy(%dy : !cudnn.tensor_desc<4x128x1024xf16>)
      x(%x : !cudnn.tensor_desc<4x128x1024xf16>) mean(%mean : !cudnn.tensor_desc<4x128x1xf32>)
      inv_variance(%inv_variance : !cudnn.tensor_desc<4x128x1xf32>) scale(%scale : !cudnn.tensor_desc<4x1x1024xf16>) ->
      dx(!cudnn.tensor_desc<4x128x1024xf16>) dscale(!cudnn.tensor_desc<4x1x1024xf16>) dbias(!cudnn.tensor_desc<4x1x1024xf16>)
  cudnn.return %r_dx, %r_dscale, %r_dbias : !cudnn.tensor_desc<4x128x1024xf16>, !cudnn.tensor_desc<4x1x1024xf16>,
      !cudnn.tensor_desc<4x1x1024xf16>
}

cudnn.graph @bn_finalize_training(%y_sum: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %y_sq_sum: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %bias: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %prev_running_mean: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %prev_running_var: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
    -> (!cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %exp_average_factor = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %accum_count = cudnn.constant 25088 : i64 -> !cudnn.tensor_desc<1x1x1x1xi64>
  %r_eq_scale, %r_eq_bias, %r_saved_mean, %r_saved_inv_std, %r_new_mean, %r_new_var = cudnn.bn_finalize training type = f32
      y_sum(%y_sum : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) y_sq_sum(%y_sq_sum : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) bias(%bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      prev_running_mean(%prev_running_mean : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      prev_running_var(%prev_running_var : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) epsilon(%epsilon : !cudnn.tensor_desc<1x1x1x1xf32>)
      exp_average_factor(%exp_average_factor : !cudnn.tensor_desc<1x1x1x1xf32>)
      accum_count(%accum_count : !cudnn.tensor_desc<1x1x1x1xi64>) -> eq_scale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      eq_bias(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) saved_mean(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      saved_inv_std(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) updated_running_mean(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      updated_running_var(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
  cudnn.return %r_eq_scale, %r_eq_bias, %r_saved_mean, %r_saved_inv_std, %r_new_mean, %r_new_var
      : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

cudnn.graph @bn_finalize_no_running(%y_sum: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %y_sq_sum: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %bias: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
    -> (!cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %exp_average_factor = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %accum_count = cudnn.constant 25088 : i64 -> !cudnn.tensor_desc<1x1x1x1xi64>
  %r_eq_scale, %r_eq_bias, %r_saved_mean, %r_saved_inv_std = cudnn.bn_finalize training type = f32
      y_sum(%y_sum : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) y_sq_sum(%y_sq_sum : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) bias(%bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      epsilon(%epsilon : !cudnn.tensor_desc<1x1x1x1xf32>) exp_average_factor(%exp_average_factor : !cudnn.tensor_desc<1x1x1x1xf32>)
      accum_count(%accum_count : !cudnn.tensor_desc<1x1x1x1xi64>) -> eq_scale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      eq_bias(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) saved_mean(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      saved_inv_std(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
  cudnn.return %r_eq_scale, %r_eq_bias, %r_saved_mean, %r_saved_inv_std : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

cudnn.graph @bn_finalize_inference(%scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %bias: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %prev_running_mean: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %prev_running_var: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
    -> (!cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %r_eq_scale, %r_eq_bias = cudnn.bn_finalize inference type = f32 scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      bias(%bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) prev_running_mean(%prev_running_mean : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      prev_running_var(%prev_running_var : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) epsilon(%epsilon : !cudnn.tensor_desc<1x1x1x1xf32>) ->
      eq_scale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) eq_bias(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
  cudnn.return %r_eq_scale, %r_eq_bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

cudnn.graph @bn_bwd_weights(%x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %dy: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>,
    %mean: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, %inv_std: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    %scale: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> (!cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %r_dscale, %r_dbias, %r_eq_dy_scale, %r_eq_x_scale, %r_eq_bias = cudnn.bn_bwd_weights type = f32
      x(%x : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>) dy(%dy : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>)
      mean(%mean : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) inv_std(%inv_std : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      scale(%scale : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> dscale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      dbias(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) eq_dy_scale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
      eq_x_scale(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>) eq_bias(!cudnn.tensor_desc<1x64x1x1xf32, NHWC>)
  cudnn.return %r_dscale, %r_dbias, %r_eq_dy_scale, %r_eq_x_scale, %r_eq_bias : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}
