// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define _GNU_SOURCE
#include "common.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// A block of a pool; the memory of allocations follows it.
typedef struct PoolBlock {
  struct PoolBlock *next;
  size_t used, bytes;
} PoolBlock;

#define POOL_BLOCK ((size_t)1 << 16)
#define POOL_ALIGNMENT 16
_Static_assert(sizeof(PoolBlock) <= 2 * POOL_ALIGNMENT, "the header of a block has two units");

void *poolAllocate(Pool *pool, size_t bytes) {
  const size_t header = 2 * POOL_ALIGNMENT;
  if (bytes > SIZE_MAX / 4)
    return NULL;
  bytes = (bytes + POOL_ALIGNMENT - 1) / POOL_ALIGNMENT * POOL_ALIGNMENT;
  if (!pool->blocks || pool->blocks->bytes - pool->blocks->used < bytes) {
    size_t size = bytes > POOL_BLOCK ? bytes : POOL_BLOCK;
    PoolBlock *block = calloc(1, header + size);
    if (!block)
      return NULL;
    *block = (PoolBlock){pool->blocks, 0, size};
    pool->blocks = block;
  }
  void *found = (char *)pool->blocks + header + pool->blocks->used;
  pool->blocks->used += bytes;
  return found;
}

void poolFree(Pool *pool) {
  for (PoolBlock *block = pool->blocks, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  pool->blocks = NULL;
}

uint32_t read32(const unsigned char *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void *allocateAligned(size_t bytes) {
  if (bytes > SIZE_MAX / 2)
    return NULL;
  size_t units = bytes / CONVOY_ALIGNMENT + 1;
  return aligned_alloc(CONVOY_ALIGNMENT, units * CONVOY_ALIGNMENT);
}

ConvoyStatus fail(ConvoyError *error, ConvoyStatus status, const char *format, ...) {
  if (error) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
  }
  return status;
}

ConvoyStatus outOfMemory(ConvoyError *error) {
  return fail(error, CONVOY_OUT_OF_MEMORY, "out of memory");
}

ConvoyStatus readFile(const char *path, ConvoyStatus status, unsigned char **content, size_t *bytes,
                      ConvoyError *error) {
  *content = NULL;
  // A FIFO would block without O_NONBLOCK.
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0)
    return fail(error, status, "%s: cannot be read: %s", path, strerror(errno));
  struct stat facts;
  if (fstat(file, &facts) || !S_ISREG(facts.st_mode)) {
    close(file);
    return fail(error, status, "%s: cannot be read: expected a regular file", path);
  }
  *bytes = (size_t)facts.st_size;
  *content = allocateAligned(*bytes);
  if (!*content) {
    close(file);
    return outOfMemory(error);
  }
  size_t done = 0;
  while (done < *bytes) {
    ssize_t count = read(file, *content + done, *bytes - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      const char *reason = count ? strerror(errno) : "it was truncated while it was read";
      fail(error, status, "%s: cannot be read: %s", path, reason);
      close(file);
      free(*content);
      *content = NULL;
      return status;
    }
    done += (size_t)count;
  }
  close(file);
  return CONVOY_SUCCESS;
}
