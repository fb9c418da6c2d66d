// Every error of graphs, their calls and their inline form. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error @+1 {{expects tensor descriptors as arguments, but argument #0 is 'f32'}}
cudnn.graph @graph_c1_argument(%x: f32) -> !cudnn.tensor_desc<8x4xf32> {
  cudnn.return
}

// -----

// expected-error @+1 {{expects tensor descriptors as results, but result #0 is 'f32'}}
cudnn.graph @graph_c1_result(%x: !cudnn.tensor_desc<8x4xf32>) -> f32 {
  cudnn.return
}

// -----

// expected-error @+1 {{expects at least one result, but got none}}
cudnn.graph @graph_c1_none(%x: !cudnn.tensor_desc<8x4xf32>) {
  cudnn.return
}

// -----

// expected-error @+1 {{expects at least one operation in its body}}
cudnn.graph @graph_c2_empty(%x: !cudnn.tensor_desc<8x4xf32>) -> !cudnn.tensor_desc<8x4xf32> {
  cudnn.return %x : !cudnn.tensor_desc<8x4xf32>
}

// -----

cudnn.graph @graph_c2_foreign(%x: !cudnn.tensor_desc<8x4xf32>) -> !cudnn.tensor_desc<8x4xf32> {
  // expected-error @+1 {{is not an operation of a graph}}
  %c = arith.constant 1.0 : f32
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<8x4xf32>
}

// -----

// expected-error @+1 {{expects 'cudnn.return' at the end of its body}}
cudnn.graph @graph_c2_end(%x: !cudnn.tensor_desc<8x4xf32>) -> !cudnn.tensor_desc<8x4xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  "test.end"() : () -> ()
}

// -----

// expected-error @+1 {{expects results that are computed in the graph, but result #1 is an argument}}
cudnn.graph @graph_c3_argument(%x: !cudnn.tensor_desc<8x4xf32>) -> (!cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  cudnn.return %0, %x : !cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>
}

// -----

// expected-error @+1 {{expects distinct results, but result #1 is a duplicate}}
cudnn.graph @graph_c3_twice(%x: !cudnn.tensor_desc<8x4xf32>) -> (!cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  cudnn.return %0, %0 : !cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>
}

// -----

cudnn.graph @return_c1_count(%x: !cudnn.tensor_desc<8x4xf32>) -> (!cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  // expected-error @+1 {{expects 2 operands, but got 1}}
  cudnn.return %0 : !cudnn.tensor_desc<8x4xf32>
}

// -----

cudnn.graph @return_c1_type(%x: !cudnn.tensor_desc<8x4xf32>) -> !cudnn.tensor_desc<8x4xf16> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  // expected-error @+1 {{expects operand #0 of type '!cudnn.tensor_desc<8x4xf16>', but got '!cudnn.tensor_desc<8x4xf32>'}}
  cudnn.return %0 : !cudnn.tensor_desc<8x4xf32>
}

// -----

