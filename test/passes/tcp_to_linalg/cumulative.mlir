// RUN: convoy-opt %s --split-input-file --convert-tcp-to-linalg | filecheck %s

// On the CPU a loop over the elements of a row continues its total, in f64.
// CHECK-LABEL: func.func @loop
// CHECK: linalg.fill {{.*}} -> tensor<3xf64>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<3x40xf32>) outs(%{{.*}}, %{{.*}} : tensor<3x40xf32>, tensor<3xf64>)
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32, %[[TOTAL:.*]]: f64):
// CHECK: %[[WIDE:.*]] = arith.extf %[[X]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[TOTAL]], %[[WIDE]] : f64
// CHECK: %[[Y:.*]] = arith.truncf %[[NEXT]]
// CHECK: linalg.yield %[[Y]], %[[NEXT]] : f32, f64
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @loop(%x: tensor<3x40xf32>) -> tensor<3x40xf32> attributes {tcp.target = "cpu"} {
  %0 = tcp.cumsum %x {dim = 1 : index} : tensor<3x40xf32> -> tensor<3x40xf32>
  return %0 : tensor<3x40xf32>
}

// -----

// On the GPU totals are f32, also those of f16.
// CHECK-LABEL: func.func @kernel
// CHECK: linalg.fill {{.*}} -> tensor<3xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
// CHECK: %[[NEXT:.*]] = arith.mulf
// CHECK: %[[Y:.*]] = arith.truncf %[[NEXT]]
// CHECK: linalg.yield %[[Y]], %[[NEXT]] : f16, f32
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @kernel(%x: tensor<3x40xf16>) -> tensor<3x40xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.cumprod %x {dim = 1 : index} : tensor<3x40xf16> -> tensor<3x40xf16>
  return %0 : tensor<3x40xf16>
}

// -----

// Few long rows are divided into parts, each of which begins with the total of those before it.
// CHECK-LABEL: func.func @parts
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<2x4x5000xf32>)
// CHECK: tensor.extract_slice {{.*}} : tensor<2x4x5000xf32> to tensor<2x4x1xf32>
// CHECK: %[[TOTALS:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]} ins(%{{.*}} : tensor<2x4x1xf32>) {{.*}} attrs = {{.*}}tcp.in_order
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK: tensor.extract %[[TOTALS]]#0
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @parts(%x: tensor<2x20000xf32>) -> tensor<2x20000xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.cumsum %x {dim = 1 : index} : tensor<2x20000xf32> -> tensor<2x20000xf32>
  return %0 : tensor<2x20000xf32>
}

// -----

// Neighboring threads read along rows, so long rows of another dim are transposed.
// CHECK-LABEL: func.func @transposed
// CHECK: ins(%{{.*}} : tensor<8x4096x32xf32>) outs(%{{.*}} : tensor<8x32x4096xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<8x32x4096xf32>)
// CHECK: return
func.func @transposed(%x: tensor<8x4096x32xf32>) -> tensor<8x4096x32xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.cumsum %x {dim = 1 : index} : tensor<8x4096x32xf32> -> tensor<8x4096x32xf32>
  return %0 : tensor<8x4096x32xf32>
}

// -----

// CHECK-LABEL: func.func @single
// CHECK-NEXT: return %arg0
func.func @single(%x: tensor<8x1xf32>) -> tensor<8x1xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.cumsum %x {dim = 1 : index} : tensor<8x1xf32> -> tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}
