// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define _GNU_SOURCE
#include "library.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char kMember[] = "native.so";

/// Guards the numbers of users and the variable below.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/// The library whose threads run the loops of all libraries of this runtime.
static Library *pool;

static bool writeWhole(int file, Range content) {
  for (size_t done = 0; done < content.bytes;) {
    ssize_t count = write(file, content.data + done, content.bytes - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    done += (size_t)count;
  }
  return true;
}

/// Maps from a file in memory. Its descriptor stays open, because the dynamic linker knows the
/// library by a path with the descriptor's number.
static bool mapFromMemory(Library *library, Range content) {
  int file = memfd_create("convoy-native", MFD_CLOEXEC);
  if (file < 0)
    return false;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (writeWhole(file, content) && (library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
    library->descriptor = file;
    return true;
  }
  close(file);
  return false;
}

/// Maps from a folder that only this user can enter, where the kernel allows no code in memory
/// files.
static bool mapFromFolder(Library *library, Range content) {
  const char *parent = getenv("TMPDIR");
  char folder[4000], path[4096];
  snprintf(folder, sizeof folder, "%.3900s/convoy-XXXXXX", parent && *parent ? parent : "/tmp");
  if (!mkdtemp(folder))
    return false;
  snprintf(path, sizeof path, "%s/%s", folder, kMember);
  FILE *file = fopen(path, "wbxe");
  bool written = file && writeWhole(fileno(file), content);
  if (file && fclose(file))
    written = false;
  if (written)
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  rmdir(folder);
  return library->handle;
}

static ConvoyStatus find(const Library *library, const Artifact *artifact, const char *name,
                         void *function, ConvoyError *error) {
  void *address = dlsym(library->handle, name);
  // A function pointer has the representation of an object pointer in POSIX.
  memcpy(function, &address, sizeof address);
  return address ? CONVOY_SUCCESS
                 : fail(error, CONVOY_BAD_ARTIFACT, "%s: %s: the library does not export %s",
                        artifact->path, kMember, name);
}

static ConvoyStatus differs(const Artifact *artifact, const char *field, ConvoyError *error) {
  return fail(error, CONVOY_BAD_ARTIFACT,
              "%s: manifest.json: %s: differs from the value that native.so was compiled for",
              artifact->path, field);
}

/// Compares `convoy_sizes` with the manifest.
static ConvoyStatus checkSizes(const int64_t *numbers, const Artifact *artifact,
                               ConvoyError *error) {
  const int64_t *at = numbers + 1, *end = at + (numbers[0] < 0 ? 0 : numbers[0]);
  if (at == end || (uint64_t)*at++ != artifact->arenaBytes)
    return differs(artifact, "arena_bytes", error);
  if (at == end || (uint64_t)*at++ != artifact->prepareArenaBytes)
    return differs(artifact, "prepare_arena_bytes", error);
  const struct {
    const char *field;
    Tensors tensors;
  } lists[] = {{"inputs", artifact->inputs},
               {"weights", artifact->weights},
               {"prepared", artifact->prepared},
               {"outputs", artifact->outputs}};
  for (size_t i = 0; i < 4; ++i) {
    const Tensors *tensors = &lists[i].tensors;
    if (at == end || (uint64_t)*at++ != tensors->count)
      return differs(artifact, lists[i].field, error);
    for (size_t k = 0; k < tensors->count; ++k)
      if (at == end || (uint64_t)*at++ != tensors->list[k].bytes)
        return differs(artifact, lists[i].field, error);
  }
  return at == end ? CONVOY_SUCCESS : differs(artifact, "outputs", error);
}

static ConvoyStatus checkLibrary(Library *library, const Artifact *artifact, ConvoyError *error) {
  uint32_t (*version)(void);
  const int64_t *(*sizes)(void);
  ConvoyStatus status;
  if ((status = find(library, artifact, "convoy_abi_version", &version, error)) ||
      (status = find(library, artifact, "convoy_sizes", &sizes, error)) ||
      (status = find(library, artifact, "convoy_main", &library->run, error)) ||
      (status = find(library, artifact, "convoy_prepare_weights", &library->prepare, error)))
    return status;
  // A library without parallel loops may lack it.
  find(library, artifact, "convoy_share_threads", &library->shareThreads, NULL);
  uint32_t got = version();
  if (got != CONVOY_ABI_VERSION)
    return fail(error, CONVOY_BAD_ARTIFACT,
                "%s: %s: the library was generated for another ABI: convoy_abi_version: expected "
                "%d, got %u",
                artifact->path, kMember, CONVOY_ABI_VERSION, (unsigned)got);
  return checkSizes(sizes(), artifact, error);
}

/// Makes the loops of `library` run on the threads of the first library that has any.
static void shareThreads(Library *library) {
  if (!library->shareThreads)
    return;
  pthread_mutex_lock(&lock);
  if (!pool) {
    pool = library;
  } else {
    library->threads = pool;
    ++pool->users;
    library->shareThreads(pool->shareThreads(NULL));
  }
  pthread_mutex_unlock(&lock);
}

ConvoyStatus openLibrary(const Artifact *artifact, Library **library, ConvoyError *error) {
  *library = NULL;
  Range content = findMember(artifact, kMember);
  if (!content.data)
    return fail(error, CONVOY_BAD_ARTIFACT, "%s: the artifact has no member %s", artifact->path,
                kMember);
  Library *found = calloc(1, sizeof *found);
  if (!found)
    return outOfMemory(error);
  *found = (Library){.descriptor = -1, .users = 1};
  ConvoyStatus status;
  if (mapFromMemory(found, content) || mapFromFolder(found, content)) {
    status = checkLibrary(found, artifact, error);
  } else {
    const char *reason = dlerror();
    status = fail(error, CONVOY_BAD_ARTIFACT, "%s: %s: the library cannot be loaded: %s",
                  artifact->path, kMember, reason ? reason : strerror(errno));
  }
  if (status) {
    closeLibrary(found);
    return status;
  }
  shareThreads(found);
  *library = found;
  return CONVOY_SUCCESS;
}

void closeLibrary(Library *library) {
  while (library) {
    pthread_mutex_lock(&lock);
    bool last = --library->users == 0;
    if (last && pool == library)
      pool = NULL;
    pthread_mutex_unlock(&lock);
    if (!last)
      return;
    Library *threads = library->threads;
    if (library->handle)
      dlclose(library->handle);
    if (library->descriptor >= 0)
      close(library->descriptor);
    free(library);
    library = threads;
  }
}
