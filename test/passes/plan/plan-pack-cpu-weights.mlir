// RUN: convoy-opt %s --plan-pack-cpu-weights="block=16" --split-input-file | filecheck %s

// CHECK-DAG:   #[[INPUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 * 2 + d5, d2 * 2 + d6 * 3, d7)>
// CHECK-DAG:   #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d3, d5, d6, d7, d4)>
// CHECK-DAG:   #[[OUTPUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3 * 16 + d4)>
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[W:.*]]: tensor<2x3x3x8x16xf32> {tcp.prepared = "w"}
// CHECK:         linalg.generic {indexing_maps = [#[[INPUT]], #[[FILTER]], #[[OUTPUT]]]
// CHECK-LABEL: func.func @prepare_weights
// CHECK-SAME:    -> (tensor<2x3x3x8x16xf32> {tcp.prepared = "w"})
// CHECK:         %[[E:.*]] = tensor.expand_shape {{.*}} {{\[\[}}0], [1], [2], [3, 4]] {{.*}} into tensor<3x3x8x2x16xf32>
// CHECK:         linalg.transpose ins(%[[E]] : {{.*}} permutation = [3, 0, 1, 2, 4]
func.func @main(%x: tensor<1x9x9x8xf32> {tcp.input = "x"}, %w: tensor<3x3x8x32xf32> {tcp.prepared = "w"}, %o: tensor<1x4x2x32xf32> {tcp.input = "o"})
    -> (tensor<1x4x2x32xf32> {tcp.output = "0"}) attributes {tcp.target = "cpu"} {
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<[1, 3]> : tensor<2xi64>}
    ins(%x, %w : tensor<1x9x9x8xf32>, tensor<3x3x8x32xf32>) outs(%o : tensor<1x4x2x32xf32>) -> tensor<1x4x2x32xf32>
  return %0 : tensor<1x4x2x32xf32>
}
func.func @prepare_weights(%w: tensor<3x3x8x32xf32> {tcp.weight = "w"}) -> (tensor<3x3x8x32xf32> {tcp.prepared = "w"}) attributes {tcp.target = "cpu"} {
  return %w : tensor<3x3x8x32xf32>
}

// -----

// 24 channels would become 32 with the zeros that fill the last block.

// CHECK-LABEL: func.func @main
// CHECK:         linalg.conv_2d_nhwc_hwcf
func.func @main(%x: tensor<1x9x9x8xf32> {tcp.input = "x"}, %w: tensor<3x3x8x24xf32> {tcp.prepared = "w"}, %o: tensor<1x7x7x24xf32> {tcp.input = "o"})
    -> (tensor<1x7x7x24xf32> {tcp.output = "0"}) attributes {tcp.target = "cpu"} {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x9x9x8xf32>, tensor<3x3x8x24xf32>) outs(%o : tensor<1x7x7x24xf32>) -> tensor<1x7x7x24xf32>
  return %0 : tensor<1x7x7x24xf32>
}
func.func @prepare_weights(%w: tensor<3x3x8x24xf32> {tcp.weight = "w"}) -> (tensor<3x3x8x24xf32> {tcp.prepared = "w"}) attributes {tcp.target = "cpu"} {
  return %w : tensor<3x3x8x24xf32>
}

// -----

// @prepare_weights is only declared.

// CHECK-LABEL: func.func @main
// CHECK:         linalg.conv_2d_nhwc_hwcf
func.func @main(%x: tensor<1x9x9x8xf32> {tcp.input = "x"}, %w: tensor<3x3x8x32xf32> {tcp.prepared = "w"}, %o: tensor<1x7x7x32xf32> {tcp.input = "o"})
    -> (tensor<1x7x7x32xf32> {tcp.output = "0"}) attributes {tcp.target = "cpu"} {
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
    ins(%x, %w : tensor<1x9x9x8xf32>, tensor<3x3x8x32xf32>) outs(%o : tensor<1x7x7x32xf32>) -> tensor<1x7x7x32xf32>
  return %0 : tensor<1x7x7x32xf32>
}
func.func private @prepare_weights(%w: tensor<3x3x8x32xf32> {tcp.weight = "w"}) -> (tensor<3x3x8x32xf32> {tcp.prepared = "w"})

// -----

// A product, whose weights have another use as a product.

