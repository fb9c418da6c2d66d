// The tensors and constants of a graph as cuDNN takes them: data types, dims and strides, uids.

#ifndef CONVOY_PASSES_CUDNN_TO_BACKEND_GRAPHTENSORS_H
#define CONVOY_PASSES_CUDNN_TO_BACKEND_GRAPHTENSORS_H

#include "dialect/cudnn/CudnnOps.h"

namespace convoy {

/// cuDNN's name of an element type (`half` for f16); empty for a type that cuDNN has no name for.
llvm::StringRef cudnnDataType(mlir::Type type);

/// Bits of an element in memory: a boolean is a byte, a complex number is two numbers.
int64_t elementBits(mlir::Type type);

/// Dims and strides as cuDNN takes them: leading dims of 1 up to rank 3.
struct CudnnShape {
  llvm::SmallVector<int64_t> dims;
  llvm::SmallVector<int64_t> strides;
  /// How many dims were added.
  int64_t added = 0;
};
CudnnShape cudnnShape(cudnn::TensorDescType type);

/// A tensor of a graph that has memory.
struct RealTensor {
  mlir::Value value;
  int64_t uid = 0;
  /// Its attributes as an argument or a result; null when there are none.
  mlir::DictionaryAttr attributes;

  bool isByValue() const { return attributes && attributes.contains(cudnn::kByValueAttr); }
};

/// The tensors of a graph that have memory, in the order in which the runtime passes their
/// pointers: arguments, then results. A uid is the one that is written, else the next number from 1
/// on that is not written elsewhere.
llvm::SmallVector<RealTensor> realTensors(cudnn::GraphOp graph);

/// A number that is part of a graph. The runtime passes the address of a copy of it.
struct Constant {
  cudnn::ConstantOp op;
  int64_t uid;
};

/// The constants of a graph; their uids follow those of the tensors that have memory.
llvm::SmallVector<Constant> graphConstants(cudnn::GraphOp graph);

} // namespace convoy

#endif // CONVOY_PASSES_CUDNN_TO_BACKEND_GRAPHTENSORS_H
