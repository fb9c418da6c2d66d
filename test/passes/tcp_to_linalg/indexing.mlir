// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// CHECK-DAG: #[[INDICES:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2)>

// Every load is in bounds; an index out of range has NaN as its result. An index of 64 bits is compared
// as such, because `index` may have 32 bits in a kernel.
// CHECK-LABEL: func.func @index_select
// CHECK-SAME: (%[[X:.*]]: tensor<3x5x4xf32>, %[[I:.*]]: tensor<2x6xi64>)
// CHECK: linalg.generic {indexing_maps = [#[[INDICES]], #{{.*}}], {{.*}}} ins(%[[I]] : tensor<2x6xi64>)
// CHECK: ^bb0(%[[INDEX:.*]]: i64,
// CHECK: %[[LOW:.*]] = arith.maxsi %[[INDEX]], %{{.*}}
// CHECK: %[[INSIDE:.*]] = arith.minsi %[[LOW]], %{{.*}}
// CHECK: %[[PLACE:.*]] = arith.index_cast %[[INSIDE]] : i64 to index
// CHECK: %[[ELEMENT:.*]] = tensor.extract %[[X]][%{{.*}}, %[[PLACE]], %{{.*}}]
// CHECK: %[[VALID:.*]] = arith.cmpi ule, %[[INDEX]], %{{.*}} : i64
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

// The loops are over the updates; an index out of range writes back the element.
// CHECK-LABEL: func.func @scatter
// CHECK-SAME: (%[[X:.*]]: tensor<5x4xf32>, %[[I:.*]]: tensor<3x1xi64>, %[[U:.*]]: tensor<3x4xf32>)
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[OUTER:.*]] = %[[X]])
// CHECK: scf.for %[[COLUMN:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[Y:.*]] = %[[OUTER]])
// CHECK: tensor.extract %[[I]][%[[ROW]], %{{.*}}]
// CHECK: %[[INSIDE:.*]] = arith.minsi
// CHECK: %[[VALID:.*]] = arith.cmpi ule
// CHECK: %[[ELEMENT:.*]] = tensor.extract %[[Y]][%[[INSIDE]], %[[COLUMN]]]
// CHECK: %[[UPDATE:.*]] = tensor.extract %[[U]][%[[ROW]], %[[COLUMN]]]
// CHECK: %[[SUM:.*]] = arith.addf %[[ELEMENT]], %[[UPDATE]]
// CHECK: %[[NEXT:.*]] = arith.select %[[VALID]], %[[SUM]], %[[ELEMENT]]
// CHECK: tensor.insert %[[NEXT]] into %[[Y]][%[[INSIDE]], %[[COLUMN]]]
func.func @scatter(%x: tensor<5x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %0 = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "add"} : tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32> -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// On the GPU, each element of the result reads the indices of its updates, in order.
// CHECK-LABEL: func.func @scatter_cuda
// CHECK-SAME: (%[[X:.*]]: tensor<5x4xf32>, %[[I:.*]]: tensor<3x1xi64>, %[[U:.*]]: tensor<3x4xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[I]], %[[U]] : {{.*}}) outs(%[[X]] : tensor<5x4xf32>)
// CHECK: ^bb0(%[[INDEX:.*]]: i64, %[[UPDATE:.*]]: f32, %[[ELEMENT:.*]]: f32):
// CHECK: linalg.index 0
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[INDEX]], %{{.*}} : i64
// CHECK: %[[SUM:.*]] = arith.addf %[[ELEMENT]], %[[UPDATE]]
// CHECK: arith.select %[[SAME]], %[[SUM]], %[[ELEMENT]]
func.func @scatter_cuda(%x: tensor<5x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) -> tensor<5x4xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "add"} : tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32> -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// The number of the last update is found once for each row. As an index it has bounds, whatever is in
// memory.
// CHECK-LABEL: func.func @scatter_set_cuda
// CHECK-SAME: (%[[X:.*]]: tensor<5x4xf32>, %[[I:.*]]: tensor<3x1xi64>, %[[U:.*]]: tensor<3x4xf32>)
// CHECK: %[[NONE:.*]] = linalg.fill ins(%c-1_i64 : i64) outs(%{{.*}} : tensor<5x1xi64>)
// CHECK: %[[LAST:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[I]] : {{.*}}) outs(%[[NONE]] : tensor<5x1xi64>)
// CHECK: linalg.index 2
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[LAST]], %[[X]] : {{.*}})
// CHECK: %[[NUMBER:.*]] = arith.maxsi %{{.*}}, %c0_i64
// CHECK: %[[BELOW:.*]] = arith.minsi %[[NUMBER]], %c2_i64
// CHECK: %[[ROW:.*]] = arith.index_cast %[[BELOW]] : i64 to index
// CHECK: %[[UPDATE:.*]] = tensor.extract %[[U]][%[[ROW]]
// CHECK: arith.select %{{.*}}, %[[UPDATE]], %{{.*}} : f32
func.func @scatter_set_cuda(%x: tensor<5x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) -> tensor<5x4xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "set"} : tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32> -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// Many updates are sorted. An element finds its first one, and reads only its own, whatever is in
// memory.
// CHECK-LABEL: func.func @scatter_many_cuda
// CHECK-SAME: (%[[X:.*]]: tensor<50x4xf32>, %[[I:.*]]: tensor<4096x1xi32>, %[[U:.*]]: tensor<4096x4xf32>)
// CHECK: tensor.extract %[[I]]
// CHECK: arith.shli
// CHECK-COUNT-12: scf.while
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x51xi64>)
// CHECK: scf.while
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[X]] : tensor<50x4xf32>)
// CHECK: tensor.extract %[[FIRST]]
// CHECK: arith.minui
// CHECK: tensor.extract %[[FIRST]]
// CHECK: arith.minui
// CHECK: scf.for
// CHECK: %[[NUMBER:.*]] = arith.minui
// CHECK: tensor.extract %[[U]][%[[NUMBER]], %{{.*}}]
// CHECK: arith.addf
func.func @scatter_many_cuda(%x: tensor<50x4xf32>, %i: tensor<4096x1xi32>, %u: tensor<4096x4xf32>) -> tensor<50x4xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "add"} : tensor<50x4xf32>, tensor<4096x1xi32>, tensor<4096x4xf32> -> tensor<50x4xf32>
  return %0 : tensor<50x4xf32>
}

// CHECK-LABEL: func.func @iota
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]}
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: arith.index_cast %[[I]] : index to i32
func.func @iota() -> tensor<2x4xi32> attributes {tcp.target = "cuda"} {
  %0 = tcp.iota {dim = 1 : index} : tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}
