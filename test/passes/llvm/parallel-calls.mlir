// RUN: convoy-opt %s --llvm-parallel-calls | filecheck %s

// CHECK:       llvm.func @convoy_parallel_for(!llvm.ptr, !llvm.ptr, i64, i64)
// CHECK-LABEL: llvm.func @caller
// CHECK-SAME:    (%[[X:.*]]: !llvm.ptr, %[[N:.*]]: i64)
// CHECK:         %[[FRAME:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, i64)>
// CHECK:         llvm.store %[[X]], %{{.*}}
// CHECK:         llvm.store %[[N]], %{{.*}}
// CHECK:         %[[TASK:.*]] = llvm.mlir.addressof @body_task
// CHECK:         llvm.call @convoy_parallel_for(%[[TASK]], %[[FRAME]], %{{.*}}, %{{.*}})
// CHECK-LABEL: llvm.func @again
// CHECK:         llvm.mlir.addressof @body_task
// CHECK:         llvm.call @convoy_parallel_for
// CHECK-LABEL: llvm.func internal @body_task
// CHECK-SAME:    (%{{.*}}: !llvm.ptr, %[[B:.*]]: i64, %[[E:.*]]: i64)
// CHECK:         llvm.call @body(%[[B]], %[[E]], %{{.*}}, %{{.*}})
llvm.func @caller(%x: !llvm.ptr, %n: i64) {
  %begin = llvm.mlir.constant(0 : i64) : i64
  %end = llvm.mlir.constant(8 : i64) : i64
  llvm.call @body(%begin, %end, %x, %n) {convoy.parallel} : (i64, i64, !llvm.ptr, i64) -> ()
  llvm.return
}
llvm.func @again(%x: !llvm.ptr, %n: i64) {
  llvm.call @body(%n, %n, %x, %n) {convoy.parallel} : (i64, i64, !llvm.ptr, i64) -> ()
  llvm.return
}
llvm.func internal @body(%begin: i64, %end: i64, %x: !llvm.ptr, %n: i64) { llvm.return }
