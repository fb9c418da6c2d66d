// A cuDNN that computes nothing, for the tests of the executor: descriptors store their attributes,
// and executing a plan copies 16 bytes from the first tensor of its variant pack to the last one
// with the driver of libcuda.c, in order on the handle's stream. It counts existing objects.
// Heuristics offer two engines, or the first N as set by a test. A test can make graphs of four
// tensors take longer than smaller ones. The engines differ:
//   40 cannot be built, 41 copies twice, 42 six times, 43 copies the wrong bytes, 44 writes more
//   than 16, 45 fails, 46 and 47, which compile, copy once.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, BAD_PARAM = 2000, NOT_SUPPORTED = 3000, EXECUTION_FAILED = 5000 };
enum { ENGINE = 2, ENGINECFG = 3, PLAN = 5, VARIANT_PACK = 16 };
enum { MAX_ATTRIBUTES = 16 };

typedef struct Descriptor {
  int kind, final, index, knob, count;
  int names[MAX_ATTRIBUTES];
  int64_t counts[MAX_ATTRIBUTES];
  void *values[MAX_ATTRIBUTES];
} Descriptor;

typedef struct Handle {
  void *stream;
} Handle;

int cuMemcpyDtoDAsync(uintptr_t to, uintptr_t from, size_t size, void *stream);
int cuMemsetD8Async(uintptr_t to, unsigned char value, size_t size, void *stream);

static _Atomic int alive, created, handles, executed;
static int failing, offered = 2;
static int64_t large = 512;
static int noted = -1, note, exact = -1, knobs, whole, refused, counting;

/// Queried and set by tests.
int fake_alive(void) { return alive; }
int fake_created(void) { return created; }
int fake_handles(void) { return handles; }
int fake_executed(void) { return executed; }
void fake_fail(int status) { failing = status; }
void fake_offer(int engines) { offered = engines; }
/// The engine without tensor cores; all others have them.
void fake_exact(int engine) { exact = engine - 40; }
/// Adds a numerical note to an engine.
void fake_note(int engine, int which) { noted = engine - 40, note = which; }
/// Gives engine 42 a knob (TILE_SIZE) from 0 to 3: 0 copies six times, 1 once, 2 cannot be built, 3
/// copies the wrong bytes. With knobs = 2, engine 47 has the knob, and 0 copies four times.
void fake_knobs(int there) { knobs = there; }
/// The number of additional copies of graphs of four tensors; it may be negative, and at least one
/// copy is made.
void fake_whole(int copies) { whole = copies; }
/// Heuristics offer nothing for graphs with this number of operations.
void fake_refuse(int operations) { refused = operations; }
/// The declared workspace of engine 41, in bytes; it uses 512.
void fake_workspace(int64_t bytes) { large = bytes; }

/// Engines count in the first 16 bytes of the workspace: they copy the previous contents to the
/// bytes after the result, and leave ones.
void fake_counters(int there) { counting = there; }

size_t cudnnGetVersion(void) { return 91900; }
size_t cudnnGetCudartVersion(void) { return 13000; }
const char *cudnnGetErrorString(int status) {
  return status == NOT_SUPPORTED      ? "CUDNN_STATUS_NOT_SUPPORTED"
         : status == EXECUTION_FAILED ? "CUDNN_STATUS_EXECUTION_FAILED"
                                      : "CUDNN_STATUS_BAD_PARAM";
}
void cudnnGetLastErrorString(char *text, size_t size) { strncpy(text, "as told", size); }

/// The process that created the first handle. A forked child may not even destroy its parent's
/// objects.
static pid_t home;
static void check_home(void) {
  if (home && home != getpid()) {
    fprintf(stderr, "cuDNN was called in a child of fork\n");
    _exit(99);
  }
}

int cudnnCreate(Handle **handle) {
  return home = getpid(), *handle = calloc(1, sizeof(Handle)), ++handles, OK;
}
int cudnnDestroy(Handle *handle) { return check_home(), free(handle), --handles, OK; }
int cudnnSetStream(Handle *handle, void *stream) { return handle->stream = stream, OK; }

int cudnnBackendCreateDescriptor(int kind, Descriptor **result) {
  *result = calloc(1, sizeof(Descriptor));
  (*result)->kind = kind;
  return ++created, ++alive, OK;
}

