// RUN: convoy-opt %s --convert-cudnn-backend-to-llvm | filecheck %s

// A descriptor that is made and destroyed, then the graph: one call an op, and one block that cleans up after all of them.
// CHECK-LABEL: llvm.func @tensor_build(
// CHECK-SAME:    %[[TABLE:.*]]: !llvm.ptr, %[[HANDLE:.*]]: !llvm.ptr, %[[RESULT:.*]]: !llvm.ptr) -> i32 attributes {no_inline, optimize_none} {
// CHECK-NEXT:    %[[COUNT:.*]] = llvm.mlir.constant(4 : i64) : i64
// CHECK-NEXT:    %[[SLOTS:.*]] = llvm.alloca %[[COUNT]] x !llvm.ptr
// CHECK:         %[[EMPTY:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-NEXT:    %[[FIRST:.*]] = llvm.getelementptr %[[SLOTS]][0]
// CHECK-NEXT:    llvm.store %[[EMPTY]], %[[FIRST]]
// CHECK:         llvm.getelementptr %[[SLOTS]][3]
// CHECK:         %[[GIVEN:.*]] = llvm.alloca
// CHECK-NEXT:    %[[OWN:.*]] = llvm.getelementptr %[[GIVEN]][0]
// CHECK-NEXT:    llvm.store %[[HANDLE]], %[[OWN]] : !llvm.ptr, !llvm.ptr
// CHECK:         llvm.getelementptr %[[TABLE]][0, 2]
// CHECK-NEXT:    %[[CREATE:.*]] = llvm.load
// CHECK:         llvm.getelementptr %[[TABLE]][0, 3]
// CHECK-NEXT:    %[[SET:.*]] = llvm.load
// CHECK:         llvm.getelementptr %[[TABLE]][0, 4]
// CHECK-NEXT:    %[[FINALIZE:.*]] = llvm.load
// CHECK:         llvm.getelementptr %[[TABLE]][0, 5]
// CHECK-NEXT:    %[[DESTROY:.*]] = llvm.load
// CHECK-NEXT:    %[[KIND:.*]] = llvm.mlir.constant(18 : i32) : i32
// CHECK-NEXT:    %[[SLOT:.*]] = llvm.getelementptr %[[SLOTS]][0]
// CHECK-NEXT:    %[[STATUS:.*]] = llvm.call %[[CREATE]](%[[KIND]], %[[SLOT]]) : !llvm.ptr, (i32, !llvm.ptr) -> i32
// CHECK:         %[[OK:.*]] = llvm.icmp "eq" %[[STATUS]]
// CHECK-NEXT:    %[[CALL:.*]] = llvm.mlir.addressof
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.mlir.addressof
// CHECK-NEXT:    llvm.cond_br %[[OK]], ^{{.*}}, ^[[FAILED:.*]](%[[STATUS]], %[[CALL]], %[[PLACE]] : i32, !llvm.ptr, !llvm.ptr)

// The enum's payload is the address of four bytes.
// CHECK:         %[[MATMUL:.*]] = llvm.load
// CHECK-NEXT:    %[[ATTRIBUTE:.*]] = llvm.mlir.constant(1500 : i32) : i32
// CHECK-NEXT:    %[[TYPE:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK-NEXT:    %[[ONE:.*]] = llvm.mlir.constant(1 : i64) : i64
// CHECK-NEXT:    %[[PAYLOAD:.*]] = llvm.mlir.addressof
// CHECK-NEXT:    llvm.call %[[SET]](%[[MATMUL]], %[[ATTRIBUTE]], %[[TYPE]], %[[ONE]], %[[PAYLOAD]])

// The handle is set where there is one, by the address of a slot that holds it.
// CHECK:         %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-NEXT:    %[[ABSENT:.*]] = llvm.icmp "eq" %[[HANDLE]], %[[NULL]]
// CHECK-NEXT:    llvm.cond_br %[[ABSENT]], ^[[AFTER:.*]], ^[[PRESENT:.*]]
// CHECK:         %[[HANDLE_ATTRIBUTE:.*]] = llvm.mlir.constant(800 : i32) : i32
// CHECK:         %[[HANDLE_SLOT:.*]] = llvm.getelementptr %[[GIVEN]][0]
// CHECK-NEXT:    llvm.call %[[SET]](%{{.*}}, %[[HANDLE_ATTRIBUTE]], %{{.*}}, %{{.*}}, %[[HANDLE_SLOT]])

