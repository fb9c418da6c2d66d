// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Opens an artifact in the order of docs/architecture.md, "The artifact": the digest of the
// manifest, format and versions, the fields that a run needs, the digest of every member, and the
// machine.

#include "artifact.h"
#include "../abi/convoy_abi.h"
#include <stdlib.h>
#include <string.h>

/// The version of manifest.json and of the members (convoy_runtime.manifest.FORMAT_VERSION).
#define FORMAT_VERSION 15
/// The sizes of a zip's local header and last record, without names, fields and comment.
#define LOCAL_HEADER 30
#define LAST_RECORD 22
/// The extra field of a member from 4 GiB on.
#define ZIP64_FIELD 20
#define COMMENT (sizeof "sha256:" - 1 + 64)

static const char kManifest[] = "manifest.json";

static ConvoyStatus refuse(const Artifact *artifact, ConvoyError *error, const char *problem) {
  return fail(error, CONVOY_BAD_ARTIFACT, "%s: %s", artifact->path, problem);
}

/// The manifest of a zip whose first member it is; checks its digest.
static ConvoyStatus findManifest(Artifact *artifact, Range *manifest, ConvoyError *error) {
  const unsigned char *file = artifact->file;
  const size_t name = sizeof kManifest - 1;
  if (artifact->bytes < CONVOY_ALIGNMENT + LAST_RECORD + COMMENT || read32(file) != 0x04034B50 ||
      memcmp(file + LOCAL_HEADER, kManifest, name) != 0)
    return refuse(artifact, error,
                  "is not a Convoy artifact: it does not begin like a zip with manifest.json");
  const unsigned char *end = file + artifact->bytes - COMMENT;
  if (read32(end - LAST_RECORD) != 0x06054B50)
    return refuse(artifact, error,
                  "is truncated or damaged: it does not end with the digest of manifest.json");
  size_t bytes = read32(file + 18);
  if (bytes > artifact->bytes - CONVOY_ALIGNMENT)
    return refuse(artifact, error, "is truncated or damaged: manifest.json exceeds the file");
  *manifest = (Range){artifact->file + CONVOY_ALIGNMENT, bytes};
  memcpy(artifact->digest, "sha256:", 7);
  sha256(manifest->data, bytes, artifact->digest + 7);
  if (memcmp(end, artifact->digest, COMMENT) != 0)
    return refuse(artifact, error, "is damaged: manifest.json differs from its digest");
  return CONVOY_SUCCESS;
}

static ConvoyStatus checkVersions(const Artifact *artifact, ConvoyError *error) {
  const Json *format = jsonField(artifact->manifest, "format", JSON_STRING);
  if (format && strcmp(format->string, "convoy-dynamic") == 0)
    return refuse(artifact, error,
                  "has dynamic sizes, which the C runtime does not run; compile the model for one "
                  "of its points");
  if (!format || strcmp(format->string, "convoy") != 0)
    return refuse(artifact, error, "manifest.json: expected the format convoy");
  static const struct {
    const char *field;
    int64_t version;
  } versions[] = {{"format_version", FORMAT_VERSION}, {"abi_version", CONVOY_ABI_VERSION}};
  for (size_t i = 0; i < 2; ++i) {
    const Json *got = jsonField(artifact->manifest, versions[i].field, JSON_INTEGER);
    if (!got || got->integer != versions[i].version)
      return fail(error, CONVOY_BAD_ARTIFACT,
                  "%s: manifest.json: %s: expected %lld, got %lld; compile the model with the "
                  "Convoy of this runtime",
                  artifact->path, versions[i].field, (long long)versions[i].version,
                  got ? (long long)got->integer : -1LL);
  }
  const Json *target = jsonField(artifact->manifest, "target", JSON_STRING);
  if (!target || strcmp(target->string, "cpu") != 0)
    return fail(error, CONVOY_BAD_ARTIFACT,
                "%s: manifest.json: target: expected cpu, got %s, which only the Python runtime "
                "runs",
                artifact->path, target ? target->string : "none");
  return CONVOY_SUCCESS;
}

