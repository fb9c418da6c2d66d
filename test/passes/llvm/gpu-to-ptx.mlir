// RUN: convoy-opt %s -pass-pipeline="builtin.module(add-runtime-argument,gpu-map-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),gpu-module-to-binary{format=isa})" | filecheck %s

// CHECK: gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_80">,
// CHECK-SAME: .target sm_80
// CHECK-SAME: .visible .entry main_add_sqrt_0(
// CHECK-SAME: ld.global.nc.v4.b32
// CHECK-SAME: sqrt.rn.f32
// CHECK-SAME: st.global.v4.b32
// CHECK-SAME: .visible .entry main_reduce_max_0(
// CHECK-SAME: shfl.sync.bfly.b32
func.func @main(%x: memref<512x1024xf32>, %y: memref<512x1024xf32>, %out: memref<512xf32>) attributes {tcp.target = "cuda"} {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<512x1024xf32>) outs(%y : memref<512x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %one : f32
    %r = math.sqrt %s : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%one : f32) outs(%out : memref<512xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%y : memref<512x1024xf32>) outs(%out : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  }
  return
}

// Division is exact unless it has the flag `afn`.

// CHECK: .visible .entry approximate_exp2_div_0(
// CHECK-SAME: ex2.approx.f32
// CHECK-SAME: div.full.f32
// CHECK-SAME: div.rn.f32
func.func @approximate(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {tcp.target = "cuda"} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp2 %a fastmath<afn> : f32
    %q = arith.divf %a, %e fastmath<afn> : f32
    %r = arith.divf %q, %a : f32
    linalg.yield %r : f32
  }
  return
}

// A quotient by a constant is a product with each of two parts of the reciprocal. A power of two and
// a constant whose reciprocal is subnormal keep one instruction, and a variable keeps the division.

// CHECK: .visible .entry constants_div_0(
// CHECK-SAME: mul.rn.f32 \09[[REST:%r[0-9]+]], [[X:%r[0-9]+]], {{[^;]*}};\0A\09fma.rn.f32 \09[[Q:%r[0-9]+]], [[X]], {{[^;]*}}, [[REST]];\0A
// CHECK-SAME: mul.rn.f32 \09{{%r[0-9]+}}, [[Q]], 0f3E800000;
// CHECK: .visible .entry huge_div_0(
// CHECK-SAME: div.rn.f32
func.func @constants(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {tcp.target = "cuda"} {
  %nine = arith.constant 9.0 : f32
  %four = arith.constant 4.0 : f32
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.divf %a, %nine : f32
    %r = arith.divf %q, %four : f32
    linalg.yield %r : f32
  }
  return
}
func.func @huge(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {tcp.target = "cuda"} {
  %huge = arith.constant 3.0e38 : f32
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.divf %a, %huge : f32
    linalg.yield %q : f32
  }
  return
}

// A sigmoid flushes subnormal powers, which one absorbs, and the reciprocal of a quarter of the sum,
// which is never too large.

// CHECK: .visible .entry sigmoid_exp2_add_div_0(
// CHECK-SAME: ex2.approx.ftz.f32
// CHECK-SAME: fma.rn.f32
// CHECK-SAME: rcp.approx.ftz.f32
// CHECK-NOT: div.full.f32
// CHECK: .visible .entry other_sums_exp2_add_div_0(
// CHECK-SAME: ex2.approx.f32
// CHECK-SAME: div.full.f32
func.func @sigmoid(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {tcp.target = "cuda"} {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp2 %a fastmath<afn> : f32
    %d = arith.addf %e, %one : f32
    %q = arith.divf %a, %d fastmath<afn> : f32
    linalg.yield %q : f32
  }
  return
}
func.func @other_sums(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {tcp.target = "cuda"} {
  %little = arith.constant 1.0e-30 : f32
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp2 %a fastmath<afn> : f32
    %d = arith.addf %e, %little : f32
    %q = arith.divf %a, %d fastmath<afn> : f32
    linalg.yield %q : f32
  }
  return
}
