// Hand-written IR gets the names of a program.
// RUN: convoy-opt %s --split-input-file --convoy-complete-program --verify-diagnostics | filecheck %s

// CHECK: module attributes {tcp.target = "cpu"} {
// CHECK-NEXT: func.func @main(%{{.*}}: tensor<2xf32> {tcp.input = "arg0"}, %{{.*}}: tensor<2xf32> {tcp.weight = "w"}, %{{.*}}: tensor<2xf32> {tcp.input = "arg2_"}, %{{.*}}: tensor<2xf32> {tcp.input = "arg2"}) -> (tensor<2xf32> {tcp.output = "0"}, tensor<2xf32> {tcp.output = "y"}) attributes {tcp.target = "cpu"}
// expected-remark @+1 {{@f is the only function of the module, so it becomes @main}}
func.func @f(%x: tensor<2xf32>, %w: tensor<2xf32> {tcp.weight = "w"}, %y: tensor<2xf32>, %z: tensor<2xf32> {tcp.input = "arg2"})
    -> (tensor<2xf32>, tensor<2xf32> {tcp.output = "y"}) {
  %0 = tcp.add %x, %w : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %1 = tcp.add %y, %z : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// Arguments with a role keep it.
// CHECK: func.func @main(%{{.*}}: tensor<2xf32> {tcp.prepared = "w"}) -> (tensor<2xf32> {tcp.output = "0"})
// CHECK: func.func @prepare_weights() -> (tensor<2xf32> {tcp.prepared = "w"})
func.func @main(%w: tensor<2xf32> {tcp.prepared = "w"}) -> tensor<2xf32> attributes {tcp.target = "cpu"} {
  return %w : tensor<2xf32>
}
func.func @prepare_weights() -> (tensor<2xf32> {tcp.prepared = "w"}) {
  %0 = arith.constant dense<1.0> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Nothing is renamed if there are several functions.
// CHECK: func.func @f()
// CHECK: func.func @g()
func.func @f() { return }
func.func @g() { return }
