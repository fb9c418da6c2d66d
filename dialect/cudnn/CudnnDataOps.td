// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scalars, random numbers, signals, concatenation and reshape.

#ifndef CONVOY_CUDNN_DATA_OPS
#define CONVOY_CUDNN_DATA_OPS

include "dialect/cudnn/CudnnNamedTensors.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Cudnn_RngDistribution : Cudnn_Enum<"RngDistribution", "cudnnRngDistribution_t", [
  I32EnumAttrCase<"Bernoulli", 0, "bernoulli">, I32EnumAttrCase<"Uniform", 1, "uniform">, I32EnumAttrCase<"Normal", 2, "normal">]>;
def Cudnn_RngDistributionAttr : Cudnn_EnumAttr<Cudnn_RngDistribution, "rng_distribution">;

def Cudnn_ConstantOp : Cudnn_ComputeOp<"constant"> {
  let summary = "a scalar that is part of the graph";
  let description = [{
    The runtime passes the address of a number in host memory instead of a device address. An
    epsilon or a scale must be such a tensor. cuDNN has no corresponding operation.

    **Constraints**

    * (c1) the result has one element of the value's type: f64, f32, f16, bf16, i64 or i32.

    ```mlir
    %epsilon = cudnn.constant 1.000000e-05 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
    ```

    Maps to `CUDNN_BACKEND_TENSOR_DESCRIPTOR` with `CUDNN_ATTR_TENSOR_IS_BY_VALUE`.
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = "$value attr-dict `->` qualified(type($y))";
}

def Cudnn_ConcatOp : Cudnn_ComputeOp<"concat", [Cudnn_InferTypes]> {
  let summary = "concatenates tensors along one dim";
  let description = [{
    Input number `inplace_index` is already in the result's memory.

    **Constraints**

    * (c1) there is at least one input, and all tensors have the same rank and element type.
    * (c2) `axis` is the number of a dim.
    * (c3) the result's size along `axis` is the sum of the inputs' sizes; all other dims are equal.
    * (c4) `inplace_index` is the number of an input.

    ```mlir
    %y = cudnn.concat(%a, %b) axis = 1 : !cudnn.tensor_desc<8x32x16x16xf16, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
        -> !cudnn.tensor_desc<8x96x16x16xf16, NHWC>
    ```

    Maps to `CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR`: `CUDNN_ATTR_OPERATION_CONCAT_AXIS`,
    `_INPUT_DESCS`, `_INPLACE_INDEX`, `_OUTPUT_DESC`.
  }];
  let arguments = (ins Variadic<Cudnn_TensorDescType>:$inputs, I64Attr:$axis, OptionalAttr<I64Attr>:$inplace_index);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    `(` $inputs `)` `axis` `=` $axis (`inplace_index` `=` $inplace_index^)? attr-dict `:` qualified(type($inputs)) `->`
    qualified(type($y))
  }];
}

def Cudnn_ReshapeOp : Cudnn_ComputeOp<"reshape"> {
  let summary = "the same elements with another shape";
  let description = [{
    Element number i of the operand, in row-major order of its dims, is element number i of the
    result.

    **Constraints**

    * (c1) operand and result have the same number of elements, and the same element type or two
      floats, of which the operand is converted to that of the result.

    ```mlir
    %y = cudnn.reshape(%x) : !cudnn.tensor_desc<8x16x128x64xf16> -> !cudnn.tensor_desc<128x128x64xf16>
    ```

    Maps to `CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR`: `CUDNN_ATTR_OPERATION_RESHAPE_XDESC`,
    `_YDESC`.
  }];
  let arguments = (ins Cudnn_TensorDescType:$x);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = "`(` $x `)` attr-dict `:` qualified(type($x)) `->` qualified(type($y))";
  let hasFolder = 1;
}

