// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "weights.h"
#include <stdlib.h>
#include <string.h>

bool allocatePointers(Pointers *pointers, size_t count) {
  *pointers = (Pointers){calloc(count + 1, sizeof(void *)), calloc(count + 1, sizeof(bool)), count};
  return pointers->list && pointers->owned;
}

void freePointers(Pointers *pointers) {
  for (size_t i = 0; pointers->list && pointers->owned && i < pointers->count; ++i)
    if (pointers->owned[i])
      free(pointers->list[i]);
  free(pointers->list);
  free(pointers->owned);
  *pointers = (Pointers){0};
}

bool allocateCopy(Pointers *pointers, size_t index, size_t bytes) {
  pointers->list[index] = allocateAligned(bytes);
  pointers->owned[index] = pointers->list[index];
  return pointers->owned[index];
}

bool setPointer(Pointers *pointers, size_t index, void *data, size_t bytes) {
  if ((uintptr_t)data % CONVOY_ALIGNMENT == 0 && data) {
    pointers->list[index] = data;
    return true;
  }
  if (!allocateCopy(pointers, index, bytes))
    return false;
  if (bytes)
    memcpy(pointers->list[index], data, bytes);
  return true;
}

/// The prepared weights of the artifact.
static ConvoyStatus takeWeights(const Artifact *artifact, Range member, Pointers *prepared,
                                ConvoyError *error) {
  Pool pool = {0};
  Safetensors file;
  ConvoyStatus status =
      readSafetensors(member, "weights.safetensors", CONVOY_BAD_ARTIFACT, &pool, &file, error);
  for (size_t i = 0; !status && i < prepared->count; ++i) {
    const ConvoyTensor *tensor = &artifact->prepared.list[i];
    Range found;
    status = findTensor(&file, tensor->name, tensor, CONVOY_BAD_ARTIFACT, &found, error);
    if (!status && !found.data)
      status = fail(error, CONVOY_BAD_ARTIFACT, "%s: weights.safetensors: has no tensor %s",
                    artifact->path, tensor->name);
    if (!status && !setPointer(prepared, i, found.data, found.bytes))
      status = outOfMemory(error);
  }
  poolFree(&pool);
  return status;
}

/// Finds a weight by its name or an alias in the given file, then in the artifact's constants.
static ConvoyStatus findWeight(const Artifact *artifact, const Safetensors *given,
                               const Safetensors *constants, const ConvoyTensor *weight,
                               Range *found, ConvoyError *error) {
  ConvoyStatus status = findTensor(given, weight->name, weight, CONVOY_BAD_ARGUMENT, found, error);
  const Json *aliases = jsonField(artifact->manifest, "aliases", JSON_OBJECT);
  for (const Json *alias = aliases ? aliases->first : NULL; !status && !found->data && alias;
       alias = alias->next)
    if (alias->kind == JSON_STRING && !strcmp(alias->string, weight->name))
      status = findTensor(given, alias->key, weight, CONVOY_BAD_ARGUMENT, found, error);
  if (!status && !found->data)
    status = findTensor(constants, weight->name, weight, CONVOY_BAD_ARTIFACT, found, error);
  if (!status && !found->data)
    status = fail(error, CONVOY_BAD_ARGUMENT, "%s: %s: missing", given->name, weight->name);
  return status;
}

/// Whether bytes are those of a hexadecimal text.
static bool equalsHex(Range bytes, const char *text) {
  static const char kDigits[] = "0123456789abcdef";
  if (strlen(text) != 2 * bytes.bytes)
    return false;
  const uint8_t *data = bytes.data;
  for (size_t i = 0; i < bytes.bytes; ++i)
    if (text[2 * i] != kDigits[data[i] >> 4] || text[2 * i + 1] != kDigits[data[i] & 15])
      return false;
  return true;
}

/// Checks that buffers on which the model branches have the values that it is compiled for.
static ConvoyStatus checkCompiledIn(const Artifact *artifact, const Safetensors *given,
                                    ConvoyError *error) {
  const Json *known = jsonField(artifact->manifest, "compiled_in", JSON_OBJECT);
  for (const Json *each = known ? known->first : NULL; each; each = each->next) {
    Range found;
    ConvoyStatus status = findBytes(given, each->key, CONVOY_BAD_ARGUMENT, &found, error);
    if (status)
      return status;
    if (found.data && (each->kind != JSON_STRING || !equalsHex(found, each->string)))
      return fail(error, CONVOY_BAD_ARGUMENT,
                  "%s: %s: its value is not the one that the program is compiled for; compile the "
                  "model again",
                  given->name, each->key);
  }
  return CONVOY_SUCCESS;
}

/// Prepares the weights of a safetensors file with the code of the artifact.
static ConvoyStatus prepareWeights(const Artifact *artifact, const Library *library,
                                   const char *path, Pointers *prepared, ConvoyError *error) {
  Pool pool = {0};
  Pointers weights = {0};
  Safetensors given = {0}, constants = {0};
  Range file = {0}, member = findMember(artifact, "constants.safetensors");
  void *arena = allocateAligned(artifact->prepareArenaBytes);
  ConvoyStatus status = CONVOY_SUCCESS;
  if (!arena || !allocatePointers(&weights, artifact->weights.count))
    status = outOfMemory(error);
  for (size_t i = 0; !status && i < prepared->count; ++i)
    if (!allocateCopy(prepared, i, artifact->prepared.list[i].bytes))
      status = outOfMemory(error);
  if (!status)
    status = readFile(path, CONVOY_BAD_ARGUMENT, &file.data, &file.bytes, error);
  if (!status)
    status = readSafetensors(file, path, CONVOY_BAD_ARGUMENT, &pool, &given, error);
  if (!status)
    status = checkCompiledIn(artifact, &given, error);
  if (!status && member.data)
    status = readSafetensors(member, "constants.safetensors", CONVOY_BAD_ARTIFACT, &pool,
                             &constants, error);
  for (size_t i = 0; !status && i < weights.count; ++i) {
    Range found;
    status = findWeight(artifact, &given, &constants, &artifact->weights.list[i], &found, error);
    if (!status && !setPointer(&weights, i, found.data, found.bytes))
      status = outOfMemory(error);
  }
  if (!status) {
    int32_t result = library->prepare(weights.list, prepared->list, arena);
    if (result)
      status = fail(error, CONVOY_PROGRAM_FAILED, "%s: convoy_prepare_weights returned %d",
                    artifact->path, (int)result);
  }
  freePointers(&weights);
  poolFree(&pool);
  free(file.data);
  free(arena);
  return status;
}

ConvoyStatus loadWeights(const Artifact *artifact, const Library *library, const char *path,
                         Pointers *prepared, ConvoyError *error) {
  if (!allocatePointers(prepared, artifact->prepared.count))
    return outOfMemory(error);
  Range member = findMember(artifact, "weights.safetensors");
  if (path)
    return prepareWeights(artifact, library, path, prepared, error);
  if (member.data)
    return takeWeights(artifact, member, prepared, error);
  if (!prepared->count)
    return CONVOY_SUCCESS;
  return fail(error, CONVOY_BAD_ARGUMENT,
              "%s: the artifact has no weights: set ConvoyLoadOptions.weights to a safetensors "
              "file, or compile without --no-weights",
              artifact->path);
}
