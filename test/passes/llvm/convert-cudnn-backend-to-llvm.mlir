// RUN: convoy-opt %s --convert-cudnn-backend-to-llvm | filecheck %s

// Functions are data (runtime/support/convoy_calls.h): header words, then two words per call. The
// module has the kinds and the bytes.
// CHECK:       llvm.mlir.global private constant @tensor_build_calls(dense<"0x{{[0-9A-F]*}}"> : tensor<102xi32>) {addr_space = 0 : i32, alignment = 4 : i64}
// CHECK:       llvm.mlir.global private constant @plan_calls_0(dense<[11, 2, 3, 1, 1, 0, {{.*}}]> : tensor<28xi32>)
// CHECK:       llvm.mlir.global private constant @values_calls(dense<[30, 1, 4, 1, 1, 0, {{.*}}]> : tensor<66xi32>)
// CHECK:       llvm.mlir.global private constant @cudnn_call_kinds(dense<"0x
// CHECK:       llvm.mlir.global private constant @cudnn_call_data("{{.*}}:{{[0-9]+}}\00cudnnBackendCreateDescriptor(CUDNN_BACKEND_MATMUL_DESCRIPTOR)\00
// Null-terminated texts, then 32-bit numbers, fractions.
// CHECK-SAME:  cudnnBackendSetAttribute(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION)\00{{(\\00)*}}\03\00\00\00\00\00\00\00{}\00
// CHECK-SAME:  cudnnBackendSetAttribute(CUDNN_ATTR_DEVICEPROP_DEVICE_ID)\00{{(\\00)*}}\01\00\00\00\00\00\00\00\07\00\00\00{{[^\\]}}
// CHECK-SAME:  cudnnBackendSetAttribute(CUDNN_ATTR_RESAMPLE_STRIDES)\00{{(\\00)*}}\02\00\00\00\00\00\00\00\03\00\00\00\00\00\00\00\02\00\00\00\00\00\00\00\01\00\00\00\00\00\00\00\01\00\00\00\00\00\00\00{{[^\\]}}
// CHECK-SAME:  alignment = 8 : i64
// CHECK:       llvm.func @convoy_make_calls(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32

// CHECK-LABEL: llvm.func @tensor_build(
// CHECK-SAME:    %[[TABLE:.*]]: !llvm.ptr, %[[HANDLE:.*]]: !llvm.ptr, %[[RESULT:.*]]: !llvm.ptr) -> i32 {
// CHECK-NEXT:    %[[CALLS:.*]] = llvm.mlir.addressof @tensor_build_calls
// CHECK-NEXT:    %[[KINDS:.*]] = llvm.mlir.addressof @cudnn_call_kinds
// CHECK-NEXT:    %[[DATA:.*]] = llvm.mlir.addressof @cudnn_call_data
// CHECK-NEXT:    %[[ONE:.*]] = llvm.mlir.constant(1 : i64) : i64
// CHECK-NEXT:    %[[GIVEN:.*]] = llvm.alloca %[[ONE]] x !llvm.ptr
// CHECK-NEXT:    %[[FIRST:.*]] = llvm.getelementptr %[[GIVEN]][0]
// CHECK-NEXT:    llvm.store %[[HANDLE]], %[[FIRST]] : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:    %[[COUNT:.*]] = llvm.mlir.constant(1 : i64) : i64
// CHECK-NEXT:    %[[RESULTS:.*]] = llvm.alloca %[[COUNT]] x !llvm.ptr
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[RESULTS]][0]
// CHECK-NEXT:    llvm.store %[[RESULT]], %[[PLACE]] : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:    %[[STATUS:.*]] = llvm.call @convoy_make_calls(%[[TABLE]], %[[CALLS]], %[[KINDS]], %[[DATA]], %[[GIVEN]], %[[RESULTS]])
// CHECK-NEXT:    llvm.return %[[STATUS]] : i32
cudnn_backend.func @tensor_build(%handle) {
  %matmul = cudnn_backend.create <matmul>
  cudnn_backend.set %matmul, <matmul_comp_type>, float : <matmul>
  cudnn_backend.finalize %matmul : <matmul>
  %t = cudnn_backend.create <tensor>
  cudnn_backend.set %t, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %t, <tensor_dimensions>, [4, 4, 4] : <tensor>
  cudnn_backend.set %t, <tensor_strides>, [16, 4, 1] : <tensor>
  cudnn_backend.set %t, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %t, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %t : <tensor>
  %op = cudnn_backend.create <operation_matmul>
  cudnn_backend.set %op, <operation_matmul_desc>, %matmul : <operation_matmul>, !cudnn_backend.descriptor<matmul>
  cudnn_backend.set %op, <operation_matmul_adesc>, %t : <operation_matmul>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %op, <operation_matmul_bdesc>, %t : <operation_matmul>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %op, <operation_matmul_cdesc>, %t : <operation_matmul>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.finalize %op : <operation_matmul>
  %graph = cudnn_backend.create <operationgraph>
  cudnn_backend.set %graph, <operationgraph_handle>, %handle : <operationgraph>, !cudnn_backend.handle
  cudnn_backend.set %graph, <operationgraph_ops>, %op : <operationgraph>, !cudnn_backend.descriptor<operation_matmul>
  cudnn_backend.finalize %graph : <operationgraph>
  cudnn_backend.destroy %op : <operation_matmul>
  cudnn_backend.destroy %t : <tensor>
  cudnn_backend.destroy %matmul : <matmul>
  cudnn_backend.return %graph : <operationgraph>
}

