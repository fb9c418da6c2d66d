// A custom table, and errors for tables that cannot be read.
// RUN: convoy-opt %s --tcp-form-groups="support-table=%S/Inputs/narrow.json" | filecheck %s
// RUN: not convoy-opt %s --tcp-form-groups="support-table=%S/Inputs/none.json" 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not convoy-opt %s --tcp-verify-groups="support-table=%S/Inputs/none.json" 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not convoy-opt %s --tcp-form-groups="support-table=%S/Inputs/text.json" 2>&1 | filecheck %s --check-prefix=TEXT
// RUN: not convoy-opt %s --tcp-form-groups="support-table=%S/Inputs/version.json" 2>&1 | filecheck %s --check-prefix=VERSION
// RUN: not convoy-opt %s --tcp-form-groups="support-table=%S/Inputs/rows.json" 2>&1 | filecheck %s --check-prefix=ROWS
// RUN: not convoy-opt %s --tcp-form-groups="support-table=%S/Inputs/field.json" 2>&1 | filecheck %s --check-prefix=FIELD
// RUN: not convoy-opt %s --tcp-form-groups="support-table=%S/Inputs/bytes.json" 2>&1 | filecheck %s --check-prefix=BYTES
// RUN: not convoy-opt %s --tcp-form-groups="support-table=%S/Inputs/refusal.json" 2>&1 | filecheck %s --check-prefix=REFUSAL
// RUN: not convoy-opt %s --tcp-form-groups="support-table=%S/Inputs/kernel.json" 2>&1 | filecheck %s --check-prefix=KERNEL
// RUN: not convoy-opt %s --tcp-form-groups="support-table=%S/Inputs/operation.json" 2>&1 | filecheck %s --check-prefix=OPERATION
// RUN: not convoy-opt %s --cudnn-add-alternatives="support-table=%S/Inputs/none.json" 2>&1 | filecheck %s --check-prefix=NONE
// NONE: error: cannot read the support table '{{.*}}none.json': No such file or directory
// TEXT: error: support table '{{.*}}text.json': {{.*}}Invalid JSON value
// VERSION: error: support table '{{.*}}version.json': expected an object of version 1
// ROWS: error: support table '{{.*}}rows.json': expected an array 'rows'
// FIELD: error: support table '{{.*}}field.json': row 0: missing value at (root).since
// BYTES: error: support table '{{.*}}bytes.json': row 0: expected a positive 'channel_bytes', but got 0
// REFUSAL: error: support table '{{.*}}refusal.json': refusal 0: missing value at (root).reason
// KERNEL: error: support table '{{.*}}kernel.json': kernel 0: missing value at (root).taps
// OPERATION: error: support table '{{.*}}operation.json': operation 0: missing value at (root).layouts

// CHECK: pattern = "matmul"
// CHECK: tcp.sigmoid {{.*}}tcp.outside = "sigmoid with matmul: needs cuDNN 92200, but programs support 90200 and later"
func.func @main(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = tcp.matmul %x, %x : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
  %1 = tcp.sigmoid %0 : tensor<8x8xf16> -> tensor<8x8xf16>
  return %1 : tensor<8x8xf16>
}
