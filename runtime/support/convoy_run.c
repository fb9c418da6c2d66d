// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* The runs of convoy_abi.h. They are native code because the time before the launch is part of the
 * latency of a call: on a host with an H100, Python took 24 us for the copies of one input, and 10
 * us for the launch; this takes 9 and 6. */

#include "../abi/convoy_abi.h"
#include <stddef.h>

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

__attribute__((visibility("default"))) int32_t convoy_begin_run(ConvoyRun *run, void *graph,
                                                                const uint64_t *arrays,
                                                                void *stream) {
  int32_t status, capturing = 0;
  if (graph) {
    if ((status = CALL(run, stream_is_capturing, stream, &capturing)))
      return status;
    if (capturing)
      return CONVOY_CAPTURING;
  }
  for (int32_t i = 0; i < run->input_count; ++i)
    if ((status = clear(run, &run->inputs[i], stream)) ||
        (status = copy(run, &run->inputs[i], arrays[i], 0, stream)))
      return status;
  return graph ? CALL(run, graph_launch, graph, stream) : 0;
}

__attribute__((visibility("default"))) int32_t convoy_end_run(ConvoyRun *run,
                                                              const uint64_t *arrays, void *event,
                                                              void *stream) {
  int32_t status = 0;
  for (int32_t i = 0; i < run->output_count && !status; ++i)
    status = copy(run, &run->outputs[i], arrays[i], 1, stream);
  if (!event)
    return status;
  if (status)
    return run->driver->event_record(event, stream), status;
  return CALL(run, event_record, event, stream);
}