def Cudnn_RngOp : Cudnn_ComputeOp<"rng", [AttrSizedOperandSegments]> {
  let summary = "random numbers";
  let description = [{
    Philox numbers, determined by a seed and an offset. The seed is an attribute or a tensor.

    **Constraints**

    * (c1) there is exactly one seed: `seed_value` or `seed`.
    * (c2) the tensors `seed` and `offset` have one element of i32 or i64.
    * (c3) `bernoulli` has a `probability` in 0 to 1; `uniform` a `minimum` and a `maximum` that is
      at least `minimum`; `normal` a `mean` and a non-negative `standard_deviation`. None has
      attributes of the others.

    ```mlir
    %y = cudnn.rng bernoulli seed_value = 42 probability = 9.000000e-01 -> y(!cudnn.tensor_desc<8x16x128x128xf32>)
    %z = cudnn.rng uniform minimum = 0.000000e+00 maximum = 1.000000e+00 seed(%s : !cudnn.tensor_desc<1x1x1x1xi64>)
        offset(%o : !cudnn.tensor_desc<1x1x1x1xi64>) -> y(!cudnn.tensor_desc<8x16x128x128xf32>)
    ```

    Maps to `CUDNN_BACKEND_RNG_DESCRIPTOR` (`CUDNN_ATTR_RNG_DISTRIBUTION`,
    `_BERNOULLI_DIST_PROBABILITY`, `_UNIFORM_DIST_MINIMUM`, `_UNIFORM_DIST_MAXIMUM`,
    `_NORMAL_DIST_MEAN`, `_NORMAL_DIST_STANDARD_DEVIATION`) and
    `CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR` (`CUDNN_ATTR_OPERATION_RNG_YDESC`, `_SEED`, `_DESC`,
    `_OFFSET_DESC`).
  }];
  let arguments = (ins Cudnn_RngDistributionAttr:$distribution, OptionalAttr<I64Attr>:$seed_value, OptionalAttr<F64Attr>:$probability,
                       OptionalAttr<F64Attr>:$minimum, OptionalAttr<F64Attr>:$maximum, OptionalAttr<F64Attr>:$mean,
                       OptionalAttr<F64Attr>:$standard_deviation, Optional<Cudnn_TensorDescType>:$seed,
                       Optional<Cudnn_TensorDescType>:$offset);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = [{
    $distribution (`seed_value` `=` $seed_value^)? (`probability` `=` $probability^)? (`minimum` `=` $minimum^)? (`maximum` `=` $maximum^)?
    (`mean` `=` $mean^)? (`standard_deviation` `=` $standard_deviation^)?
  }] # Cudnn_OptionalIn<"seed">.text # Cudnn_OptionalIn<"offset">.text # "attr-dict `->` " # Cudnn_Out<"y">.text;
}

def Cudnn_SignalMode : Cudnn_Enum<"SignalMode", "cudnnSignalMode_t", [
  I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Wait", 1, "wait">]>;
def Cudnn_SignalModeAttr : Cudnn_EnumAttr<Cudnn_SignalMode, "signal_mode">;

def Cudnn_SignalOp : Cudnn_ComputeOp<"signal", [Cudnn_InferTypes]> {
  let summary = "passes a tensor on, and sets or waits for a flag";
  let description = [{
    The result is the operand `x`. `set` sets the flag in device memory to `value` once `x` is
    computed; `wait` delays the result until the flag is `value`. This synchronizes graphs on
    several devices.

    **Constraints**

    * (c1) the result has the shape and the element type of `x`.
    * (c2) `flag` has one element of an integer type.

    ```mlir
    %y = cudnn.signal wait value = 1 flag(%flag : !cudnn.tensor_desc<1x1x1x1xi32>) x(%x : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>)
        -> y(!cudnn.tensor_desc<8x64x16x16xf16, NHWC>)
    ```

    Maps to `CUDNN_BACKEND_OPERATION_SIGNAL_DESCRIPTOR`: `CUDNN_ATTR_OPERATION_SIGNAL_MODE`,
    `_FLAGDESC`, `_VALUE`, `_XDESC`, `_YDESC`.
  }];
  let arguments = (ins Cudnn_SignalModeAttr:$mode, I64Attr:$value, Cudnn_TensorDescType:$flag, Cudnn_TensorDescType:$x);
  let results = (outs Cudnn_TensorDescType:$y);
  let assemblyFormat = "$mode `value` `=` $value " # Cudnn_In<"flag">.text # Cudnn_In<"x">.text # "attr-dict `->` " # Cudnn_Out<"y">.text;
}

#endif // CONVOY_CUDNN_DATA_OPS
