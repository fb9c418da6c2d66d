// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tensors and constants of a graph in cuDNN's terms: data types, dims, strides and uids.

#ifndef CONVOY_PASSES_CUDNN_TO_BACKEND_GRAPHTENSORS_H
#define CONVOY_PASSES_CUDNN_TO_BACKEND_GRAPHTENSORS_H

#include "dialect/cudnn/CudnnOps.h"

namespace convoy {

/// cuDNN's name of an element type (`half` for f16); empty for types that cuDNN lacks.
llvm::StringRef cudnnDataType(mlir::Type type);

/// Dims and strides for cuDNN, with leading dims of 1 up to rank 3. A graph that quantizes a matrix
/// and does not reorder its scales has no added dims, because cuDNN 9.19 reorders them at rank 3.
struct CudnnShape {
  llvm::SmallVector<int64_t> dims;
  llvm::SmallVector<int64_t> strides;
  /// Number of added dims.
  int64_t added = 0;
};
/// The shape of a tensor of a graph.
CudnnShape cudnnShape(mlir::Value value);

/// A tensor of a graph that has memory.
struct RealTensor {
  mlir::Value value;
  int64_t uid = 0;
  /// Its attributes as an argument or a result, or null.
  mlir::DictionaryAttr attributes;

  bool isByValue() const { return attributes && attributes.contains(cudnn::kByValueAttr); }
};

/// The tensors of a graph that have memory, in the order in which the runtime passes their
/// pointers: arguments, then results. A uid is that of the attribute, or else the next unused
/// number from 1.
llvm::SmallVector<RealTensor> realTensors(cudnn::GraphOp graph);

/// A constant of a graph. The runtime passes the address of a copy of its value.
struct Constant {
  cudnn::ConstantOp op;
  int64_t uid;
};

/// The constants of a graph, with the next unused uids.
llvm::SmallVector<Constant> graphConstants(cudnn::GraphOp graph);

} // namespace convoy

#endif // CONVOY_PASSES_CUDNN_TO_BACKEND_GRAPHTENSORS_H