int cudnnBackendDestroyDescriptor(Descriptor *descriptor) {
  check_home();
  for (int i = 0; i < descriptor->count; ++i)
    free(descriptor->values[i]);
  free(descriptor);
  return --alive, OK;
}

static int find(const Descriptor *descriptor, int name) {
  for (int i = 0; i < descriptor->count; ++i)
    if (descriptor->names[i] == name)
      return i;
  return -1;
}

int cudnnBackendSetAttribute(Descriptor *descriptor, int name, int type, int64_t count,
                             const void *values) {
  size_t size = count * (type == 24 || type == 2 ? 1 : 8),
         bytes = type == 3 || type == 6 || type == 0 || type == 15 || type == 5 ? 8 : 4;
  if (descriptor->final || descriptor->count == MAX_ATTRIBUTES)
    return BAD_PARAM;
  int at = descriptor->count++;
  descriptor->names[at] = name;
  descriptor->counts[at] = count;
  descriptor->values[at] = calloc(1, size + 8);
  memcpy(descriptor->values[at], values, type == 24 || type == 2 ? (size_t)count : count * bytes);
  return OK;
}

int cudnnBackendFinalize(Descriptor *descriptor) {
  int from;
  if (descriptor->kind == PLAN && (from = find(descriptor, 405)) >= 0) {
    if (sscanf(descriptor->values[from], "{\"engine\": %d, \"knob\": %d}", &descriptor->index,
               &descriptor->knob) != 2)
      return BAD_PARAM;
    descriptor->index -= 40;
  } else if (descriptor->kind == PLAN) {
    Descriptor *config = *(Descriptor **)descriptor->values[find(descriptor, 401)];
    if (config->index == 0 || config->knob == 2)
      return NOT_SUPPORTED;
    descriptor->knob = config->knob;
    // A build that ends its process or never returns, as with a compiler bug.
    if (getenv("FAKE_DIES") && atoi(getenv("FAKE_DIES")) == 40 + config->index)
      abort();
    if (getenv("FAKE_HANGS") && atoi(getenv("FAKE_HANGS")) == 40 + config->index)
      sleep(1000);
    descriptor->index = config->index;
  }
  if (descriptor->kind == ENGINE && (from = find(descriptor, 1301)) >= 0) {
    descriptor->index = *(int64_t *)descriptor->values[from] - 40;
    if (descriptor->index < 0)
      return NOT_SUPPORTED;
  }
  if (descriptor->kind == ENGINECFG && (from = find(descriptor, 300)) >= 0)
    descriptor->index = (*(Descriptor **)descriptor->values[from])->index;
  if (descriptor->kind == ENGINECFG && (from = find(descriptor, 302)) >= 0) {
    Descriptor *choice = *(Descriptor **)descriptor->values[from];
    descriptor->knob = *(int64_t *)choice->values[find(choice, 601)];
  }
  return descriptor->final = 1, OK;
}

static int give(int64_t *count, void *out, int64_t limit, int64_t value, size_t bytes) {
  *count = 1;
  if (limit)
    memcpy(out, &value, bytes);
  return OK;
}

/// The numbers of the set bits.
static int give_bits(int64_t *count, int *out, int64_t limit, unsigned bits) {
  *count = 0;
  for (int bit = 0; bit < 32; ++bit)
    if (bits >> bit & 1) {
      if (*count < limit)
        out[*count] = bit;
      ++*count;
    }
  return OK;
}

