// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Graphs and their calls, in the symbol form, which passes use, and in the inline form.

#ifndef CONVOY_CUDNN_GRAPH_OPS
#define CONVOY_CUDNN_GRAPH_OPS

include "dialect/cudnn/CudnnTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Cudnn_GraphOp : Op<Cudnn_Dialect, "graph", [IsolatedFromAbove, FunctionOpInterface, SingleBlock]> {
  let summary = "one cuDNN operation graph";
  let description = [{
    A symbol whose arguments are the tensors that the graph reads and whose results are the tensors
    that it writes; all other values are virtual tensors. Equal graphs share one symbol, which is
    called from several places.

    Each tensor has a uid, unique in its graph. The variant pack of an execution maps uids to
    memory. The attribute `cudnn.uid` sets the uid of an argument or result. All other tensors are
    numbered from 1 in the order arguments, results, virtual tensors, except for the numbers that
    attributes use.

    With `dynamic_shape`, plans for the same operations with other shapes share their compiled
    kernels. The shapes of this graph are still those of its types.

    An argument with `cudnn.by_value` is a single number that an execution reads from host memory.
    An argument or result with `cudnn.ragged_offset = 2` has batches of different lengths: argument
    2 holds the offset of the first element of each batch, followed by the end offset.

    **Constraints**

    * (c1) arguments and results are tensor descriptors, and there is at least one result.
    * (c2) the body has at least one operation, contains only graph operations, and ends with
      `cudnn.return`.
    * (c3) results are distinct and computed in the graph; an argument or a constant cannot be a
      result.
    * (c4) `cudnn.uid` is a positive i64, and no two are equal.
    * (c5) `cudnn.by_value` is a unit attribute of an argument with one element.
    * (c6) `cudnn.ragged_offset` is the number of another argument, of i32 or i64 elements, that is
      neither ragged nor by value.
    * (c7) arguments and results have no other attributes of the dialect.

    ```mlir
    cudnn.graph @conv_relu_0(%x: !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>)
        -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC> {
      %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
          : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
      %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !cudnn.tensor_desc<1x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
      cudnn.return %1 : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
    }
    ```

    Maps to `CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR`, `dynamic_shape` to
    `CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED`, and the attributes of tensors to
    `CUDNN_ATTR_TENSOR_UNIQUE_ID`, `_IS_BY_VALUE` and `_RAGGED_OFFSET_DESC`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<UnitAttr>:$dynamic_shape);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    /// Types of the arguments and of the results.
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::LogicalResult verifyType();
    /// The argument that holds the offsets of a tensor with these attributes; null if the tensor is
    /// not ragged.
    ::mlir::BlockArgument getRaggedOffset(::mlir::DictionaryAttr attributes);
  }];
}

def Cudnn_ReturnOp : Op<Cudnn_Dialect, "return", [Pure, ParentOneOf<["GraphOp", "AlternativeOp"]>, Terminator, ReturnLike]> {
  let summary = "the results of a graph";
  let description = [{
    Ends the body of a `cudnn.graph` or of a `cudnn.alternative`.

    **Constraints**

    * (c1) operands and the graph's results agree in number and type. (For an alternative this is
      `alternative_c4`.)
  }];
  let arguments = (ins Variadic<Cudnn_TensorDescType>:$operands);
  let assemblyFormat = "($operands^ `:` qualified(type($operands)))? attr-dict";
  let hasVerifier = 1;
}

def Cudnn_Operand : AnyTypeOf<[AnyStaticShapeTensor, AnyStaticShapeMemRef], "tensor or memref of static shape">;

