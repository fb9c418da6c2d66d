// RUN: convoy-opt %s --tcp-set-dtype="keep-float32=half" | filecheck %s --check-prefix=HALF
// RUN: convoy-opt %s --tcp-set-dtype="keep-float32=cast" | filecheck %s --check-prefix=CAST

// Without a dtype, all other ops keep the types of the model. A kept cast does not round.
// HALF-LABEL: func.func @main
// CAST-LABEL: func.func @main
func.func @main(%x: tensor<2x8xf16> {tcp.input = "x"}, %w: tensor<8x8xf16> {tcp.weight = "half.weight"}, %y: tensor<2x8xf32> {tcp.input = "y"}) -> (tensor<2x8xf16>, tensor<2x8xf32>) {
  // HALF: tcp.exp {{.*}} -> tensor<2x8xf16>
  // HALF: tcp.matmul {{.*}} -> tensor<2x8xf32>
  // HALF: tcp.tanh {{.*}} -> tensor<2x8xf16>
  // HALF: tcp.cast {{.*}} -> tensor<2x8xbf16>
  %0 = tcp.exp %x : tensor<2x8xf16> -> tensor<2x8xf16>
  %1 = tcp.matmul %0, %w : tensor<2x8xf16>, tensor<8x8xf16> -> tensor<2x8xf16>
  %2 = tcp.tanh %1 : tensor<2x8xf16> -> tensor<2x8xf16>
  // CAST: tcp.tanh {{.*}} -> tensor<2x8xf16>
  // CAST-NOT: bf16
  // CAST: tcp.erf {{.*}} : tensor<2x8xf32>
  %3 = tcp.cast %y : tensor<2x8xf32> -> tensor<2x8xbf16>
  %4 = tcp.cast %3 : tensor<2x8xbf16> -> tensor<2x8xf32>
  %5 = tcp.erf %4 : tensor<2x8xf32> -> tensor<2x8xf32>
  return %2, %5 : tensor<2x8xf16>, tensor<2x8xf32>
}
