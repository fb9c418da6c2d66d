/* Runs the interpreter of cuDNN calls (runtime/support/convoy_calls.c) with a cuDNN that only
   counts: a function with every action runs once successfully, once with each of its calls failing,
   and once without a handle. The exit status is 0 if everything happens as in convoy_abi.h. */

#include "convoy_calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: with call %d failing: expected %s\n", __FILE__, __LINE__, failing,   \
              #condition);                                                                         \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

enum { kFails = 3 };

/* Each descriptor is a separate allocation, so that leaks, double destruction and use after
 * destruction are detected. */
typedef struct {
  int32_t kind;
  int64_t elements;
} Descriptor;

static int calls, failing, alive, reports, executed;
static const char *place;

static int32_t status(void) { return ++calls == failing ? kFails : 0; }

static int32_t create(int32_t kind, void **descriptor) {
  if (status())
    return kFails;
  Descriptor *made = malloc(sizeof *made);
  *made = (Descriptor){kind, 0};
  *descriptor = made;
  ++alive;
  return 0;
}

static int32_t set(void *descriptor, int32_t attribute, int32_t type, int64_t count,
                   const void *elements) {
  Descriptor *of = descriptor;
  of->elements += count;
  if (attribute == 1) { /* numbers */
    CHECK(type == 8 && count == 2);
    int64_t values[2];
    memcpy(values, elements, sizeof values);
    CHECK(values[0] == 42 && values[1] == -1);
  } else if (attribute == 2) { /* descriptors */
    for (int64_t i = 0; i < count; ++i)
      CHECK(((Descriptor *const *)elements)[i]->kind > 0);
  } else { /* the handle */
    CHECK(attribute == 3 && count == 1 && *(void *const *)elements == (void *)&calls);
  }
  return status();
}

static int32_t finalize(void *descriptor) {
  CHECK(((Descriptor *)descriptor)->kind > 0);
  return status();
}

static int32_t destroy(void *descriptor) {
  free(descriptor);
  --alive;
  return status();
}

static void report(int32_t code, const char *call, const char *location) {
  CHECK(code == kFails && strcmp(call, "a call") == 0);
  place = location;
  ++reports;
}

static int32_t get(void *descriptor, int32_t attribute, int32_t type, int64_t requested,
                   int64_t *count, void *elements) {
  CHECK(((Descriptor *)descriptor)->kind > 0 && type == 8 && (attribute == 4 || attribute == 5));
  if (attribute == 4) {
    CHECK(requested == 1 && !count);
    *(int64_t *)elements = 77;
  } else {
    CHECK(requested == 2);
    for (int i = 0; i < 2; ++i)
      CHECK(((Descriptor **)elements)[i]->kind > 0);
    *count = 2;
  }
  return status();
}

static int32_t execute(void *handle, void *plan, void *pack) {
  CHECK(!handle || handle == (void *)&calls);
  CHECK(((Descriptor *)plan)->kind == 10 && ((Descriptor *)pack)->kind == 11);
  ++executed;
  return status();
}

/* The data: int64_t lists and numbers, then texts. */
enum {
  kNumbers = 0,
  kList = 3 * 8,
  kGetList = 6 * 8,
  kExecuteList = 10 * 8,
  kWhat = 14 * 8,
  kPlace = kWhat + 8,
  kBytes = kPlace + 8
};

/* Slots: the handle, an argument, three created descriptors. Numbers: one that is read, and a
 * count. */
static const ConvoyCallKind kinds[] = {
    {CONVOY_CREATE, 10, 0, kWhat},       {CONVOY_CREATE, 11, 0, kWhat},
    {CONVOY_CREATE, 12, 0, kWhat},       {CONVOY_SELECT, 0, 0, kWhat},
    {CONVOY_SET, 1, 8, kWhat},           {CONVOY_SET_SLOTS, 2, 15, kWhat},
    {CONVOY_SET_HANDLE, 3, 0, kWhat},    {CONVOY_FINALIZE, 0, 0, kWhat},
    {CONVOY_GET, 4, 8, kWhat},           {CONVOY_GET_DESCRIPTORS, 5, 8, kWhat},
    {CONVOY_EXECUTE, 0, 0, kWhat},       {CONVOY_DESTROY, 0, 0, kWhat},
    {CONVOY_LOCATION, 0, 0, kWhat},      {CONVOY_RETURN_DESCRIPTOR, 0, 0, kWhat},
    {CONVOY_RETURN_NUMBER, 1, 8, kWhat}, {CONVOY_RETURN_NUMBER, 2, 1, kWhat},
};
static const ConvoyCall script[] = {
    {12, kPlace}, {0, 2},  {1, 3},  {4, kNumbers}, {3, 2},        {5, kList},         {6, 0},
    {7, 2},       {2, 4},  {7, 4},  {8, 0},        {9, kGetList}, {10, kExecuteList}, {11, 3},
    {11, 2},      {13, 4}, {14, 0}, {15, 1},
};
enum { kCalls = sizeof script / sizeof *script };

int main(void) {
  const ConvoyCudnn cudnn = {
      CONVOY_ABI_VERSION, 0, create, set, finalize, destroy, report, get, execute};
  /* In allocations of their exact sizes, so that reads beyond them are detected. */
  ConvoyCalls *function = malloc(sizeof *function + sizeof script);
  *function = (ConvoyCalls){kCalls, 2, 5, 3, 2, 0};
  memcpy(function->calls, script, sizeof script);
  char *data = calloc(1, kBytes);
  const int64_t lists[] = {2, 42, -1, 2, 1, 3, 3, 1, 2, 3, 3, 0, 2, 3};
  memcpy(data, lists, sizeof lists);
  strcpy(data + kWhat, "a call");
  strcpy(data + kPlace, "m.py:7");

  int count = 0;
  for (failing = 0; failing <= count; ++failing) {
    Descriptor given = {1, 0};
    void *handle = &calls, *arguments[] = {handle, &given};
    void *descriptor = &given;
    int64_t number = -5;
    uint8_t byte = 0xEE;
    void *results[] = {&descriptor, &number, &byte};
    calls = reports = executed = alive = 0;
    int32_t result = convoy_make_calls(&cudnn, function, kinds, data, arguments, results);
    if (failing == 0) {
      count = calls;
      CHECK(result == 0 && reports == 0 && executed == 1 && alive == 1);
      CHECK(((Descriptor *)descriptor)->kind == 12 && number == 77 && byte == 2);
      free(descriptor);
    } else {
      CHECK(result == kFails && reports == 1 && strcmp(place, "m.py:7") == 0 && alive == 0);
      CHECK(descriptor == NULL && number == -5 && byte == 0xEE);
    }
  }

  /* Without a handle nothing is set. */
  failing = 0;
  Descriptor given = {1, 0};
  void *arguments[] = {NULL, &given}, *descriptor;
  int64_t number;
  uint8_t byte;
  void *results[] = {&descriptor, &number, &byte};
  calls = 0;
  CHECK(convoy_make_calls(&cudnn, function, kinds, data, arguments, results) == 0);
  CHECK(calls == count - 1);
  free(descriptor);
  free(function);
  free(data);
  printf("%d calls, each made to fail\n", count);
  return 0;
}
