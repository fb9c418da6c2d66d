// cuDNN rounds f32 products to TF32. If that is forbidden, the product is outside, with the reason.
// RUN: convoy-opt %s --pass-pipeline="builtin.module(func.func(tcp-form-groups{allow-tf32=false}))" | filecheck %s --check-prefix=STRICT
// RUN: convoy-opt %s --pass-pipeline="builtin.module(func.func(tcp-form-groups))" | filecheck %s --check-prefix=TF32

// STRICT-LABEL: func.func @f32
// STRICT-NOT: tcp.isolated_group
// STRICT: tcp.matmul {{.*}}tcp.outside = "matmul: in f32 all engines of cuDNN use TF32, which allow-tf32=false forbids"
// TF32-LABEL: func.func @f32
// TF32: tcp.isolated_group
func.func @f32(%a: tensor<4x64xf32>, %b: tensor<64x8xf32>) -> tensor<4x8xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.matmul %a, %b : tensor<4x64xf32>, tensor<64x8xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// STRICT-LABEL: func.func @f16
// STRICT: tcp.isolated_group
// TF32-LABEL: func.func @f16
func.func @f16(%a: tensor<4x64xf16>, %b: tensor<64x8xf16>) -> tensor<4x8xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.matmul %a, %b : tensor<4x64xf16>, tensor<64x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}
