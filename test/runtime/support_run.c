// Runs of convoy_run.c on a driver that records its calls, each of which is made to fail. Prints
// the number of runs.
#include "convoy_abi.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FAILURE = 7 };

static char calls[1024];
static int count, failing, capturing;

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

static const ConvoyDriver driver = {
    CONVOY_ABI_VERSION, 0, is_capturing, set, set_2d, copy, copy_2d, launch, record};
static const ConvoyWindow inputs[] = {
    {1000, 1, 24, 24}, {2000, 1, 8, 24}, {3000, 2, 4, 12}, {4000, 0, 4, 4}};
static const ConvoyWindow outputs[] = {{5000, 1, 16, 24}, {6000, 3, 4, 8}, {7000, 1, 0, 8}};

static ConvoyRun run = {&driver, inputs, outputs, 4, 3, 0, 0};
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
    expect(ends ? convoy_end_run(&run, arrays, (void *)8, (void *)9)
                : convoy_begin_run(&run, (void *)6, arrays, (void *)9),
           FAILURE, text);
    assert(run.failed == functions[failing - 1] - '0');
  }
  failing = 0;
}

int main(void) {
  const uint64_t arrays[] = {100, 200, 300, 400};
  const char *before = "copy 1000 100 24 9;set 2008 0 16 9;copy 2000 200 8 9;"
                       "set_2d 3004 12 8 2;from 300 4 4 2;to 3000 12 0 0;";
  const char *after = "copy 100 5000 16 9;from 6000 8 4 3;to 200 4 0 0;";
  char whole[1024];
  snprintf(whole, sizeof whole, "capturing 9 0 0 0;%slaunch 6 9 0 0;", before);
  expect(convoy_begin_run(&run, (void *)6, arrays, (void *)9), 0, whole);
  fail_each(whole, "0313245", "", 0);
  expect(convoy_begin_run(&run, NULL, arrays, (void *)9), 0, before);
  capturing = 1;
  expect(convoy_begin_run(&run, (void *)6, arrays, (void *)9), CONVOY_CAPTURING,
         "capturing 9 0 0 0;");
  expect(convoy_end_run(&run, arrays, NULL, (void *)9), 0, after);
  snprintf(whole, sizeof whole, "%srecord 8 9 0 0;", after);
  expect(convoy_end_run(&run, arrays, (void *)8, (void *)9), 0, whole);
  fail_each(whole, "346", "record 8 9 0 0;", 1);
  printf("%d runs\n", runs);
  return 0;
}
