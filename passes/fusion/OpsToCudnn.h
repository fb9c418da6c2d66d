// What each tcp op becomes in a `cudnn.graph`, and a whole group as one graph. Grouping converts a
// candidate to find out what it would be; the conversion of phase `cudnn` converts what was chosen.

#ifndef CONVOY_PASSES_FUSION_OPSTOCUDNN_H
#define CONVOY_PASSES_FUSION_OPSTOCUDNN_H

#include "dialect/cudnn/CudnnOps.h"
#include "dialect/tcp/TcpOps.h"

namespace convoy {

/// Whether cuDNN has an operation for `op` that others can surround: a convolution, matrix product,
/// pooling or mean.
bool isAnchor(mlir::Operation *op);

/// The pointwise modes that ops of a group become.
llvm::ArrayRef<cudnn::PointwiseMode> groupModes();

/// Ops of one block that are to become one graph, in order. `inputs` are the values that they read
/// from elsewhere, but for numbers, in the order of the graph's arguments; the last op's result is
/// the graph's.
struct GroupOps {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SetVector<mlir::Value> inputs;

  /// Ops that are in no group yet.
  static GroupOps of(llvm::ArrayRef<mlir::Operation *> ops);
  /// The body of a group. Fails with the reason when its one result is not that of its last op.
  static std::optional<GroupOps> of(tcp::IsolatedGroupOp group, std::string &reason);
};

/// The graph of `group` at `builder`'s place, with the operations in the order of the ops. Null
/// when there is none, with the reason.
cudnn::GraphOp convertGroup(mlir::OpBuilder &builder, llvm::StringRef name, const GroupOps &group,
                            std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_OPSTOCUDNN_H
