// A program that has no kernels, and no op of the gpu dialect.
// RUN: convoy-opt %s --kernels-to-ptx | filecheck %s

// CHECK: func.func @main()
// CHECK-NOT: gpu.binary
func.func @main() { return }
