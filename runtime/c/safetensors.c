// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Safetensors files (https://huggingface.co/docs/safetensors): eight bytes of header length, a JSON
// header, then the tensors.

#include "artifact.h"
#include <string.h>

const Dtype kDtypes[DTYPES] = {
    [CONVOY_FLOAT64] = {"float64", "F64", 8}, [CONVOY_FLOAT32] = {"float32", "F32", 4},
    [CONVOY_FLOAT16] = {"float16", "F16", 2}, [CONVOY_BFLOAT16] = {"bfloat16", "BF16", 2},
    [CONVOY_INT64] = {"int64", "I64", 8},     [CONVOY_INT32] = {"int32", "I32", 4},
    [CONVOY_INT16] = {"int16", "I16", 2},     [CONVOY_INT8] = {"int8", "I8", 1},
    [CONVOY_UINT8] = {"uint8", "U8", 1},      [CONVOY_BOOL] = {"bool", "BOOL", 1},
};

ConvoyStatus readSafetensors(Range file, const char *name, ConvoyStatus status, Pool *pool,
                             Safetensors *found, ConvoyError *error) {
  uint64_t length = 0;
  if (file.bytes >= 8)
    length = read32(file.data) | (uint64_t)read32(file.data + 4) << 32;
  if (file.bytes < 8 || length > file.bytes - 8)
    return fail(error, status, "%s: is not a safetensors file, or is truncated", name);
  const char *problem;
  const Json *header = parseJson((const char *)file.data + 8, length, pool, &problem);
  if (!header || header->kind != JSON_OBJECT)
    return fail(error, status, "%s: is not a safetensors file: %s", name,
                header ? "the header is not an object" : problem);
  *found = (Safetensors){name, header, {file.data + 8 + length, file.bytes - 8 - length}};
  return CONVOY_SUCCESS;
}

/// The bytes of the tensor that `entry` of the header describes.
static ConvoyStatus readOffsets(const Safetensors *file, const char *name, const Json *entry,
                                ConvoyStatus status, Range *found, ConvoyError *error) {
  const Json *offsets = jsonField(entry, "data_offsets", JSON_LIST);
  if (!offsets || offsets->count != 2 || offsets->first->kind != JSON_INTEGER ||
      offsets->first->next->kind != JSON_INTEGER)
    return fail(error, status, "%s: %s: expected two data_offsets", file->name, name);
  int64_t begin = offsets->first->integer, end = offsets->first->next->integer;
  if (begin < 0 || end < begin || (uint64_t)end > file->data.bytes)
    return fail(error, status, "%s: %s: its bytes are outside the file", file->name, name);
  *found = (Range){file->data.data + begin, (size_t)(end - begin)};
  return CONVOY_SUCCESS;
}

ConvoyStatus findBytes(const Safetensors *file, const char *name, ConvoyStatus status, Range *found,
                       ConvoyError *error) {
  *found = (Range){0};
  const Json *entry = jsonField(file->header, name, JSON_OBJECT);
  return entry ? readOffsets(file, name, entry, status, found, error) : CONVOY_SUCCESS;
}

ConvoyStatus findTensor(const Safetensors *file, const char *name, const ConvoyTensor *tensor,
                        ConvoyStatus status, Range *found, ConvoyError *error) {
  *found = (Range){0};
  const Json *entry = jsonField(file->header, name, JSON_OBJECT);
  if (!entry)
    return CONVOY_SUCCESS;
  const Json *dtype = jsonField(entry, "dtype", JSON_STRING);
  const Json *shape = jsonField(entry, "shape", JSON_LIST);
  const char *expected = kDtypes[tensor->dtype].safetensors;
  if (!dtype || strcmp(dtype->string, expected) != 0)
    return fail(error, status, "%s: %s: expected dtype %s, got %s", file->name, name, expected,
                dtype ? dtype->string : "none");
  bool equal = shape && shape->count == tensor->rank;
  const Json *size = equal ? shape->first : NULL;
  for (size_t i = 0; equal && i < tensor->rank; ++i, size = size->next)
    equal = size->kind == JSON_INTEGER && size->integer == tensor->shape[i];
  if (!equal)
    return fail(error, status, "%s: %s: the shape differs from that of the program", file->name,
                name);
  Range bytes;
  ConvoyStatus outside = readOffsets(file, name, entry, status, &bytes, error);
  if (outside)
    return outside;
  if (bytes.bytes != tensor->bytes)
    return fail(error, status, "%s: %s: its bytes are outside the file", file->name, name);
  *found = bytes;
  return CONVOY_SUCCESS;
}
