// RUN: convoy-opt %s | convoy-opt | filecheck %s

// CHECK-LABEL: cudnn_backend.func @relu_build(
// CHECK-SAME:    %[[HANDLE:.*]]) attributes {minimum_version = 91900 : i64} {
cudnn_backend.func @relu_build(%handle) attributes {minimum_version = 91900 : i64} {
  // CHECK: %[[X:.*]] = cudnn_backend.create <tensor>
  %x = cudnn_backend.create <tensor>
  // CHECK: cudnn_backend.set %[[X]], <tensor_data_type>, half : <tensor>
  cudnn_backend.set %x, <tensor_data_type>, half : <tensor>
  // CHECK: cudnn_backend.set %[[X]], <tensor_dimensions>, [1, 64, 56, 56] : <tensor>
  cudnn_backend.set %x, <tensor_dimensions>, [1, 64, 56, 56] : <tensor>
  cudnn_backend.set %x, <tensor_strides>, [200704, 1, 3584, 64] : <tensor>
  // CHECK: cudnn_backend.set %[[X]], <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %x, <tensor_byte_alignment>, [16] : <tensor>
  // CHECK: cudnn_backend.set %[[X]], <tensor_is_virtual>, false : <tensor>
  cudnn_backend.set %x, <tensor_is_virtual>, false : <tensor>
  // CHECK: cudnn_backend.finalize %[[X]] : <tensor>
  cudnn_backend.finalize %x : <tensor>
  %relu = cudnn_backend.create <pointwise>
  // CHECK: <pointwise_mode>, relu_fwd : <pointwise>
  cudnn_backend.set %relu, <pointwise_mode>, relu_fwd : <pointwise>
  cudnn_backend.set %relu, <pointwise_math_prec>, float : <pointwise>
  // CHECK: <pointwise_relu_lower_clip>, 0.000000e+00 : f64 : <pointwise>
  cudnn_backend.set %relu, <pointwise_relu_lower_clip>, 0.0 : f64 : <pointwise>
  cudnn_backend.finalize %relu : <pointwise>
  %op = cudnn_backend.create <operation_pointwise>
  // CHECK: cudnn_backend.set %[[OP:.*]], <operation_pointwise_pw_descriptor>, %{{.*}} : <operation_pointwise>, !cudnn_backend.descriptor<pointwise>
  cudnn_backend.set %op, <operation_pointwise_pw_descriptor>, %relu : <operation_pointwise>, !cudnn_backend.descriptor<pointwise>
  cudnn_backend.set %op, <operation_pointwise_xdesc>, %x : <operation_pointwise>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %op, <operation_pointwise_ydesc>, %x : <operation_pointwise>, !cudnn_backend.descriptor<tensor>
  // CHECK: <operation_pointwise_alpha1>, 1.000000e+00 : f32 : <operation_pointwise>
  cudnn_backend.set %op, <operation_pointwise_alpha1>, 1.0 : f32 : <operation_pointwise>
  cudnn_backend.finalize %op : <operation_pointwise>
  %graph = cudnn_backend.create <operationgraph>
  // CHECK: cudnn_backend.set %[[GRAPH:.*]], <operationgraph_handle>, %[[HANDLE]] : <operationgraph>, !cudnn_backend.handle
  cudnn_backend.set %graph, <operationgraph_handle>, %handle : <operationgraph>, !cudnn_backend.handle
  // CHECK: cudnn_backend.set %[[GRAPH]], <operationgraph_ops>, (%[[OP]], %[[OP]]) : <operationgraph>,
  // CHECK-SAME: !cudnn_backend.descriptor<operation_pointwise>, !cudnn_backend.descriptor<operation_pointwise>
  cudnn_backend.set %graph, <operationgraph_ops>, (%op, %op) : <operationgraph>, !cudnn_backend.descriptor<operation_pointwise>, !cudnn_backend.descriptor<operation_pointwise>
  cudnn_backend.finalize %graph : <operationgraph>
  // CHECK: cudnn_backend.destroy %[[OP]] : <operation_pointwise>
  cudnn_backend.destroy %op : <operation_pointwise>
  cudnn_backend.destroy %relu : <pointwise>
  cudnn_backend.destroy %x : <tensor>
  // CHECK: cudnn_backend.return %[[GRAPH]] : <operationgraph>
  cudnn_backend.return %graph : <operationgraph>
}

// CHECK-LABEL: cudnn_backend.func @values(
cudnn_backend.func @values(%handle) attributes {minimum_version = 91900 : i64} {
  %device = cudnn_backend.create <deviceprop>
  // CHECK: <deviceprop_json_representation>, "{\22a\22: 1}" : <deviceprop>
  cudnn_backend.set %device, <deviceprop_json_representation>, "{\22a\22: 1}" : <deviceprop>
  // CHECK: <deviceprop_device_id>, [1] : <deviceprop>
  cudnn_backend.set %device, <deviceprop_device_id>, [1] : <deviceprop>
  cudnn_backend.finalize %device : <deviceprop>
  %window = cudnn_backend.create <resample>
  // CHECK: <resample_strides>, [3 : 2, 1 : 1] : <resample>
  cudnn_backend.set %window, <resample_strides>, [3 : 2, 1 : 1] : <resample>
  cudnn_backend.destroy %window : <resample>
  // CHECK: cudnn_backend.return %{{.*}} : <deviceprop>
  cudnn_backend.return %device : <deviceprop>
}

