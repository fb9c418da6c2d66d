// RUN: convoy-opt %s --kernels-to-ptx --mlir-disable-threading > %t.one
// RUN: filecheck %s --input-file %t.one
// RUN: convoy-opt %s --kernels-to-ptx > %t.many
// RUN: diff %t.one %t.many

// Modules are compiled in parallel, and keep their positions.

// CHECK:      gpu.binary @a
// CHECK-SAME:   #nvvm.target<O = 3, chip = "sm_80">
// CHECK-SAME:   .target sm_80
// CHECK-SAME:   .entry a(
// CHECK-NOT:  gpu.module
gpu.module @a [#nvvm.target<O = 3, chip = "sm_80">] {
  llvm.func @a(%x: !llvm.ptr) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1.0 : f32) : f32
    llvm.store %one, %x : f32, !llvm.ptr
    llvm.return
  }
}

// CHECK: llvm.func @between
llvm.func @between()

// CHECK:      gpu.binary @b
// CHECK-SAME:   .target sm_90
// CHECK-SAME:   .entry b(
gpu.module @b [#nvvm.target<O = 3, chip = "sm_90">] {
  llvm.func @b(%x: !llvm.ptr) attributes {nvvm.kernel} {
    llvm.call @helper(%x) : (!llvm.ptr) -> ()
    llvm.return
  }
  // A function of the module itself is inlined.
  // CHECK-NOT: call.uni
  llvm.func internal @helper(%x: !llvm.ptr) {
    %two = llvm.mlir.constant(2.0 : f32) : f32
    llvm.store %two, %x : f32, !llvm.ptr
    llvm.return
  }
}

// CHECK: gpu.binary @c
// CHECK-SAME: .entry c(
gpu.module @c [#nvvm.target<O = 3, chip = "sm_80">] {
  llvm.func @c() attributes {nvvm.kernel} {
    llvm.return
  }
}
