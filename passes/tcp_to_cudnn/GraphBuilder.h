// One group as one cudnn.graph: layouts, element types in between, and the order of operations that
// cuDNN has its fast kernels for.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_GRAPHBUILDER_H
#define CONVOY_PASSES_TCP_TO_CUDNN_GRAPHBUILDER_H

#include "dialect/cudnn/CudnnOps.h"
#include "passes/common/Groups.h"

namespace convoy {

/// The graph of `group`, whose form is `form`, at `builder`'s place; its arguments are the group's
/// operands, its result the group's. Null after an error.
cudnn::GraphOp buildGraph(mlir::OpBuilder &builder, llvm::StringRef name,
                          tcp::IsolatedGroupOp group, const GroupForm &form);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_GRAPHBUILDER_H
