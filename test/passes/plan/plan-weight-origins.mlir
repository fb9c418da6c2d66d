// RUN: convoy-opt %s --plan-weight-origins | filecheck %s
// RUN: convoy-opt %s --plan-weight-origins > %t.1
// RUN: sed 's/4x8/6x8/g' %s | convoy-opt --plan-weight-origins | sed 's/6x8/4x8/g' > %t.2
// RUN: diff %t.1 %t.2
// An origin does not depend on the types of @main. Locations and names of values are not in it.

#id = affine_map<(d0) -> (d0)>

// The same computation has the same origin, another one, another weight or another type a different
// one. Equal weights may have different names.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %{{.*}}: tensor<4x8xf32> {tcp.input = "x"}
// CHECK-SAME: %{{.*}}: tensor<8xf32> {tcp.origin = "[[TWICE:[0-9a-f]+]]", tcp.prepared = "a2"}
// CHECK-SAME: %{{.*}}: tensor<8xf32> {tcp.origin = "[[TWICE]]", tcp.prepared = "a2_again"}
// CHECK-SAME: %{{.*}}: tensor<8xf32> {tcp.origin = "[[ARGUMENT:[0-9a-f]+]]", tcp.prepared = "a"}
// CHECK-NOT: [[TWICE]]
// CHECK-LABEL: func.func @prepare_weights
// CHECK: tensor<8xf32> {tcp.origin = "[[TWICE]]", tcp.prepared = "a2"}
// CHECK: tensor<8xf32> {tcp.origin = "[[OTHER:[0-9a-f]+]]", tcp.prepared = "b2"}
func.func @main(%x: tensor<4x8xf32> {tcp.input = "x"}, %0: tensor<8xf32> {tcp.prepared = "a2"},
                %1: tensor<8xf32> {tcp.prepared = "a2_again"}, %2: tensor<8xf32> {tcp.prepared = "a"},
                %3: tensor<8xf32> {tcp.prepared = "b2"}, %4: tensor<8xf32> {tcp.prepared = "a3"})
    -> (tensor<4x8xf32> {tcp.output = "y"}) attributes {tcp.target = "cpu"} {
  return %x : tensor<4x8xf32>
}
func.func @prepare_weights(%a: tensor<8xf32> {tcp.weight = "a"}, %b: tensor<8xf32> {tcp.weight = "b"})
    -> (tensor<8xf32> {tcp.prepared = "a2"}, tensor<8xf32> {tcp.prepared = "a2_again"},
        tensor<8xf32> {tcp.prepared = "a"}, tensor<8xf32> {tcp.prepared = "b2"},
        tensor<8xf32> {tcp.prepared = "a3"}) attributes {tcp.target = "cpu"} {
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.mulf %in, %two : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %also_two = arith.constant 2.0 : f32
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.mulf %in, %also_two : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%b : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.mulf %in, %two : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.mulf %in, %three : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %0, %1, %a, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
