// A program without kernels and without gpu ops.
// RUN: convoy-opt %s --kernels-to-ptx | filecheck %s

// CHECK: func.func @main()
// CHECK-NOT: gpu.binary
func.func @main() { return }
