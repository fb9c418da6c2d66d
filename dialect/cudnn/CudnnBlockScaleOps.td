// Narrow numbers of which a block shares a scale.

#ifndef CONVOY_CUDNN_BLOCK_SCALE_OPS
#define CONVOY_CUDNN_BLOCK_SCALE_OPS

include "dialect/cudnn/CudnnNamedTensors.td"

def Cudnn_BlockScaleQuantizeOp : Cudnn_ComputeOp<"block_scale_quantize"> {
  let summary = "numbers as narrow ones, of which a block shares a scale";
  let description = [{
    `block_size` elements of `x` in a row along one dim become elements of `y` and one of `scale`,
    such that `y * scale` is about `x`: 32 and a scale of f8E8M0FNU for MXFP8, 16 and one of
    f8E4M3FN for NVFP4. A scale whose memory is reordered, as tensor cores read it, has its last two
    dims rounded up: the one with the blocks to a multiple of 4, the other to one of 128.

    **Constraints**

    * (c1) all tensors have one rank, 2 to 8.
    * (c2) `y` has the shape of `x`, and elements of f8E4M3FN, f8E5M2 or f4E2M1FN.
    * (c3) `block_size` is above 1.
    * (c4) `scale` has the shape of `x`, one dim of which it divides by `block_size`, which divides
      that dim.
    * (c5) below rank 4 `scale` is reordered as `f8_128x4`, above 3 it is not: cuDNN 9.19 takes it
      no other way.
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
  let summary = "narrow numbers times the scales of their blocks";
  let description = [{
    The inverse of `cudnn.block_scale_quantize`. With two numbers in `block_size` a block spans the
    last two dims. `neg_scale` says that scales may be negative. On sm_90 cuDNN 9.19 has engines for
    neither.

    **Constraints**

    * (c1) all tensors have one rank, 2 to 8.
    * (c2) `y` has the shape of `x`.
    * (c3) `block_size` is one number above 1, or two that are at least 1.
    * (c4) `scale` has the shape of `x`, one dim of which one `block_size` divides, or the last two
      of which two divide; rounded up where it is reordered, as in `cudnn.block_scale_quantize`.
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