// CHECK-DAG:   #[[LEFT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
// CHECK-DAG:   #[[RIGHT:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
// CHECK-DAG:   #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 16 + d2)>
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<3x8x16xf32> {tcp.prepared = "w"}
// CHECK:         linalg.generic {indexing_maps = [#[[LEFT]], #[[RIGHT]], #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%{{.*}}, %[[W]]
// CHECK:         linalg.generic {indexing_maps = [#[[LEFT]], #[[RIGHT]], #[[OUT]]]
// CHECK-LABEL: func.func @prepare_weights
// CHECK:         %[[E:.*]] = tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]] {{.*}} into tensor<8x3x16xf32>
// CHECK:         linalg.transpose ins(%[[E]] : {{.*}} permutation = [1, 0, 2]
func.func @main(%x: tensor<5x8xf32> {tcp.input = "x"}, %w: tensor<8x48xf32> {tcp.prepared = "w"}, %o: tensor<5x48xf32> {tcp.input = "o"})
    -> (tensor<5x48xf32> {tcp.output = "0"}) attributes {tcp.target = "cpu"} {
  %0 = linalg.matmul ins(%x, %w : tensor<5x8xf32>, tensor<8x48xf32>) outs(%o : tensor<5x48xf32>) -> tensor<5x48xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<5x8xf32>, tensor<8x48xf32>) outs(%0 : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %1 : tensor<5x48xf32>
}
func.func @prepare_weights(%w: tensor<8x48xf32> {tcp.weight = "w"}) -> (tensor<8x48xf32> {tcp.prepared = "w"}) attributes {tcp.target = "cpu"} {
  return %w : tensor<8x48xf32>
}

// -----

// Weights that are transposed by the maps, or also used by another op, stay as they are.

// CHECK-LABEL: func.func @main
// CHECK:         linalg.matmul
// CHECK:         linalg.matmul
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%x: tensor<5x16xf32> {tcp.input = "x"}, %w: tensor<48x16xf32> {tcp.prepared = "w"}, %v: tensor<16x16xf32> {tcp.prepared = "v"}, %o: tensor<5x48xf32> {tcp.input = "o"})
    -> (tensor<5x48xf32> {tcp.output = "0"}, tensor<16x16xf32> {tcp.output = "1"}) attributes {tcp.target = "cpu"} {
  %0 = linalg.matmul indexing_maps = [#a, #b, #c] ins(%x, %w : tensor<5x16xf32>, tensor<48x16xf32>) outs(%o : tensor<5x48xf32>) -> tensor<5x48xf32>
  %1 = linalg.matmul ins(%v, %v : tensor<16x16xf32>, tensor<16x16xf32>) outs(%v : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0, %1 : tensor<5x48xf32>, tensor<16x16xf32>
}
func.func @prepare_weights(%w: tensor<48x16xf32> {tcp.weight = "w"}, %v: tensor<16x16xf32> {tcp.weight = "v"}) -> (tensor<48x16xf32> {tcp.prepared = "w"}, tensor<16x16xf32> {tcp.prepared = "v"}) attributes {tcp.target = "cpu"} {
  return %w, %v : tensor<48x16xf32>, tensor<16x16xf32>
}

// -----

// The last block of 2049 columns is filled with zeros. The product has a loop over the columns.

// CHECK-DAG:   #[[LEFT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG:   #[[RIGHT:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
// CHECK-DAG:   #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<5x8xf32> {tcp.input = "x"}
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<129x8x16xf32> {tcp.prepared = "w"}
// CHECK:         linalg.generic {indexing_maps = [#[[LEFT]], #[[RIGHT]], #[[OUT]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[W]]
// CHECK-LABEL: func.func @prepare_weights
// CHECK:         tensor.insert_slice {{.*}} : tensor<8x2049xf32> into tensor<8x2064xf32>
func.func @main(%x: tensor<5x8xf32> {tcp.input = "x"}, %w: tensor<8x2049xf32> {tcp.prepared = "w"})
    -> (tensor<5x2049xf32> {tcp.output = "0"}) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x2049xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x2049xf32>) -> tensor<5x2049xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<5x8xf32>, tensor<8x2049xf32>) outs(%fill : tensor<5x2049xf32>) -> tensor<5x2049xf32>
  return %0 : tensor<5x2049xf32>
}
func.func @prepare_weights(%w: tensor<8x2049xf32> {tcp.weight = "w"}) -> (tensor<8x2049xf32> {tcp.prepared = "w"}) attributes {tcp.target = "cpu"} {
  return %w : tensor<8x2049xf32>
}

// -----

// Three spatial dims.

