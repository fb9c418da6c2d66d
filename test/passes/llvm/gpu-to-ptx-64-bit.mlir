// Threads that share a reduction of 64-bit numbers exchange them as two words.

// RUN: convoy-opt %s -pass-pipeline="builtin.module(add-runtime-argument,gpu-map-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),gpu-module-to-binary{format=isa})" | filecheck %s

// CHECK: .visible .entry main_reduce_add_0(
// CHECK-SAME: shfl.sync.bfly.b32
// CHECK-SAME: shfl.sync.bfly.b32
// CHECK-SAME: add.s64
// CHECK-SAME: st.global.b32
// CHECK-SAME: .visible .entry main_reduce_max_0(
// CHECK-SAME: shfl.sync.bfly.b32
// CHECK-SAME: shfl.sync.bfly.b32
// CHECK-SAME: st.global.b64
func.func @main(%x: memref<32x1000xi64>, %y: memref<32x1000xf64>, %sums: memref<32xi64>, %tops: memref<32xf64>)
    attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0 : i64
  linalg.fill ins(%zero : i64) outs(%sums : memref<32xi64>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<32x1000xi64>) outs(%sums : memref<32xi64>) {
  ^bb0(%a: i64, %o: i64):
    %r = arith.addi %o, %a : i64
    linalg.yield %r : i64
  }
  %low = arith.constant -1.0 : f64
  linalg.fill ins(%low : f64) outs(%tops : memref<32xf64>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%y : memref<32x1000xf64>) outs(%tops : memref<32xf64>) {
  ^bb0(%a: f64, %o: f64):
    %r = arith.maximumf %a, %o : f64
    linalg.yield %r : f64
  }
  return
}
