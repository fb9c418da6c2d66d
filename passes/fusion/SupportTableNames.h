// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Names of enumerators in the support table.

#ifndef CONVOY_PASSES_FUSION_SUPPORTTABLENAMES_H
#define CONVOY_PASSES_FUSION_SUPPORTTABLENAMES_H

#include "llvm/ADT/StringRef.h"

namespace convoy {

/// The names of the enumerators of `Layout`.
inline constexpr llvm::StringLiteral kLayouts[] = {"channels_last", "channels_first", "row_major"};
/// The names of the enumerators of `ChannelGroups`.
inline constexpr llvm::StringLiteral kChannelGroups[] = {"", "none", "grouped", "depthwise"};

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_SUPPORTTABLENAMES_H
