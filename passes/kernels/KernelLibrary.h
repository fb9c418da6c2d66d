// runtime/device, compiled to LLVM bitcode: functions that kernels call and that are linked into
// them.

#ifndef CONVOY_PASSES_KERNELS_KERNELLIBRARY_H
#define CONVOY_PASSES_KERNELS_KERNELLIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace convoy {

/// The bitcode, one module.
llvm::ArrayRef<char> kernelLibrary();

/// What all functions of the library are called by.
inline constexpr llvm::StringLiteral kLibraryPrefix = "convoy_";

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_KERNELLIBRARY_H
