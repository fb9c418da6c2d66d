// What the lowering of one family of operations writes with, and the list of the families.

#ifndef CONVOY_PASSES_CUDNN_TO_BACKEND_GRAPHWRITER_H
#define CONVOY_PASSES_CUDNN_TO_BACKEND_GRAPHWRITER_H

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "passes/cudnn_to_backend/GraphTensors.h"

namespace convoy {

/// Writes the descriptors of one graph, each finalized where it is made, in the body of a builder.
class GraphWriter {
public:
  using AttributeName = cudnn_backend::AttributeName;
  using DescriptorKind = cudnn_backend::DescriptorKind;
  using Values = llvm::SmallVector<std::pair<AttributeName, mlir::Attribute>>;
  using Descriptors = llvm::SmallVector<std::pair<AttributeName, mlir::Value>>;

  /// Tensors of the graph as one attribute of an operation holds them; absent operands and results
  /// are left out.
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
  mlir::Attribute word(llvm::StringRef text) { return builder.getStringAttr(text); }
  mlir::Attribute numbers(llvm::ArrayRef<int64_t> values) {
    return builder.getDenseI64ArrayAttr(values);
  }
  /// A data type, by cuDNN's name for `type`.
  mlir::Attribute dataType(mlir::Type type) { return word(cudnnDataType(type)); }
  /// A factor, in double where cuDNN computes in double, in float elsewhere.
  mlir::Attribute scale(const llvm::APFloat &value, mlir::Type computeType);

  /// A descriptor with these attributes, the one that is there already when there is one.
  mlir::Value shared(DescriptorKind kind, const Values &values);
  /// The descriptor of a tensor of the graph; null for a null value, an optional operand or result
  /// that is absent.
  mlir::Value tensor(mlir::Value value) { return tensors.lookup(value); }
  /// A descriptor of an operation: the descriptors that it holds, null ones left out, then its
  /// other attributes.
  mlir::Value operation(DescriptorKind kind, const Descriptors &descriptors,
                        const Values &values = {});

  /// The same by the tensors of the graph, with its other attributes and the descriptors that are
  /// not tensors.
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
  /// Also virtual tensors, once they are written.
  llvm::DenseMap<mlir::Value, RealTensor> reals;
  llvm::DenseSet<int64_t> uids;
  int64_t nextUid = 1;
  llvm::DenseMap<mlir::Value, mlir::Value> tensors;
  llvm::DenseMap<mlir::Attribute, mlir::Value> operators;
  llvm::SmallVector<mlir::Value> created;
};

/// Writes `cudnn_backend.func @NAME_build` before the graph. Fails, with an error on the op
/// concerned, when cuDNN has no word for something.
mlir::FailureOr<cudnn_backend::FuncOp>
writeGraphBuilder(mlir::OpBuilder &builder, cudnn::GraphOp graph, int64_t minimumVersion);

// One function an operation, in the file of its family; each returns the operation's descriptor, or
// fails after an error.
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
