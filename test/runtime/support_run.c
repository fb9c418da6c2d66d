// Runs of convoy_run.c on a driver that records its calls, each of which is made to fail. Prints
// the number of runs.
#include "convoy_abi.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FAILURE = 7 };

static char calls[1024];
static int count, failing, capturing;

static ConvoyRun run;

/// Records a call; its status.
static int32_t called(const char *name, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  size_t used = strlen(calls);
  snprintf(calls + used, sizeof calls - used, "%s %llu %llu %llu %llu;", name,
           (unsigned long long)a, (unsigned long long)b, (unsigned long long)c,
           (unsigned long long)d);
  return ++count == failing ? FAILURE : 0;
}

static int32_t is_capturing(void *stream, int32_t *result) {
  *result = capturing;
  return called("capturing", (uintptr_t)stream, 0, 0, 0);
}
static int32_t set(uint64_t address, uint8_t value, uint64_t bytes, void *stream) {
  return called("set", address, value, bytes, (uintptr_t)stream);
}
static int32_t set_2d(uint64_t address, uint64_t pitch, uint8_t value, uint64_t width,
                      uint64_t height, void *stream) {
  assert(!value && (uintptr_t)stream == 9);
  return called("set_2d", address, pitch, width, height);
}
static int32_t copy(uint64_t to, uint64_t from, uint64_t bytes, void *stream) {
  return called("copy", to, from, bytes, (uintptr_t)stream);
}
/// CUDA_MEMCPY2D of cuda.h.
typedef struct {
  size_t x, y;
  int kind;
  void *host;
  uint64_t device;
  void *array;
  size_t pitch;
} Side;
static int32_t copy_2d(const void *data, void *stream) {
  struct {
    Side from, to;
    size_t width, height;
  } copy;
  memcpy(&copy, data, sizeof copy);
  assert(copy.from.kind == 4 && copy.to.kind == 4 && (uintptr_t)stream == 9);
  called("from", copy.from.device, copy.from.pitch, copy.width, copy.height);
  --count;
  return called("to", copy.to.device, copy.to.pitch, 0, 0);
}
static int32_t launch(void *graph, void *stream) {
  return called("launch", (uintptr_t)graph, (uintptr_t)stream, 0, 0);
}
static int32_t record(void *event, void *stream) {
  return called("record", (uintptr_t)event, (uintptr_t)stream, 0, 0);
}

/// CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h.
typedef struct {
  void *function;
  unsigned grid[3], block[3], shared;
  void **arguments, **extra, *kernel, *context;
} KernelNode;
static int32_t parameters(void *graph, void *node, const void *data) {
  const KernelNode *kernel = data;
  const ConvoyCopy *copies = kernel->arguments[0];
  assert((uintptr_t)graph == 6 && (uintptr_t)node == 11 && (uintptr_t)kernel->function == 12);
  assert(kernel->grid[0] == 5 && kernel->grid[1] == 4 && kernel->grid[2] == 1);
  assert(kernel->block[0] == CONVOY_COPY_THREADS && kernel->block[1] == 1 && kernel->block[2] == 1);
  assert(!kernel->shared && !kernel->extra && !kernel->kernel && !kernel->context);
  for (int i = 0; i < 4; ++i) {
    const ConvoyWindow *window = &run.inputs[i];
    assert(copies[i].to == window->buffer && copies[i].rows == window->rows &&
           copies[i].width == window->width && copies[i].to_pitch == window->pitch &&
           copies[i].from_pitch == window->width);
  }
  return called("parameters", copies[0].from, copies[1].from, copies[2].from, copies[3].from);
}
static int32_t launch_kernel(void *function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
                             uint32_t block_x, uint32_t block_y, uint32_t block_z, uint32_t shared,
                             void *stream, void **arguments, void **extra) {
  const ConvoyCopy *copies = arguments[0];
  assert((uintptr_t)function == 13 && grid_x == 7 && grid_y == 3 && grid_z == 1 && !shared);
  assert(block_x == CONVOY_COPY_THREADS && block_y == 1 && block_z == 1 && !extra);
  for (int i = 0; i < 3; ++i) {
    const ConvoyWindow *window = &run.outputs[i];
    assert(copies[i].from == window->buffer && copies[i].rows == window->rows &&
           copies[i].width == window->width && copies[i].from_pitch == window->pitch &&
           copies[i].to_pitch == window->width);
  }
  return called("kernel", copies[0].to, copies[1].to, copies[2].to, (uintptr_t)stream);
}
static int32_t enable(void *graph, void *node, uint32_t enabled) {
  return called("enable", (uintptr_t)graph, (uintptr_t)node, enabled, 0);
}