// Additional arguments follow the handle, results follow the arguments.
// CHECK-LABEL: llvm.func @plan(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %[[HANDLE:.*]]: !llvm.ptr, %[[CONFIG:.*]]: !llvm.ptr, %[[PLAN:.*]]: !llvm.ptr, %[[BYTES:.*]]: !llvm.ptr) -> i32
// CHECK:         llvm.store %[[HANDLE]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:    %[[SECOND:.*]] = llvm.getelementptr %{{.*}}[1]
// CHECK-NEXT:    llvm.store %[[CONFIG]], %[[SECOND]] : !llvm.ptr, !llvm.ptr
// CHECK:         llvm.store %[[PLAN]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:    %[[LAST:.*]] = llvm.getelementptr %{{.*}}[1]
// CHECK-NEXT:    llvm.store %[[BYTES]], %[[LAST]] : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:    llvm.call @convoy_make_calls(
cudnn_backend.func @plan(%handle, %config: !cudnn_backend.descriptor<enginecfg>) {
  %plan = cudnn_backend.create <execution_plan>
  cudnn_backend.set %plan, <execution_plan_engine_config>, %config : <execution_plan>, !cudnn_backend.descriptor<enginecfg>
  cudnn_backend.finalize %plan : <execution_plan>
  %bytes = cudnn_backend.get %plan, <execution_plan_workspace_size> : <execution_plan> -> i64
  cudnn_backend.return %plan, %bytes : <execution_plan>, i64
}

// CHECK-LABEL: llvm.func @values(
cudnn_backend.func @values(%handle) attributes {minimum_version = 91900 : i64} {
  %device = cudnn_backend.create <deviceprop>
  cudnn_backend.set %device, <deviceprop_json_representation>, "{}" : <deviceprop>
  cudnn_backend.set %device, <deviceprop_device_id>, [7] : <deviceprop>
  cudnn_backend.finalize %device : <deviceprop>
  cudnn_backend.destroy %device : <deviceprop>
  %window = cudnn_backend.create <resample>
  cudnn_backend.set %window, <resample_strides>, [3 : 2, 1 : 1] : <resample>
  cudnn_backend.destroy %window : <resample>
  %r = cudnn_backend.create <reduction>
  cudnn_backend.set %r, <reduction_operator>, add : <reduction>
  cudnn_backend.set %r, <reduction_comp_type>, float : <reduction>
  cudnn_backend.finalize %r : <reduction>
  %flag = cudnn_backend.get %r, <reduction_is_deterministic> : <reduction> -> i1
  cudnn_backend.destroy %r : <reduction>
  cudnn_backend.return %flag : i1
}

// Globals are renamed if their names are taken.
// CHECK-LABEL: llvm.func @plan_calls(
// CHECK:         llvm.mlir.addressof @plan_calls_calls
cudnn_backend.func @plan_calls(%handle) {
  cudnn_backend.return
}

// CHECK-LABEL: llvm.func @main(
// CHECK-SAME:    %[[RUNTIME:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32 {
// CHECK:         llvm.getelementptr %[[RUNTIME]][0, 5]
// CHECK-NEXT:    %[[COPY:.*]] = llvm.load
// CHECK:         llvm.getelementptr %[[RUNTIME]][0, 2]
// CHECK-NEXT:    %[[CONTEXT:.*]] = llvm.load
// CHECK:         %[[STATUS:.*]] = llvm.call %[[COPY]](%[[CONTEXT]], %{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> i32
// CHECK:         llvm.cond_br %{{.*}}, ^{{.*}}, ^[[FAILED:.*]]
// CHECK:       ^[[FAILED]]:
// CHECK-NEXT:    llvm.return %[[STATUS]] : i32
func.func @main(%runtime: !llvm.ptr, %x: memref<4xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  cudnn_backend.copy %runtime, %x, %x : memref<4xf32>, memref<4xf32>
  return %zero : i32
}
