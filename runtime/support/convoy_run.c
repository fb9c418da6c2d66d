// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* The runs of convoy_abi.h. They are native code because the time before the launch is part of the
 * latency of a call. On a host with an H100, Python took 24 us for the copies of one input, and 10
 * us for the launch. This takes 9 and 6 with functions of the driver; those for 5 MB and zeros
 * after them take 26, and parameters of a kernel node 4. */

#include "../abi/convoy_abi.h"
#include <stddef.h>
#include <string.h>

/* CUDA_MEMCPY2D of cuda.h. */
typedef struct {
  size_t x, y;
  int32_t memory_type;
  void *host;
  uint64_t address;
  void *array;
  size_t pitch;
} Side;

typedef struct {
  Side from, to;
  size_t width, height;
} Copy2d;

/* CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h. */
typedef struct {
  void *function;
  uint32_t grid[3], block[3], shared_bytes;
  void **arguments, **extra;
  void *kernel, *context;
} KernelNode;

/* CU_MEMORYTYPE_UNIFIED: the address tells the device's memory from the host's. */
enum { UNIFIED = 4 };

/* Calls a function of the driver. A failure stores the index of the function. */
#define CALL(run, function, ...)                                                                   \
  check(run, offsetof(ConvoyDriver, function), (run)->driver->function(__VA_ARGS__))

static int32_t check(ConvoyRun *run, size_t offset, int32_t status) {
  if (status)
    run->failed =
        (int32_t)((offset - offsetof(ConvoyDriver, stream_is_capturing)) / sizeof(void *));
  return status;
}

/* Copies between an array and its window, which are the source or the destination. */
static int32_t copy(ConvoyRun *run, const ConvoyWindow *window, uint64_t array, int out,
                    void *stream) {
  if (!window->rows || !window->width)
    return 0;
  uint64_t to = out ? array : window->buffer, from = out ? window->buffer : array;
  if (window->rows == 1)
    return CALL(run, memcpy_async, to, from, (uint64_t)window->width, stream);
  const size_t width = (size_t)window->width, pitch = (size_t)window->pitch;
  const Copy2d copy = {
      .from = {.memory_type = UNIFIED, .address = from, .pitch = out ? pitch : width},
      .to = {.memory_type = UNIFIED, .address = to, .pitch = out ? width : pitch},
      .width = width,
      .height = (size_t)window->rows};
  return CALL(run, memcpy_2d, &copy, stream);
}

/* Writes zeros to the bytes of a buffer that are not in its window. */
static int32_t clear(ConvoyRun *run, const ConvoyWindow *window, void *stream) {
  const uint64_t rest = (uint64_t)(window->pitch - window->width);
  if (!window->rows || !rest)
    return 0;
  const uint64_t first = window->buffer + (uint64_t)window->width;
  if (window->rows == 1)
    return CALL(run, memset_d8, first, 0, rest, stream);
  return CALL(run, memset_d2d8, first, (uint64_t)window->pitch, 0, rest, (uint64_t)window->rows,
              stream);
}

static int32_t enable(ConvoyRun *run, ConvoyGraph *graph, uint32_t enabled) {
  if (graph->enabled == enabled)
    return 0;
  const int32_t status = CALL(run, set_node_enabled, graph->executable, graph->node, enabled);
  if (!status)
    graph->enabled = enabled;
  return status;
}

/* Stores copies between arrays and their windows. Returns whether they are others than before. */
static int store(ConvoyCopies *kernel, const ConvoyWindow *windows, int32_t count,
                 const uint64_t *arrays, int out) {
  int changed = 0;
  for (int32_t i = 0; i < count; ++i) {
    const ConvoyWindow *window = &windows[i];
    const ConvoyCopy copy = {.to = out ? arrays[i] : window->buffer,
                             .from = out ? window->buffer : arrays[i],
                             .rows = window->rows,
                             .width = window->width,
                             .to_pitch = out ? window->width : window->pitch,
                             .from_pitch = out ? window->pitch : window->width};
    changed |= memcmp(&kernel->copies[i], &copy, sizeof copy);
    kernel->copies[i] = copy;
  }
  return changed;
}

/* Makes the node of a graph copy the arrays. */
static int32_t set_copies(ConvoyRun *run, ConvoyGraph *graph, const uint64_t *arrays) {
  if (!store(&graph->inputs, run->inputs, run->input_count, arrays, 0))
    return 0;
  void *argument = graph->inputs.copies;
  const KernelNode node = {.function = graph->inputs.function,
                           .grid = {graph->inputs.blocks, (uint32_t)run->input_count, 1},
                           .block = {CONVOY_COPY_THREADS, 1, 1},
                           .arguments = &argument};
  const int32_t status = CALL(run, set_kernel_parameters, graph->executable, graph->node, &node);
  /* The node has other parameters, so that the next run must set them. */
  if (status)
    graph->inputs.copies[0].to = 0;
  return status;
}

__attribute__((visibility("default"))) int32_t convoy_begin_run(ConvoyRun *run, ConvoyGraph *graph,
                                                                const uint64_t *arrays,
                                                                int32_t from_host, void *stream) {
  int32_t status, capturing = 0;
  if (graph) {
    if ((status = CALL(run, stream_is_capturing, stream, &capturing)))
      return status;
    if (capturing)
      return CONVOY_CAPTURING;
  }
  const int by_kernel = graph && graph->node && run->input_count && !from_host;
  if (graph && graph->node && (status = enable(run, graph, (uint32_t)by_kernel)))
    return status;
  if (by_kernel) {
    if ((status = set_copies(run, graph, arrays)))
      return status;
  } else {
    for (int32_t i = 0; i < run->input_count; ++i)
      if ((status = clear(run, &run->inputs[i], stream)) ||
          (status = copy(run, &run->inputs[i], arrays[i], 0, stream)))
        return status;
  }
  return graph ? CALL(run, graph_launch, graph->executable, stream) : 0;
}

__attribute__((visibility("default"))) int32_t convoy_end_run(ConvoyRun *run, ConvoyGraph *graph,
                                                              const uint64_t *arrays,
                                                              int32_t to_host, void *event,
                                                              void *stream) {
  int32_t status = 0;
  if (run->output_count && !to_host && graph->outputs.function) {
    store(&graph->outputs, run->outputs, run->output_count, arrays, 1);
    void *argument = graph->outputs.copies;
    status =
        CALL(run, launch_kernel, graph->outputs.function, graph->outputs.blocks,
             (uint32_t)run->output_count, 1, CONVOY_COPY_THREADS, 1, 1, 0, stream, &argument, NULL);
  } else {
    for (int32_t i = 0; i < run->output_count && !status; ++i)
      status = copy(run, &run->outputs[i], arrays[i], 1, stream);
  }
  if (!event)
    return status;
  if (status)
    return run->driver->event_record(event, stream), status;
  return CALL(run, event_record, event, stream);
}
