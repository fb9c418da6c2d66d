// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernel library: runtime/device as LLVM bitcode, whose functions are linked into kernels.

#ifndef CONVOY_PASSES_KERNELS_KERNELLIBRARY_H
#define CONVOY_PASSES_KERNELS_KERNELLIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace convoy {

/// The bitcode, one module.
llvm::ArrayRef<char> kernelLibrary();

/// Name prefix of all functions of the library.
inline constexpr llvm::StringLiteral kLibraryPrefix = "convoy_";

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_KERNELLIBRARY_H