// CHECK-LABEL: cudnn_backend.func @choose(
// CHECK-SAME:    %[[HANDLE:.*]], %[[GRAPH:.*]]: !cudnn_backend.descriptor<operationgraph>) {
cudnn_backend.func @choose(%handle, %graph: !cudnn_backend.descriptor<operationgraph>) {
  %engine = cudnn_backend.create <engine>
  // CHECK: cudnn_backend.set %[[ENGINE:.*]], <engine_operation_graph>, %[[GRAPH]] : <engine>, !cudnn_backend.descriptor<operationgraph>
  cudnn_backend.set %engine, <engine_operation_graph>, %graph : <engine>, !cudnn_backend.descriptor<operationgraph>
  cudnn_backend.set %engine, <engine_global_index>, [0] : <engine>
  cudnn_backend.finalize %engine : <engine>
  %knob = cudnn_backend.create <knob_info>
  // CHECK: cudnn_backend.get_descriptors %[[ENGINE]], <engine_knob_info>, (%[[KNOB:.*]]) : <engine>, !cudnn_backend.descriptor<knob_info>
  %count = cudnn_backend.get_descriptors %engine, <engine_knob_info>, (%knob) : <engine>, !cudnn_backend.descriptor<knob_info>
  // CHECK: %[[STRIDE:.*]] = cudnn_backend.get %[[KNOB]], <knob_info_stride> : <knob_info> -> i64
  %stride = cudnn_backend.get %knob, <knob_info_stride> : <knob_info> -> i64
  %config = cudnn_backend.create <enginecfg>
  cudnn_backend.set %config, <enginecfg_engine>, %engine : <enginecfg>, !cudnn_backend.descriptor<engine>
  // CHECK: cudnn_backend.set %[[CONFIG:.*]], <enginecfg_knob_choices>, () : <enginecfg>
  cudnn_backend.set %config, <enginecfg_knob_choices>, () : <enginecfg>
  cudnn_backend.finalize %config : <enginecfg>
  cudnn_backend.destroy %knob : <knob_info>
  cudnn_backend.destroy %engine : <engine>
  // CHECK: cudnn_backend.return %[[CONFIG]], %[[STRIDE]] : <enginecfg>, i64
  cudnn_backend.return %config, %stride : <enginecfg>, i64
}

// CHECK-LABEL: cudnn_backend.func @run(
// CHECK-SAME:    %[[HANDLE:.*]], %[[PLAN:.*]]: !cudnn_backend.descriptor<execution_plan>, %[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr) {
cudnn_backend.func @run(%handle, %plan: !cudnn_backend.descriptor<execution_plan>, %x: !llvm.ptr, %y: !llvm.ptr) {
  %pack = cudnn_backend.create <variant_pack>
  // CHECK: <variant_pack_data_pointers>, (%[[X]], %[[Y]]) : <variant_pack>, !llvm.ptr, !llvm.ptr
  cudnn_backend.set %pack, <variant_pack_data_pointers>, (%x, %y) : <variant_pack>, !llvm.ptr, !llvm.ptr
  cudnn_backend.set %pack, <variant_pack_unique_ids>, [1, 2] : <variant_pack>
  cudnn_backend.set %pack, <variant_pack_workspace>, %y : <variant_pack>, !llvm.ptr
  cudnn_backend.finalize %pack : <variant_pack>
  // CHECK: cudnn_backend.execute_plan %[[HANDLE]], %[[PLAN]], %
  cudnn_backend.execute_plan %handle, %plan, %pack
  cudnn_backend.destroy %pack : <variant_pack>
  // CHECK: cudnn_backend.return
  cudnn_backend.return
}

// CHECK-LABEL: func.func @main(
func.func @main(%runtime: !llvm.ptr, %x: memref<4xf32>, %y: memref<4xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  // CHECK: cudnn_backend.execute_graph %{{.*}}, call = 0(%{{.*}}, %{{.*}}) : memref<4xf32>, memref<4xf32>
  cudnn_backend.execute_graph %runtime, call = 0 (%x, %y) : memref<4xf32>, memref<4xf32>
  // CHECK: cudnn_backend.launch_kernel %{{.*}}, kernel = 1 grid [2, 1, 1] block [256, 1, 1] shared 0(%{{.*}}, %{{.*}}) : memref<4xf32>, memref<4xf32>
  cudnn_backend.launch_kernel %runtime, kernel = 1 grid [2, 1, 1] block [256, 1, 1] shared 0 (%x, %y) : memref<4xf32>, memref<4xf32>
  // CHECK: cudnn_backend.copy %{{.*}}, %{{.*}}, %{{.*}} : memref<4xf32>, memref<4xf32>
  cudnn_backend.copy %runtime, %x, %y : memref<4xf32>, memref<4xf32>
  return %zero : i32
}
