// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix products.

#ifndef CONVOY_CUDNN_MATMUL_OPS
#define CONVOY_CUDNN_MATMUL_OPS

include "dialect/cudnn/CudnnOpBase.td"

def Cudnn_MatmulOp : Cudnn_ComputeOp<"matmul", [AttrSizedOperandSegments, Cudnn_InferTypes]> {
  let summary = "batched matrix product";
  let description = [{
    `B... x M x K` times `B... x K x N` gives `B... x M x N`. If two batch dims differ, the smaller
    one divides the larger one, and each matrix of the smaller side is used for that many
    consecutive matrices of the larger side: a dim of 1 broadcasts, and with 2 and 8 heads each of
    the 2 is used for 4 of the 8.

    `m_override`, `n_override` and `k_override` are the valid numbers of rows, columns or terms of
    each batch; elements beyond them read as `padding_value`, which is 0 by default.

    **Constraints**

    * (c1) a, b and the result have the same rank of at least 3.
    * (c2) the last dim of `a` equals the second last of `b`.
    * (c3) for each pair of batch dims one divides the other, and the result has the shape that
      follows from the operands.
    * (c4) the compute type is f64, f32, f16, bf16, i32 or `!cudnn.fast_float_for_fp8`.
    * (c5) an override has the result's rank and first dim, all other dims 1, and elements of i32 or
      i64.

    ```mlir
    %c = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x8x64xf16>, !cudnn.tensor_desc<1x64x32xf16> -> !cudnn.tensor_desc<1x8x32xf16>
    %d = cudnn.matmul(%e, %f) type = f32 m_override(%m : !cudnn.tensor_desc<4x1x1xi32>) padding_value = 1.0
        : !cudnn.tensor_desc<4x8x64xf16>, !cudnn.tensor_desc<4x64x32xf16> -> !cudnn.tensor_desc<4x8x32xf16>
    ```

    Maps to `CUDNN_BACKEND_MATMUL_DESCRIPTOR` (`CUDNN_ATTR_MATMUL_COMP_TYPE`, `_PADDING_VALUE`) and
    `CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR` (`CUDNN_ATTR_OPERATION_MATMUL_DESC`, `_ADESC`,
    `_BDESC`, `_CDESC`, `_GEMM_M_OVERRIDE_DESC`, `_GEMM_N_OVERRIDE_DESC`, `_GEMM_K_OVERRIDE_DESC`).
  }];
  let arguments = (ins Cudnn_TensorDescType:$a, Cudnn_TensorDescType:$b, Optional<Cudnn_TensorDescType>:$m_override,
                       Optional<Cudnn_TensorDescType>:$n_override, Optional<Cudnn_TensorDescType>:$k_override, TypeAttr:$compute_type,
                       OptionalAttr<F64Attr>:$padding_value);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    `(` $a `,` $b `)` `type` `=` $compute_type (`m_override` `(` $m_override^ `:` qualified(type($m_override)) `)`)?
    (`n_override` `(` $n_override^ `:` qualified(type($n_override)) `)`)?
    (`k_override` `(` $k_override^ `:` qualified(type($k_override)) `)`)? (`padding_value` `=` $padding_value^)? attr-dict `:`
    qualified(type($a)) `,` qualified(type($b)) `->` qualified(type($y))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Type":$computeType), [{
      build($_builder, $_state, type, a, b, {}, {}, {}, computeType, {});
    }]>,
  ];
}

#endif // CONVOY_CUDNN_MATMUL_OPS