// Destroyed once: the slot is empty before the call.
// CHECK:         llvm.mlir.constant(801 : i32)
// CHECK:         llvm.call %[[FINALIZE]]
// CHECK:         %[[OLD:.*]] = llvm.load %[[OLD_SLOT:.*]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %[[NULL2:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-NEXT:    llvm.store %[[NULL2]], %[[OLD_SLOT]]
// CHECK-NEXT:    llvm.call %[[DESTROY]](%[[OLD]])

// CHECK:         llvm.store %{{.*}}, %[[RESULT]] : !llvm.ptr, !llvm.ptr
// CHECK:         llvm.return
// CHECK:       ^[[FAILED]](%[[FAILED_STATUS:.*]]: i32, %[[FAILED_CALL:.*]]: !llvm.ptr, %[[FAILED_PLACE:.*]]: !llvm.ptr):
// CHECK:         llvm.getelementptr %[[TABLE]][0, 6]
// CHECK-NEXT:    %[[REPORT:.*]] = llvm.load
// CHECK-NEXT:    llvm.call %[[REPORT]](%[[FAILED_STATUS]], %[[FAILED_CALL]], %[[FAILED_PLACE]]) : !llvm.ptr, (i32, !llvm.ptr, !llvm.ptr) -> ()
// CHECK:         llvm.call %[[DESTROY]]
// CHECK:         %[[NULL3:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-NEXT:    llvm.store %[[NULL3]], %[[RESULT]]
// CHECK-NEXT:    llvm.return %[[FAILED_STATUS]] : i32
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

// Further arguments come after the handle, results after those; what a caller gave goes on by the address of a slot.
// CHECK-LABEL: llvm.func @plan(
// CHECK-SAME:    %[[TABLE:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[CONFIG:.*]]: !llvm.ptr, %[[PLAN:.*]]: !llvm.ptr, %[[BYTES:.*]]: !llvm.ptr) -> i32
// CHECK:         %[[SLOT:.*]] = llvm.getelementptr %[[GIVEN:.*]][1]
// CHECK-NEXT:    llvm.store %[[CONFIG]], %[[SLOT]]
// CHECK:         %[[ATTRIBUTE:.*]] = llvm.mlir.constant(401 : i32) : i32
// CHECK:         %[[PAYLOAD:.*]] = llvm.getelementptr %[[GIVEN]][1]
// CHECK-NEXT:    llvm.call %{{.*}}(%{{.*}}, %[[ATTRIBUTE]], %{{.*}}, %{{.*}}, %[[PAYLOAD]])
// CHECK:         llvm.getelementptr %[[TABLE]][0, 7]
// CHECK-NEXT:    %[[GET:.*]] = llvm.load
// CHECK:         %[[SIZE:.*]] = llvm.mlir.constant(402 : i32) : i32
// CHECK:         llvm.call %[[GET]](%{{.*}}, %[[SIZE]], %{{.*}}, %{{.*}}, %{{.*}}, %[[NUMBER:.*]]) :
// CHECK:         %[[VALUE:.*]] = llvm.load %[[NUMBER]] : !llvm.ptr -> i64
// CHECK:         llvm.store %{{.*}}, %[[PLAN]] : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:    llvm.store %[[VALUE]], %[[BYTES]] : i64, !llvm.ptr
// CHECK:         llvm.store %{{.*}}, %[[PLAN]] : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:    llvm.return
cudnn_backend.func @plan(%handle, %config: !cudnn_backend.descriptor<enginecfg>) {
  %plan = cudnn_backend.create <execution_plan>
  cudnn_backend.set %plan, <execution_plan_engine_config>, %config : <execution_plan>, !cudnn_backend.descriptor<enginecfg>
  cudnn_backend.finalize %plan : <execution_plan>
  %bytes = cudnn_backend.get %plan, <execution_plan_workspace_size> : <execution_plan> -> i64
  cudnn_backend.return %plan, %bytes : <execution_plan>, i64
}

// Payloads of the other types: text with its null, 32-bit numbers, fractions, a flag that is read.
// CHECK-LABEL: llvm.func @values(
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK:         llvm.store %{{.*}}, %{{.*}} : i8, !llvm.ptr
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
