// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Alternatives: sequences of graphs that are equivalent to one graph.

#ifndef CONVOY_CUDNN_ALTERNATIVE_OPS
#define CONVOY_CUDNN_ALTERNATIVE_OPS

include "dialect/cudnn/CudnnTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cudnn_AlternativeOp : Op<Cudnn_Dialect, "alternative",
    [IsolatedFromAbove, SingleBlock, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a sequence of graphs that is equivalent to one graph";
  let description = [{
    The runtime may run these steps instead of the graph, whichever is faster. The block arguments
    are the graph's arguments, the operands of `cudnn.return` its results. A value that one step
    passes to another has its own memory.

    `name` identifies the alternative and lists the ops of each step: `conv2d+bias | relu`.

    **Constraints**

    * (c1) the symbol names a `cudnn.graph`.
    * (c2) block arguments have the types of the graph's arguments.
    * (c3) the body contains only `cudnn.step` (at least one) and `cudnn.zeros`, and ends with
      `cudnn.return`.
    * (c4) returned values are distinct results of steps and have the types of the graph's results.

    ```mlir
    cudnn.alternative @conv_relu_0 "conv2d | relu" {
    ^bb0(%x: !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>):
      %0 = cudnn.step @conv_0(%x, %w) : (!cudnn.tensor_desc<1x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC>)
          -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
      %1 = cudnn.step @relu_0(%0) : (!cudnn.tensor_desc<1x64x56x56xf16, NHWC>) -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
      cudnn.return %1 : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$graph, StrAttr:$name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$graph $name attr-dict-with-keyword custom<IsolatedRegion>($body)";
  let hasRegionVerifier = 1;
}

def Cudnn_StepOp : Op<Cudnn_Dialect, "step", [Pure, HasParent<"AlternativeOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one graph of an alternative";
  let description = [{
    **Constraints**

    * (c1) the symbol names a `cudnn.graph` other than the alternative's.
    * (c2) operands and results have the types of the graph's arguments and results.
  }];
  let arguments = (ins FlatSymbolRefAttr:$graph, Variadic<Cudnn_TensorDescType>:$inputs);
  let results = (outs Variadic<Cudnn_TensorDescType>:$outputs);
  let assemblyFormat = "$graph `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

def Cudnn_ZerosOp : Op<Cudnn_Dialect, "zeros", [Pure, HasParent<"AlternativeOp">]> {
  let summary = "a tensor of zeros for the steps of an alternative";
  let description = [{
    For engines that require an operand that the graph lacks, such as a bias.

    ```mlir
    %b = cudnn.zeros : !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
    ```
  }];
  let results = (outs Cudnn_TensorDescType:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

#endif // CONVOY_CUDNN_ALTERNATIVE_OPS
