// RUN: convoy-opt %s --add-runtime-argument --convert-cudnn-execute-to-backend --convert-cudnn-graphs-to-backend | filecheck %s
// RUN: convoy-opt %s --add-runtime-argument --convert-cudnn-execute-to-backend --convert-cudnn-graphs-to-backend=minimum-version=91900 | filecheck %s --check-prefix=VERSION
// RUN: convoy-opt %s --add-runtime-argument --convert-cudnn-execute-to-backend --convert-cudnn-graphs-to-backend \
// RUN:     --convert-cudnn-backend-to-llvm | filecheck %s --check-prefix=LLVM

// VERSION: minimum_version = 91900 : i64

// CHECK:      module attributes {tcp.manifest = {calls = [{graph = 1 : i64, location = "model.py:8"},
// CHECK-SAME: {graph = 0 : i64, location = "model.py:9"}], graphs = [{
// CHECK-SAME: location = "model.py:7", name = "relu_0", ops = ["relu"], symbol = "relu_0_build", tensors = [
// CHECK-SAME: {dtype = "float16", role = "input", shape = array<i64: 1, 64, 8, 8>, strides = array<i64: 4096, 1, 512, 64>, uid = 1 : i64},
// CHECK-SAME: {dtype = "float16", role = "output", shape = array<i64: 1, 64, 8, 8>, strides = array<i64: 4096, 1, 512, 64>, uid = 2 : i64}]}
// CHECK-SAME: name = "matmul_add_0", ops = ["matmul", "add"], products = {dtype = "float32", flops = 1024 : i64}, symbol = "matmul_add_0_build"

// CHECK-LABEL: cudnn_backend.func @relu_0_build(
// CHECK-SAME:    %[[HANDLE:.*]]) attributes {minimum_version = 90200 : i64} {
// CHECK-NEXT:    %[[X:.*]] = cudnn_backend.create <tensor>
// CHECK-NEXT:    cudnn_backend.set %[[X]], <tensor_data_type>, half : <tensor>
// CHECK-NEXT:    cudnn_backend.set %[[X]], <tensor_dimensions>, [1, 64, 8, 8] : <tensor>
// CHECK-NEXT:    cudnn_backend.set %[[X]], <tensor_strides>, [4096, 1, 512, 64] : <tensor>
// CHECK-NEXT:    cudnn_backend.set %[[X]], <tensor_unique_id>, [1] : <tensor>
// CHECK-NEXT:    cudnn_backend.set %[[X]], <tensor_byte_alignment>, [16] : <tensor>
// CHECK-NEXT:    cudnn_backend.set %[[X]], <tensor_is_virtual>, false : <tensor>
// CHECK-NEXT:    cudnn_backend.finalize %[[X]] : <tensor>
// CHECK:         cudnn_backend.finalize %[[Y:.*]] : <tensor>
// CHECK-NEXT:    %[[RELU:.*]] = cudnn_backend.create <pointwise>
// CHECK:         %[[OP:.*]] = cudnn_backend.create <operation_pointwise>
// CHECK:         cudnn_backend.finalize %[[OP]]
// CHECK-NEXT:    %[[GRAPH:.*]] = cudnn_backend.create <operationgraph>
// CHECK-NEXT:    cudnn_backend.set %[[GRAPH]], <operationgraph_handle>, %[[HANDLE]]
// CHECK-NEXT:    cudnn_backend.set %[[GRAPH]], <operationgraph_ops>, %[[OP]]
// CHECK-NEXT:    cudnn_backend.finalize %[[GRAPH]]
// CHECK-NEXT:    cudnn_backend.destroy %[[OP]]
// CHECK-NEXT:    cudnn_backend.destroy %[[RELU]]
// CHECK-NEXT:    cudnn_backend.destroy %[[Y]]
// CHECK-NEXT:    cudnn_backend.destroy %[[X]]
// CHECK-NEXT:    cudnn_backend.return %[[GRAPH]]
cudnn.graph @relu_0(%x: !cudnn.tensor_desc<1x64x8x8xf16, NHWC>) -> !cudnn.tensor_desc<1x64x8x8xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x64x8x8xf16, NHWC> -> !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
} loc("model.py":7:3)

