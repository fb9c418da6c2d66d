// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory and messages, shared by the files of the C runtime.

#ifndef CONVOY_C_COMMON_H
#define CONVOY_C_COMMON_H

#include "convoy.h"
#include <stdbool.h>

/// Alignment of every buffer that generated code uses, in bytes.
#define CONVOY_ALIGNMENT 64

/// Memory that is freed as a whole. Zero is an empty pool.
typedef struct Pool {
  struct PoolBlock *blocks;
} Pool;

/// Returns zeroed memory, or null.
void *poolAllocate(Pool *pool, size_t bytes);
/// Frees all memory of the pool.
void poolFree(Pool *pool);

/// Returns memory at a multiple of CONVOY_ALIGNMENT for `free`, or null. Never has zero bytes.
void *allocateAligned(size_t bytes);

/// Writes the message unless `error` is null. Returns `status`.
ConvoyStatus fail(ConvoyError *error, ConvoyStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// The failure of an allocation.
ConvoyStatus outOfMemory(ConvoyError *error);

/// Reads a little-endian number of four bytes.
uint32_t read32(const unsigned char *at);

/// Reads a regular file into aligned memory, which the caller frees. The failure is `status`.
ConvoyStatus readFile(const char *path, ConvoyStatus status, unsigned char **content, size_t *bytes,
                      ConvoyError *error);

/// Writes the SHA-256 of `data` as 64 hexadecimal digits and a null.
/// https://doi.org/10.6028/NIST.FIPS.180-4
void sha256(const void *data, size_t bytes, char digits[65]);

/// Checks that this machine has the architecture of `triple` and the CPU features.
///
/// \param triple    LLVM's triple.
/// \param cpu       LLVM's name of the CPU, for messages.
/// \param features  LLVM's names of `count` features.
/// \param problem   Receives what is missing, at most `bytes` bytes.
/// \returns whether nothing is missing.
bool hostRuns(const char *triple, const char *cpu, const char *const *features, size_t count,
              char *problem, size_t bytes);

#endif // CONVOY_C_COMMON_H
