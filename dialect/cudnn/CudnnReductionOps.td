// Reductions.

#ifndef CONVOY_CUDNN_REDUCTION_OPS
#define CONVOY_CUDNN_REDUCTION_OPS

include "dialect/cudnn/CudnnOpBase.td"

def Cudnn_ReductionOp : Cudnn_ComputeOp<"reduction"> {
  let summary = "reduce dims to 1";
  let description = [{
    The dims that are 1 in the result and more in the operand are reduced. cuDNN 9.19 takes `add`,
    `mul`, `min`, `max` and `amax` in a graph; lowering refuses the others. With
    `is_deterministic = true` the order of additions is fixed (9.11).

    **Constraints**

    * (c1) operand and result have one rank.
    * (c2) each result dim is the operand's or 1, and at least one is reduced.
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
