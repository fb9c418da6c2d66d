// RUN: convoy-opt %s --tcp-channels-last | filecheck %s

// CHECK-LABEL: func.func @conv_pool_elementwise
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[B:[^:]*]]:
func.func @conv_pool_elementwise(%x: tensor<2x3x8x9xf32> {tcp.input = "x"}, %w: tensor<4x3x3x3xf32> {tcp.weight = "w"}, %b: tensor<1x4x1x1xf32> {tcp.weight = "b"}) -> tensor<2x4x3x3xf32> {
  // CHECK-NEXT: %[[XT:.*]] = tcp.transpose %[[X]] {perm = array<i64: 0, 2, 3, 1>} : tensor<2x3x8x9xf32> -> tensor<2x8x9x3xf32>
  // CHECK-NEXT: %[[WT:.*]] = tcp.transpose %[[W]] {perm = array<i64: 0, 2, 3, 1>}
  // CHECK-NEXT: %[[C:.*]] = tcp.conv2d %[[XT]], %[[WT]] {channels_last, {{.*}}} : tensor<2x8x9x3xf32>, tensor<4x3x3x3xf32> -> tensor<2x6x7x4xf32>
  // CHECK-NEXT: %[[BT:.*]] = tcp.reshape %[[B]] : tensor<1x4x1x1xf32> -> tensor<1x1x1x4xf32>
  // CHECK-NEXT: %[[A:.*]] = tcp.add %[[C]], %[[BT]] : tensor<2x6x7x4xf32>, tensor<1x1x1x4xf32> -> tensor<2x6x7x4xf32>
  // CHECK-NEXT: %[[P:.*]] = tcp.max_pool %[[A]] {channels_last, {{.*}}} : tensor<2x6x7x4xf32> -> tensor<2x3x3x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = tcp.transpose %[[P]] {perm = array<i64: 0, 3, 1, 2>} : tensor<2x3x3x4xf32> -> tensor<2x4x3x3xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x3x8x9xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x6x7xf32>
  %1 = tcp.add %0, %b : tensor<2x4x6x7xf32>, tensor<1x4x1x1xf32> -> tensor<2x4x6x7xf32>
  %2 = tcp.max_pool %1 {dilation = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<2x4x6x7xf32> -> tensor<2x4x3x3xf32>
  return %2 : tensor<2x4x3x3xf32>
}

// Channels-last ops remain unchanged.
// CHECK-LABEL: func.func @nothing_to_do
func.func @nothing_to_do(%x: tensor<2x8x8x3xf32> {tcp.input = "x"}, %w: tensor<4x3x3x3xf32> {tcp.weight = "w"}) -> tensor<2x3x3x4xf32> {
  // CHECK-NEXT: tcp.conv2d
  // CHECK-NEXT: tcp.avg_pool
  // CHECK-NEXT: return
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32> -> tensor<2x6x6x4xf32>
  %1 = tcp.avg_pool %0 {ceil_pad = array<i64: 0, 0>, channels_last, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<2x6x6x4xf32> -> tensor<2x3x3x4xf32>
  return %1 : tensor<2x3x3x4xf32>
}

// Ops with dims as attributes use the order of their input.
// CHECK-LABEL: func.func @dims_are_remapped
func.func @dims_are_remapped(%x: tensor<2x3x8x9xf32> {tcp.input = "x"}) -> tensor<2x1x1x1xf32> {
  // CHECK: tcp.avg_pool {{.*}} -> tensor<2x8x9x3xf32>
  // CHECK-NEXT: tcp.pad {{.*}} {high = array<i64: 0, 2, 1, 0>, interior = array<i64: 0, 0, 0, 1>, low = array<i64: 0, 0, 0, 4>, value = 1.000000e+00 : f64} : tensor<2x8x9x3xf32> -> tensor<2x10x10x9xf32>
  // CHECK-NEXT: tcp.slice {{.*}} {sizes = array<i64: 2, 5, 10, 8>, starts = array<i64: 0, 0, 0, 1>, strides = array<i64: 1, 2, 1, 1>}
  // CHECK-NEXT: tcp.concat {{.*}} {dim = 3 : i64} : tensor<2x5x10x8xf32>, tensor<2x5x10x8xf32> -> tensor<2x5x10x16xf32>
  // CHECK-NEXT: tcp.reverse {{.*}} {dims = array<i64: 2, 3>}
  // CHECK-NEXT: tcp.softmax {{.*}} {dim = 3 : i64}
  // CHECK-NEXT: tcp.layer_norm {{.*}} {dims = array<i64: 1, 2, 3>
  // CHECK-NEXT: tcp.reduce_max {{.*}} {dims = array<i64: 1, 3>} {{.*}} -> tensor<2x1x10x1xf32>
  // CHECK-NEXT: tcp.broadcast {{.*}} -> tensor<2x1x10x6xf32>
  // CHECK-NEXT: tcp.reduce_sum {{.*}} {dims = array<i64: 1, 2, 3>} {{.*}} -> tensor<2x1x1x1xf32>
  // CHECK-NEXT: tcp.reshape
  // CHECK-NEXT: return
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0, 0>, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x3x8x9xf32> -> tensor<2x3x8x9xf32>
  %1 = tcp.pad %0 {high = array<i64: 0, 0, 2, 1>, interior = array<i64: 0, 1, 0, 0>, low = array<i64: 0, 4, 0, 0>, value = 1.0 : f64} : tensor<2x3x8x9xf32> -> tensor<2x9x10x10xf32>
  %2 = tcp.slice %1 {sizes = array<i64: 2, 8, 5, 10>, starts = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 1, 2, 1>} : tensor<2x9x10x10xf32> -> tensor<2x8x5x10xf32>
  %3 = tcp.concat %2, %2 {dim = 1 : i64} : tensor<2x8x5x10xf32>, tensor<2x8x5x10xf32> -> tensor<2x16x5x10xf32>
  %4 = tcp.reverse %3 {dims = array<i64: 1, 3>} : tensor<2x16x5x10xf32> -> tensor<2x16x5x10xf32>
  %5 = tcp.softmax %4 {dim = 1 : i64} : tensor<2x16x5x10xf32> -> tensor<2x16x5x10xf32>
  %6 = tcp.layer_norm %5 {dims = array<i64: 1, 2, 3>, epsilon = 1.0e-5 : f64} : tensor<2x16x5x10xf32> -> tensor<2x16x5x10xf32>
  %7 = tcp.reduce_max %6 {dims = array<i64: 1, 2>} : tensor<2x16x5x10xf32> -> tensor<2x1x1x10xf32>
  %8 = tcp.broadcast %7 : tensor<2x1x1x10xf32> -> tensor<2x6x1x10xf32>
  %9 = tcp.reduce_sum %8 {dims = array<i64: 1, 2, 3>} : tensor<2x6x1x10xf32> -> tensor<2x1x1x1xf32>
  return %9 : tensor<2x1x1x1xf32>
}

// Resizing selects rows or columns; the channels stay last.
// CHECK-LABEL: func.func @resize
func.func @resize(%x: tensor<2x3x8x9xf32> {tcp.input = "x"}, %rows: tensor<5xi32> {tcp.input = "rows"}, %table: tensor<4x2xi32> {tcp.input = "table"}) -> (tensor<2x3x5x1xf32>, tensor<2x3x4x2x9xf32>) {
  // CHECK: %[[P:.*]] = tcp.avg_pool {{.*}} -> tensor<2x8x9x3xf32>
  // CHECK-NEXT: tcp.index_select %[[P]], %{{.*}} {dim = 1 : index} : tensor<2x8x9x3xf32>, tensor<5xi32> -> tensor<2x5x9x3xf32>
  // CHECK-NEXT: tcp.reduce_max {{.*}} {dims = array<i64: 2>}
  // CHECK-NEXT: tcp.transpose %[[P]] {perm = array<i64: 0, 3, 1, 2>}
  // CHECK-NEXT: tcp.index_select {{.*}} {dim = 2 : index} : tensor<2x3x8x9xf32>, tensor<4x2xi32> -> tensor<2x3x4x2x9xf32>
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0, 0>, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x3x8x9xf32> -> tensor<2x3x8x9xf32>
  %1 = tcp.index_select %0, %rows {dim = 2 : index} : tensor<2x3x8x9xf32>, tensor<5xi32> -> tensor<2x3x5x9xf32>
  %2 = tcp.reduce_max %1 {dims = array<i64: 3>} : tensor<2x3x5x9xf32> -> tensor<2x3x5x1xf32>
  %3 = tcp.index_select %0, %table {dim = 2 : index} : tensor<2x3x8x9xf32>, tensor<4x2xi32> -> tensor<2x3x4x2x9xf32>
  return %2, %3 : tensor<2x3x5x1xf32>, tensor<2x3x4x2x9xf32>
}

// A group norm: the groups are split off the channels, which are the last dim.
// CHECK-LABEL: func.func @group_norm
func.func @group_norm(%x: tensor<2x6x8x9xf32> {tcp.input = "x"}) -> tensor<2x6x1x1xf32> {
  // CHECK: tcp.avg_pool {{.*}} -> tensor<2x8x9x6xf32>
  // CHECK-NEXT: tcp.reshape {{.*}} -> tensor<2x8x9x3x2xf32>
  // CHECK-NEXT: tcp.layer_norm {{.*}} {dims = array<i64: 1, 2, 4>
  // CHECK-NEXT: tcp.reshape {{.*}} -> tensor<2x8x9x6xf32>
  // CHECK-NEXT: tcp.reduce_max
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0, 0>, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x6x8x9xf32> -> tensor<2x6x8x9xf32>
  %1 = tcp.reshape %0 : tensor<2x6x8x9xf32> -> tensor<2x3x2x8x9xf32>
  %2 = tcp.layer_norm %1 {dims = array<i64: 2, 3, 4>, epsilon = 1.0e-5 : f64} : tensor<2x3x2x8x9xf32> -> tensor<2x3x2x8x9xf32>
  %3 = tcp.reshape %2 : tensor<2x3x2x8x9xf32> -> tensor<2x6x8x9xf32>
  %4 = tcp.reduce_max %3 {dims = array<i64: 2, 3>} : tensor<2x6x8x9xf32> -> tensor<2x6x1x1xf32>
  return %4 : tensor<2x6x1x1xf32>
}

// A norm over the last dim of the value is over another one of the stored layout.
// CHECK-LABEL: func.func @layer_norm_over_width
func.func @layer_norm_over_width(%x: tensor<2x3x8x9xf32> {tcp.input = "x"}) -> tensor<2x3x8x9xf32> {
  // CHECK: tcp.avg_pool
  // CHECK-NEXT: tcp.layer_norm {{.*}} {dims = array<i64: 2>
  // CHECK-NEXT: tcp.transpose {{.*}} {perm = array<i64: 0, 3, 1, 2>}
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0, 0>, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x3x8x9xf32> -> tensor<2x3x8x9xf32>
  %1 = tcp.layer_norm %0 {dims = array<i64: 3>, epsilon = 1.0e-5 : f64} : tensor<2x3x8x9xf32> -> tensor<2x3x8x9xf32>
  return %1 : tensor<2x3x8x9xf32>
}

// A flatten before a product with weights: the rows of the weights are permuted to the order of the
// data.
// CHECK-LABEL: func.func @flatten_into_rows
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]:
func.func @flatten_into_rows(%x: tensor<2x3x4x5xf32> {tcp.input = "x"}, %w: tensor<60x7xf32> {tcp.weight = "w"}) -> tensor<2x7xf32> {
  // CHECK: %[[P:.*]] = tcp.max_pool
  // CHECK-NEXT: %[[F:.*]] = tcp.reshape %[[P]] : tensor<2x4x5x3xf32> -> tensor<2x60xf32>
  // CHECK-NEXT: %[[R:.*]] = tcp.clamp %[[F]]
  // CHECK-NEXT: %[[W0:.*]] = tcp.reshape %[[W]] : tensor<60x7xf32> -> tensor<3x4x5x7xf32>
  // CHECK-NEXT: %[[W1:.*]] = tcp.transpose %[[W0]] {perm = array<i64: 1, 2, 0, 3>} : tensor<3x4x5x7xf32> -> tensor<4x5x3x7xf32>
  // CHECK-NEXT: %[[W2:.*]] = tcp.reshape %[[W1]] : tensor<4x5x3x7xf32> -> tensor<60x7xf32>
  // CHECK-NEXT: tcp.matmul %[[R]], %[[W2]]
  // CHECK-NEXT: return
  %0 = tcp.max_pool %x {dilation = array<i64: 1, 1>, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x3x4x5xf32> -> tensor<2x3x4x5xf32>
  %1 = tcp.reshape %0 : tensor<2x3x4x5xf32> -> tensor<2x60xf32>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<2x60xf32> -> tensor<2x60xf32>
  %3 = tcp.matmul %2, %w : tensor<2x60xf32>, tensor<60x7xf32> -> tensor<2x7xf32>
  return %3 : tensor<2x7xf32>
}

// The flattened value has another user, so it must be in order.
// CHECK-LABEL: func.func @flatten_seen
func.func @flatten_seen(%x: tensor<2x3x4x5xf32> {tcp.input = "x"}, %w: tensor<60x7xf32> {tcp.weight = "w"}) -> (tensor<2x60xf32>, tensor<2x7xf32>) {
  // CHECK: tcp.max_pool
  // CHECK-NEXT: tcp.transpose {{.*}} {perm = array<i64: 0, 3, 1, 2>}
  // CHECK-NEXT: tcp.reshape {{.*}} -> tensor<2x60xf32>
  // CHECK-NEXT: tcp.matmul
  %0 = tcp.max_pool %x {dilation = array<i64: 1, 1>, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x3x4x5xf32> -> tensor<2x3x4x5xf32>
  %1 = tcp.reshape %0 : tensor<2x3x4x5xf32> -> tensor<2x60xf32>
  %2 = tcp.matmul %1, %w : tensor<2x60xf32>, tensor<60x7xf32> -> tensor<2x7xf32>
  return %1, %2 : tensor<2x60xf32>, tensor<2x7xf32>
}

// A channel shuffle is one transpose of the channels, in any layout.
// CHECK-LABEL: func.func @channel_shuffle
func.func @channel_shuffle(%x: tensor<2x6x4x5xf32> {tcp.input = "x"}) -> tensor<2x6x4x5xf32> {
  // CHECK: tcp.max_pool
  // CHECK-NEXT: %[[S:.*]] = tcp.reshape {{.*}} : tensor<2x4x5x6xf32> -> tensor<2x4x5x2x3xf32>
  // CHECK-NEXT: %[[T:.*]] = tcp.transpose %[[S]] {perm = array<i64: 0, 1, 2, 4, 3>}
  // CHECK-NEXT: %[[R:.*]] = tcp.reshape %[[T]] : tensor<2x4x5x3x2xf32> -> tensor<2x4x5x6xf32>
  // CHECK-NEXT: tcp.max_pool %[[R]]
  // CHECK-NEXT: tcp.transpose
  // CHECK-NEXT: return
  %0 = tcp.max_pool %x {dilation = array<i64: 1, 1>, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x6x4x5xf32> -> tensor<2x6x4x5xf32>
  %1 = tcp.reshape %0 : tensor<2x6x4x5xf32> -> tensor<2x2x3x4x5xf32>
  %2 = tcp.transpose %1 {perm = array<i64: 0, 2, 1, 3, 4>} : tensor<2x2x3x4x5xf32> -> tensor<2x3x2x4x5xf32>
  %3 = tcp.reshape %2 : tensor<2x3x2x4x5xf32> -> tensor<2x6x4x5xf32>
  %4 = tcp.max_pool %3 {dilation = array<i64: 1, 1>, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x6x4x5xf32> -> tensor<2x6x4x5xf32>
  return %4 : tensor<2x6x4x5xf32>
}

// The largest operand determines the order; a splat constant has any order.
// CHECK-LABEL: func.func @largest_operand_decides
func.func @largest_operand_decides(%x: tensor<2x3x8x9xf32> {tcp.input = "x"}, %s: tensor<2x3x1x1xf32> {tcp.input = "s"}) -> tensor<2x1x1x9xf32> {
  // CHECK: %[[P:.*]] = tcp.max_pool
  // CHECK-NEXT: %[[S:.*]] = tcp.reshape {{.*}} : tensor<2x3x1x1xf32> -> tensor<2x1x1x3xf32>
  // CHECK-NEXT: %[[M:.*]] = tcp.mul %[[P]], %[[S]]
  // CHECK-NEXT: %[[C:.*]] = arith.constant dense<2.000000e+00> : tensor<1x1x9x1xf32>
  // CHECK-NEXT: tcp.mul %[[M]], %[[C]]
  // CHECK: tcp.reduce_sum {{.*}} {dims = array<i64: 1, 3>}
  // CHECK-NOT: tcp.transpose
  %c = arith.constant dense<2.0> : tensor<1x1x1x9xf32>
  %0 = tcp.max_pool %x {dilation = array<i64: 1, 1>, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x3x8x9xf32> -> tensor<2x3x8x9xf32>
  %1 = tcp.mul %0, %s : tensor<2x3x8x9xf32>, tensor<2x3x1x1xf32> -> tensor<2x3x8x9xf32>
  %2 = tcp.mul %1, %c : tensor<2x3x8x9xf32>, tensor<1x1x1x9xf32> -> tensor<2x3x8x9xf32>
  %3 = tcp.reduce_sum %2 {dims = array<i64: 1, 2>} : tensor<2x3x8x9xf32> -> tensor<2x1x1x9xf32>
  return %3 : tensor<2x1x1x9xf32>
}

// One transpose before the reshape joins the heads.
// CHECK-LABEL: func.func @heads
func.func @heads(%q: tensor<2x4x8x16xf32> {tcp.input = "q"}, %v: tensor<2x4x16x3xf32> {tcp.input = "v"}, %w: tensor<16x7xf32> {tcp.weight = "w"}) -> tensor<2x8x12xf32> {
  // CHECK-NEXT: tcp.matmul
  // CHECK-NEXT: tcp.transpose {{.*}} {perm = array<i64: 0, 2, 1, 3>}
  // CHECK-NEXT: tcp.reshape
  // CHECK-NEXT: return
  %0 = tcp.matmul %q, %v : tensor<2x4x8x16xf32>, tensor<2x4x16x3xf32> -> tensor<2x4x8x3xf32>
  %1 = tcp.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : tensor<2x4x8x3xf32> -> tensor<2x8x4x3xf32>
  %2 = tcp.reshape %1 : tensor<2x8x4x3xf32> -> tensor<2x8x12xf32>
  return %2 : tensor<2x8x12xf32>
}

// The transpose of an argument moves before the elementwise ops of a convolution's prologue, also before several convolutions.
// CHECK-LABEL: func.func @prologue
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[Y:[^:]*]]: tensor<2x8x1x1xf32>
func.func @prologue(%x: tensor<2x8x8x8xf32> {tcp.input = "x"}, %y: tensor<2x8x1x1xf32> {tcp.input = "y"}, %w: tensor<8x8x1x1xf32> {tcp.weight = "w"}, %s: tensor<1x8x1x1xf32> {tcp.weight = "s"})
    -> (tensor<2x8x8x8xf32>, tensor<2x8x8x8xf32>) {
  // CHECK-NEXT: %[[T:.*]] = tcp.transpose %[[X]] {perm = array<i64: 0, 2, 3, 1>}
  // CHECK-NEXT: tcp.reshape %[[Y]] : tensor<2x8x1x1xf32> -> tensor<2x1x1x8xf32>
  // CHECK-NEXT: tcp.mul %[[T]]
  // CHECK-NEXT: tcp.reshape
  // CHECK-NEXT: tcp.mul
  // CHECK-NEXT: %[[R:.*]] = tcp.clamp {{.*}} : tensor<2x8x8x8xf32> -> tensor<2x8x8x8xf32>
  // CHECK: tcp.conv2d %[[R]]
  // CHECK: tcp.conv2d %[[R]]
  %0 = tcp.mul %x, %y : tensor<2x8x8x8xf32>, tensor<2x8x1x1xf32> -> tensor<2x8x8x8xf32>
  %1 = tcp.mul %0, %s : tensor<2x8x8x8xf32>, tensor<1x8x1x1xf32> -> tensor<2x8x8x8xf32>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<2x8x8x8xf32> -> tensor<2x8x8x8xf32>
  %3 = tcp.conv2d %2, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x8xf32>, tensor<8x8x1x1xf32> -> tensor<2x8x8x8xf32>
  %4 = tcp.conv2d %2, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x8xf32>, tensor<8x8x1x1xf32> -> tensor<2x8x8x8xf32>
  return %3, %4 : tensor<2x8x8x8xf32>, tensor<2x8x8x8xf32>
}

// Values between are counted where they end: x * sigmoid(x) transposes x alone.
// CHECK-LABEL: func.func @prologue_of_one_value
func.func @prologue_of_one_value(%x: tensor<2x8x8x8xf32> {tcp.input = "x"}, %w: tensor<8x8x1x1xf32> {tcp.weight = "w"}) -> tensor<2x8x8x8xf32> {
  // CHECK-NEXT: %[[T:.*]] = tcp.transpose
  // CHECK-NEXT: %[[S:.*]] = tcp.sigmoid %[[T]]
  // CHECK-NEXT: tcp.mul %[[T]], %[[S]]
  %0 = tcp.sigmoid %x : tensor<2x8x8x8xf32> -> tensor<2x8x8x8xf32>
  %1 = tcp.mul %x, %0 : tensor<2x8x8x8xf32>, tensor<2x8x8x8xf32> -> tensor<2x8x8x8xf32>
  %2 = tcp.conv2d %1, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x8xf32>, tensor<8x8x1x1xf32> -> tensor<2x8x8x8xf32>
  return %2 : tensor<2x8x8x8xf32>
}

// A transpose does not move where it would move more bytes: before a sum of two tensors, or a cast to a smaller type. Nor where
// another op uses the value.
// CHECK-LABEL: func.func @no_larger_transposes
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[Y:[^:]*]]:
func.func @no_larger_transposes(%x: tensor<2x8x8x8xf32> {tcp.input = "x"}, %y: tensor<2x8x8x8xf32> {tcp.input = "y"}, %w: tensor<8x8x1x1xf16> {tcp.weight = "w"})
    -> (tensor<2x8x8x8xf16>, tensor<2x8x8x8xf16>, tensor<2x8x8x8xf16>) {
  // CHECK-NEXT: %[[S:.*]] = tcp.add %[[X]], %[[Y]]
  // CHECK-NEXT: %[[C:.*]] = tcp.cast %[[S]]
  // CHECK-NEXT: %[[T:.*]] = tcp.transpose %[[C]]
  // CHECK-NEXT: tcp.clamp %[[T]]
  %0 = tcp.add %x, %y : tensor<2x8x8x8xf32>, tensor<2x8x8x8xf32> -> tensor<2x8x8x8xf32>
  %1 = tcp.cast %0 : tensor<2x8x8x8xf32> -> tensor<2x8x8x8xf16>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<2x8x8x8xf16> -> tensor<2x8x8x8xf16>
  %3 = tcp.conv2d %2, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x8xf16>, tensor<8x8x1x1xf16> -> tensor<2x8x8x8xf16>
  // CHECK: %[[Z:.*]] = tcp.cast %[[Y]]
  // CHECK-NEXT: %[[E:.*]] = tcp.exp %[[Z]]
  // CHECK-NEXT: tcp.transpose %[[E]]
  %4 = tcp.cast %y : tensor<2x8x8x8xf32> -> tensor<2x8x8x8xf16>
  %5 = tcp.exp %4 : tensor<2x8x8x8xf16> -> tensor<2x8x8x8xf16>
  %6 = tcp.conv2d %5, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x8xf16>, tensor<8x8x1x1xf16> -> tensor<2x8x8x8xf16>
  return %3, %5, %6 : tensor<2x8x8x8xf16>, tensor<2x8x8x8xf16>, tensor<2x8x8x8xf16>
}

// A group in the input keeps its ops, with the transposes around it. A group with another op remains as it is.
// CHECK-LABEL: func.func @groups
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]:
func.func @groups(%x: tensor<2x8x8x9xf32> {tcp.input = "x"}, %w: tensor<4x8x1x1xf32> {tcp.weight = "w"}) -> (tensor<2x4x8x9xf32>, tensor<2x36x8xf32>) {
  // CHECK-NEXT: %[[XT:.*]] = tcp.transpose %[[X]] {perm = array<i64: 0, 2, 3, 1>}
  // CHECK-NEXT: %[[WT:.*]] = tcp.reshape %[[W]] : tensor<4x8x1x1xf32> -> tensor<4x1x1x8xf32>
  // CHECK-NEXT: %[[G:.*]] = tcp.isolated_group %[[XT]], %[[WT]] attributes {anchor = "conv2d"} {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<2x8x9x8xf32>, %[[B:.*]]: tensor<4x1x1x8xf32>):
  // CHECK-NEXT: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<1x1x1x1xf32>
  // CHECK-NEXT: %[[S:.*]] = tcp.add %[[A]], %[[ONE]] : tensor<2x8x9x8xf32>, tensor<1x1x1x1xf32> -> tensor<2x8x9x8xf32>
  // CHECK-NEXT: %[[C:.*]] = tcp.conv2d %[[S]], %[[B]] {channels_last, {{.*}}} : tensor<2x8x9x8xf32>, tensor<4x1x1x8xf32> -> tensor<2x8x9x4xf32>
  // CHECK-NEXT: tcp.yield %[[C]] : tensor<2x8x9x4xf32>
  %0 = tcp.isolated_group %x, %w attributes {anchor = "conv2d"} {
  ^bb0(%a: tensor<2x8x8x9xf32>, %b: tensor<4x8x1x1xf32>):
    %1 = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
    %2 = tcp.add %a, %1 : tensor<2x8x8x9xf32>, tensor<1x1x1x1xf32> -> tensor<2x8x8x9xf32>
    %3 = tcp.conv2d %2, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x9xf32>, tensor<4x8x1x1xf32> -> tensor<2x4x8x9xf32>
    tcp.yield %3 : tensor<2x4x8x9xf32>
  } : tensor<2x8x8x9xf32>, tensor<4x8x1x1xf32> -> tensor<2x4x8x9xf32>
  // CHECK: tcp.isolated_group %[[X]], %[[W]] {
  // CHECK: tcp.conv2d {{.*}} {dilation
  // CHECK: tcp.transpose %[[G]] {perm = array<i64: 0, 3, 1, 2>}
  %4 = tcp.isolated_group %x, %w {
  ^bb0(%a: tensor<2x8x8x9xf32>, %b: tensor<4x8x1x1xf32>):
    %5 = tcp.conv2d %a, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x9xf32>, tensor<4x8x1x1xf32> -> tensor<2x4x8x9xf32>
    %6 = tcp.reshape %5 : tensor<2x4x8x9xf32> -> tensor<2x36x8xf32>
    tcp.yield %6 : tensor<2x36x8xf32>
  } : tensor<2x8x8x9xf32>, tensor<4x8x1x1xf32> -> tensor<2x36x8xf32>
  return %0, %4 : tensor<2x4x8x9xf32>, tensor<2x36x8xf32>
}

// CHECK-LABEL: func.func @gradients
// CHECK-SAME: %[[G:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[X:[^:]*]]:
func.func @gradients(%g: tensor<2x6x4x4xf32> {tcp.input = "g"}, %w: tensor<6x4x3x3xf32> {tcp.input = "w"}, %x: tensor<2x4x9x9xf32> {tcp.input = "x"}) -> (tensor<2x4x9x9xf32>, tensor<6x4x3x3xf32>) {
  // CHECK-NEXT: %[[GT:.*]] = tcp.transpose %[[G]] {perm = array<i64: 0, 2, 3, 1>}
  // CHECK-NEXT: %[[WT:.*]] = tcp.transpose %[[W]] {perm = array<i64: 0, 2, 3, 1>}
  // CHECK-NEXT: tcp.conv_backward_data %[[GT]], %[[WT]] {channels_last, {{.*}}} : tensor<2x4x4x6xf32>, tensor<6x3x3x4xf32> -> tensor<2x9x9x4xf32>
  // CHECK-NEXT: %[[XT:.*]] = tcp.transpose %[[X]] {perm = array<i64: 0, 2, 3, 1>}
  // CHECK-NEXT: tcp.conv_backward_filter %[[XT]], %[[GT]] {channels_last, {{.*}}} : tensor<2x9x9x4xf32>, tensor<2x4x4x6xf32> -> tensor<6x3x3x4xf32>
  %0 = tcp.conv_backward_data %g, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<2x6x4x4xf32>, tensor<6x4x3x3xf32> -> tensor<2x4x9x9xf32>
  %1 = tcp.conv_backward_filter %x, %g {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<2x4x9x9xf32>, tensor<2x6x4x4xf32> -> tensor<6x4x3x3xf32>
  return %0, %1 : tensor<2x4x9x9xf32>, tensor<6x4x3x3xf32>
}

// Products of rows keep the order in which these are stored: attention reads any order of tokens and
// sentences, and the result is stored sentence by sentence again.
// CHECK-LABEL: func.func @tokens_first
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8x16xf16> {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
func.func @tokens_first(%x: tensor<2x8x16xf16> {tcp.input = "x"}, %w: tensor<1x16x16xf16> {tcp.weight = "w"}, %v: tensor<1x16x16xf16> {tcp.weight = "v"}) -> tensor<2x8x16xf16> {
  // CHECK-NEXT: %[[P:.*]] = tcp.matmul %[[X]], %[[W]] : tensor<2x8x16xf16>, tensor<1x16x16xf16> -> tensor<2x8x16xf16>
  // CHECK-NEXT: %[[H:.*]] = tcp.reshape %[[P]] : tensor<2x8x16xf16> -> tensor<2x8x2x8xf16>
  // CHECK-NEXT: %[[Q:.*]] = tcp.transpose %[[H]] {perm = array<i64: 0, 2, 1, 3>}
  // CHECK-NEXT: %[[A:.*]] = tcp.attention %[[Q]], %[[Q]], %[[Q]]
  // CHECK-NEXT: %[[T:.*]] = tcp.transpose %[[A]] {perm = array<i64: 0, 2, 1, 3>}
  // CHECK-NEXT: %[[R:.*]] = tcp.reshape %[[T]] : tensor<2x8x2x8xf16> -> tensor<2x8x16xf16>
  // CHECK-NEXT: %[[O:.*]] = tcp.matmul %[[R]], %[[V]]
  // CHECK-NEXT: %[[Y:.*]] = tcp.add %[[O]], %[[X]]
  // CHECK-NEXT: return %[[Y]]
  %0 = tcp.transpose %x {perm = array<i64: 1, 0, 2>} : tensor<2x8x16xf16> -> tensor<8x2x16xf16>
  %1 = tcp.matmul %0, %w : tensor<8x2x16xf16>, tensor<1x16x16xf16> -> tensor<8x2x16xf16>
  %2 = tcp.reshape %1 : tensor<8x2x16xf16> -> tensor<8x2x2x8xf16>
  %3 = tcp.transpose %2 {perm = array<i64: 1, 2, 0, 3>} : tensor<8x2x2x8xf16> -> tensor<2x2x8x8xf16>
  %4 = tcp.attention %3, %3, %3 {scale = 1.0 : f64} : tensor<2x2x8x8xf16>, tensor<2x2x8x8xf16>, tensor<2x2x8x8xf16> -> tensor<2x2x8x8xf16>
  %5 = tcp.transpose %4 {perm = array<i64: 2, 0, 1, 3>} : tensor<2x2x8x8xf16> -> tensor<8x2x2x8xf16>
  %6 = tcp.reshape %5 : tensor<8x2x2x8xf16> -> tensor<8x2x16xf16>
  %7 = tcp.matmul %6, %v : tensor<8x2x16xf16>, tensor<1x16x16xf16> -> tensor<8x2x16xf16>
  %8 = tcp.transpose %7 {perm = array<i64: 1, 0, 2>} : tensor<8x2x16xf16> -> tensor<2x8x16xf16>
  %9 = tcp.add %8, %x : tensor<2x8x16xf16>, tensor<2x8x16xf16> -> tensor<2x8x16xf16>
  return %9 : tensor<2x8x16xf16>
}

// argsort requires the original order, and a transpose before it would move more columns than
// one before the product. Rows with a weight each have no other order, nor have columns.
// CHECK-LABEL: func.func @transposed_before
func.func @transposed_before(%x: tensor<2x8x16xf16> {tcp.input = "x"}, %w: tensor<1x16x64xf16> {tcp.weight = "w"}, %v: tensor<8x16x8xf16> {tcp.weight = "v"}, %u: tensor<1x8x8xf16> {tcp.weight = "u"}) -> (tensor<8x2x64xi64>, tensor<8x2x8xf16>, tensor<2x16x8xf16>) {
  // CHECK: %[[T:.*]] = tcp.transpose %{{.*}} {perm = array<i64: 1, 0, 2>}
  // CHECK-NEXT: tcp.matmul %[[T]], %{{.*}} : tensor<8x2x16xf16>, tensor<1x16x64xf16>
  // CHECK-NEXT: tcp.argsort
  // CHECK-NEXT: tcp.matmul %[[T]], %{{.*}} : tensor<8x2x16xf16>, tensor<8x16x8xf16>
  // CHECK-NEXT: %[[C:.*]] = tcp.transpose %{{.*}} {perm = array<i64: 0, 2, 1>}
  // CHECK-NEXT: tcp.matmul %[[C]]
  %0 = tcp.transpose %x {perm = array<i64: 1, 0, 2>} : tensor<2x8x16xf16> -> tensor<8x2x16xf16>
  %1 = tcp.matmul %0, %w : tensor<8x2x16xf16>, tensor<1x16x64xf16> -> tensor<8x2x64xf16>
  %2 = tcp.argsort %1 : tensor<8x2x64xf16> -> tensor<8x2x64xi64>
  %3 = tcp.matmul %0, %v : tensor<8x2x16xf16>, tensor<8x16x8xf16> -> tensor<8x2x8xf16>
  %4 = tcp.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<2x8x16xf16> -> tensor<2x16x8xf16>
  %5 = tcp.matmul %4, %u : tensor<2x16x8xf16>, tensor<1x8x8xf16> -> tensor<2x16x8xf16>
  return %2, %3, %5 : tensor<8x2x64xi64>, tensor<8x2x8xf16>, tensor<2x16x8xf16>
}

// One of three values of equal size is transposed, and the softmax along its last dim is that of the
// sum. Before a convolution the other one is.
// CHECK-LABEL: func.func @join
func.func @join(%x: tensor<2x8x8xf16>, %y: tensor<2x8x8xf16>, %z: tensor<2x8x8xf16>) -> tensor<2x8x8xf16> {
  // CHECK: %[[T:.*]] = tcp.transpose %arg1 {perm = array<i64: 0, 2, 1>}
  // CHECK-NEXT: %[[A:.*]] = tcp.add %arg0, %[[T]]
  // CHECK-NEXT: %[[B:.*]] = tcp.add %[[A]], %arg2
  // CHECK-NEXT: tcp.softmax %[[B]] {dim = 2 : i64}
  %0 = tcp.transpose %y {perm = array<i64: 0, 2, 1>} : tensor<2x8x8xf16> -> tensor<2x8x8xf16>
  %1 = tcp.add %x, %0 : tensor<2x8x8xf16>, tensor<2x8x8xf16> -> tensor<2x8x8xf16>
  %2 = tcp.add %1, %z : tensor<2x8x8xf16>, tensor<2x8x8xf16> -> tensor<2x8x8xf16>
  %3 = tcp.softmax %2 {dim = 2 : i64} : tensor<2x8x8xf16> -> tensor<2x8x8xf16>
  return %3 : tensor<2x8x8xf16>
}
// CHECK-LABEL: func.func @join_before_conv
func.func @join_before_conv(%x: tensor<2x4x8x8xf16>, %y: tensor<2x8x8x4xf16>, %w: tensor<4x4x1x1xf16> {tcp.weight = "w"}) -> tensor<2x4x8x8xf16> {
  // CHECK: %[[T:.*]] = tcp.transpose %arg0 {perm = array<i64: 0, 2, 3, 1>}
  // CHECK-NEXT: %[[A:.*]] = tcp.add %[[T]], %arg1
  // CHECK: tcp.conv2d %[[A]]
  %0 = tcp.transpose %y {perm = array<i64: 0, 3, 1, 2>} : tensor<2x8x8x4xf16> -> tensor<2x4x8x8xf16>
  %1 = tcp.add %x, %0 : tensor<2x4x8x8xf16>, tensor<2x4x8x8xf16> -> tensor<2x4x8x8xf16>
  %2 = tcp.conv2d %1, %w {stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : tensor<2x4x8x8xf16>, tensor<4x4x1x1xf16> -> tensor<2x4x8x8xf16>
  return %2 : tensor<2x4x8x8xf16>
}

// The merge of two dims that are not adjacent needs a transpose. It restores the original order where
// the ops after it require that.
// CHECK-LABEL: func.func @merge
func.func @merge(%x: tensor<2x8x4x16xf16>) -> tensor<8x8x8xf16> {
  // CHECK: %[[T:.*]] = tcp.transpose %arg0 {perm = array<i64: 0, 2, 1, 3>}
  // CHECK-NEXT: %[[R:.*]] = tcp.reshape %[[T]] : tensor<2x4x8x16xf16> -> tensor<8x8x16xf16>
  // CHECK-NEXT: %[[K:.*]] = tcp.transpose %[[R]] {perm = array<i64: 0, 2, 1>}
  // CHECK-NEXT: tcp.matmul %[[R]], %[[K]]
  %0 = tcp.transpose %x {perm = array<i64: 0, 2, 1, 3>} : tensor<2x8x4x16xf16> -> tensor<2x4x8x16xf16>
  %1 = tcp.reshape %0 : tensor<2x4x8x16xf16> -> tensor<8x8x16xf16>
  %2 = tcp.transpose %1 {perm = array<i64: 0, 2, 1>} : tensor<8x8x16xf16> -> tensor<8x16x8xf16>
  %3 = tcp.matmul %1, %2 : tensor<8x8x16xf16>, tensor<8x16x8xf16> -> tensor<8x8x8xf16>
  return %3 : tensor<8x8x8xf16>
}

// Without convolutions, a pooling on a GPU reads and writes the order in which its input is, and so
// do those after it.
// CHECK-LABEL: func.func @pools_alone
func.func @pools_alone(%x: tensor<2x4x8x8xf16> {tcp.input = "x"}) -> tensor<2x4x2x2xf16> attributes {tcp.target = "cuda"} {
  // CHECK-NEXT: %[[A:.*]] = tcp.neg
  // CHECK-NEXT: %[[P:.*]] = tcp.avg_pool %[[A]] {ceil_pad = array<i64: 0, 0>, kernel
  // CHECK-NEXT: %[[Q:.*]] = tcp.max_pool %[[P]] {dilation = array<i64: 1, 1>, kernel
  // CHECK-NEXT: return %[[Q]]
  %0 = tcp.neg %x : tensor<2x4x8x8xf16> -> tensor<2x4x8x8xf16>
  %1 = tcp.avg_pool %0 {ceil_pad = array<i64: 0, 0>, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<2x4x8x8xf16> -> tensor<2x4x4x4xf16>
  %2 = tcp.max_pool %1 {dilation = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<2x4x4x4xf16> -> tensor<2x4x2x2xf16>
  return %2 : tensor<2x4x2x2xf16>
}

// A convolution after other ops, also of the pooling's input, needs channels as the last dim.
// CHECK-LABEL: func.func @pool_beside_conv
func.func @pool_beside_conv(%x: tensor<2x4x8x8xf16> {tcp.input = "x"}, %w: tensor<4x8x1x1xf16> {tcp.weight = "w"}) -> tensor<2x4x8x8xf16> attributes {tcp.target = "cuda"} {
  // CHECK: tcp.max_pool {{.*}} {channels_last
  // CHECK: tcp.conv2d {{.*}} {channels_last
  %0 = tcp.max_pool %x {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<2x4x8x8xf16> -> tensor<2x4x8x8xf16>
  %1 = tcp.concat %x, %0 {dim = 1 : i64} : tensor<2x4x8x8xf16>, tensor<2x4x8x8xf16> -> tensor<2x8x8x8xf16>
  %2 = tcp.conv2d %1, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x8xf16>, tensor<4x8x1x1xf16> -> tensor<2x4x8x8xf16>
  return %2 : tensor<2x4x8x8xf16>
}

// The input is stored with channels as the last dim already.
// CHECK-LABEL: func.func @pool_of_channels_last
func.func @pool_of_channels_last(%x: tensor<2x8x8x4xf16> {tcp.input = "x"}) -> tensor<2x4x4x4xf16> attributes {tcp.target = "cuda"} {
  // CHECK-NEXT: tcp.max_pool %{{.*}} {channels_last
  // CHECK-NEXT: return
  %0 = tcp.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<2x8x8x4xf16> -> tensor<2x4x8x8xf16>
  %1 = tcp.max_pool %0 {dilation = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<2x4x8x8xf16> -> tensor<2x4x4x4xf16>
  %2 = tcp.transpose %1 {perm = array<i64: 0, 2, 3, 1>} : tensor<2x4x4x4xf16> -> tensor<2x4x4x4xf16>
  return %2 : tensor<2x4x4x4xf16>
}

// cuDNN adds up large windows that overlap.
// CHECK-LABEL: func.func @large_windows
func.func @large_windows(%x: tensor<2x4x32x32xf16> {tcp.input = "x"}) -> tensor<2x4x24x24xf16> attributes {tcp.target = "cuda"} {
  // CHECK: tcp.avg_pool {{.*}} channels_last
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0, 0>, kernel = array<i64: 9, 9>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x4x32x32xf16> -> tensor<2x4x24x24xf16>
  return %0 : tensor<2x4x24x24xf16>
}

// The CPU's loops have vectors of channels.
// CHECK-LABEL: func.func @pool_on_cpu
func.func @pool_on_cpu(%x: tensor<2x4x8x8xf32> {tcp.input = "x"}) -> tensor<2x4x4x4xf32> attributes {tcp.target = "cpu"} {
  // CHECK: tcp.max_pool {{.*}} {channels_last
  %0 = tcp.max_pool %x {dilation = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<2x4x8x8xf32> -> tensor<2x4x4x4xf32>
  return %0 : tensor<2x4x4x4xf32>
}
