// Writes the ops of one builder: descriptors with their attributes, each finalized where it is
// made.

#ifndef CONVOY_PASSES_HOST_CUDNNGRAPHBUILDER_H
#define CONVOY_PASSES_HOST_CUDNNGRAPHBUILDER_H

#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn_backend/CudnnBackendOps.h"

namespace convoy {

/// cuDNN's name of an element type (`half` for f16); empty for a type that cuDNN has no name for.
llvm::StringRef cudnnDataType(mlir::Type type);

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

/// Writes `cudnn_backend.func @NAME_build` before the graph. Fails, with an error on the op
/// concerned, when cuDNN has no word for something.
mlir::FailureOr<cudnn_backend::FuncOp>
writeGraphBuilder(mlir::OpBuilder &builder, cudnn::GraphOp graph, int64_t minimumVersion);

} // namespace convoy

#endif // CONVOY_PASSES_HOST_CUDNNGRAPHBUILDER_H
