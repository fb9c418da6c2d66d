// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The graphs of groups.

#ifndef CONVOY_PASSES_FUSION_GROUPGRAPH_H
#define CONVOY_PASSES_FUSION_GROUPGRAPH_H

#include "passes/fusion/GraphForm.h"

namespace convoy {

/// Converts `group` at `builder`'s place. Nothing, with the reason, when it is not one graph of a
/// form that the support table has.
std::optional<GroupGraph> buildGroupGraph(mlir::OpBuilder &builder, llvm::StringRef name,
                                          const GroupOps &group, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_GROUPGRAPH_H
