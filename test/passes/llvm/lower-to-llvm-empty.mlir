// RUN: convoy-opt %s --lower-to-llvm | filecheck %s

// The last dim of a memref may be 0: nothing is read, and the argument is a pointer.
// CHECK-LABEL: llvm.func internal @main(
// CHECK-SAME: %arg0: !llvm.ptr {tcp.bytes = 0 : i64, tcp.input = "x"}
// CHECK-SAME: %arg1: !llvm.ptr {tcp.bytes = 0 : i64, tcp.output = "0"}
func.func @main(%arg0: memref<5x0xf32> {tcp.input = "x"}, %arg1: memref<0x2x0xi64> {tcp.output = "0"}) {
  func.return
}
