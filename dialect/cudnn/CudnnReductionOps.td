// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions.

#ifndef CONVOY_CUDNN_REDUCTION_OPS
#define CONVOY_CUDNN_REDUCTION_OPS

include "dialect/cudnn/CudnnOpBase.td"

def Cudnn_ReductionOp : Cudnn_ComputeOp<"reduction"> {
  let summary = "reduces dims to 1";
  let description = [{
    Reduces the dims that are 1 in the result and larger in the operand. cuDNN 9.19 supports `add`,
    `mul`, `min`, `max` and `amax` in graphs; lowering rejects the other modes. With
    `is_deterministic = true` the order of additions is fixed (since 9.11).

    **Constraints**

    * (c1) operand and result have the same rank.
    * (c2) each result dim equals the operand's or is 1, and at least one dim is reduced.
    * (c3) the compute type is f64, f32, f16, bf16 or i32.

    ```mlir
    %y = cudnn.reduction add(%x) type = f32 : !cudnn.tensor_desc<8x64x7x7xf32, NHWC> -> !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
    ```

    Maps to `CUDNN_BACKEND_REDUCTION_DESCRIPTOR` (`CUDNN_ATTR_REDUCTION_OPERATOR`, `_COMP_TYPE`,
    `_IS_DETERMINISTIC`) and `CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR`
    (`CUDNN_ATTR_OPERATION_REDUCTION_DESC`, `_XDESC`, `_YDESC`).
  }];
  let arguments = (ins Cudnn_TensorDescType:$x, Cudnn_ReductionModeAttr:$mode, TypeAttr:$compute_type,
                       OptionalAttr<BoolAttr>:$is_deterministic);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    `` $mode `(` $x `)` `type` `=` $compute_type (`is_deterministic` `=` $is_deterministic^)? attr-dict `:` qualified(type($x)) `->`
    qualified(type($y))
  }];
}

#endif // CONVOY_CUDNN_REDUCTION_OPS
