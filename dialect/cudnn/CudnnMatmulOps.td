// Matrix products.

#ifndef CONVOY_CUDNN_MATMUL_OPS
#define CONVOY_CUDNN_MATMUL_OPS

include "dialect/cudnn/CudnnOpBase.td"

def Cudnn_MatmulOp : Cudnn_ComputeOp<"matmul"> {
  let summary = "batched matrix product";
  let description = [{
    `B... x M x K` times `B... x K x N` gives `B... x M x N`; batch dims of size 1 broadcast.

    **Constraints**

    * (c1) all three tensors have one rank of at least 3.
    * (c2) the last dim of `a` is the second last of `b`.
    * (c3) batch dims are equal or 1, and the result's shape is the one that the operands give.
    * (c4) the compute type is f64, f32, f16, bf16 or i32.

    ```mlir
    %c = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x8x64xf16>, !cudnn.tensor_desc<1x64x32xf16> -> !cudnn.tensor_desc<1x8x32xf16>
    ```

    Maps to `CUDNN_BACKEND_MATMUL_DESCRIPTOR` (`CUDNN_ATTR_MATMUL_COMP_TYPE`) and `CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR`.
  }];
  let arguments = (ins Cudnn_TensorDescType:$a, Cudnn_TensorDescType:$b, TypeAttr:$compute_type);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    `(` $a `,` $b `)` `type` `=` $compute_type attr-dict `:` qualified(type($a)) `,` qualified(type($b)) `->` qualified(type($y))
  }];
}

#endif // CONVOY_CUDNN_MATMUL_OPS
