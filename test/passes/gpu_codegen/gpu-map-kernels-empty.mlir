// RUN: convoy-opt %s --add-runtime-argument --gpu-map-kernels | filecheck %s

// Tensors without elements need no kernel.
// CHECK-LABEL: func @empty
// CHECK-NOT: linalg
// CHECK-NOT: launch_kernel
// CHECK: return
func.func @empty(%x: memref<0xf32>, %y: memref<0xf32>) attributes {tcp.target = "cuda"} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<0xf32>) outs(%y : memref<0xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  }
  return
}
