// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loads and runs artifacts of target `cpu` from C and C++, without Python. docs/c.md describes the
// use, what is stable, and which checks a load makes.
//
// All functions may be called from any thread. A program may run in several threads at once.

#ifndef CONVOY_C_CONVOY_H
#define CONVOY_C_CONVOY_H

#include <stddef.h>
#include <stdint.h>

/// The version of this interface. A change that breaks a caller increments it.
#define CONVOY_C_VERSION 2

#ifdef __cplusplus
extern "C" {
#endif

/// The result of a function. The numbers are the exit codes of `python -m convoy_runtime`.
typedef enum ConvoyStatus {
  CONVOY_SUCCESS = 0,
  CONVOY_OUT_OF_MEMORY = 1,
  CONVOY_BAD_ARTIFACT = 3,   ///< unreadable, damaged, of another version, or for another machine
  CONVOY_BAD_ARGUMENT = 5,   ///< an argument or weights do not match the program
  CONVOY_PROGRAM_FAILED = 6, ///< the model's own code reports an error
} ConvoyStatus;

/// Receives the message of a failed call: one line, UTF-8, truncated to fit, ended by a null.
typedef struct ConvoyError {
  char message[1024];
} ConvoyError;

/// Element types. A `bool` is one byte, 0 or 1.
typedef enum ConvoyDtype {
  CONVOY_FLOAT64 = 0,
  CONVOY_FLOAT32 = 1,
  CONVOY_FLOAT16 = 2,
  CONVOY_BFLOAT16 = 3,
  CONVOY_INT64 = 4,
  CONVOY_INT32 = 5,
  CONVOY_INT16 = 6,
  CONVOY_INT8 = 7,
  CONVOY_UINT8 = 8,
  CONVOY_BOOL = 9,
} ConvoyDtype;

/// Describes an input, output or weight. Its memory is dense: `bytes` has every element once. The
/// element at `index` is at `sum(index[i] * strides[i])`. Weights are packed row-major; the dims of
/// inputs and outputs may have another order in memory, e.g. channels-last.
typedef struct ConvoyTensor {
  const char *name;       ///< the name in the model, UTF-8
  ConvoyDtype dtype;      ///< the element type
  const char *dtype_name; ///< torch's name of `dtype`, e.g. "float32"
  size_t rank;            ///< the number of dims
  const int64_t *shape;   ///< `rank` sizes
  const int64_t *strides; ///< `rank` strides, in elements
  size_t bytes;           ///< the size of the memory
} ConvoyTensor;

/// Memory of the caller.
typedef struct ConvoyBuffer {
  void *data;   ///< used in place if it is a multiple of 64, else copied
  size_t bytes; ///< exactly `ConvoyTensor.bytes`
} ConvoyBuffer;

/// Options of a load. A field of zero is its default.
typedef struct ConvoyLoadOptions {
  /// A safetensors file with the model's weights by their names in the state dict, which the
  /// artifact's own code prepares. Null: the weights of the artifact.
  const char *weights;
  /// The expected digest of the artifact, `sha256:` and 64 hexadecimal digits, as
  /// `convoy inspect --digest` prints it. Null: any.
  const char *digest;
} ConvoyLoadOptions;

/// A loaded artifact.
typedef struct ConvoyProgram ConvoyProgram;

/// Returns the CONVOY_C_VERSION that the library was compiled with.
int32_t convoy_c_version(void);

/// Loads an artifact. The file is read once; later changes of it do not affect the program.
///
/// \param path     The artifact, a regular file.
/// \param options  The options. May be null.
/// \param program  Receives the program, which the caller closes; null on failure.
/// \param error    Receives the message on failure. May be null.
/// \returns CONVOY_BAD_ARTIFACT if the file is not an intact artifact of target `cpu` for this
///     machine, version and digest; CONVOY_BAD_ARGUMENT if the artifact has no weights and
///     `options` neither, or the weights do not match; CONVOY_PROGRAM_FAILED if the code that
///     prepares weights fails; CONVOY_OUT_OF_MEMORY.
ConvoyStatus convoy_program_load(const char *path, const ConvoyLoadOptions *options,
                                 ConvoyProgram **program, ConvoyError *error);

/// Unloads a program and frees its memory, including every ConvoyTensor. No run of it may be in
/// progress. Does nothing for null.
void convoy_program_close(ConvoyProgram *program);

/// Returns the inputs in the order of the model's arguments.
///
/// \param program  The program.
/// \param count    Receives the number of inputs.
const ConvoyTensor *convoy_program_inputs(const ConvoyProgram *program, size_t *count);

/// Returns the outputs; parameters as for the inputs.
const ConvoyTensor *convoy_program_outputs(const ConvoyProgram *program, size_t *count);

/// Returns the weights that `ConvoyLoadOptions.weights` has to have; parameters as for the inputs.
const ConvoyTensor *convoy_program_weights(const ConvoyProgram *program, size_t *count);

/// Returns the digest of the artifact, `sha256:...`.
const char *convoy_program_digest(const ConvoyProgram *program);

/// Runs the program once.
///
/// \param program       The program.
/// \param inputs        One buffer per input, in order. They are only read.
/// \param input_count   The number of `inputs`.
/// \param outputs       One buffer per output, in order. May overlap inputs, which are read first,
///                      but not each other. Undefined on failure.
/// \param output_count  The number of `outputs`.
/// \param error         Receives the message on failure. May be null.
/// \returns CONVOY_BAD_ARGUMENT if the number or the size of the buffers is wrong;
///     CONVOY_PROGRAM_FAILED; CONVOY_OUT_OF_MEMORY.
ConvoyStatus convoy_program_run(ConvoyProgram *program, const ConvoyBuffer *inputs,
                                size_t input_count, const ConvoyBuffer *outputs,
                                size_t output_count, ConvoyError *error);

#ifdef __cplusplus
}
#endif

#endif // CONVOY_C_CONVOY_H