static const ConvoyDriver driver = {
    CONVOY_ABI_VERSION, 0,      is_capturing, set, set_2d, copy, copy_2d, launch, record,
    parameters,         enable, launch_kernel};
static const ConvoyWindow inputs[] = {
    {1000, 1, 24, 24}, {2000, 1, 8, 24}, {3000, 2, 4, 12}, {4000, 0, 4, 4}};
static const ConvoyWindow outputs[] = {{5000, 1, 16, 24}, {6000, 3, 4, 8}, {7000, 1, 0, 8}};

static ConvoyRun run = {&driver, inputs, outputs, 4, 3, 0, 0};
/// A graph without a kernel, and one with it.
static ConvoyCopy copies[2][8];
static ConvoyGraph plain = {.executable = (void *)6},
                   graph = {.executable = (void *)6,
                            .node = (void *)11,
                            .inputs = {(void *)12, copies[0], 5, 0},
                            .outputs = {(void *)13, copies[1], 7, 0}};
static int runs;

static void expect(int32_t status, int32_t wanted, const char *text) {
  ++runs;
  if (status != wanted || strcmp(calls, text)) {
    fprintf(stderr, "status %d, calls %s\nexpected %d, %s\n", status, calls, wanted, text);
    assert(0);
  }
  calls[0] = 0;
  count = 0;
}

/// Makes each call of a run fail; the others are those of `all`, up to it, and then `after`.
static void fail_each(const char *all, const char *functions, const char *after, int ends) {
  const uint64_t arrays[] = {100, 200, 300, 400};
  const char *end = all;
  for (failing = 1; functions[failing - 1]; ++failing) {
    end = strchr(end, ';') + 1;
    // A 2D copy has two entries.
    if (!strncmp(end, "to ", 3))
      end = strchr(end, ';') + 1;
    char text[1024];
    snprintf(text, sizeof text, "%.*s%s", (int)(end - all), all, *end ? after : "");
    expect(ends ? convoy_end_run(&run, &plain, arrays, 0, (void *)8, (void *)9)
                : convoy_begin_run(&run, &plain, arrays, 0, (void *)9),
           FAILURE, text);
    assert(run.failed == functions[failing - 1] - '0');
  }
  failing = 0;
}

