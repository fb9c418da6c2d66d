// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Groups around tcp.attention: the op, the views through which it reads its operands, and the
// transpose of its result. Views become strides of the graph's tensors, so that nothing is copied.

#ifndef CONVOY_PASSES_FUSION_ATTENTION_H
#define CONVOY_PASSES_FUSION_ATTENTION_H

#include "dialect/tcp/TcpOps.h"
#include "passes/fusion/GraphForm.h"

namespace convoy {

/// Moves copies of the views that `op` reads through, as far as strides express them, to `op`.
/// Returns them, `op`, and the transpose that is the only user of its result, if there is one.
llvm::SmallVector<mlir::Operation *> isolateAttention(tcp::AttentionOp op);

/// Converts a group of `op` to the operations that cuDNN recognizes as attention: a product, a
/// scale and softcap, the mask, a softmax and a second product. Fails with the reason in `reason`.
std::optional<GroupGraph> buildAttentionGraph(mlir::OpBuilder &builder, llvm::StringRef name,
                                              tcp::AttentionOp op, const GroupOps &group,
                                              std::string &reason);

/// The reason why `op` alone does not become a graph that `table` accepts, or std::nullopt.
std::optional<std::string> refuseAttention(tcp::AttentionOp op, const SupportTable &table);

/// The multiple to which `tcp-pad-attention` pads the last dims of operands: 16 bytes.
constexpr int64_t kPaddedDepth = 8;

/// Like `refuseAttention`, with the last dims padded with zeros to multiples of `kPaddedDepth`.
/// Only 16-bit floats are padded, for which there are kernels besides cuDNN's.
std::optional<std::string> refusePaddedAttention(tcp::AttentionOp op, const SupportTable &table);

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_ATTENTION_H
