// Inline graphs are compiled like groups of a model: several in one function, between other ops on tensors.
// RUN: convoy-opt %s --convoy-pipeline="from=cudnn to=linalg" | filecheck %s
// RUN: convoy-opt %s --convoy-pipeline="from=cudnn to=host" | filecheck %s --check-prefix=HOST
// RUN: convoy-opt %s --convoy-pipeline="from=cudnn to=llvm" | filecheck %s --check-prefix=LLVM
// RUN: convoy-opt %s --convert-elementwise-to-linalg --convoy-pipeline="from=linalg to=llvm target=cuda" | filecheck %s --check-prefix=LLVM

!h = !cudnn.tensor_desc<8x64xf16>
!b = !cudnn.tensor_desc<8x64xbf16>
!f = !cudnn.tensor_desc<8x64xf32>

// Equal graphs are one symbol.
// CHECK: cudnn.graph @exp_0(%{{.*}}: !cudnn.tensor_desc<8x64xf16>) -> !cudnn.tensor_desc<8x64xf32>
// CHECK: cudnn.graph @add_0(%{{.*}}: !cudnn.tensor_desc<8x64xf32>, %{{.*}}: !cudnn.tensor_desc<8x64xbf16>) -> !cudnn.tensor_desc<8x64xf16>
// CHECK-NOT: cudnn.graph
// CHECK: func.func @main(
// CHECK: cudnn.execute @exp_0
// CHECK: linalg.generic
// CHECK: cudnn.execute @add_0
// CHECK: linalg.generic
// CHECK: cudnn.execute @exp_0

// An elementwise op between two graphs is a kernel.
// HOST: steps = [{call = 0 : i64}, {kernel = 0 : i64}, {call = 1 : i64}, {kernel = 1 : i64}, {call = 2 : i64}]
// HOST: cudnn_backend.func @exp_0_build
// HOST: cudnn_backend.func @add_0_build

// LLVM: llvm.func @exp_0_build(
// LLVM: llvm.func @add_0_build(
// LLVM: llvm.func internal @main(
// LLVM: llvm.func @convoy_main(
func.func @main(%x: tensor<8x64xf16>, %y: tensor<8x64xbf16>) -> tensor<8x64xf32> {
  %h = cudnn.get_current_handle !cudnn.handle
  %0 = cudnn.build_and_exec_graph %h %x {
  ^bb0(%a: !h):
    %r = cudnn.pointwise exp(%a) type = f32 : !h -> !f
    cudnn.build_graph(%r) : !f
  } : tensor<8x64xf16> -> tensor<8x64xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %2 = cudnn.build_and_exec_graph %h %1, %y {
  ^bb0(%a: !f, %c: !b):
    %r = cudnn.pointwise add(%a, %c) type = f32 : !f, !b -> !h
    cudnn.build_graph(%r) : !h
  } : tensor<8x64xf32>, tensor<8x64xbf16> -> tensor<8x64xf16>
  %3 = arith.negf %2 : tensor<8x64xf16>
  %h2 = cudnn.get_current_handle !cudnn.handle
  %4 = cudnn.build_and_exec_graph %h2 %3 {
  ^bb0(%a: !h):
    %r = cudnn.pointwise exp(%a) type = f32 : !h -> !f
    cudnn.build_graph(%r) : !f
  } : tensor<8x64xf16> -> tensor<8x64xf32>
  return %4 : tensor<8x64xf32>
}
