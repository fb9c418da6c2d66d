// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// CHECK-DAG: #[[INDICES:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2)>

// Every load is in bounds; an index out of range has NaN as its result.
// CHECK-LABEL: func.func @index_select
// CHECK-SAME: (%[[X:.*]]: tensor<3x5x4xf32>, %[[I:.*]]: tensor<2x6xi64>)
// CHECK: linalg.generic {indexing_maps = [#[[INDICES]], #{{.*}}], {{.*}}} ins(%[[I]] : tensor<2x6xi64>)
// CHECK: %[[INDEX:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: %[[LOW:.*]] = arith.maxsi %[[INDEX]], %{{.*}}
// CHECK: %[[INSIDE:.*]] = arith.minsi %[[LOW]], %{{.*}}
// CHECK: %[[ELEMENT:.*]] = tensor.extract %[[X]][%{{.*}}, %[[INSIDE]], %{{.*}}]
// CHECK: %[[VALID:.*]] = arith.cmpi ule, %[[INDEX]], %{{.*}}
// CHECK: arith.select %[[VALID]], %[[ELEMENT]], %{{.*}} : f32
func.func @index_select(%x: tensor<3x5x4xf32>, %i: tensor<2x6xi64>) -> tensor<3x2x6x4xf32> {
  %0 = tcp.index_select %x, %i {dim = 1 : index} : tensor<3x5x4xf32>, tensor<2x6xi64> -> tensor<3x2x6x4xf32>
  return %0 : tensor<3x2x6x4xf32>
}

// CHECK-LABEL: func.func @gather
// CHECK: linalg.generic
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<5x4xi8>
// CHECK: arith.select %{{.*}}, %{{.*}}, %c-128_i8 : i8
func.func @gather(%x: tensor<5x4xi8>, %i: tensor<2x4xi32>) -> tensor<2x4xi8> {
  %0 = tcp.gather %x, %i {dim = 0 : index} : tensor<5x4xi8>, tensor<2x4xi32> -> tensor<2x4xi8>
  return %0 : tensor<2x4xi8>
}

// Neither a zero nor -1 reaches the division.
// CHECK-LABEL: func.func @divide_integers
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[Y:.*]], %c0_i32
// CHECK: %[[MINUS:.*]] = arith.cmpi eq, %[[Y]], %c-1_i32
// CHECK: %[[EITHER:.*]] = arith.ori %[[ZERO]], %[[MINUS]]
// CHECK: %[[SAFE:.*]] = arith.select %[[EITHER]], %c1_i32, %[[Y]]
// CHECK: arith.divsi %{{.*}}, %[[SAFE]]
func.func @divide_integers(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = tcp.div %x, %y : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