/// Reads the strides of a tensor; those of a packed one if `list` is null. The tensor must be
/// dense.
static bool readStrides(const Json *list, size_t rank, const int64_t *sizes, int64_t *strides) {
  int64_t elements = 1;
  for (size_t dim = rank; dim-- > 0;) {
    strides[dim] = elements;
    if (__builtin_mul_overflow(elements, sizes[dim], &elements))
      return false;
  }
  if (!list)
    return true;
  if (list->kind != JSON_LIST || list->count != rank)
    return false;
  size_t given = 0;
  for (const Json *stride = list->first; stride; stride = stride->next) {
    if (stride->kind != JSON_INTEGER || stride->integer < 0)
      return false;
    strides[given++] = stride->integer;
  }
  // From the innermost dim on, the stride of each dim is the number of elements in those before.
  int64_t inside = 1;
  while (elements != 0 && inside != elements) {
    size_t dim = 0;
    while (dim < rank && (sizes[dim] == 1 || strides[dim] != inside))
      ++dim;
    if (dim == rank)
      return false;
    inside *= sizes[dim];
  }
  return true;
}

static bool describe(const Json *spec, Pool *pool, ConvoyTensor *tensor) {
  const Json *name = jsonField(spec, "name", JSON_STRING);
  const Json *shape = jsonField(spec, "shape", JSON_LIST);
  const Json *dtype = jsonField(spec, "dtype", JSON_STRING);
  if (!name || !shape || !dtype)
    return false;
  size_t kind = 0;
  while (kind < DTYPES && strcmp(kDtypes[kind].name, dtype->string) != 0)
    ++kind;
  int64_t *sizes = poolAllocate(pool, shape->count * sizeof *sizes);
  int64_t *strides = poolAllocate(pool, shape->count * sizeof *strides);
  if (kind == DTYPES || !sizes || !strides)
    return false;
  size_t bytes = kDtypes[kind].bytes, rank = 0;
  for (const Json *size = shape->first; size; size = size->next) {
    if (size->kind != JSON_INTEGER || size->integer < 0 ||
        __builtin_mul_overflow(bytes, (size_t)size->integer, &bytes))
      return false;
    sizes[rank++] = size->integer;
  }
  *tensor = (ConvoyTensor){
      name->string, (ConvoyDtype)kind, kDtypes[kind].name, rank, sizes, strides, bytes};
  return bytes <= SIZE_MAX / 2 &&
         readStrides(jsonField(spec, "strides", JSON_LIST), rank, sizes, strides);
}

static bool readTensors(Artifact *artifact, const char *field, Tensors *tensors) {
  const Json *list = jsonField(artifact->manifest, field, JSON_LIST);
  if (!list)
    return false;
  ConvoyTensor *all = poolAllocate(&artifact->pool, list->count * sizeof *all);
  if (!all)
    return false;
  *tensors = (Tensors){all, list->count};
  for (const Json *spec = list->first; spec; spec = spec->next)
    if (!describe(spec, &artifact->pool, all++))
      return false;
  return true;
}

static bool readBytes(const Artifact *artifact, const char *field, size_t *bytes) {
  const Json *number = jsonField(artifact->manifest, field, JSON_INTEGER);
  *bytes = number ? (size_t)number->integer : 0;
  return number && number->integer >= 0;
}

static ConvoyStatus checkHost(Artifact *artifact, ConvoyError *error) {
  const Json *host = jsonField(artifact->manifest, "host", JSON_OBJECT);
  const Json *triple = jsonField(host, "triple", JSON_STRING);
  const Json *cpu = jsonField(host, "cpu", JSON_STRING);
  const Json *features = jsonField(host, "features", JSON_LIST);
  if (!triple || !cpu || !features)
    return refuse(artifact, error, "manifest.json: host: is missing or incomplete");
  const char **names = poolAllocate(&artifact->pool, features->count * sizeof *names);
  if (!names)
    return outOfMemory(error);
  size_t count = 0;
  for (const Json *name = features->first; name; name = name->next) {
    if (name->kind != JSON_STRING)
      return refuse(artifact, error, "manifest.json: host.features: expected strings");
    names[count++] = name->string;
  }
  char problem[512];
  if (!hostRuns(triple->string, cpu->string, names, count, problem, sizeof problem))
    return fail(error, CONVOY_BAD_ARTIFACT, "%s: the artifact was compiled for another machine: %s",
                artifact->path, problem);
  return CONVOY_SUCCESS;
}