def Cudnn_ExecuteOp : Op<Cudnn_Dialect, "execute",
    [AttrSizedOperandSegments, DestinationStyleOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "runs a graph";
  let description = [{
    Reads `ins` and writes `outs`. On tensors the results are the `outs` after the run; on memrefs
    there are no results. The previous contents of `outs` are not read.

    **Constraints**

    * (c1) the symbol names a `cudnn.graph`.
    * (c2) `ins` and `outs` agree in number with the graph's arguments and results.
    * (c3) element types are the graph's.
    * (c4) an operand, packed row-major, has the descriptor's memory order: its dims are those of
      the descriptor by descending stride, where dims of size 1 are ignored.
    * (c5) the operands are all tensors or all memrefs; memrefs are packed, and may have an offset.
    * (c6) `offsets` has one non-negative number for each input. With it, inputs are not bound by
      (c4), and memrefs have the identity layout: the descriptor's elements begin at the offset, and
      are inside the input.

    ```mlir
    %y = cudnn.execute @conv_relu_0 ins(%x, %w : tensor<1x56x56x64xf16>, tensor<64x3x3x64xf16>) outs(%o : tensor<1x56x56x64xf16>)
        -> tensor<1x56x56x64xf16>
    cudnn.execute @conv_relu_0 ins(%a, %b : memref<1x56x56x64xf16>, memref<64x3x3x64xf16>) outs(%c : memref<1x56x56x64xf16>)
    ```

    Maps to `cudnnBackendExecute` with a variant pack of the operands.
  }];
  let arguments = (ins FlatSymbolRefAttr:$graph, Variadic<Cudnn_Operand>:$inputs, Variadic<Cudnn_Operand>:$outputs,
                       OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    $graph (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outputs `:` type($outputs) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::FlatSymbolRefAttr":$graph, "::mlir::ValueRange":$inputs,
                                 "::mlir::ValueRange":$outputs), [{
    build($_builder, $_state, results, graph, inputs, outputs, /*offsets=*/nullptr);
  }]>];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

//===-- inline form ------------------------------------------------------------------------------------------------------===//

def Cudnn_GetCurrentHandleOp : Op<Cudnn_Dialect, "get_current_handle", [Pure]> {
  let summary = "the handle of the calling thread";
  let description = [{
    The runtime owns the handle. `cudnn-outline-graphs` erases this op with its last use.

    ```mlir
    %h = cudnn.get_current_handle !cudnn.handle
    ```
  }];
  let results = (outs Cudnn_HandleType:$handle);
  let assemblyFormat = "qualified(type($handle)) attr-dict";
}

def Cudnn_BuildAndExecGraphOp : Op<Cudnn_Dialect, "build_and_exec_graph", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "a graph and its call in one op";
  let description = [{
    The inline form: `cudnn-outline-graphs` converts it to `cudnn.graph` and `cudnn.execute`.

    **Constraints**

    * (c1) there is one block argument per input and one operand of `cudnn.build_graph` per result,
      all of them tensor descriptors.
    * (c2) element types agree.
    * (c3) a tensor has the descriptor's memory order, as in `cudnn.execute`.
    * (c4) the body has at least one operation and ends with `cudnn.build_graph`; results are
      distinct and computed in the body.

    ```mlir
    %y = cudnn.build_and_exec_graph %h %x {
    ^bb0(%arg0: !cudnn.tensor_desc<1x64x56x56xf32, alignment = 1, stride = []>):
      %0 = cudnn.pointwise_relu(%arg0) type = f32 lower_clip = 0.0
          : !cudnn.tensor_desc<1x64x56x56xf32, alignment = 1, stride = []> -> !cudnn.tensor_desc<1x64x56x56xf32, alignment = 1, stride = []>
      cudnn.build_graph(%0) : !cudnn.tensor_desc<1x64x56x56xf32, alignment = 1, stride = []>
    } : tensor<1x64x56x56xf32> -> tensor<1x64x56x56xf32>
    ```
  }];
  let arguments = (ins Cudnn_HandleType:$handle, Variadic<AnyStaticShapeTensor>:$inputs);
  let results = (outs Variadic<AnyStaticShapeTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$handle $inputs attr-dict-with-keyword custom<IsolatedRegion>($body) `:` type($inputs) `->` type($outputs)";
  let hasRegionVerifier = 1;
}

def Cudnn_BuildGraphOp : Op<Cudnn_Dialect, "build_graph", [Pure, Terminator, ReturnLike, HasParent<"BuildAndExecGraphOp">]> {
  let summary = "the results of an inline graph";
  let description = "Ends the body of a `cudnn.build_and_exec_graph`.";
  let arguments = (ins Variadic<Cudnn_TensorDescType>:$operands);
  let assemblyFormat = "`(` $operands `)` attr-dict `:` qualified(type($operands))";
}

#endif // CONVOY_CUDNN_GRAPH_OPS