func.func @outside_a_graph(%x: !cudnn.tensor_desc<8x4xf32>) {
  // expected-error @+1 {{expects parent op to be one of 'cudnn.graph, cudnn.build_and_exec_graph'}}
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c1(%a: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects the name of a cudnn.graph, but got @h}}
  cudnn.execute @h ins(%a : memref<1x4x5x8xf16>) outs(%a : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c2_inputs(%a: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects 1 inputs for @g, but got 2}}
  cudnn.execute @g ins(%a, %a : memref<1x4x5x8xf16>, memref<1x4x5x8xf16>) outs(%a : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c2_outputs(%a: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects 1 outputs for @g, but got 2}}
  cudnn.execute @g ins(%a : memref<1x4x5x8xf16>) outs(%a, %a : memref<1x4x5x8xf16>, memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c3(%a: memref<1x4x5x8xf32>, %b: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects input #0 of element type 'f16', but got 'f32'}}
  cudnn.execute @g ins(%a : memref<1x4x5x8xf32>) outs(%b : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c4_logical(%a: memref<1x8x4x5xf16>, %b: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects input #0 of shape [1, 4, 5, 8] for '!cudnn.tensor_desc<1x8x4x5xf16, NHWC>', but got [1, 8, 4, 5]}}
  cudnn.execute @g ins(%a : memref<1x8x4x5xf16>) outs(%b : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c4_output(%a: memref<1x4x5x8xf16>, %b: memref<1x5x4x8xf16>) {
  // expected-error @+1 {{expects output #0 of shape [1, 4, 5, 8] for '!cudnn.tensor_desc<1x8x4x5xf16, NHWC>', but got [1, 5, 4, 8]}}
  cudnn.execute @g ins(%a : memref<1x4x5x8xf16>) outs(%b : memref<1x5x4x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<8x4xf32, stride = [8, 1]>) -> !cudnn.tensor_desc<8x4xf32, stride = [8, 1]> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32, stride = [8, 1]> -> !cudnn.tensor_desc<8x4xf32, stride = [8, 1]>
  cudnn.return %0 : !cudnn.tensor_desc<8x4xf32, stride = [8, 1]>
}

func.func @execute_c4_packed(%a: memref<8x4xf32>) {
  // expected-error @+1 {{expects a packed descriptor for input #0, but got '!cudnn.tensor_desc<8x4xf32, stride = [8, 1]>'}}
  cudnn.execute @g ins(%a : memref<8x4xf32>) outs(%a : memref<8x4xf32>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c5_both(%a: tensor<1x4x5x8xf16>, %b: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects only tensors or only memrefs, but got both}}
  cudnn.execute @g ins(%a : tensor<1x4x5x8xf16>) outs(%b : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c5_layout(%a: memref<1x4x5x8xf16, strided<[320, 80, 16, 1]>>, %b: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects packed memrefs, but got 'memref<1x4x5x8xf16, strided<[320, 80, 16, 1]>>'}}
  cudnn.execute @g ins(%a : memref<1x4x5x8xf16, strided<[320, 80, 16, 1]>>) outs(%b : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_dps(%a: tensor<1x4x5x8xf16>) {
  // expected-error @+1 {{expected type of operand #1 ('tensor<1x4x5x8xf16>') to match type of corresponding result ('tensor<1x4x5x8xf32>')}}
  %0 = cudnn.execute @g ins(%a : tensor<1x4x5x8xf16>) outs(%a : tensor<1x4x5x8xf16>) -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @build_and_exec_graph_c1_inputs(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects 1 descriptors of inputs in its body, but got 2}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>, %z: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%0) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @build_and_exec_graph_c1_outputs(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects 1 descriptors of outputs in its body, but got 2}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    %1 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%0, %1) : !cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @build_and_exec_graph_c2(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects output #0 of element type 'f32', but got 'f16'}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%0) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<8x4xf16>
  return
}

// -----

func.func @build_and_exec_graph_c3(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects output #0 of shape [8, 4] for '!cudnn.tensor_desc<8x4xf32>', but got [4, 8]}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%0) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @build_and_exec_graph_c4_empty(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects at least one operation in its body}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    cudnn.build_graph(%x) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @build_and_exec_graph_c4_end(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects 'cudnn.build_graph' at the end of its body}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    "test.end"() : () -> ()
  } : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @build_and_exec_graph_c4_argument(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects results that are computed in the graph, but result #0 is an argument}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%x) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @build_and_exec_graph_c1_type(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects a tensor descriptor for input #1, but got 'f32'}}
  %y = cudnn.build_and_exec_graph %h %t, %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>, %z: f32):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%0) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

// expected-error @+1 {{expects a positive i64 as cudnn.uid of argument #0, but got 7 : i32}}
cudnn.graph @graph_c4_type(%x: !cudnn.tensor_desc<4x2xf32> {cudnn.uid = 7 : i32}) -> !cudnn.tensor_desc<4x2xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<4x2xf32> -> !cudnn.tensor_desc<4x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<4x2xf32>
}

// -----

// expected-error @+1 {{expects a positive i64 as cudnn.uid of result #0, but got 0 : i64}}
cudnn.graph @graph_c4_zero(%x: !cudnn.tensor_desc<4x2xf32>) -> (!cudnn.tensor_desc<4x2xf32> {cudnn.uid = 0 : i64}) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<4x2xf32> -> !cudnn.tensor_desc<4x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<4x2xf32>
}

// -----

// expected-error @+1 {{expects unique uids, but result #0 reuses 7}}
cudnn.graph @graph_c4_twice(%x: !cudnn.tensor_desc<4x2xf32> {cudnn.uid = 7 : i64}) -> (!cudnn.tensor_desc<4x2xf32> {cudnn.uid = 7 : i64}) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<4x2xf32> -> !cudnn.tensor_desc<4x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<4x2xf32>
}

// -----

// expected-error @+1 {{expects cudnn.by_value to be a unit attribute of an argument with one element, but argument #0 has it}}
cudnn.graph @graph_c5_shape(%x: !cudnn.tensor_desc<4x2xf32> {cudnn.by_value}) -> !cudnn.tensor_desc<4x2xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<4x2xf32> -> !cudnn.tensor_desc<4x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<4x2xf32>
}

// -----

// expected-error @+1 {{expects cudnn.by_value to be a unit attribute of an argument with one element, but result #0 has it}}
cudnn.graph @graph_c5_result(%x: !cudnn.tensor_desc<4x2xf32>) -> (!cudnn.tensor_desc<4x2xf32> {cudnn.by_value}) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<4x2xf32> -> !cudnn.tensor_desc<4x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<4x2xf32>
}

