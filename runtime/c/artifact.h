// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Artifacts and safetensors files as data: nothing here maps or runs native code.

#ifndef CONVOY_C_ARTIFACT_H
#define CONVOY_C_ARTIFACT_H

#include "json.h"

/// An element type.
typedef struct Dtype {
  const char *name;        ///< torch's name
  const char *safetensors; ///< the name in safetensors files
  size_t bytes;            ///< the size of an element
} Dtype;

/// The element types by ConvoyDtype.
#define DTYPES 10
extern const Dtype kDtypes[DTYPES];

typedef struct Tensors {
  const ConvoyTensor *list;
  size_t count;
} Tensors;

/// A verified artifact of target `cpu`. Zero is an empty one.
typedef struct Artifact {
  const char *path;
  unsigned char *file; ///< the content of the file
  size_t bytes;
  Pool pool;            ///< everything below
  const Json *manifest; ///< manifest.json
  char digest[72];      ///< `sha256:...`
  Tensors inputs, weights, prepared, outputs;
  size_t arenaBytes, prepareArenaBytes;
} Artifact;

/// A range of bytes.
typedef struct Range {
  unsigned char *data; ///< null if there is none
  size_t bytes;
} Range;

/// Reads and verifies an artifact. `digest` may be null. The caller calls `closeArtifact`, also
/// after a failure.
ConvoyStatus openArtifact(Artifact *artifact, const char *path, const char *digest,
                          ConvoyError *error);
/// Frees the memory.
void closeArtifact(Artifact *artifact);

/// Returns a member of a verified artifact.
Range findMember(const Artifact *artifact, const char *name);

/// A safetensors file in memory. Zero is an empty one.
typedef struct Safetensors {
  const char *name;   ///< for messages
  const Json *header; ///< null if there is no file
  Range data;
} Safetensors;

/// Reads the header of a safetensors file. The failure is `status`.
ConvoyStatus readSafetensors(Range file, const char *name, ConvoyStatus status, Pool *pool,
                             Safetensors *found, ConvoyError *error);

/// Finds the bytes of a tensor of any dtype and shape. `found` is empty if there is none.
ConvoyStatus findBytes(const Safetensors *file, const char *name, ConvoyStatus status, Range *found,
                       ConvoyError *error);

/// Finds a tensor.
///
/// \param file    The file.
/// \param name    The name in the file.
/// \param tensor  What the tensor has to be.
/// \param status  The status of a tensor that differs from `tensor`.
/// \param found   Receives its memory; without data if the file has no tensor of this name.
ConvoyStatus findTensor(const Safetensors *file, const char *name, const ConvoyTensor *tensor,
                        ConvoyStatus status, Range *found, ConvoyError *error);

#endif // CONVOY_C_ARTIFACT_H
