// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The ABI between compiled code and the runtime: every C symbol that an artifact's native library
// exports, and every function that it may call. Generated code (passes/cudnn_to_backend,
// passes/gpu_codegen, passes/llvm), the loader (runtime/convoy_runtime/_abi.py) and the tests
// follow this file. Any change here increments CONVOY_ABI_VERSION.

#ifndef CONVOY_ABI_H
#define CONVOY_ABI_H

#include <stdint.h>

#define CONVOY_ABI_VERSION 5

#ifdef __cplusplus
extern "C" {
#endif

/// The cudnnBackend entry points as a table, so that a build function runs with any cuDNN 9, with a
/// recorder in tests, and with a null handle on a machine without a GPU. Statuses are
/// cudnnStatus_t, descriptors cudnnBackendDescriptor_t, enums their 32-bit values.
typedef struct ConvoyCudnn {
  uint32_t abi_version;
  uint32_t reserved;
  int32_t (*create_descriptor)(int32_t descriptor_type, void **descriptor);
  int32_t (*set_attribute)(void *descriptor, int32_t attribute, int32_t attribute_type,
                           int64_t count, const void *elements);
  int32_t (*finalize)(void *descriptor);
  int32_t (*destroy_descriptor)(void *descriptor);
  /// Called once, before clean-up, when an entry point fails, i.e. does not return
  /// CUDNN_STATUS_SUCCESS. `call` names the entry point and its argument, `location` is the source
  /// line of the op, both UTF-8.
  void (*report)(int32_t status, const char *call, const char *location);
  int32_t (*get_attribute)(void *descriptor, int32_t attribute, int32_t attribute_type,
                           int64_t requested_count, int64_t *count, void *elements);
  int32_t (*execute)(void *handle, void *plan, void *variant_pack);
} ConvoyCudnn;

/// A `cudnn_backend.func`, a sequence of backend calls, compiles to
/// `int32_t NAME(const ConvoyCudnn *cudnn, void *handle, void *argument..., void *result...)`.
/// Arguments are pointers and descriptors; the caller keeps ownership of the descriptors. A result
/// is the address of a `void *` for a descriptor, which the caller destroys, or of a number
/// (`int64_t`, `int32_t`, `float`, `double`, or one byte for a boolean). On failure the function
/// destroys every descriptor created so far, sets descriptor results to null, leaves other results
/// unchanged, and returns the status.

/// <graph>_build: builds and finalizes one operation graph. On success stores the graph descriptor,
/// which the caller destroys, and returns 0; on failure destroys every descriptor created so far,
/// stores null, and returns the status.
typedef int32_t (*ConvoyBuildGraph)(const ConvoyCudnn *cudnn, void *handle, void **operation_graph);

/// The runtime functions that `convoy_main` calls on the `cuda` target, in program order. Each
/// returns 0, or a status that `convoy_main` returns immediately. Pointers in `pointers` and
/// `arguments` are device pointers.
typedef struct ConvoyRuntime {
  uint32_t abi_version;
  uint32_t reserved;
  void *context;
  /// Runs graph `manifest.calls[call].graph`; `pointers` are its operands, then its results.
  int32_t (*execute_graph)(void *context, int32_t call, void *const *pointers, int32_t count);
  /// Launches `manifest.kernels[kernel]`; every argument is a pointer.
  int32_t (*launch_kernel)(void *context, int32_t kernel, const int32_t grid[3],
                           const int32_t block[3], int32_t shared_bytes, void *const *arguments,
                           int32_t count);
  /// Copies between two device buffers.
  int32_t (*copy)(void *context, void *destination, const void *source, int64_t bytes);
} ConvoyRuntime;

/// The functions of the CUDA driver that a run on the `cuda` target calls. Statuses are CUresult,
/// addresses CUdeviceptr.
typedef struct ConvoyDriver {
  uint32_t abi_version;
  uint32_t reserved;
  int32_t (*stream_is_capturing)(void *stream, int32_t *capturing);
  int32_t (*memset_d8)(uint64_t address, uint8_t value, uint64_t bytes, void *stream);
  int32_t (*memset_d2d8)(uint64_t address, uint64_t pitch, uint8_t value, uint64_t width,
                         uint64_t height, void *stream);
  int32_t (*memcpy_async)(uint64_t to, uint64_t from, uint64_t bytes, void *stream);
  /// `copy` is a CUDA_MEMCPY2D.
  int32_t (*memcpy_2d)(const void *copy, void *stream);
  int32_t (*graph_launch)(void *graph, void *stream);
  int32_t (*event_record)(void *event, void *stream);
  /// `parameters` is a CUDA_KERNEL_NODE_PARAMS.
  int32_t (*set_kernel_parameters)(void *graph, void *node, const void *parameters);
  int32_t (*set_node_enabled)(void *graph, void *node, uint32_t enabled);
  int32_t (*launch_kernel)(void *function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
                           uint32_t block_x, uint32_t block_y, uint32_t block_z,
                           uint32_t shared_bytes, void *stream, void **arguments, void **extra);
} ConvoyDriver;

/// The part of a static buffer that the array of a call fills: `rows` pieces of `width` bytes,
/// which are adjacent in the array and `pitch` bytes apart in the buffer. The buffer has `rows *
/// pitch` bytes.
typedef struct ConvoyWindow {
  uint64_t buffer;
  int64_t rows, width, pitch;
} ConvoyWindow;

/// What runs with arrays of the same shapes have in common.
typedef struct ConvoyRun {
  const ConvoyDriver *driver;
  const ConvoyWindow *inputs, *outputs;
  int32_t input_count, output_count;
  /// The index, in ConvoyDriver, of the function that failed last.
  int32_t failed;
  int32_t reserved;
} ConvoyRun;

/// The copy of an array on the device into its window, whose other bytes become 0, or of a window
/// into an array: `rows` pieces of `width` bytes. Their distances are pitches.
typedef struct ConvoyCopy {
  uint64_t to, from;
  int64_t rows, width, to_pitch, from_pitch;
} ConvoyCopy;

/// PTX with the kernels `convoy_copy_8` and `convoy_copy_80`. Their argument is a struct of this
/// many ConvoyCopy. A block has CONVOY_COPY_THREADS threads; the blocks with the second index `i`
/// share copy `i`.
const char *convoy_copy_kernels(void);
#define CONVOY_COPY_THREADS 256

/// A kernel that copies the inputs of a run, or its outputs. A function of the driver for each of
/// them costs more time, on the host and on the device.
typedef struct ConvoyCopies {
  /// Its CUfunction, or null: functions of the driver copy.
  void *function;
  /// Its argument as of the last run that used it, with a copy for each array.
  ConvoyCopy *copies;
  /// The blocks for each copy.
  uint32_t blocks;
  uint32_t reserved;
} ConvoyCopies;

/// A CUgraphExec. It may begin with the kernel of the inputs.
typedef struct ConvoyGraph {
  void *executable;
  /// The CUgraphNode of the kernel, or null.
  void *node;
  ConvoyCopies inputs, outputs;
  /// Whether the node is enabled.
  uint32_t enabled;
  uint32_t reserved;
} ConvoyGraph;

/// The status of `convoy_begin_run` on a stream that the caller captures.
#define CONVOY_CAPTURING (-1)

/// Enqueues the first part of a run: copies the inputs from `arrays` into their windows, writes
/// zeros around them, and launches `graph`. Arrays are on the device, or with `from_host` in host
/// memory that it reads. Without inputs the buffers keep their content. With a null `graph` it
/// launches nothing; otherwise, if the stream is being captured, it enqueues nothing and returns
/// CONVOY_CAPTURING. Returns 0 or the status of the function that failed, and stores its index.
int32_t convoy_begin_run(ConvoyRun *run, ConvoyGraph *graph, const uint64_t *arrays,
                         int32_t from_host, void *stream);

/// Enqueues the rest: copies the windows of the outputs into `arrays`, which are on the device, or
/// with `to_host` in host memory that it writes, and records `event`, unless it is null, even if a
/// copy fails. `graph` is that of the run. Returns as `convoy_begin_run`.
int32_t convoy_end_run(ConvoyRun *run, ConvoyGraph *graph, const uint64_t *arrays, int32_t to_host,
                       void *event, void *stream);

/// The ABI version that the library was generated for.
uint32_t convoy_abi_version(void);

/// The sizes in bytes of the buffers that the library was compiled for. The first number is the
/// count of the numbers after it: the size of the arena of `convoy_main`, that of the arena of
/// `convoy_prepare_weights`, then for each of inputs, weights, prepared weights and outputs their
/// count and their sizes. A loader compares them with the manifest before any other call.
const int64_t *convoy_sizes(void);

/// Runs the model once. Buffers are in manifest order, 64-byte aligned, and dense with the strides
/// of the manifest; `arena` has manifest.arena_bytes. On the `cpu` target `runtime` may be null and
/// the pointers are host pointers.
int32_t convoy_main(const ConvoyRuntime *runtime, void *const *inputs, void *const *prepared,
                    void *const *outputs, void *arena);

/// Computes the prepared weights from the original ones, on the host; `arena` has
/// manifest.prepare_arena_bytes.
int32_t convoy_prepare_weights(void *const *weights, void *const *prepared, void *arena);

/// Runs iterations `begin` to `end` - 1 of a loop: `body(environment, first, last)` runs iterations
/// `first` to `last` - 1, concurrently on any threads. Returns when all are done. May be called
/// from several threads, and from a body.
typedef void (*ConvoyParallelFor)(void (*body)(void *environment, int64_t first, int64_t last),
                                  void *environment, int64_t begin, int64_t end);

/// Returns the function that runs loops on the library's own threads, which start with the first
/// loop. If `other` is not null, this library runs its loops with `other` from now on. `other` may
/// belong to another library, so that all libraries of a process share one thread pool; that
/// library must stay loaded as long as this one. No call into this library may be in progress. A
/// library without parallel loops may omit this function.
ConvoyParallelFor convoy_share_threads(ConvoyParallelFor other);

#ifdef __cplusplus
}
#endif

#endif // CONVOY_ABI_H
