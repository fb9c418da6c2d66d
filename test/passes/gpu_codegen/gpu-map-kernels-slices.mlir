// Kernels that write slices of a concat's result. A slice does not overlap the ones beside it, so a
// kernel takes in the fill of its slice, and may read another slice of the same memory.
// RUN: convoy-opt %s --convoy-pipeline="from=group to=host target=cuda" 2>/dev/null | filecheck %s

// CHECK: kernels = [
// CHECK-SAME: {bytes = 196608 : i64, role = "output"}
// CHECK-SAME: bytes = 131072 : i64, location = "{{[^"]*}}", name = "main_reduce_gather_max_0"
// CHECK-SAME: {bytes = 196608 : i64, role = "inout"}
// CHECK-SAME: bytes = 131072 : i64, location = "{{[^"]*}}", name = "main_reduce_gather_max_1"

// CHECK-COUNT-3: cudnn_backend.launch_kernel
// CHECK-NOT: cudnn_backend.launch_kernel
// CHECK: gpu.func @main_reduce_gather_max_0(%{{.*}}: memref<9xf16> {{.*}}, %[[OUT:.*]]: memref<98304xf16> {llvm.noalias}, %[[X:.*]]: memref<32768xf16> {llvm.noalias})
// CHECK: scf.for
// CHECK: memref.load %[[X]]
// CHECK: memref.store %{{.*}}, %[[OUT]]
// CHECK: gpu.func @main_reduce_gather_max_1(%{{.*}}: memref<9xf16> {{.*}}, %[[OUT1:.*]]: memref<98304xf16> {llvm.noalias})
// CHECK: scf.for
// CHECK: memref.load %[[OUT1]]
// CHECK: memref.store %{{.*}}, %[[OUT1]]
// CHECK: gpu.func @main_copy_0
func.func @pools(%x: tensor<2x32x32x16xf16>) -> tensor<2x32x32x48xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.max_pool %x {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<2x32x32x16xf16> -> tensor<2x32x32x16xf16>
  %1 = tcp.max_pool %0 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<2x32x32x16xf16> -> tensor<2x32x32x16xf16>
  %2 = tcp.concat %x, %0, %1 {dim = 3 : i64} : tensor<2x32x32x16xf16>, tensor<2x32x32x16xf16>, tensor<2x32x32x16xf16> -> tensor<2x32x32x48xf16>
  return %2 : tensor<2x32x32x48xf16>
}
