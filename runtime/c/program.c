// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A loaded program: its prepared weights, and runs on memory of the caller.

#include "weights.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/// The arena of a run, in the list of unused ones between runs.
typedef struct Arena {
  struct Arena *next;
  void *memory;
} Arena;

struct ConvoyProgram {
  Artifact artifact;
  Library *library;
  Pointers prepared; ///< the prepared weights in order
  pthread_mutex_t lock;
  Arena *unused; ///< guarded by `lock`
};

int32_t convoy_c_version(void) { return CONVOY_C_VERSION; }

static ConvoyStatus load(ConvoyProgram *program, const char *path, const ConvoyLoadOptions *options,
                         ConvoyError *error) {
  Artifact *artifact = &program->artifact;
  ConvoyStatus status = openArtifact(artifact, path, options->digest, error);
  if (status || (status = openLibrary(artifact, &program->library, error)))
    return status;
  return loadWeights(artifact, program->library, options->weights, &program->prepared, error);
}

ConvoyStatus convoy_program_load(const char *path, const ConvoyLoadOptions *options,
                                 ConvoyProgram **program, ConvoyError *error) {
  const ConvoyLoadOptions defaults = {0};
  *program = NULL;
  ConvoyProgram *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return outOfMemory(error);
  pthread_mutex_init(&loaded->lock, NULL);
  ConvoyStatus status = load(loaded, path, options ? options : &defaults, error);
  if (status)
    convoy_program_close(loaded);
  else
    *program = loaded;
  return status;
}

void convoy_program_close(ConvoyProgram *program) {
  if (!program)
    return;
  closeLibrary(program->library);
  for (Arena *arena = program->unused, *next; arena; arena = next) {
    next = arena->next;
    free(arena->memory);
    free(arena);
  }
  freePointers(&program->prepared);
  closeArtifact(&program->artifact);
  pthread_mutex_destroy(&program->lock);
  free(program);
}

const ConvoyTensor *convoy_program_inputs(const ConvoyProgram *program, size_t *count) {
  *count = program->artifact.inputs.count;
  return program->artifact.inputs.list;
}

const ConvoyTensor *convoy_program_outputs(const ConvoyProgram *program, size_t *count) {
  *count = program->artifact.outputs.count;
  return program->artifact.outputs.list;
}

const ConvoyTensor *convoy_program_weights(const ConvoyProgram *program, size_t *count) {
  *count = program->artifact.weights.count;
  return program->artifact.weights.list;
}

const char *convoy_program_digest(const ConvoyProgram *program) { return program->artifact.digest; }

static ConvoyStatus checkBuffers(const char *what, Tensors tensors, const ConvoyBuffer *buffers,
                                 size_t count, ConvoyError *error) {
  if (count != tensors.count)
    return fail(error, CONVOY_BAD_ARGUMENT, "expected %zu %ss, got %zu", tensors.count, what,
                count);
  for (size_t i = 0; i < count; ++i) {
    if (buffers[i].bytes != tensors.list[i].bytes)
      return fail(error, CONVOY_BAD_ARGUMENT, "%s %s: expected %zu bytes of %s, got %zu", what,
                  tensors.list[i].name, tensors.list[i].bytes, tensors.list[i].dtype_name,
                  buffers[i].bytes);
    if (!buffers[i].data && buffers[i].bytes)
      return fail(error, CONVOY_BAD_ARGUMENT, "%s %s: expected memory, got null", what,
                  tensors.list[i].name);
  }
  return CONVOY_SUCCESS;
}

static bool overlap(const ConvoyBuffer *a, const ConvoyBuffer *b) {
  uintptr_t first = (uintptr_t)a->data, second = (uintptr_t)b->data;
  return first < second + b->bytes && second < first + a->bytes;
}

/// Whether buffer `index` shares memory with one of the others.
static bool overlapsAny(const ConvoyBuffer *buffer, const ConvoyBuffer *others, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (overlap(buffer, &others[i]))
      return true;
  return false;
}

/// Takes an unused arena, or allocates one. Returns null if that fails.
static Arena *takeArena(ConvoyProgram *program) {
  pthread_mutex_lock(&program->lock);
  Arena *arena = program->unused;
  if (arena)
    program->unused = arena->next;
  pthread_mutex_unlock(&program->lock);
  if (arena || !(arena = calloc(1, sizeof *arena)))
    return arena;
  arena->memory = allocateAligned(program->artifact.arenaBytes);
  if (arena->memory)
    return arena;
  free(arena);
  return NULL;
}

static void returnArena(ConvoyProgram *program, Arena *arena) {
  pthread_mutex_lock(&program->lock);
  arena->next = program->unused;
  program->unused = arena;
  pthread_mutex_unlock(&program->lock);
}

ConvoyStatus convoy_program_run(ConvoyProgram *program, const ConvoyBuffer *inputs,
                                size_t input_count, const ConvoyBuffer *outputs,
                                size_t output_count, ConvoyError *error) {
  const Artifact *artifact = &program->artifact;
  ConvoyStatus status = checkBuffers("input", artifact->inputs, inputs, input_count, error);
  if (status || (status = checkBuffers("output", artifact->outputs, outputs, output_count, error)))
    return status;
  for (size_t i = 0; i < output_count; ++i)
    if (overlapsAny(&outputs[i], outputs, i))
      return fail(error, CONVOY_BAD_ARGUMENT, "output %s: shares memory with another output",
                  artifact->outputs.list[i].name);

  Pointers sources = {0}, targets = {0};
  Arena *arena = takeArena(program);
  bool allocated =
      allocatePointers(&sources, input_count) && allocatePointers(&targets, output_count) && arena;
  for (size_t i = 0; allocated && i < input_count; ++i)
    allocated = setPointer(&sources, i, inputs[i].data, inputs[i].bytes);
  for (size_t i = 0; allocated && i < output_count; ++i) {
    bool direct = (uintptr_t)outputs[i].data % CONVOY_ALIGNMENT == 0 && outputs[i].data &&
                  !overlapsAny(&outputs[i], inputs, input_count);
    if (direct)
      targets.list[i] = outputs[i].data;
    else
      allocated = allocateCopy(&targets, i, outputs[i].bytes);
  }
  if (!allocated) {
    status = outOfMemory(error);
  } else {
    int32_t result = program->library->run(NULL, sources.list, program->prepared.list, targets.list,
                                           arena->memory);
    if (result)
      status = fail(error, CONVOY_PROGRAM_FAILED, "%s: convoy_main returned %d", artifact->path,
                    (int)result);
    for (size_t i = 0; !result && i < output_count; ++i)
      if (targets.owned[i] && outputs[i].bytes)
        memcpy(outputs[i].data, targets.list[i], outputs[i].bytes);
  }
  if (arena)
    returnArena(program, arena);
  freePointers(&sources);
  freePointers(&targets);
  return status;
}
