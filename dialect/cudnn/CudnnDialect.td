// The cudnn dialect.

#ifndef CONVOY_CUDNN_DIALECT
#define CONVOY_CUDNN_DIALECT

include "mlir/IR/OpBase.td"

def Cudnn_Dialect : Dialect {
  let name = "cudnn";
  let cppNamespace = "::convoy::cudnn";
  let summary = "one operation graph as cuDNN sees it: tensors, operations, graphs, calls";
  let description = [{
    A `cudnn.graph` is one cuDNN operation graph: a symbol whose body is a dag of operations on
    tensor descriptors, called by `cudnn.execute` on tensors or buffers. The dims of a descriptor
    are logical (N, C, spatial; K, C, window for filters; batch, rows, columns for matrices), its
    strides say the order in memory. A tensor is virtual unless it is an argument or a result of the
    graph; that is derived from the use and written nowhere. The element types of arguments and
    results are the io types, those of the values in between the intermediate types, and each
    operation has its own compute type (`type = f32`).

    Ops whose operands tell the shapes of their results have `InferTypeOpInterface`, so that
    builders need no result types: a result has the element type and the order in memory of the
    operand that it is like, packed. Types that are written may differ in all but the shape.

    The inline form (`cudnn.build_and_exec_graph` with `cudnn.build_graph` inside) is turned into
    the symbol form by `cudnn-outline-graphs`.
  }];
  let extraClassDeclaration = [{
    void registerTypes();
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

#endif // CONVOY_CUDNN_DIALECT
