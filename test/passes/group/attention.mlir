// RUN: convoy-opt %s --split-input-file --tcp-form-groups --tcp-verify-groups | filecheck %s
// RUN: convoy-opt %s --split-input-file --tcp-form-groups --convert-tcp-to-cudnn --cse | filecheck %s --check-prefix=GRAPH

// Query, key and value are slices of one product, with heads inside of rows; so is the result.
// CHECK-LABEL: func.func @packed(
// CHECK-SAME: %[[X:.*]]: tensor<64x384xf16>)
// CHECK-NEXT: %[[G:.*]] = tcp.isolated_group %[[X]] attributes {anchor = "attention", pattern = "attention+causal"} {
// CHECK: tcp.attention
// CHECK-NEXT: tcp.transpose
// CHECK-NEXT: tcp.yield
// CHECK: return %[[G]]

// GRAPH-LABEL: cudnn.graph @attention_causal_0(
// GRAPH-SAME: %[[Q:.*]]: !cudnn.tensor_desc<1x2x64x64xf16, stride = [24576, 64, 384, 1]>, %[[K:.*]]: !cudnn.tensor_desc<1x2x64x64xf16, stride = [24576, 64, 1, 384]>, %[[V:.*]]: !cudnn.tensor_desc<1x2x64x64xf16, stride = [24576, 64, 384, 1]>) -> (!cudnn.tensor_desc<1x2x64x64xf16, stride = [8192, 64, 128, 1]>, !cudnn.tensor_desc<1x2x64x1xf32, NCHW>) {
// GRAPH-NEXT: %[[S:.*]] = cudnn.matmul(%[[Q]], %[[K]])
// GRAPH: %[[A:.*]] = cudnn.pointwise mul(%[[S]]
// GRAPH: cudnn.pointwise gen_index(%[[A]]) type = i32 axis = 2
// GRAPH: cudnn.pointwise gen_index(%[[A]]) type = i32 axis = 3
// GRAPH: cudnn.pointwise cmp_ge
// GRAPH: %[[B:.*]] = cudnn.pointwise binary_select
// GRAPH: %[[M:.*]] = cudnn.reduction max(%[[B]])
// GRAPH: %[[O:.*]] = cudnn.matmul(%{{.*}}, %[[V]])
// GRAPH: cudnn.return %[[O]], %{{.*}}
// GRAPH-LABEL: func.func @packed(
// GRAPH-SAME: %[[X:.*]]: tensor<64x384xf16>)
// GRAPH: %[[R:.*]]:2 = cudnn.execute @attention_causal_0 ins(%[[X]], %[[X]], %[[X]] : {{.*}}) outs({{.*}} : tensor<1x64x2x64xf16>, tensor<1x2x64x1xf32>) {offsets = array<i64: 0, 128, 256>}
// GRAPH: return %[[R]]#0
func.func @packed(%x: tensor<64x384xf16>) -> tensor<1x64x2x64xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.reshape %x : tensor<64x384xf16> -> tensor<1x64x3x2x64xf16>
  %1 = tcp.transpose %0 {perm = array<i64: 2, 0, 3, 1, 4>} : tensor<1x64x3x2x64xf16> -> tensor<3x1x2x64x64xf16>
  %2 = tcp.slice %1 {sizes = array<i64: 1, 1, 2, 64, 64>, starts = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>} : tensor<3x1x2x64x64xf16> -> tensor<1x1x2x64x64xf16>
  %q = tcp.reshape %2 : tensor<1x1x2x64x64xf16> -> tensor<1x2x64x64xf16>
  %3 = tcp.slice %1 {sizes = array<i64: 1, 1, 2, 64, 64>, starts = array<i64: 1, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>} : tensor<3x1x2x64x64xf16> -> tensor<1x1x2x64x64xf16>
  %k = tcp.reshape %3 : tensor<1x1x2x64x64xf16> -> tensor<1x2x64x64xf16>
  %4 = tcp.slice %1 {sizes = array<i64: 1, 1, 2, 64, 64>, starts = array<i64: 2, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>} : tensor<3x1x2x64x64xf16> -> tensor<1x1x2x64x64xf16>
  %v = tcp.reshape %4 : tensor<1x1x2x64x64xf16> -> tensor<1x2x64x64xf16>
  %o = tcp.attention %q, %k, %v {causal, scale = 0.125 : f64} : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>
  %y = tcp.transpose %o {perm = array<i64: 0, 2, 1, 3>} : tensor<1x2x64x64xf16> -> tensor<1x64x2x64xf16>
  return %y : tensor<1x64x2x64xf16>
}

// -----

// A view that has other uses stays, and its copy is in the group. Key and value have rows that are
// not aligned to 16 bytes in the argument, so they are copied. A mask of any alignment is an operand.
// CHECK-LABEL: func.func @copied(
// CHECK-SAME: %[[X:.*]]: tensor<1x32x2x64xf16>, %[[K:.*]]: tensor<1x2x32x68xf16>, %[[M:.*]]: tensor<1x1x32x32xf16>)
// CHECK-DAG: %[[T:.*]] = tcp.transpose %[[X]]
// CHECK-DAG: %[[S:.*]] = tcp.slice %[[K]]
// CHECK: tcp.isolated_group %[[X]], %[[S]], %[[M]] attributes {anchor = "attention", pattern = "attention+mask"} {
// CHECK: return %{{.*}}, %[[T]]

