// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which products have so few terms that they are bound by memory.

#ifndef CONVOY_PASSES_NORMALIZE_FEWTERMS_H
#define CONVOY_PASSES_NORMALIZE_FEWTERMS_H

#include "passes/normalize/Weights.h"

namespace convoy {

/// Whether `op` is faster as a sum: with a weight, few terms and columns, and many rows; or with a
/// matrix of few elements. With more than a few of them, and terms that are neighbors in memory,
/// the instructions of the sum are bounded by the bytes of its rows.
bool isFewTermsOfMatmul(tcp::MatmulOp op, const WeightValues &weights);

/// A convolution of single elements, if its channels are planes otherwise. Among convolutions and
/// pools images are channels-last, and what follows one is in its kernel. A first convolution of
/// few terms is a sum in their order, if its result needs no padding: cuDNN's kernels read
/// multiples of 16 bytes, which tcp-align-channels makes of the results of other convolutions.
bool isFewTermsOfConv(tcp::ConvOpInterface op, const WeightValues &weights);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_FEWTERMS_H