/// Calls `visit` with every member after the manifest; the manifest determines their places. Stops
/// when it returns false.
static bool visitMembers(const Artifact *artifact,
                         bool (*visit)(const Json *file, Range content, void *context),
                         void *context) {
  const Json *files = jsonField(artifact->manifest, "files", JSON_OBJECT);
  size_t end = CONVOY_ALIGNMENT + read32(artifact->file + 18);
  for (const Json *file = files->first; file; file = file->next) {
    const Json *size = jsonField(file, "bytes", JSON_INTEGER);
    if (!size || size->integer < 0)
      return visit(file, (Range){0}, context);
    size_t bytes = (size_t)size->integer, name = strlen(file->key);
    size_t header = LOCAL_HEADER + name + (bytes >= UINT32_MAX ? ZIP64_FIELD : 0) + 4;
    size_t begin = (end + header + CONVOY_ALIGNMENT - 1) / CONVOY_ALIGNMENT * CONVOY_ALIGNMENT;
    bool inside = begin <= artifact->bytes && bytes <= artifact->bytes - begin &&
                  !memcmp(artifact->file + end + LOCAL_HEADER, file->key, name);
    Range content = {inside ? artifact->file + begin : NULL, bytes};
    if (!visit(file, content, context))
      return false;
    if (!inside)
      return true;
    end = begin + bytes;
  }
  return true;
}

static bool isIntact(const Json *file, Range content, void *context) {
  const Json *expected = jsonField(file, "sha256", JSON_STRING);
  char got[65];
  if (content.data)
    sha256(content.data, content.bytes, got);
  if (content.data && expected && !strcmp(got, expected->string))
    return true;
  *(const char **)context = file->key;
  return false;
}

typedef struct Search {
  const char *name;
  Range found;
} Search;

static bool isOther(const Json *file, Range content, void *context) {
  Search *search = context;
  if (strcmp(file->key, search->name) != 0)
    return true;
  search->found = content;
  return false;
}

Range findMember(const Artifact *artifact, const char *name) {
  Search search = {name, {0}};
  visitMembers(artifact, isOther, &search);
  return search.found;
}

ConvoyStatus openArtifact(Artifact *artifact, const char *path, const char *digest,
                          ConvoyError *error) {
  size_t length = strlen(path) + 1;
  char *copy = poolAllocate(&artifact->pool, length);
  if (!copy)
    return outOfMemory(error);
  artifact->path = memcpy(copy, path, length);
  ConvoyStatus status =
      readFile(path, CONVOY_BAD_ARTIFACT, &artifact->file, &artifact->bytes, error);
  Range text = {0};
  if (status || (status = findManifest(artifact, &text, error)))
    return status;
  if (digest && strcmp(digest, artifact->digest) != 0)
    return fail(error, CONVOY_BAD_ARTIFACT,
                "%s: does not match the given digest: expected %.80s, got %s", path, digest,
                artifact->digest);
  const char *problem;
  artifact->manifest = parseJson((const char *)text.data, text.bytes, &artifact->pool, &problem);
  if (!artifact->manifest)
    return fail(error, CONVOY_BAD_ARTIFACT, "%s: manifest.json: is not JSON: %s", path, problem);
  if ((status = checkVersions(artifact, error)))
    return status;
  if (!readTensors(artifact, "inputs", &artifact->inputs) ||
      !readTensors(artifact, "weights", &artifact->weights) ||
      !readTensors(artifact, "prepared", &artifact->prepared) ||
      !readTensors(artifact, "outputs", &artifact->outputs) ||
      !readBytes(artifact, "arena_bytes", &artifact->arenaBytes) ||
      !readBytes(artifact, "prepare_arena_bytes", &artifact->prepareArenaBytes) ||
      !jsonField(artifact->manifest, "files", JSON_OBJECT))
    return refuse(artifact, error, "manifest.json: a field is missing or invalid");
  const char *damaged = NULL;
  if (!visitMembers(artifact, isIntact, &damaged))
    return fail(error, CONVOY_BAD_ARTIFACT,
                "%s: is truncated or damaged: member %s differs from its digest", path, damaged);
  return checkHost(artifact, error);
}

void closeArtifact(Artifact *artifact) {
  free(artifact->file);
  poolFree(&artifact->pool);
  *artifact = (Artifact){0};
}
