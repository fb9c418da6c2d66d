// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The native library of an artifact.

#ifndef CONVOY_C_LIBRARY_H
#define CONVOY_C_LIBRARY_H

#include "../abi/convoy_abi.h"
#include "artifact.h"

/// A loaded native.so.
typedef struct Library {
  void *handle;
  int descriptor;          ///< of the file in memory, or -1
  size_t users;            ///< programs, and libraries that use its threads
  struct Library *threads; ///< the library whose threads run the loops, or null if its own do
  int32_t (*run)(const ConvoyRuntime *, void *const *, void *const *, void *const *, void *);
  int32_t (*prepare)(void *const *, void *const *, void *);
  ConvoyParallelFor (*shareThreads)(ConvoyParallelFor); ///< null without parallel loops
} Library;

/// Maps the library of a verified artifact, and checks its ABI version and its sizes. On failure
/// `library` is null.
ConvoyStatus openLibrary(const Artifact *artifact, Library **library, ConvoyError *error);
/// Unloads the library. Does nothing for null.
void closeLibrary(Library *library);

#endif // CONVOY_C_LIBRARY_H
