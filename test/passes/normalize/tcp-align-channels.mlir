// RUN: convoy-opt %s --tcp-align-channels | filecheck %s
// RUN: convoy-opt %s --tcp-align-channels=allow-tf32=false | filecheck %s --check-prefix=WIDE

// The first convolution computes zeros, through the ops between it and the next one; what else
// reads its result reads a slice.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[X:[^:]*]]: {{[^%]*}}%[[V:[^:]*]]: {{[^%]*}}%[[B:[^:]*]]: {{[^%]*}}%[[W:[^:]*]]:
// CHECK-DAG: %[[VP:.*]] = tcp.pad %[[V]] {high = array<i64: 6, 0, 0, 0>, {{.*}} : tensor<26x1x1x64xf16> -> tensor<32x1x1x64xf16>
// CHECK-DAG: %[[BP:.*]] = tcp.pad %[[B]] {high = array<i64: 0, 0, 0, 6>, {{.*}} : tensor<1x1x1x26xf16> -> tensor<1x1x1x32xf16>
// CHECK-DAG: %[[WP:.*]] = tcp.pad %[[W]] {high = array<i64: 0, 0, 0, 6>, {{.*}} : tensor<32x3x3x26xf16> -> tensor<32x3x3x32xf16>
// CHECK-DAG: %[[C:.*]] = tcp.conv2d %[[X]], %[[VP]]
// CHECK: %[[S:.*]] = tcp.add %[[C]], %[[BP]]
// CHECK: %[[R:.*]] = tcp.clamp %[[S]]
// CHECK-DAG: %[[Z:.*]] = tcp.slice %[[R]] {sizes = array<i64: 1, 8, 8, 26>, {{.*}} : tensor<1x8x8x32xf16> -> tensor<1x8x8x26xf16>
// CHECK-DAG: %[[Y:.*]] = tcp.conv2d %[[R]], %[[WP]]
// CHECK: return %[[Y]], %[[Z]]
func.func @chain(%x: tensor<1x8x8x64xf16>, %v: tensor<26x1x1x64xf16> {tcp.weight = "v"}, %b: tensor<1x1x1x26xf16> {tcp.weight = "b"}, %w: tensor<32x3x3x26xf16> {tcp.weight = "w"})
    -> (tensor<1x8x8x32xf16>, tensor<1x8x8x26xf16>) {
  %0 = tcp.conv2d %x, %v {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<26x1x1x64xf16> -> tensor<1x8x8x26xf16>
  %1 = tcp.add %0, %b : tensor<1x8x8x26xf16>, tensor<1x1x1x26xf16> -> tensor<1x8x8x26xf16>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<1x8x8x26xf16> -> tensor<1x8x8x26xf16>
  %3 = tcp.conv2d %2, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x26xf16>, tensor<32x3x3x26xf16> -> tensor<1x8x8x32xf16>
  return %3, %2 : tensor<1x8x8x32xf16>, tensor<1x8x8x26xf16>
}

// A depthwise convolution between two 1x1 windows, and a gate of each image.
// CHECK-LABEL: func.func @depthwise
// CHECK: tcp.pad {{.*}} tensor<1x1x1x27xf16> -> tensor<1x1x1x32xf16>
// CHECK: tcp.conv2d {{.*}} tensor<1x8x8x16xf16>, tensor<32x1x1x16xf16> -> tensor<1x8x8x32xf16>
// CHECK: tcp.conv2d {{.*}}groups = 32 : i64{{.*}} tensor<1x8x8x32xf16>, tensor<32x3x3x1xf16> -> tensor<1x8x8x32xf16>
// CHECK: tcp.mul {{.*}} tensor<1x8x8x32xf16>, tensor<1x1x1x32xf16> -> tensor<1x8x8x32xf16>
// CHECK: tcp.conv2d {{.*}} tensor<1x8x8x32xf16>, tensor<16x1x1x32xf16> -> tensor<1x8x8x16xf16>
func.func @depthwise(%x: tensor<1x8x8x16xf16>, %u: tensor<27x1x1x16xf16> {tcp.weight = "u"}, %v: tensor<27x3x3x1xf16> {tcp.weight = "v"}, %g: tensor<1x1x1x27xf16>, %w: tensor<16x1x1x27xf16> {tcp.weight = "w"}) -> tensor<1x8x8x16xf16> {
  %0 = tcp.conv2d %x, %u {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x16xf16>, tensor<27x1x1x16xf16> -> tensor<1x8x8x27xf16>
  %1 = tcp.silu %0 : tensor<1x8x8x27xf16> -> tensor<1x8x8x27xf16>
  %2 = tcp.conv2d %1, %v {channels_last, dilation = array<i64: 1, 1>, groups = 27 : i64, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x27xf16>, tensor<27x3x3x1xf16> -> tensor<1x8x8x27xf16>
  %3 = tcp.mul %2, %g : tensor<1x8x8x27xf16>, tensor<1x1x1x27xf16> -> tensor<1x8x8x27xf16>
  %4 = tcp.conv2d %3, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x27xf16>, tensor<16x1x1x27xf16> -> tensor<1x8x8x16xf16>
  return %4 : tensor<1x8x8x16xf16>
}

// A concat leaves out what a 1x1 window computes in addition.
// CHECK-LABEL: func.func @shuffled
// CHECK: %[[C:.*]] = tcp.conv2d {{.*}} tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
// CHECK: %[[S:.*]] = tcp.slice %[[C]] {{.*}} -> tensor<1x8x8x58xf16>
// CHECK: tcp.concat %{{.*}}, %[[S]]
func.func @shuffled(%x: tensor<1x8x8x64xf16>, %y: tensor<1x8x8x58xf16>, %w: tensor<58x1x1x64xf16> {tcp.weight = "w"}) -> tensor<1x8x8x116xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<58x1x1x64xf16> -> tensor<1x8x8x58xf16>
  %1 = tcp.concat %y, %0 {dim = 3 : i64} : tensor<1x8x8x58xf16>, tensor<1x8x8x58xf16> -> tensor<1x8x8x116xf16>
  return %1 : tensor<1x8x8x116xf16>
}

// A copy of the input for a window, in multiples of four for f32; a concat leaves out what the
// convolution computes in addition.
// CHECK-LABEL: func.func @copied
// CHECK: tcp.pad {{.*}} tensor<1x8x8x26xf32> -> tensor<1x8x8x28xf32>
// CHECK: tcp.conv2d {{.*}} tensor<1x8x8x28xf32>, tensor<20x3x3x28xf32> -> tensor<1x8x8x20xf32>
// CHECK: %[[C:.*]] = tcp.conv2d {{.*}} tensor<1x8x8x20xf32>, tensor<24x3x3x20xf32> -> tensor<1x8x8x24xf32>
// CHECK: %[[S:.*]] = tcp.slice %[[C]] {{.*}} -> tensor<1x8x8x22xf32>
// CHECK: tcp.concat %[[S]]
// WIDE-LABEL: func.func @copied
// WIDE-NOT: tcp.pad
func.func @copied(%x: tensor<1x8x8x26xf32>, %v: tensor<20x3x3x26xf32> {tcp.weight = "v"}, %w: tensor<22x3x3x20xf32> {tcp.weight = "w"}) -> tensor<1x8x8x48xf32> {
  %0 = tcp.conv2d %x, %v {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x26xf32>, tensor<20x3x3x26xf32> -> tensor<1x8x8x20xf32>
  %1 = tcp.conv2d %0, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x20xf32>, tensor<22x3x3x20xf32> -> tensor<1x8x8x22xf32>
  %2 = tcp.concat %1, %x {dim = 3 : i64} : tensor<1x8x8x22xf32>, tensor<1x8x8x26xf32> -> tensor<1x8x8x48xf32>
  return %2 : tensor<1x8x8x48xf32>
}

// WIDE-LABEL: func.func @quotient
// A quotient of zeros is no number, so the last convolution reads a copy.
// CHECK-LABEL: func.func @quotient
// CHECK: %[[D:.*]] = tcp.div
// CHECK: %[[P:.*]] = tcp.pad %[[D]]
// CHECK: tcp.conv2d %[[P]]
func.func @quotient(%x: tensor<1x8x8x64xf16>, %v: tensor<26x1x1x64xf16> {tcp.weight = "v"}, %w: tensor<32x3x3x26xf16> {tcp.weight = "w"}) -> tensor<1x8x8x32xf16> {
  %0 = tcp.conv2d %x, %v {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<26x1x1x64xf16> -> tensor<1x8x8x26xf16>
  %1 = tcp.div %0, %0 : tensor<1x8x8x26xf16>, tensor<1x8x8x26xf16> -> tensor<1x8x8x26xf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x26xf16>, tensor<32x3x3x26xf16> -> tensor<1x8x8x32xf16>
  return %2 : tensor<1x8x8x32xf16>
}

// 1x1 windows of an argument, few channels, whole pieces of 16 bytes, groups, filters that are no
// weights, and channels that are not the last dim.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: tcp.pad
func.func @left_alone(%a: tensor<1x8x8x26xf16>, %b: tensor<32x1x1x26xf16> {tcp.weight = "b"}, %c: tensor<1x8x8x12xf16>, %d: tensor<16x3x3x12xf16> {tcp.weight = "d"}, %e: tensor<1x8x8x24xf16>, %f: tensor<24x3x3x24xf16> {tcp.weight = "f"}, %g: tensor<20x3x3x10xf16> {tcp.weight = "g"}, %h: tensor<1x8x8x20xf16>, %i: tensor<24x3x3x26xf16>, %j: tensor<1x26x8x8xf16>, %k: tensor<24x26x3x3xf16> {tcp.weight = "k"})
    -> (tensor<1x8x8x32xf16>, tensor<1x8x8x16xf16>, tensor<1x8x8x24xf16>, tensor<1x8x8x20xf16>, tensor<1x8x8x24xf16>, tensor<1x24x8x8xf16>) {
  %0 = tcp.conv2d %a, %b {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x26xf16>, tensor<32x1x1x26xf16> -> tensor<1x8x8x32xf16>
  %1 = tcp.conv2d %c, %d {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x12xf16>, tensor<16x3x3x12xf16> -> tensor<1x8x8x16xf16>
  %2 = tcp.conv2d %e, %f {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x24xf16>, tensor<24x3x3x24xf16> -> tensor<1x8x8x24xf16>
  %3 = tcp.conv2d %h, %g {channels_last, dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x20xf16>, tensor<20x3x3x10xf16> -> tensor<1x8x8x20xf16>
  %4 = tcp.conv2d %a, %i {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x26xf16>, tensor<24x3x3x26xf16> -> tensor<1x8x8x24xf16>
  %5 = tcp.conv2d %j, %k {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x26x8x8xf16>, tensor<24x26x3x3xf16> -> tensor<1x24x8x8xf16>
  return %0, %1, %2, %3, %4, %5 : tensor<1x8x8x32xf16>, tensor<1x8x8x16xf16>, tensor<1x8x8x24xf16>, tensor<1x8x8x20xf16>, tensor<1x8x8x24xf16>, tensor<1x24x8x8xf16>
}
