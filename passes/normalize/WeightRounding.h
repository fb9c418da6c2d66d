// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rounds products of 16-bit weights and factors near 1 without a bias.

#ifndef CONVOY_PASSES_NORMALIZE_WEIGHTROUNDING_H
#define CONVOY_PASSES_NORMALIZE_WEIGHTROUNDING_H

#include "mlir/IR/Builders.h"

namespace convoy {

/// Changes `product`, which is rounded to `type` next, by at most half a unit in the last place, up
/// and down in turn within each filter, where `factor` is near 1.
///
/// A batch norm with random statistics has a scale of 1 / sqrt(1 + eps), 0.9995 for an eps of 1e-3.
/// Its products with weights that are float16 already are between half a unit and one below the
/// weight, and rounding to nearest makes all of them smaller by one unit: the layer is too small by
/// 0.02 %, which adds up over the layers of a model. With the change, products are rounded up and
/// down in the right proportion. Other factors spread the products between two units, so rounding
/// to nearest has no bias, and is more precise.
///
/// \param product  Weights times factors, or divided by them, in f32.
/// \param factor   The factors in f32, of the same rank; only dim `channel` may not be of size 1.
/// \param type     The narrower type.
/// \param channel  The dim of the filters.
mlir::Value withoutRoundingBias(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value product,
                                mlir::Value factor, mlir::FloatType type, int64_t channel);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_WEIGHTROUNDING_H
