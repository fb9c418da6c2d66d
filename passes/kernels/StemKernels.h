// The kernels of a network's first layers (passes/common/Stem.h).

#ifndef CONVOY_PASSES_KERNELS_STEMKERNELS_H
#define CONVOY_PASSES_KERNELS_STEMKERNELS_H

#include "passes/kernels/Variant.h"

namespace convoy {

/// The kernels for `graph`, which is of the form that buildStemGraph makes, the most promising
/// first. None, with the reason, when it is not.
llvm::SmallVector<Variant, 0> stemVariants(cudnn::GraphOp graph, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_STEMKERNELS_H