// CHECK-LABEL: cudnn_backend.func @matmul_add_0_build(
cudnn.graph @matmul_add_0(%a: !cudnn.tensor_desc<1x8x16xf32>, %b: !cudnn.tensor_desc<1x16x4xf32>, %c: !cudnn.tensor_desc<1x1x4xf32>)
    -> !cudnn.tensor_desc<1x8x4xf32> {
  // CHECK: cudnn_backend.set %{{.*}}, <tensor_is_virtual>, true : <tensor>
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x8x16xf32>, !cudnn.tensor_desc<1x16x4xf32> -> !cudnn.tensor_desc<1x8x4xf32>
  %1 = cudnn.pointwise add(%0, %c) type = f32 : !cudnn.tensor_desc<1x8x4xf32>, !cudnn.tensor_desc<1x1x4xf32> -> !cudnn.tensor_desc<1x8x4xf32>
  cudnn.return %1 : !cudnn.tensor_desc<1x8x4xf32>
}

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[RUNTIME:.*]]: !llvm.ptr, %[[A:.*]]: memref<8x16xf32>, %[[B:.*]]: memref<16x4xf32>, %[[C:.*]]: memref<4xf32>, %[[D:.*]]: memref<8x4xf32>,
// CHECK-SAME:    %[[U:.*]]: memref<8x8x64xf16>, %[[V:.*]]: memref<8x8x64xf16>) -> i32
// CHECK-NEXT:    cudnn_backend.execute_graph %[[RUNTIME]], call = 0(%[[A]], %[[B]], %[[C]], %[[D]]) : {{.*}}
// CHECK-NEXT:    cudnn_backend.execute_graph %[[RUNTIME]], call = 1(%[[U]], %[[V]]) : {{.*}}
func.func @main(%a: memref<8x16xf32>, %b: memref<16x4xf32>, %c: memref<4xf32>, %d: memref<8x4xf32>, %u: memref<8x8x64xf16>,
                %v: memref<8x8x64xf16>) attributes {tcp.target = "cuda"} {
  cudnn.execute @matmul_add_0 ins(%a, %b, %c : memref<8x16xf32>, memref<16x4xf32>, memref<4xf32>) outs(%d : memref<8x4xf32>) loc("model.py":8:5)
  cudnn.execute @relu_0 ins(%u : memref<8x8x64xf16>) outs(%v : memref<8x8x64xf16>) loc("model.py":9:5)
  return
}

// Payloads have the size that cuDNN reads: enums 4 bytes, booleans 1, clips and numbers in lists 8.
// Each is preceded by its count.
// LLVM:       llvm.mlir.global private constant @relu_0_build_calls(
// LLVM:       llvm.mlir.global private constant @matmul_add_0_build_calls(
// LLVM:       llvm.mlir.global private constant @cudnn_call_kinds(
// LLVM:       llvm.mlir.global private constant @cudnn_call_data("
// LLVM-SAME:  cudnnBackendSetAttribute(CUDNN_ATTR_TENSOR_STRIDES)\00{{(\\00)*}}\04\00\00\00\00\00\00\00\00\10\00\00\00\00\00\00\01\00\00\00\00\00\00\00\00\02\00\00\00\00\00\00@\00\00\00\00\00\00\00cudnn
// LLVM-SAME:  cudnnBackendSetAttribute(CUDNN_ATTR_TENSOR_IS_VIRTUAL)\00{{(\\00)*}}\01\00\00\00\00\00\00\00\00cudnnBackendFinalize(CUDNN_BACKEND_TENSOR_DESCRIPTOR)\00
// LLVM-SAME:  cudnnBackendSetAttribute(CUDNN_ATTR_POINTWISE_MODE)\00{{(\\00)*}}\01\00\00\00\00\00\00\00d\00\00\00cudnn
// LLVM-SAME:  cudnnBackendSetAttribute(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP)\00{{(\\00)*}}\01\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00cudnn
// LLVM-SAME:  model.py:7\00
// LLVM-SAME:  alignment = 8