// GRAPH-LABEL: cudnn.graph @attention_mask_0(
// GRAPH-SAME: stride = [4096, 64, 128, 1]>, %{{.*}}: !cudnn.tensor_desc<1x1x32x32xf16, NCHW, alignment = 2>)
// GRAPH-LABEL: func.func @copied(
// GRAPH-NOT: offsets
func.func @copied(%x: tensor<1x32x2x64xf16>, %k: tensor<1x2x32x68xf16>, %m: tensor<1x1x32x32xf16>) -> (tensor<1x2x32x64xf16>, tensor<1x2x32x64xf16>) attributes {tcp.target = "cuda"} {
  %q = tcp.transpose %x {perm = array<i64: 0, 2, 1, 3>} : tensor<1x32x2x64xf16> -> tensor<1x2x32x64xf16>
  %s = tcp.slice %k {sizes = array<i64: 1, 2, 32, 64>, starts = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : tensor<1x2x32x68xf16> -> tensor<1x2x32x64xf16>
  %o = tcp.attention %q, %s, %s mask %m {scale = 0.125 : f64} : tensor<1x2x32x64xf16>, tensor<1x2x32x64xf16>, tensor<1x2x32x64xf16>, tensor<1x1x32x32xf16> -> tensor<1x2x32x64xf16>
  return %o, %q : tensor<1x2x32x64xf16>, tensor<1x2x32x64xf16>
}

// -----

// CHECK-LABEL: func.func @wide(
// CHECK: tcp.attention {{.*}} tcp.outside = "attention: cuDNN supports heads of size up to 256, not 320"
// GRAPH-LABEL: func.func @wide(
func.func @wide(%q: tensor<1x1x32x320xf16>) -> tensor<1x1x32x320xf16> attributes {tcp.target = "cuda"} {
  %o = tcp.attention %q, %q, %q {scale = 0.125 : f64} : tensor<1x1x32x320xf16>, tensor<1x1x32x320xf16>, tensor<1x1x32x320xf16> -> tensor<1x1x32x320xf16>
  return %o : tensor<1x1x32x320xf16>
}

// -----

// CHECK-LABEL: func.func @wide_f32(
// CHECK: tcp.attention {{.*}} tcp.outside = "attention: cuDNN supports heads of size up to 128, not 136"
// GRAPH-LABEL: func.func @wide_f32(
func.func @wide_f32(%q: tensor<1x1x32x136xf32>) -> tensor<1x1x32x136xf32> attributes {tcp.target = "cuda"} {
  %o = tcp.attention %q, %q, %q {scale = 0.125 : f64} : tensor<1x1x32x136xf32>, tensor<1x1x32x136xf32>, tensor<1x1x32x136xf32> -> tensor<1x1x32x136xf32>
  return %o : tensor<1x1x32x136xf32>
}

// -----

// A softcap is a tanh between two products with numbers; a window compares indices, of which that of
// the column is moved, as cudnn-frontend writes a left bound.
// CHECK-LABEL: func.func @softcap(
// CHECK: attributes {anchor = "attention", pattern = "attention+softcap+causal+window"}

// GRAPH-LABEL: cudnn.graph @attention_softcap_causal_window_0(
// GRAPH: %[[S:.*]] = cudnn.matmul(
// GRAPH: %[[INNER:.*]] = cudnn.constant 2.500000e-03 : f32
// GRAPH: %[[A:.*]] = cudnn.pointwise mul(%[[S]], %[[INNER]])
// GRAPH: %[[T:.*]] = cudnn.pointwise tanh_fwd(%[[A]])
// GRAPH: %[[CAP:.*]] = cudnn.constant 5.000000e+01 : f32
// GRAPH: %[[B:.*]] = cudnn.pointwise mul(%[[T]], %[[CAP]])
// GRAPH: cudnn.pointwise cmp_ge
// GRAPH: %[[C:.*]] = cudnn.pointwise binary_select(%[[B]],
// GRAPH: %[[ROW:.*]] = cudnn.pointwise gen_index(%[[C]]) type = i32 axis = 2
// GRAPH: %[[COLUMN:.*]] = cudnn.pointwise gen_index(%[[C]]) type = i32 axis = 3
// GRAPH: %[[WIDTH:.*]] = cudnn.constant 1.600000e+01 : f32
// GRAPH: %[[END:.*]] = cudnn.pointwise add(%[[COLUMN]], %[[WIDTH]])
// GRAPH: %[[KEPT:.*]] = cudnn.pointwise cmp_gt(%[[END]], %[[ROW]])
// GRAPH: %[[D:.*]] = cudnn.pointwise binary_select(%[[C]], %{{.*}}, %[[KEPT]])
// GRAPH: cudnn.reduction max(%[[D]])
func.func @softcap(%q: tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16> attributes {tcp.target = "cuda"} {
  %o = tcp.attention %q, %q, %q {causal, scale = 0.125 : f64, softcap = 50.0 : f64, window = 16 : i64} : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>
  return %o : tensor<1x2x64x64xf16>
}
