// The kernel of a network's first layers (passes/common/Stem.h).

#ifndef CONVOY_PASSES_KERNELS_STEMKERNELS_H
#define CONVOY_PASSES_KERNELS_STEMKERNELS_H

#include "passes/kernels/Variant.h"

namespace convoy {

/// The kernel for `graph`, which is of the form that buildStemGraph makes. Nothing, with the reason, when it is not.
std::optional<Variant> stemVariant(cudnn::GraphOp graph, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_STEMKERNELS_H
