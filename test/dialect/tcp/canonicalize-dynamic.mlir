// Folds and patterns on shapes with `?`, whose sizes may differ in equal types.
// RUN: convoy-opt %s --canonicalize | filecheck %s

// The sizes of a ? are those of the result, so an operand with the result's type has its shape.
// CHECK-LABEL: func.func @neutral
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
// CHECK-NEXT: return %[[X]] : tensor<?x4xf32>
func.func @neutral(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<1x4xf32>
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %0 = tcp.add %x, %zero : tensor<?x4xf32>, tensor<1x4xf32> -> tensor<?x4xf32>
  %1 = tcp.mul %0, %one : tensor<?x4xf32>, tensor<1x1xf32> -> tensor<?x4xf32>
  %2 = tcp.maximum %1, %1 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// A type with a number in place of a ? is another type.
// CHECK-LABEL: func.func @other_types
func.func @other_types(%x: tensor<?x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  // CHECK: tcp.maximum
  %0 = tcp.maximum %x, %x : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<8x4xf32>
  // CHECK: tcp.reshape %{{.*}} : tensor<?x4xf32> -> tensor<8x4xf32>
  %1 = tcp.transpose %x {perm = array<i64: 0, 1>} : tensor<?x4xf32> -> tensor<8x4xf32>
  // CHECK: tcp.concat
  %2 = tcp.concat %x {dim = 0 : i64} : tensor<?x4xf32> -> tensor<8x4xf32>
  // CHECK: tcp.pad
  %3 = tcp.pad %x {high = array<i64: 0, 0>, interior = array<i64: 0, 0>, low = array<i64: 0, 0>, value = 0.0 : f64} : tensor<?x4xf32> -> tensor<8x4xf32>
  // CHECK: tcp.reverse
  %4 = tcp.reverse %x {dims = array<i64>} : tensor<?x4xf32> -> tensor<8x4xf32>
  return %0, %1, %2, %3, %4 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// Constants have no ?.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<?xf16>, tensor<?xf32>, tensor<?xi1>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  // CHECK: tcp.cast
  %0 = tcp.cast %c : tensor<4xf32> -> tensor<?xf16>
  // CHECK: tcp.add
  %1 = tcp.add %c, %c : tensor<4xf32>, tensor<4xf32> -> tensor<?xf32>
  // CHECK: tcp.compare
  %2 = tcp.compare %c, %c {predicate = "eq"} : tensor<4xf32>, tensor<4xf32> -> tensor<?xi1>
  // CHECK: tcp.reshape
  %3 = tcp.reshape %c : tensor<4xf32> -> tensor<?xf32>
  // CHECK: tcp.concat
  %4 = tcp.concat %c, %c {dim = 0 : i64} : tensor<4xf32>, tensor<4xf32> -> tensor<?xf32>
  // CHECK: tcp.pad
  %5 = tcp.pad %c {high = array<i64: -1>, interior = array<i64: 0>, low = array<i64: 0>, value = 2.0 : f64} : tensor<4xf32> -> tensor<?xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<?xf16>, tensor<?xf32>, tensor<?xi1>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// The first operand may have another size than a ? of the same type.
// CHECK-LABEL: func.func @select
// CHECK: tcp.select
func.func @select(%a: tensor<1x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %true = arith.constant dense<true> : tensor<1x1xi1>
  %0 = tcp.select %true, %a, %b : tensor<1x1xi1>, tensor<1x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @reshapes
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x?xf32>
func.func @reshapes(%x: tensor<?x4xf32>, %y: tensor<?x?xf32>) -> (tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x2xf32>) {
  // The elements determine the ?.
  %0 = tcp.reshape %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // 2 x 3 may become 3 x 2.
  // CHECK: %[[R:.*]] = tcp.reshape %[[Y]] : tensor<?x?xf32> -> tensor<?x?xf32>
  %1 = tcp.reshape %y : tensor<?x?xf32> -> tensor<?x?xf32>
  // CHECK: %[[S:.*]] = tcp.reshape %[[X]] : tensor<?x4xf32> -> tensor<?x2xf32>
  %2 = tcp.reshape %x : tensor<?x4xf32> -> tensor<2x?x2xf32>
  %3 = tcp.reshape %2 : tensor<2x?x2xf32> -> tensor<?x2xf32>
  // CHECK: return %[[X]], %[[R]], %[[S]]
  return %0, %1, %3 : tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x2xf32>
}

// CHECK-LABEL: func.func @transposes
func.func @transposes(%x: tensor<?x1x4xf32>, %y: tensor<?x1x?xf32>) -> (tensor<1x?x4xf32>, tensor<1x?x?xf32>) {
  // CHECK: tcp.reshape %{{.*}} : tensor<?x1x4xf32> -> tensor<1x?x4xf32>
  %0 = tcp.transpose %x {perm = array<i64: 1, 0, 2>} : tensor<?x1x4xf32> -> tensor<1x?x4xf32>
  // A reshape does not determine both ?.
  // CHECK: tcp.transpose %{{.*}} : tensor<?x1x?xf32> -> tensor<1x?x?xf32>
  %1 = tcp.transpose %y {perm = array<i64: 1, 0, 2>} : tensor<?x1x?xf32> -> tensor<1x?x?xf32>
  return %0, %1 : tensor<1x?x4xf32>, tensor<1x?x?xf32>
}

// CHECK-LABEL: func.func @slices
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
func.func @slices(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = tcp.slice %x {sizes = array<i64: -1, 4>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: %[[A:.*]] = tcp.slice %[[X]] {sizes = array<i64: -1, 4>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>}
  %1 = tcp.slice %x {sizes = array<i64: -1, 4>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<?x4xf32> -> tensor<?x4xf32>
  // The rest of the rest.
  // CHECK: %[[B:.*]] = tcp.slice %[[X]] {sizes = array<i64: -1, 4>, starts = array<i64: 5, 0>, strides = array<i64: 6, 1>}
  %2 = tcp.slice %1 {sizes = array<i64: -1, 4>, starts = array<i64: 2, 0>, strides = array<i64: 3, 1>} : tensor<?x4xf32> -> tensor<?x4xf32>
  %3 = tcp.slice %x {sizes = array<i64: -1, 4>, starts = array<i64: 1, 0>, strides = array<i64: 2, 1>} : tensor<?x4xf32> -> tensor<?x4xf32>
  %4 = tcp.slice %3 {sizes = array<i64: -1, 4>, starts = array<i64: 2, 0>, strides = array<i64: 3, 1>} : tensor<?x4xf32> -> tensor<?x4xf32>
  // The rest of a part is not the rest of the dim.
  // CHECK: %[[C:.*]] = tcp.slice %[[X]] {sizes = array<i64: 5, 4>
  // CHECK: %[[D:.*]] = tcp.slice %[[C]] {sizes = array<i64: -1, 4>
  %5 = tcp.slice %x {sizes = array<i64: 5, 4>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<?x4xf32> -> tensor<?x4xf32>
  %6 = tcp.slice %5 {sizes = array<i64: -1, 4>, starts = array<i64: 2, 0>, strides = array<i64: 1, 1>} : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: return %[[X]], %[[A]], %[[B]], %[[D]]
  return %0, %1, %4, %6 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// Padding, a stride or interior elements of a ? are no identity although the types are equal.
// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<?x4x?xf32>) -> (tensor<?x4x?xf32>, tensor<?x4x?xf32>, tensor<?x4x?xf32>, tensor<?x4x?xf32>) {
  // CHECK: tcp.max_pool
  %0 = tcp.max_pool %x {dilation = array<i64: 1>, kernel = array<i64: 1>, pad = array<i64: 1, 1>, stride = array<i64: 1>} : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
  // CHECK: tcp.avg_pool
  %1 = tcp.avg_pool %x {ceil_pad = array<i64: 1>, kernel = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
  // CHECK: tcp.pad
  %2 = tcp.pad %x {high = array<i64: 0, 0, 0>, interior = array<i64: 0, 0, 1>, low = array<i64: 0, 0, 0>, value = 0.0 : f64} : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
  // CHECK: tcp.reduce_sum
  %3 = tcp.reduce_sum %x {dims = array<i64: 2>} : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
  return %0, %1, %2, %3 : tensor<?x4x?xf32>, tensor<?x4x?xf32>, tensor<?x4x?xf32>, tensor<?x4x?xf32>
}

// CHECK-LABEL: func.func @broadcasts
// CHECK-SAME: %[[X:.*]]: tensor<1x?xf32>, %[[Y:.*]]: tensor<?x?xf32>
func.func @broadcasts(%x: tensor<1x?xf32>, %y: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<4x?xf32>) {
  // The other operand has the size.
  // CHECK: %[[A:.*]] = tcp.add %[[X]], %[[Y]] : tensor<1x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  %0 = tcp.broadcast %x : tensor<1x?xf32> -> tensor<?x?xf32>
  %1 = tcp.add %0, %y : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  // A ? is not repeated.
  %2 = tcp.broadcast %y : tensor<?x?xf32> -> tensor<?x?xf32>
  // CHECK: %[[B:.*]] = tcp.broadcast %[[X]] : tensor<1x?xf32> -> tensor<4x?xf32>
  %3 = tcp.broadcast %0 : tensor<?x?xf32> -> tensor<4x?xf32>
  // CHECK: return %[[A]], %[[Y]], %[[B]]
  return %1, %2, %3 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<4x?xf32>
}

// The inner broadcast may be bound to a shape, which the outer one has from it.
// CHECK-LABEL: func.func @broadcast_of_bound
// CHECK: tcp.broadcast %{{.*}} : tensor<1x1xf32> -> tensor<?x1xf32>
// CHECK: tcp.broadcast %{{.*}} : tensor<?x1xf32> -> tensor<?x8xf32>
func.func @broadcast_of_bound(%x: tensor<1x1xf32>) -> tensor<?x8xf32> {
  %0 = tcp.broadcast %x : tensor<1x1xf32> -> tensor<?x1xf32>
  %1 = tcp.broadcast %0 : tensor<?x1xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @one_step
// CHECK: tcp.scan
func.func @one_step(%h: tensor<?x?xf32>, %x: tensor<1x?x?xf32>) -> tensor<?x?xf32> {
  %0 = tcp.scan trips 1 carried(%h : tensor<?x?xf32>) sliced(%x : tensor<1x?x?xf32>) {
  ^bb0(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>):
    %1 = tcp.add %a, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
    tcp.yield %1 : tensor<?x?xf32>
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