int cudnnBackendGetAttribute(Descriptor *descriptor, int name, int type, int64_t limit,
                             int64_t *count, void *out) {
  static const char properties[] = "{\"deviceName\": \"Fake GPU 0\", \"driverVer\": 13000}";
  char plan[64];
  (void)type;
  switch (name) {
  case 202: { // ENGINEHEUR_RESULTS, of the operations (801) of a graph (201)
    Descriptor *graph = *(Descriptor **)descriptor->values[find(descriptor, 201)];
    if (graph->counts[find(graph, 801)] == refused)
      return *count = 0, OK;
    *count = offered;
    for (int i = 0; i < limit && i < offered; ++i)
      ((Descriptor **)out)[i]->index = i;
    return OK;
  }
  case 301: // ENGINECFG_ENGINE and below: the index of the configuration
  case 300:
    (*(Descriptor **)out)->index = descriptor->index;
    return *count = 1, OK;
  case 1305: // ENGINE_BEHAVIOR_NOTE: RUNTIME_COMPILATION
    return give_bits(count, out, limit, descriptor->index >= 6);
  case 1303: // ENGINE_NUMERICAL_NOTE: TENSOR_CORE
    return give_bits(count, out, limit,
                     (descriptor->index != exact) | (descriptor->index == noted ? 1 << note : 0));
  case 302:  // ENGINECFG_KNOB_CHOICES
  case 1302: // ENGINE_KNOB_INFO
    *count = (knobs == 1 && descriptor->index == 2) || (knobs == 2 && descriptor->index == 7);
    if (limit && *count)
      (*(Descriptor **)out)->knob = descriptor->knob;
    return OK;
  case 600: // KNOB_CHOICE_KNOB_TYPE, KNOB_INFO_TYPE: TILE_SIZE
  case 1200:
    return give(count, out, limit, 2, 4);
  case 601: // KNOB_CHOICE_KNOB_VALUE
    return give(count, out, limit, descriptor->knob, 8);
  case 1201: // KNOB_INFO_MAXIMUM_VALUE, KNOB_INFO_MINIMUM_VALUE, KNOB_INFO_STRIDE
    return give(count, out, limit, 3, 8);
  case 1202:
    return give(count, out, limit, 0, 8);
  case 1203:
    return give(count, out, limit, 1, 8);
  case 303: // ENGINECFG_WORKSPACE_SIZE, EXECUTION_PLAN_WORKSPACE_SIZE
  case 402:
    return give(count, out, limit, descriptor->index == 1 ? large : 512, 8);
  case 802: // OPERATIONGRAPH_ENGINE_GLOBAL_COUNT
    return give(count, out, limit, 48, 8);
  case 405: // EXECUTION_PLAN_JSON_REPRESENTATION
    *count = snprintf(plan, sizeof plan, "{\"engine\": %d, \"knob\": %d}", 40 + descriptor->index,
                      descriptor->knob) +
             1;
    if (limit)
      memcpy(out, plan, *count);
    return OK;
  case 2702: // DEVICEPROP_JSON_REPRESENTATION
    *count = sizeof properties;
    if (limit)
      memcpy(out, properties, sizeof properties);
    return OK;
  case 1301: // ENGINE_GLOBAL_INDEX
    return give(count, out, limit, 40 + descriptor->index, 8);
  default:
    return BAD_PARAM;
  }
}

int cudnnBackendExecute(Handle *handle, Descriptor *plan, Descriptor *pack) {
  if (failing)
    return failing;
  int at = find(pack, 1001), workspace = find(pack, 1003);
  if (plan->kind != PLAN || !plan->final || pack->kind != VARIANT_PACK || !pack->final ||
      workspace < 0 || pack->counts[at] < 3)
    return BAD_PARAM;
  uintptr_t *pointers = pack->values[at], last = pointers[pack->counts[at] - 1];
  uintptr_t counters = *(uintptr_t *)pack->values[workspace];
  ++executed;
  // The workspace must be device memory as well.
  if (cuMemsetD8Async(counters, 0, 512, handle->stream) || plan->index == 5)
    return EXECUTION_FAILED;
  int copies = plan->index == 2                                ? (plan->knob ? 1 : 6)
               : plan->index < 2                               ? 2
               : plan->index == 7 && knobs == 2 && !plan->knob ? 4
                                                               : 1;
  if (pack->counts[at] == 4)
    copies = copies + whole > 1 ? copies + whole : 1;
  for (int i = 0; i < copies; ++i)
    if (cuMemcpyDtoDAsync(last, pointers[plan->index == 3 || plan->knob == 3], 16, handle->stream))
      return EXECUTION_FAILED;
  if (counting && (cuMemcpyDtoDAsync(last + 16, counters, 16, handle->stream) ||
                   cuMemsetD8Async(counters, 1, 16, handle->stream)))
    return EXECUTION_FAILED;
  return plan->index == 4 && cuMemsetD8Async(last + 16, 0, 16, handle->stream) ? EXECUTION_FAILED
                                                                               : OK;
}