/// Runs of a graph with kernels. `whole` and `after` have the calls of a run without them.
static void with_a_kernel(const char *whole, const char *after) {
  const uint64_t arrays[] = {100, 200, 300, 400}, others[] = {100, 200, 300, 500};
  const char *first =
      "capturing 9 0 0 0;enable 6 11 1 0;parameters 100 200 300 400;launch 6 9 0 0;";
  // Each call fails. What has succeeded before is not done again.
  failing = 2;
  expect(convoy_begin_run(&run, &graph, arrays, 0, (void *)9), FAILURE,
         "capturing 9 0 0 0;enable 6 11 1 0;");
  assert(run.failed == 8 && !graph.enabled);
  failing = 3;
  expect(convoy_begin_run(&run, &graph, arrays, 0, (void *)9), FAILURE,
         "capturing 9 0 0 0;enable 6 11 1 0;parameters 100 200 300 400;");
  assert(run.failed == 7 && graph.enabled);
  failing = 0;
  expect(convoy_begin_run(&run, &graph, arrays, 0, (void *)9), 0,
         "capturing 9 0 0 0;parameters 100 200 300 400;launch 6 9 0 0;");
  expect(convoy_begin_run(&run, &graph, arrays, 0, (void *)9), 0,
         "capturing 9 0 0 0;launch 6 9 0 0;");
  expect(convoy_begin_run(&run, &graph, others, 0, (void *)9), 0,
         "capturing 9 0 0 0;parameters 100 200 300 500;launch 6 9 0 0;");
  // Host arrays, and a run without arrays.
  char off[1024];
  snprintf(off, sizeof off, "capturing 9 0 0 0;enable 6 11 0 0;%s", strchr(whole, ';') + 1);
  expect(convoy_begin_run(&run, &graph, arrays, 1, (void *)9), 0, off);
  expect(convoy_begin_run(&run, &graph, arrays, 1, (void *)9), 0, whole);
  expect(convoy_begin_run(&run, &graph, arrays, 0, (void *)9), 0, first);
  run.input_count = 0;
  expect(convoy_begin_run(&run, &graph, arrays, 0, (void *)9), 0,
         "capturing 9 0 0 0;enable 6 11 0 0;launch 6 9 0 0;");
  expect(convoy_begin_run(&run, &graph, arrays, 0, (void *)9), 0,
         "capturing 9 0 0 0;launch 6 9 0 0;");
  run.input_count = 4;
  // The outputs.
  const char *kernel = "kernel 100 200 300 9;record 8 9 0 0;";
  expect(convoy_end_run(&run, &graph, arrays, 0, (void *)8, (void *)9), 0, kernel);
  expect(convoy_end_run(&run, &graph, arrays, 0, NULL, (void *)9), 0, "kernel 100 200 300 9;");
  expect(convoy_end_run(&run, &graph, arrays, 1, (void *)8, (void *)9), 0, after);
  failing = 1;
  expect(convoy_end_run(&run, &graph, arrays, 0, (void *)8, (void *)9), FAILURE, kernel);
  assert(run.failed == 9);
  failing = 0;
  run.output_count = 0;
  expect(convoy_end_run(&run, &graph, arrays, 0, (void *)8, (void *)9), 0, "record 8 9 0 0;");
  run.output_count = 3;
}

int main(void) {
  const uint64_t arrays[] = {100, 200, 300, 400};
  const char *before = "copy 1000 100 24 9;set 2008 0 16 9;copy 2000 200 8 9;"
                       "set_2d 3004 12 8 2;from 300 4 4 2;to 3000 12 0 0;";
  const char *after = "copy 100 5000 16 9;from 6000 8 4 3;to 200 4 0 0;";
  char whole[1024];
  snprintf(whole, sizeof whole, "capturing 9 0 0 0;%slaunch 6 9 0 0;", before);
  expect(convoy_begin_run(&run, &plain, arrays, 0, (void *)9), 0, whole);
  fail_each(whole, "0313245", "", 0);
  expect(convoy_begin_run(&run, NULL, arrays, 0, (void *)9), 0, before);
  capturing = 1;
  expect(convoy_begin_run(&run, &plain, arrays, 0, (void *)9), CONVOY_CAPTURING,
         "capturing 9 0 0 0;");
  expect(convoy_begin_run(&run, &graph, arrays, 0, (void *)9), CONVOY_CAPTURING,
         "capturing 9 0 0 0;");
  capturing = 0;
  expect(convoy_end_run(&run, &plain, arrays, 0, NULL, (void *)9), 0, after);
  snprintf(whole, sizeof whole, "%srecord 8 9 0 0;", after);
  expect(convoy_end_run(&run, &plain, arrays, 0, (void *)8, (void *)9), 0, whole);
  fail_each(whole, "346", "record 8 9 0 0;", 1);
  char begun[1024];
  snprintf(begun, sizeof begun, "capturing 9 0 0 0;%slaunch 6 9 0 0;", before);
  with_a_kernel(begun, whole);
  printf("%d runs\n", runs);
  return 0;
}