// CHECK-DAG:   #[[INPUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d0, d1 * 2 + d6, d2 + d7, d3 + d8 * 3, d9)>
// CHECK-DAG:   #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d4, d6, d7, d8, d9, d5)>
// CHECK-DAG:   #[[OUTPUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d0, d1, d2, d3, d4 * 16 + d5)>
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[W:.*]]: tensor<2x2x3x3x8x16xf32> {tcp.prepared = "w"}
// CHECK:         linalg.generic {indexing_maps = [#[[INPUT]], #[[FILTER]], #[[OUTPUT]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
// CHECK-LABEL: func.func @prepare_weights
// CHECK:         linalg.transpose {{.*}} permutation = [4, 0, 1, 2, 3, 5]
func.func @main(%x: tensor<1x8x9x9x8xf32> {tcp.input = "x"}, %w: tensor<2x3x3x8x32xf32> {tcp.prepared = "w"}, %o: tensor<1x4x7x3x32xf32> {tcp.input = "o"})
    -> (tensor<1x4x7x3x32xf32> {tcp.output = "0"}) attributes {tcp.target = "cpu"} {
  %0 = linalg.conv_3d_ndhwc_dhwcf {strides = dense<[2, 1, 1]> : tensor<3xi64>, dilations = dense<[1, 1, 3]> : tensor<3xi64>}
    ins(%x, %w : tensor<1x8x9x9x8xf32>, tensor<2x3x3x8x32xf32>) outs(%o : tensor<1x4x7x3x32xf32>) -> tensor<1x4x7x3x32xf32>
  return %0 : tensor<1x4x7x3x32xf32>
}
func.func @prepare_weights(%w: tensor<2x3x3x8x32xf32> {tcp.weight = "w"}) -> (tensor<2x3x3x8x32xf32> {tcp.prepared = "w"}) attributes {tcp.target = "cpu"} {
  return %w : tensor<2x3x3x8x32xf32>
}

// -----

#image = affine_map<(n, g, h, w, k, r, s, c) -> (n, h * 2 + r, w + s, g * 4 + c)>
#filter = affine_map<(n, g, h, w, k, r, s, c) -> (g, r, s, c, k)>
#result = affine_map<(n, g, h, w, k, r, s, c) -> (n, h, w, g * 32 + k)>

// The channels of each group are packed.

// CHECK-DAG:   #[[INPUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d2 * 2 + d6, d3 + d7, d1 * 4 + d8)>
// CHECK-DAG:   #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d1, d4, d6, d7, d8, d5)>
// CHECK-DAG:   #[[OUTPUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d2, d3, d1 * 32 + d4 * 16 + d5)>
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[W:.*]]: tensor<3x2x3x3x4x16xf32> {tcp.prepared = "w"}
// CHECK:         linalg.generic {indexing_maps = [#[[INPUT]], #[[FILTER]], #[[OUTPUT]]]
// CHECK-LABEL: func.func @prepare_weights
// CHECK:         linalg.transpose {{.*}} permutation = [0, 4, 1, 2, 3, 5]
func.func @main(%x: tensor<1x9x9x12xf32> {tcp.input = "x"}, %w: tensor<3x3x3x4x32xf32> {tcp.prepared = "w"}, %o: tensor<1x4x7x96xf32> {tcp.input = "o"})
    -> (tensor<1x4x7x96xf32> {tcp.output = "0"}) attributes {tcp.target = "cpu"} {
  %0 = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x9x9x12xf32>, tensor<3x3x3x4x32xf32>) outs(%o : tensor<1x4x7x96xf32>) {
  ^bb0(%a: f32, %f: f32, %c: f32):
    %p = arith.mulf %a, %f : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x4x7x96xf32>
  return %0 : tensor<1x4x7x96xf32>
}
func.func @prepare_weights(%w: tensor<3x3x3x4x32xf32> {tcp.weight = "w"}) -> (tensor<3x3x3x4x32xf32> {tcp.prepared = "w"}) attributes {tcp.target = "cpu"} {
  return %w : tensor<3x3x3x4x32xf32>
}

// -----

#input = affine_map<(n, g, h, w, k, r, s, c) -> (n, h + r, w + s, g * 4 + c)>
#filter = affine_map<(n, g, h, w, k, r, s, c) -> (g, r, s, c, k)>
#output = affine_map<(n, g, h, w, k, r, s, c) -> (n, h, w, g * 30 + k)>

// Groups whose channels are no whole blocks stay as they are.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    tensor<3x3x3x4x30xf32> {tcp.prepared = "w"}
func.func @main(%x: tensor<1x6x6x12xf32> {tcp.input = "x"}, %w: tensor<3x3x3x4x30xf32> {tcp.prepared = "w"}, %init: tensor<1x4x4x90xf32>)
    -> (tensor<1x4x4x90xf32> {tcp.output = "0"}) attributes {tcp.target = "cpu"} {
  %0 = linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x6x6x12xf32>, tensor<3x3x3x4x30xf32>) outs(%init : tensor<1x4x4x90xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x4x4x90xf32>
  return %0 : tensor<1x4x4x90xf32>
}
func.func @prepare_weights(%w: tensor<3x3x3x4x30xf32> {tcp.weight = "w"}) -> (tensor<3x3x3x4x30xf32> {tcp.prepared = "w"}) attributes {tcp.target = "cpu"} {
  return %w : tensor<3x3x3x4x30xf32>
}
