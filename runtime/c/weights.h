// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pointers for native code, and the prepared weights of a program.

#ifndef CONVOY_C_WEIGHTS_H
#define CONVOY_C_WEIGHTS_H

#include "library.h"

/// Pointers to aligned memory, some of them to allocations of their own.
typedef struct Pointers {
  void **list;
  bool *owned; ///< whether a pointer is freed with the list
  size_t count;
} Pointers;

/// Allocates `count` null pointers. The caller frees them, also after a failure.
bool allocatePointers(Pointers *pointers, size_t count);
/// Frees the list and the allocations.
void freePointers(Pointers *pointers);
/// Sets pointer `index` to an allocation.
bool allocateCopy(Pointers *pointers, size_t index, size_t bytes);
/// Sets pointer `index` to `data`, or to an aligned copy.
bool setPointer(Pointers *pointers, size_t index, void *data, size_t bytes);

/// Finds the prepared weights of an artifact, or computes them from the safetensors file `path`,
/// which may be null. They may be memory of the artifact. The caller frees `prepared`, also after a
/// failure.
ConvoyStatus loadWeights(const Artifact *artifact, const Library *library, const char *path,
                         Pointers *prepared, ConvoyError *error);

#endif // CONVOY_C_WEIGHTS_H
