// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Block-scaled quantization: narrow floats with one scale per block.

#ifndef CONVOY_CUDNN_BLOCK_SCALE_OPS
#define CONVOY_CUDNN_BLOCK_SCALE_OPS

include "dialect/cudnn/CudnnNamedTensors.td"

def Cudnn_BlockScaleQuantizeOp : Cudnn_ComputeOp<"block_scale_quantize"> {
  let summary = "quantizes to narrow floats with one scale per block";
  let description = [{
    `block_size` consecutive elements of `x` along one dim become as many elements of `y` and one
    element of `scale`, such that `y * scale` approximates `x`. MXFP8 has blocks of 32 and a scale
    of f8E8M0FNU, NVFP4 blocks of 16 and a scale of f8E4M3FN. A scale that is reordered for tensor
    cores has its last two dims rounded up: the one with the blocks to a multiple of 4, the other to
    a multiple of 128.

    **Constraints**

    * (c1) all tensors have one rank, 2 to 8.
    * (c2) `y` has the shape of `x`, and elements of f8E4M3FN, f8E5M2 or f4E2M1FN.
    * (c3) `block_size` is above 1.
    * (c4) `scale` has the shape of `x` with one dim divided by `block_size`, which must divide that
      dim unless `scale` is reordered.
    * (c5) `scale` has `reordering = f8_128x4` at rank 3, and no reordering above; cuDNN 9.19
      supports nothing else. A matrix may have either; with the reordering, cuDNN gets it as a batch
      of one.
    * (c6) the compute type is f64, f32, f16 or bf16.

    ```mlir
    %y, %scale = cudnn.block_scale_quantize type = f32 block_size = 32 x(%x : !cudnn.tensor_desc<8x128x256xf16>)
        -> y(!cudnn.tensor_desc<8x128x256xf8E4M3FN>) scale(!cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR`:
    `CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_XDESC`, `_YDESC`, `_SCALE_DESC`, `_MATH_PREC`,
    `_BLOCK_SIZE`.
  }];
  let arguments = (ins Cudnn_TensorDescType:$x, TypeAttr:$compute_type, I64Attr:$block_size);
  let results = (outs Cudnn_TensorDescType:$y, Cudnn_TensorDescType:$scale);
  let assemblyFormat = "`type` `=` $compute_type `block_size` `=` $block_size " # Cudnn_In<"x">.text # "attr-dict `->` "
      # Cudnn_Out<"y">.text # Cudnn_Out<"scale">.text;
}

def Cudnn_BlockScaleDequantizeOp : Cudnn_ComputeOp<"block_scale_dequantize", [Cudnn_InferTypes]> {
  let summary = "multiplies narrow floats by the scales of their blocks";
  let description = [{
    The inverse of `cudnn.block_scale_quantize`. With two numbers in `block_size` a block spans the
    last two dims. `neg_scale` allows negative scales. On sm_90 cuDNN 9.19 has engines for neither.

    **Constraints**

    * (c1) all tensors have one rank, 2 to 8.
    * (c2) `y` has the shape of `x`.
    * (c3) `block_size` is one number above 1, or two that are at least 1.
    * (c4) `scale` has the shape of `x` with one dim divided by the one `block_size`, or the last
      two dims by the two, rounded up; a reordered scale is rounded up further as in
      `cudnn.block_scale_quantize`, where the dim with the blocks is the last one, or with
      `block_size = [32, 1]` the one before.
    * (c5) the compute type is f64, f32, f16 or bf16.

    ```mlir
    %y = cudnn.block_scale_dequantize type = f32 block_size = [32] x(%x : !cudnn.tensor_desc<8x128x256xf8E4M3FN>)
        scale(%scale : !cudnn.tensor_desc<8x128x8xf8E8M0FNU, reordering = f8_128x4>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR`:
    `CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_XDESC`, `_YDESC`, `_SCALE_DESC`, `_MATH_PREC`,
    `_BLOCK_SIZE`, `_NEG_SCALE`.
  }];
  let arguments = (ins Cudnn_TensorDescType:$x, Cudnn_TensorDescType:$scale, TypeAttr:$compute_type, DenseI64ArrayAttr:$block_size,
                       OptionalAttr<BoolAttr>:$neg_scale);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = "`type` `=` $compute_type `block_size` `=` $block_size (`neg_scale` `=` $neg_scale^)? " # Cudnn_In<"x">.text
      # Cudnn_In<"scale">.text # "attr-dict `->` " # Cudnn_Out<"y">.text;
}

#endif // CONVOY_CUDNN_BLOCK_SCALE_OPS
