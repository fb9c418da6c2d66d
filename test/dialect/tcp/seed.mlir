// The spelling of the first TCP prototype parses unchanged.
// RUN: convoy-opt %s --verify-roundtrip | filecheck %s

// CHECK-LABEL: func.func @group
func.func @group(%39: tensor<1x64x56x56xf32>, %15: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  // CHECK: tcp.isolated_group
  // CHECK: tcp.clamp
  // CHECK: tcp.conv2d
  // CHECK: tcp.yield
  %40 = tcp.isolated_group %39, %15 {
  ^bb0(%arg1: tensor<1x64x56x56xf32>, %arg2: tensor<64x64x3x3xf32>):
      %171 = tcp.clamp %arg1 {min_float = 0.000000e+00 : f32}
              : tensor<1x64x56x56xf32> -> tensor<1x64x56x56xf32>
      %172 = tcp.conv2d %171, %arg2
              {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
              : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>
      tcp.yield %172 : tensor<1x64x56x56xf32>
  } : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>
  return %40 : tensor<1x64x56x56xf32>
}
