// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads the JSON of manifests and safetensors headers, which has no fractions.

#ifndef CONVOY_C_JSON_H
#define CONVOY_C_JSON_H

#include "common.h"

typedef enum JsonKind {
  JSON_NULL,
  JSON_FLAG,
  JSON_INTEGER,
  JSON_STRING,
  JSON_LIST,
  JSON_OBJECT
} JsonKind;

/// A value of a document.
typedef struct Json {
  JsonKind kind;
  const char *key;          ///< the name of a field of an object, else null
  const char *string;       ///< the text of a JSON_STRING, UTF-8
  int64_t integer;          ///< the value of a JSON_INTEGER or JSON_FLAG
  size_t count;             ///< the number of elements
  const struct Json *first; ///< the first element of a JSON_LIST or JSON_OBJECT
  const struct Json *next;  ///< the next element of the list or object that has this value
} Json;

/// Parses a document.
///
/// \param text     The document, which need not end with a null.
/// \param bytes    Its size.
/// \param pool     Receives the memory of the values.
/// \param problem  Receives the reason of a failure.
/// \returns the value, or null.
const Json *parseJson(const char *text, size_t bytes, Pool *pool, const char **problem);

/// Returns the field `key` of an object, or null if there is none of this kind.
const Json *jsonField(const Json *object, const char *key, JsonKind kind);

#endif // CONVOY_C_JSON_H