// -----

// expected-error @+1 {{expects cudnn.by_value to be a unit attribute of an argument with one element, but argument #1 has it}}
cudnn.graph @graph_c5_unit(%x: !cudnn.tensor_desc<4x2xf32>,
    %s: !cudnn.tensor_desc<1x1xf32> {cudnn.by_value = true}) -> !cudnn.tensor_desc<4x2xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<4x2xf32> -> !cudnn.tensor_desc<4x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<4x2xf32>
}

// -----

// expected-error @+1 {{expects the number of another argument as cudnn.ragged_offset of argument #0, but got 2 : i64}}
cudnn.graph @graph_c6_number(%x: !cudnn.tensor_desc<4x2xf32> {cudnn.ragged_offset = 2 : i64},
    %o: !cudnn.tensor_desc<5x1xi32>) -> !cudnn.tensor_desc<4x2xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<4x2xf32> -> !cudnn.tensor_desc<4x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<4x2xf32>
}

// -----

// expected-error @+1 {{expects the number of another argument as cudnn.ragged_offset of argument #0, but got 0 : i64}}
cudnn.graph @graph_c6_itself(%x: !cudnn.tensor_desc<4x2xf32> {cudnn.ragged_offset = 0 : i64},
    %o: !cudnn.tensor_desc<5x1xi32>) -> !cudnn.tensor_desc<4x2xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<4x2xf32> -> !cudnn.tensor_desc<4x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<4x2xf32>
}

// -----

// expected-error @+1 {{expects offsets of result #0 that are i32 or i64, in device memory and not ragged, but got '!cudnn.tensor_desc<4x2xf32>'}}
cudnn.graph @graph_c6_type(%x: !cudnn.tensor_desc<4x2xf32>) -> (!cudnn.tensor_desc<4x2xf32> {cudnn.ragged_offset = 0 : i64}) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<4x2xf32> -> !cudnn.tensor_desc<4x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<4x2xf32>
}

// -----

// expected-error @+1 {{expects offsets of argument #0 that are i32 or i64, in device memory and not ragged, but got '!cudnn.tensor_desc<5x1xi32>'}}
cudnn.graph @graph_c6_ragged(%x: !cudnn.tensor_desc<4x2xf32> {cudnn.ragged_offset = 1 : i64},
    %o: !cudnn.tensor_desc<5x1xi32> {cudnn.ragged_offset = 2 : i64},
    %p: !cudnn.tensor_desc<5x1xi32>) -> !cudnn.tensor_desc<4x2xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<4x2xf32> -> !cudnn.tensor_desc<4x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<4x2xf32>
}

// -----

// expected-error @+1 {{expects cudnn.uid, cudnn.by_value or cudnn.ragged_offset of argument #0, but got cudnn.virtual}}
cudnn.graph @graph_c7(%x: !cudnn.tensor_desc<4x2xf32> {cudnn.virtual}) -> !cudnn.tensor_desc<4x2xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<4x2xf32> -> !cudnn.tensor_desc<4x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<4x2xf32>
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c6_count(%a: tensor<1x4x5x8xf16>) {
  // expected-error @+1 {{expects an offset for each of 1 inputs, but got 2}}
  %0 = cudnn.execute @g ins(%a : tensor<1x4x5x8xf16>) outs(%a : tensor<1x4x5x8xf16>) {offsets = array<i64: 0, 0>} -> tensor<1x4x5x8xf16>
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c6_end(%a: tensor<161xf16>, %b: tensor<1x4x5x8xf16>) {
  %0 = cudnn.execute @g ins(%a : tensor<161xf16>) outs(%b : tensor<1x4x5x8xf16>) {offsets = array<i64: 1>} -> tensor<1x4x5x8xf16>
  // expected-error @+1 {{expects the elements of input #0 inside of 'tensor<161xf16>', but '!cudnn.tensor_desc<1x8x4x5xf16, NHWC>' at offset 2 ends at 162}}
  %1 = cudnn.execute @g ins(%a : tensor<161xf16>) outs(%b : tensor<1x4x5x8xf16>) {offsets = array<i64: 2>} -> tensor<1x4x5x8xf16>
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c6_layout(%a: memref<1x4x5x8xf16, strided<[160, 40, 8, 1], offset: 160>>, %b: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects inputs of identity layout with 'offsets', but got 'memref<1x4x5x8xf16, strided<[160, 40, 8, 1], offset: 160>>'}}
  cudnn.execute @g ins(%a : memref<1x4x5x8xf16, strided<[160, 40, 8, 1], offset: 160>>) outs(%b : memref<1x4x5x8xf16>) {offsets = array<i64: 0>}
  return
}
