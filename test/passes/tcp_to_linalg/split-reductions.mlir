// RUN: convoy-opt %s --pass-pipeline="builtin.module(func.func(convoy-split-reductions))" | filecheck %s

#row = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0)>
#last = affine_map<(d0, d1) -> (d1)>

// A size that divides is split into parts, and the results of the parts are reduced in turn.
// CHECK: affine_map<(d0, d1, d2) -> (d0, d1 * 2000 + d2)>
// CHECK-LABEL: @rows
func.func @rows(%x: tensor<3x1000000xf32>, %init: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[ZEROS:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<3x500xf32>)
  // CHECK: %[[UNREAD:.*]] = tensor.empty() : tensor<2000xi8>
  // CHECK: %[[PARTS:.*]] = linalg.generic
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
  // CHECK-SAME: ins(%arg0, %[[UNREAD]] : tensor<3x1000000xf32>, tensor<2000xi8>) outs(%[[ZEROS]] : tensor<3x500xf32>)
  // CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
  // CHECK: linalg.generic
  // CHECK-SAME: iterator_types = ["parallel", "reduction"]
  // CHECK-SAME: ins(%[[PARTS]] : tensor<3x500xf32>) outs(%arg1 : tensor<3xf32>)
  %0 = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x1000000xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in fastmath<reassoc> : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// A prime number of rows: 4882 parts of 2048, and a remainder of 1727 rows.
// CHECK-LABEL: @columns
func.func @columns(%x: tensor<10000063x8xf16>, %init: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: tensor.empty() : tensor<1727xi8>
  // CHECK: %[[REST:.*]] = linalg.generic
  // CHECK-SAME: ins(%arg0, %{{.*}} : tensor<10000063x8xf16>, tensor<1727xi8>) outs(%arg1 : tensor<8xf32>)
  // CHECK: linalg.generic
  // CHECK-SAME: outs(%{{.*}} : tensor<4882x8xf32>)
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%{{.*}} : tensor<4882x8xf32>) outs(%[[REST]] : tensor<8xf32>)
  %0 = linalg.generic {indexing_maps = [#row, #last], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<10000063x8xf16>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f16, %out: f32):
    %1 = arith.extf %in : f16 to f32
    %2 = arith.addf %out, %1 fastmath<reassoc> : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Short reductions are unchanged.
// CHECK-LABEL: @short
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @short(%x: tensor<3x8192xf32>, %init: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x8192xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.maximumf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// On the CPU, whose loops add sequentially, the sums of the parts are added in f64.
// CHECK-LABEL: @wide
// CHECK: %[[PARTS:.*]] = linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<3x500xf32>)
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK-SAME: ins(%[[PARTS]] : tensor<3x500xf32>) outs(%{{.*}} : tensor<3xf64>)
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: arith.addf %{{.*}}, %{{.*}} : f64
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[SUM]], %arg1 : tensor<3xf64>, tensor<3xf32>)
// CHECK: arith.truncf %{{.*}} : f64 to f32
func.func @wide(%x: tensor<3x1000000xf32>, %init: tensor<3xf32>) -> tensor<3xf32> attributes {tcp.target = "cpu"} {
  %0 = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x1000000xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// A later op reads the rows and their sums. On a GPU plan-group-rows makes one kernel of the two,
// in which a block shares the sum.
// CHECK-LABEL: @norm
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @norm(%x: tensor<4x50000xf32>) -> tensor<4x50000xf32> attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x50000xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %out = tensor.empty() : tensor<4x50000xf32>
  %y = linalg.generic {indexing_maps = [#row, #kept, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<4x50000xf32>, tensor<4xf32>) outs(%out : tensor<4x50000xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  } -> tensor<4x50000xf32>
  return %y : tensor<4x50000xf32>
}

// On a GPU the parts take the least time: a few blocks would read 32768 rows of 32 elements in 32
// turns. The reduced dim of size 1 is no row.
// CHECK-LABEL: @few_columns
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<32x32xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<32x32xf32>) outs(%arg1 : tensor<32xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @few_columns(%x: tensor<32768x32x1xf16>, %init: tensor<32xf32>) -> tensor<32xf32> attributes {tcp.target = "cuda"} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>], iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%x : tensor<32768x32x1xf16>) outs(%init : tensor<32xf32>) {
  ^bb0(%in: f16, %out: f32):
    %1 = arith.extf %in : f16 to f32
    %2 = arith.addf %out, %1 fastmath<reassoc> : f32
    linalg.yield %2 : f32
  } -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

// One kernel is faster if the threads of a block read what it reduces in a few turns.
// CHECK-LABEL: @few_turns
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @few_turns(%x: tensor<4096x16xf32>, %init: tensor<16xf32>) -> tensor<16xf32> attributes {tcp.target = "cuda"} {
  %0 = linalg.generic {indexing_maps = [#row, #last], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4096x16xf32>) outs(%init : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.maximumf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// 64 blocks would read 16 MB, so half of the multiprocessors would have none.
// CHECK-LABEL: @few_blocks
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @few_blocks(%x: tensor<8192x1024xf16>, %init: tensor<1024xf32>) -> tensor<1024xf32> attributes {tcp.target = "cuda"} {
  %0 = linalg.generic {indexing_maps = [#row, #last], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8192x1024xf16>) outs(%init : tensor<1024xf32>) {
  ^bb0(%in: f16, %out: f32):
    %1 = arith.extf %in : f16 to f32
    %2 = arith.addf %out, %1 fastmath<reassoc> : f32
    linalg.yield %2 : f32
  } -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}

// CHECK-LABEL: @enough_blocks
// CHECK:     linalg.generic
// CHECK-NOT: linalg.generic
// CHECK:     return
func.func @enough_blocks(%x: tensor<1024x4096xf16>, %init: tensor<4096xf32>) -> tensor<4096xf32> attributes {tcp.target = "cuda"} {
  %0 = linalg.generic {indexing_maps = [#row, #last], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<1024x4096xf16>) outs(%init : tensor<4096xf32>) {
  ^bb0(%in: f16, %out: f32):
    %1 = arith.extf %in : f16 to f32
    %2 = arith.addf %out, %1 fastmath<reassoc> : f32
    linalg.yield %2 : f32
  } -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
