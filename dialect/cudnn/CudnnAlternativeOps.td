// Other ways to compute a graph: graphs that are run one after another.

#ifndef CONVOY_CUDNN_ALTERNATIVE_OPS
#define CONVOY_CUDNN_ALTERNATIVE_OPS

include "dialect/cudnn/CudnnTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cudnn_AlternativeOp : Op<Cudnn_Dialect, "alternative",
    [IsolatedFromAbove, SingleBlock, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "graphs that together compute what one graph computes";
  let description = [{
    Whoever runs the graph may run these steps in its place, whichever is faster; nothing else
    changes. The block has the graph's arguments, `cudnn.return` its results. A value that goes from
    one step to another has memory, which is nobody else's.

    `name` tells the alternatives of a graph apart, and has the parts of each step:
    `conv2d+bias | relu`.

    **Constraints**

    * (c1) the symbol names a `cudnn.graph`.
    * (c2) block arguments are of the types of the graph's arguments.
    * (c3) the body holds `cudnn.step` and `cudnn.zeros`, at least one step, and ends with
      `cudnn.return`.
    * (c4) what is returned is computed by steps, each value once, and of the types of the graph's
      results.

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

    * (c1) the symbol names a `cudnn.graph`, another one than the alternative's.
    * (c2) operands and results are of the types of the graph's arguments and results.
  }];
  let arguments = (ins FlatSymbolRefAttr:$graph, Variadic<Cudnn_TensorDescType>:$inputs);
  let results = (outs Variadic<Cudnn_TensorDescType>:$outputs);
  let assemblyFormat = "$graph `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

def Cudnn_ZerosOp : Op<Cudnn_Dialect, "zeros", [Pure, HasParent<"AlternativeOp">]> {
  let summary = "a tensor of zeros for the steps of an alternative";
  let description = [{
    For engines that want an operand which the graph has not, such as a bias.

    ```mlir
    %b = cudnn.zeros : !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
    ```
  }];
  let results = (outs Cudnn_TensorDescType:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

#endif // CONVOY_CUDNN_ALTERNATIVE_OPS
