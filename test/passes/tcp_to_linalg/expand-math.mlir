// RUN: convoy-opt %s --convoy-expand-math | filecheck %s

// CHECK-LABEL: func.func @all
// CHECK-NOT: math.{{exp|expm1|log|tanh|erf|sin|cos|powf}} 
// CHECK: return
func.func @all(%x: f32, %y: f64) -> (f32, f64) attributes {tcp.target = "cuda"} {
  %0 = math.exp %x : f32
  %1 = math.expm1 %0 : f32
  %2 = math.log %1 : f32
  %3 = math.tanh %2 : f32
  %4 = math.erf %3 : f32
  %5 = math.sin %4 : f32
  %6 = math.cos %5 : f32
  %7 = math.powf %6, %x : f32
  %8 = math.exp %y : f64
  return %7, %8 : f32, f64
}

// On the GPU, ops whose result is stored in 16 bits use the instruction for 2^x.

// CHECK-LABEL: func.func @approximate
// CHECK: math.exp2 {{.*}} fastmath<afn>
// CHECK: math.exp2
// CHECK: math.exp2
// CHECK: arith.divf {{.*}} fastmath<afn>
// CHECK: math.exp2
// CHECK-NOT: math.exp2
// CHECK-NOT: arith.shli
// CHECK: return
func.func @approximate(%x: f32) -> f32 attributes {tcp.target = "cuda"} {
  %0 = math.exp %x fastmath<afn> : f32
  %1 = math.expm1 %0 fastmath<afn> : f32
  %2 = math.tanh %1 fastmath<afn> : f32
  %3 = math.erf %2 fastmath<afn> : f32
  return %3 : f32
}

// Logarithms have an approximate quotient, and powers are computed in f32.

// CHECK-LABEL: func.func @approximate_power
// CHECK-NOT: f64
// CHECK: arith.divf {{.*}} fastmath<afn> : f32
// CHECK-NOT: f64
// CHECK: arith.divf {{.*}} fastmath<afn> : f32
// CHECK-NOT: f64
// CHECK: math.exp2 {{.*}} fastmath<afn> : f32
// CHECK-NOT: f64
// CHECK: return
func.func @approximate_power(%x: f32, %y: f32) -> f32 attributes {tcp.target = "cuda"} {
  %0 = math.log %x fastmath<afn> : f32
  %1 = math.powf %0, %y fastmath<afn> : f32
  return %1 : f32
}

// On the GPU, small numbers are reduced by three fused operations, others in f64.

// CHECK-LABEL: func.func @sine
// CHECK: scf.if
// CHECK: math.roundeven {{.*}} : f32
// CHECK-COUNT-3: math.fma {{.*}} : f32
// CHECK: } else {
// CHECK: arith.extf {{.*}} : f32 to f64
// CHECK: return
func.func @sine(%x: f32) -> f32 attributes {tcp.target = "cuda"} {
  %0 = math.sin %x : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @sine_on_the_cpu
// CHECK-NOT: scf.if
// CHECK: return
func.func @sine_on_the_cpu(%x: f32) -> f32 attributes {tcp.target = "cpu"} {
  %0 = math.sin %x : f32
  return %0 : f32
}

// f64 has no such instruction.

// CHECK-LABEL: func.func @double
// CHECK-NOT: math.exp2
// CHECK: return
func.func @double(%x: f64) -> f64 attributes {tcp.target = "cuda"} {
  %0 = math.exp %x fastmath<afn> : f64
  return %0 : f64
}

// An exponential that is only added to constants needs no subnormal results: one factor of 2^k and a
// polynomial of degree 6 suffice.

// CHECK-LABEL: func.func @logistic
// CHECK-COUNT-10: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: arith.addf
// CHECK-NEXT: arith.divf
func.func @logistic(%x: f32) -> f32 attributes {tcp.target = "cpu"} {
  %one = arith.constant 1.0 : f32
  %0 = arith.negf %x : f32
  %1 = math.exp %0 : f32
  %2 = arith.addf %1, %one : f32
  %3 = arith.divf %one, %2 : f32
  return %3 : f32
}

// Beside a tiny constant, and in a sum of variables, it needs them.

// CHECK-LABEL: func.func @tiny
// CHECK-COUNT-13: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @tiny(%x: f32) -> f32 attributes {tcp.target = "cpu"} {
  %tiny = arith.constant 1.0e-30 : f32
  %0 = math.exp %x : f32
  %1 = arith.addf %0, %tiny : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @sum
// CHECK-COUNT-13: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @sum(%x: f32, %y: f32) -> f32 attributes {tcp.target = "cpu"} {
  %0 = math.exp %x : f32
  %1 = arith.addf %0, %y : f32
  return %1 : f32
}
