// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Helper class and functions for lowering the operations of a graph, by family.

#ifndef CONVOY_PASSES_CUDNN_TO_BACKEND_GRAPHWRITER_H
#define CONVOY_PASSES_CUDNN_TO_BACKEND_GRAPHWRITER_H

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "passes/cudnn_to_backend/GraphTensors.h"

namespace convoy {

/// Emits the descriptors of one graph into the body of a builder function. Each descriptor is
/// finalized after its creation.
class GraphWriter {
public:
  using AttributeName = cudnn_backend::AttributeName;
  using DescriptorKind = cudnn_backend::DescriptorKind;
  using Values = llvm::SmallVector<std::pair<AttributeName, mlir::Attribute>>;
  using Descriptors = llvm::SmallVector<std::pair<AttributeName, mlir::Value>>;

  /// The tensors that one attribute of an operation holds, without absent operands and results.
  struct Tensors {
    Tensors(AttributeName name, mlir::Value value) : name(name) {
      if (value)
        values.push_back(value);
    }
    Tensors(AttributeName name, mlir::ValueRange values) : name(name), values(values) {}

    AttributeName name;
    llvm::SmallVector<mlir::Value> values;
  };

  GraphWriter(mlir::OpBuilder &builder, cudnn::GraphOp graph)
      : builder(builder), graph(graph), loc(mlir::UnknownLoc::get(builder.getContext())) {}

  /// Fills `func` with the descriptors of the graph.
  llvm::LogicalResult write(cudnn_backend::FuncOp func);

  mlir::OpBuilder &getBuilder() { return builder; }

  /// An enumerator, by its name.
  mlir::Attribute enumerator(llvm::StringRef text) { return builder.getStringAttr(text); }
  mlir::Attribute numbers(llvm::ArrayRef<int64_t> values) {
    return builder.getDenseI64ArrayAttr(values);
  }
  /// A data type, by cuDNN's name for `type`.
  mlir::Attribute dataType(mlir::Type type) { return enumerator(cudnnDataType(type)); }
  /// A factor, as a double if the compute type is double, otherwise as a float.
  mlir::Attribute scale(const llvm::APFloat &value, mlir::Type computeType);

  /// A descriptor with these attributes; reuses an equal one.
  mlir::Value shared(DescriptorKind kind, const Values &values);
  /// The descriptor of a tensor of the graph; null for a null value, i.e. an absent optional
  /// operand or result.
  mlir::Value tensor(mlir::Value value) { return tensors.lookup(value); }
  /// A descriptor of an operation that holds the non-null `descriptors` and the attributes
  /// `values`.
  mlir::Value operation(DescriptorKind kind, const Descriptors &descriptors,
                        const Values &values = {});

  /// A descriptor of an operation that holds tensors of the graph, the attributes `values` and
  /// other `descriptors`.
  mlir::Value tensorOperation(DescriptorKind kind, llvm::ArrayRef<Tensors> tensors,
                              const Values &values = {}, const Descriptors &descriptors = {});

private:
  mlir::Value create(DescriptorKind kind);
  void set(mlir::Value descriptor, AttributeName name, mlir::Attribute value);
  void set(mlir::Value descriptor, AttributeName name, mlir::ValueRange elements);
  void finalize(mlir::Value descriptor);
  void writeTensor(mlir::Value value);

  mlir::OpBuilder &builder;
  cudnn::GraphOp graph;
  mlir::Location loc;
  /// Tensors with memory, and virtual tensors that are already written.
  llvm::DenseMap<mlir::Value, RealTensor> reals;
  llvm::DenseSet<int64_t> uids;
  int64_t nextUid = 1;
  llvm::DenseMap<mlir::Value, mlir::Value> tensors;
  llvm::DenseMap<mlir::Attribute, mlir::Value> operators;
  llvm::SmallVector<mlir::Value> created;
};

/// Creates `cudnn_backend.func @NAME_build` before the graph. Emits an error on an op that cuDNN
/// cannot express.
mlir::FailureOr<cudnn_backend::FuncOp>
writeGraphBuilder(mlir::OpBuilder &builder, cudnn::GraphOp graph, int64_t minimumVersion);

// One function per operation, in the file of its family. It returns the operation's descriptor, or
// emits an error.
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::ConvolutionOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::MatmulOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::PointwiseOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::ReductionOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::ResampleOp op);

mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::BlockScaleDequantizeOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::BlockScaleQuantizeOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::BnBwdWeightsOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::BnFinalizeOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::ConcatOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::ContractBandMatrixOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::ExpandBandMatrixOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::GenStatsOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::MoeGroupedMatmulOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::NormBackwardOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::NormForwardOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::PagedCacheLoadOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::ResampleBackwardOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::ReshapeOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::RngOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::SdpaForwardOp op);
mlir::FailureOr<mlir::Value> lower(GraphWriter &writer, cudnn::SignalOp op);

} // namespace convoy

#endif // CONVOY_PASSES_CUDNN_TO_BACKEND_GRAPHWRITER_H
