// A kernel whose result takes the buffer of an operand has one argument for both. A thread loads its
// elements before it stores them, so the pointer may be unaliased.
// RUN: convoy-opt %s --plan-in-place --plan-arena --add-runtime-argument --gpu-map-kernels | filecheck %s

// CHECK: {bytes = 4194304 : i64, role = "inout"}
// CHECK: cudnn_backend.launch_kernel %{{.*}}, kernel = 0 grid {{.*}}(%{{.*}}, %{{.*}}) :
// CHECK: gpu.func @main_add_0(%[[Y:.*]]: memref<2097152xf16> {llvm.noalias}, %[[BIAS:.*]]: memref<64xf16> {llvm.noalias}) kernel
// CHECK: vector.load %[[Y]][%[[I:.*]]] {alignment = 16 : i64}
// CHECK: vector.load %[[BIAS]]
// CHECK-NOT: .load %[[Y]]
// CHECK: vector.store %{{.*}}, %[[Y]]
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: memref<2097152xf16>, %bias: memref<64xf16>, %out: memref<32768x64xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<2097152xf16>
  memref.copy %x, %a : memref<2097152xf16> to memref<2097152xf16>
  %view = memref.expand_shape %a [[0, 1]] output_shape [32768, 64] : memref<2097152xf16> into memref<32768x64xf16>
  %b = memref.alloc() : memref<32768x64xf16>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%view, %bias : memref<32768x64xf16>, memref<64xf16>) outs(%b : memref<32768x64xf16>) {
  ^bb0(%e: f16, %s: f16, %o: f16):
    %0 = arith.addf %e, %s : f16
    linalg.yield %0 : f16
  }
  memref.copy %b, %out : memref<32768x64xf16> to memref<32768x64xf16>
  return
}
