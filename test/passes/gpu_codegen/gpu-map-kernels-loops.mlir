// RUN: convoy-opt %s --gpu-map-kernels | filecheck %s

// The ops of a loop become launches in the loop. A slice at a step is an argument of its own, so
// that one kernel serves all steps.

#id = affine_map<(d0) -> (d0)>
#shift = affine_map<(d0) -> (d0 * 64)>
#odd = affine_map<(d0) -> (d0 * 64 + 4096)>

// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[RT:[^:]*]]: !llvm.ptr
// CHECK:         scf.for
// CHECK:           %[[X:.*]] = memref.view %{{.*}} : memref<8192xi8> to memref<16xf32>
// CHECK:           %[[Y:.*]] = memref.view %{{.*}} : memref<8192xi8> to memref<16xf32>
// CHECK-NEXT:      cudnn_backend.launch_kernel %[[RT]], kernel = 0 {{.*}}(%[[X]], %[[Y]])
// CHECK-NEXT:      cudnn_backend.copy %[[RT]], %[[X]], %[[Y]]
// CHECK-NEXT:      cudnn_backend.launch_kernel %[[RT]], kernel = 1 {{.*}}(%[[Y]])
// CHECK-NEXT:    }

// The slices do not overlap in any step.
// CHECK:         gpu.func @main_add_0(%{{.*}}: memref<16xf32> {llvm.noalias}, %{{.*}}: memref<16xf32> {llvm.noalias}) kernel
func.func @main(%runtime: !llvm.ptr, %arena: memref<8192xi8> {tcp.arena}) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %a = affine.apply #shift(%i)
    %b = affine.apply #odd(%i)
    %x = memref.view %arena[%a][] : memref<8192xi8> to memref<16xf32>
    %y = memref.view %arena[%b][] : memref<8192xi8> to memref<16xf32>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<16xf32>) outs(%y : memref<16xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %p, %p : f32
      linalg.yield %s : f32
    }
    memref.copy %y, %x : memref<16xf32> to memref<16xf32>
    linalg.fill ins(%one : f32) outs(%y : memref<16xf32>)
  }
  return %ok : i32
}
