// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The cudnn dialect.

#ifndef CONVOY_CUDNN_DIALECT
#define CONVOY_CUDNN_DIALECT

include "mlir/IR/OpBase.td"

def Cudnn_Dialect : Dialect {
  let name = "cudnn";
  let cppNamespace = "::convoy::cudnn";
  let summary = "cuDNN operation graphs: tensors, operations, graphs, calls";
  let description = [{
    A `cudnn.graph` is one cuDNN operation graph: a symbol whose body is a DAG of operations on
    tensor descriptors, called by `cudnn.execute` on tensors or buffers. The dims of a descriptor
    are logical (N, C, spatial; K, C, window for filters; batch, rows, columns for matrices); its
    strides give the order in memory. A tensor is virtual unless it is an argument or a result of the
    graph; this is derived from its uses. The element types of arguments and results are cuDNN's io
    data types, those of virtual tensors the intermediate data types, and each operation has its own
    compute type (`type = f32`).

    Ops whose operands determine the shapes of their results implement `InferTypeOpInterface`, so
    that builders need no result types. An inferred type is packed and has the element type and the
    memory order of the corresponding operand. Explicit types may differ from it in everything but
    the shape.

    `cudnn-outline-graphs` converts the inline form (`cudnn.build_and_exec_graph` that contains
    `cudnn.build_graph`) to the symbol form.
  }];
  let extraClassDeclaration = [{
    void registerTypes();
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

#endif // CONVOY_CUDNN_DIALECT
