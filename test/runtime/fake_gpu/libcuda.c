// A CUDA driver without a GPU for the tests of the executor: the functions that the runtime calls,
// on host memory. It is strict where a real driver is undefined. Work runs as late as possible: on
// a synchronization, and then only the work that this stream and the events it waits for need. So
// an unsynchronized result does not exist, and a missing wait is detected. Pointers and streams
// must belong to the current context, and functions that are not allowed during a capture fail.
// There is one device, or FAKE_DEVICES. Functions run in one thread at a time. In a forked child of
// a process that initialized it, it refuses another initialization, like the real one, and ends the
// process on any other call.

#define _GNU_SOURCE
#include "convoy_abi.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int CUresult;
typedef uintptr_t CUdeviceptr;

enum {
  OK = 0,
  INVALID = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  INVALID_CONTEXT = 201,
  INVALID_PTX = 218,
  NOT_FOUND = 500,
  ILLEGAL_ADDRESS = 700,
  CAPTURE_UNSUPPORTED = 900
};
enum { SHARED = 48 << 10, MOST_SHARED = 227 << 10 };
enum { COPY, SET, KERNEL, RECORD, WAIT, GRAPH };

/// Called before the functions that native code of a program calls; returns a status. A test that
/// replaces functions of cuda.bindings does not see these calls.
static int (*observer)(const char *function);
#define OBSERVED                                                                                   \
  {                                                                                                \
    int refused = observer ? observer(__func__) : OK;                                              \
    if (refused)                                                                                   \
      return refused;                                                                              \
  }

void fake_observe(int (*function)(const char *)) { observer = function; }

typedef struct Event Event;
typedef struct Graph Graph;

typedef struct Op {
  int kind;
  char *destination;
  const char *source;
  char *staged; // a copy of the source
  size_t size;
  int value;
  const char *kernel;
  void *arguments[8];
  int threads;
  ConvoyCopy *copies; // of convoy_copy_...
  unsigned copy_count;
  Event *event;
  long ticket;
  Graph *graph;
  const Graph *executable; // the graph that was launched, of which `graph` is a copy
  int depth;
} Op;

typedef struct Queue {
  Op *ops;
  long count, done;
} Queue;

typedef struct Node {
  Op op;
  struct Node **before; // nodes that it depends on
  size_t count;
  Graph *graph;
  int done, disabled;
} Node;

struct Graph {
  Node **nodes;
  size_t count;
};

typedef struct Stream {
  void *context;
  Queue queue;
  Graph *capture;
  Node **leaves; // dependencies of the next captured node
  size_t leaf_count;
} Stream;

struct Event {
  Stream *stream;
  long ticket;
  int destroyed;
};

enum { MAX_BLOCKS = 4096 };
static struct {
  char *pointer;
  size_t size;
  void *context;
} blocks[MAX_BLOCKS];
static struct {
  char *pointer;
  size_t size;
} locked_blocks[MAX_BLOCKS];
enum { MAX_DEVICES = 2, MAX_STREAMS = 256, MAX_DEPTH = 16 };
/// The context of a device is the address of its legacy stream.
static Stream legacies[MAX_DEVICES];
static Stream *streams[MAX_STREAMS] = {&legacies[0], &legacies[1]};
/// Set by tests, and by a kernel that traps: what all later calls of a device return.
CUresult fake_sticky[MAX_DEVICES];
/// The stream whose work runs now in this thread.
static _Thread_local const Stream *running;
/// The sticky error of the stream's device; that of a destroyed stream is none.
static CUresult *sticky_of(const Stream *stream) {
  static CUresult none;
  int is_legacy = stream >= legacies && stream < legacies + MAX_DEVICES;
  const Stream *context = is_legacy ? stream : stream->context;
  return context ? &fake_sticky[context - legacies] : &none;
}
static long allocated_bytes, largest = 1l << 30;
static _Atomic long launches, uploads, graphs;
/// Graphs that were destroyed during a launch.
static int early;
static _Atomic long live_streams, live_events;
static _Atomic long modules, links, linkers, most_linkers;
static _Thread_local void *pushed[MAX_DEPTH];
static _Thread_local int depth_pushed;
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/// Whether cuInit was called, and whether this process is a forked child of one that called it. A
/// flag, because the system call getpid would distort the host time of a run.
static int initialized, is_child;
static void in_child(void) { is_child = 1; }
static void check_home(void) {
  if (is_child) {
    fprintf(stderr, "the driver was called in a child of fork\n");
    _exit(99);
  }
}

/// CUstreamCaptureMode of this thread (2: relaxed), and the number of captures in thread mode that
/// it has begun.
static _Thread_local int capture_mode;
static _Thread_local int captures;
/// Whether a call is not allowed now because this thread captures.
static int unsafe(void) { return captures && capture_mode != 2; }

static void *current(void) { return check_home(), depth_pushed ? pushed[depth_pushed - 1] : 0; }

static int lock(void) { return check_home(), pthread_mutex_lock(&mutex); }
static void unlock(const int *locked) { *locked ? abort() : (void)pthread_mutex_unlock(&mutex); }
/// Excludes other threads from all LOCKED functions until the end of the function.
#define LOCKED __attribute__((cleanup(unlock), unused)) const int locked = lock();

/// CU_DEVICE_ATTRIBUTE_: CLOCK_RATE, MULTIPROCESSOR_COUNT, MEMORY_CLOCK_RATE,
/// GLOBAL_MEMORY_BUS_WIDTH, L2_CACHE_SIZE, COMPUTE_CAPABILITY_MAJOR and COMPUTE_CAPABILITY_MINOR,
/// MAX_SHARED_MEMORY_PER_BLOCK_OPTIN.
static int attributes[][2] = {{13, 1000000}, {16, 1}, {36, 2000000}, {37, 512},
                              {38, 100},     {75, 9}, {76, 0},       {97, MOST_SHARED}};

/// Queried by tests: allocated bytes; existing graphs and graph instances, streams and events;
/// launched and uploaded graphs.
long fake_allocated(void) { return allocated_bytes; }
long fake_graphs(void) { return graphs; }
long fake_streams(void) { return live_streams; }
long fake_events(void) { return live_events; }
/// Set by tests: the maximum size of an allocation.
void fake_largest(long bytes) { largest = bytes; }
/// Set by tests: a device attribute, by its number.
void fake_attribute(int attribute, int value) {
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i)
    if (attributes[i][0] == attribute)
      attributes[i][1] = value;
}
long fake_launches(void) { return launches; }
long fake_uploads(void) { return uploads; }
/// Number of PTX compilations so far, and of loaded modules.
long fake_links(void) { return links; }
long fake_modules(void) { return modules; }
/// Number of PTX compilations in progress, and their maximum since the last query.
long fake_linkers(void) { return linkers; }
long fake_most_linkers(void) { return atomic_exchange(&most_linkers, 0); }

static int mapped(const void *pointer, size_t size) {
  LOCKED
  for (int i = 0; i < MAX_BLOCKS; ++i)
    if (blocks[i].pointer && blocks[i].context == current() &&
        (const char *)pointer >= blocks[i].pointer &&
        (const char *)pointer + size <= blocks[i].pointer + blocks[i].size)
      return 1;
  return 0;
}

static Stream *stream_of(void *handle) {
  return handle ? handle : current() ? current() : &legacies[0];
}

static void push(Queue *queue, Op op) {
  queue->ops = realloc(queue->ops, (queue->count + 1) * sizeof(Op));
  queue->ops[queue->count++] = op;
}

static void set_leaves(Stream *stream, Node *const *nodes, size_t count) {
  Node **leaves = malloc((count + 1) * sizeof(Node *));
  memcpy(leaves, nodes, count * sizeof(Node *));
  free(stream->leaves);
  stream->leaves = leaves;
  stream->leaf_count = count;
}

static Node *add_node(Graph *graph, Op op) {
  Node *node = calloc(1, sizeof(Node));
  node->op = op;
  node->graph = graph;
  graph->nodes = realloc(graph->nodes, (graph->count + 1) * sizeof(Node *));
  return graph->nodes[graph->count++] = node;
}

static void add_edge(Node *from, Node *to) {
  to->before = realloc(to->before, (to->count + 1) * sizeof(Node *));
  to->before[to->count++] = from;
}

static CUresult enqueue(void *handle, Op op) {
  LOCKED
  Stream *stream = stream_of(handle);
  if (!current() || (handle && stream->context != current()))
    return INVALID_CONTEXT;
  if (!stream->capture)
    return push(&stream->queue, op), *sticky_of(stream);
  Node *node = add_node(stream->capture, op);
  for (size_t i = 0; i < stream->leaf_count; ++i)
    add_edge(stream->leaves[i], node);
  set_leaves(stream, &node, 1);
  return *sticky_of(stream);
}

static void run_until(Stream *stream, long ticket);
static void run(const Op *op);

/// Runs the most recently captured node that is ready, so that a missing edge is detected.
static void run_graph(Graph *graph) {
  for (size_t i = 0; i < graph->count; ++i)
    graph->nodes[i]->done = 0;
  for (size_t left = graph->count; left--;) {
    for (size_t i = graph->count; i--;) {
      Node *node = graph->nodes[i];
      int ready = !node->done;
      for (size_t j = 0; j < node->count; ++j)
        ready &= node->before[j]->done;
      if (!ready)
        continue;
      if (!node->disabled)
        run(&node->op);
      node->done = 1;
      break;
    }
  }
}

/// The microseconds of an operation: more for a kernel with "slow" in its name.
static int cost(const Op *op) { return op->kind == KERNEL && strstr(op->kernel, "slow") ? 5 : 1; }

/// The length of the longest path through the graph up to this node.
static int depth(const Node *node) {
  int longest = 0;
  for (size_t i = 0; i < node->count; ++i) {
    int other = depth(node->before[i]);
    longest = other > longest ? other : longest;
  }
  return longest + (node->disabled ? 0 : cost(&node->op));
}

static int graph_depth(const Graph *graph) {
  int longest = 0;
  for (size_t i = 0; i < graph->count; ++i) {
    int other = depth(graph->nodes[i]);
    longest = other > longest ? other : longest;
  }
  return longest;
}

/// As runtime/device/copies.cu.
static void copy_rows(const ConvoyCopy *copy) {
  for (int64_t row = 0; row < copy->rows; ++row) {
    char *to = (char *)copy->to + row * copy->to_pitch;
    memcpy(to, (const char *)copy->from + row * copy->from_pitch, copy->width);
    memset(to + copy->width, 0, copy->to_pitch - copy->width);
  }
}

static void release(Graph *graph);
static void run(const Op *op) {
  switch (op->kind) {
  case COPY:
    memcpy(op->destination, op->staged ? op->staged : op->source, op->size);
    free(op->staged);
    break;
  case SET:
    memset(op->destination, op->value, op->size);
    break;
  case KERNEL:
    if (!strcmp(op->kernel, "trap")) {
      *sticky_of(running) = ILLEGAL_ADDRESS;
      break;
    }
    // conv_...(x, w, b, y): copies 16 bytes of x to y; a wrong kernel copies w.
    if (!strncmp(op->kernel, "conv_", 5)) {
      memcpy(op->arguments[3], op->arguments[strstr(op->kernel, "wrong") ? 1 : 0], 16);
      break;
    }
    if (op->copies) {
      for (unsigned i = 0; i < op->copy_count; ++i)
        copy_rows(&op->copies[i]);
      break;
    }
    // scaled_relu(x, w, y): y = max(x * w, 0), one element per thread.
    for (int i = 0; i < op->threads; ++i) {
      float product = ((const float *)op->arguments[0])[i] * ((const float *)op->arguments[1])[i];
      ((float *)op->arguments[2])[i] = product > 0 || product != product ? product : 0;
    }
    break;
  case WAIT:
    run_until(op->event->stream, op->ticket);
    break;
  case GRAPH:
    run_graph(op->graph);
    if (op->executable)
      release(op->graph);
    break;
  default:
    break;
  }
}

static void run_until(Stream *stream, long ticket) {
  LOCKED
  const Stream *before = running;
  running = stream;
  while (stream && stream->queue.done < ticket) {
    long next = stream->queue.done++;
    Op op = stream->queue.ops[next];
    run(&op);
  }
  running = before;
}

CUresult cuInit(unsigned flags) {
  if (is_child)
    return NOT_INITIALIZED;
  if (!initialized)
    pthread_atfork(NULL, NULL, in_child);
  initialized = 1;
  return flags || getenv("FAKE_NO_DEVICE") ? 100 : OK;
}
CUresult cuDriverGetVersion(int *version) { return *version = 13000, OK; }
CUresult cuDeviceGetCount(int *count) {
  return *count = getenv("FAKE_DEVICES") ? atoi(getenv("FAKE_DEVICES")) : 1, OK;
}
CUresult cuDeviceGet(int *device, int ordinal) {
  return *device = ordinal, ordinal >= MAX_DEVICES ? 101 : OK;
}
CUresult cuDeviceGetName(char *name, int length, int device) {
  return snprintf(name, length, "Fake GPU %d", device), OK;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, int device) {
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i)
    if (attributes[i][0] == attribute)
      return *value = attributes[i][1], device >= MAX_DEVICES;
  return INVALID;
}
CUresult cuDevicePrimaryCtxRetain(void **result, int device) {
  return *result = &legacies[device], device >= MAX_DEVICES ? INVALID : OK;
}
CUresult cuCtxGetCurrent(void **result) { return *result = current(), OK; }
CUresult cuCtxPushCurrent(void *value) {
  return depth_pushed < MAX_DEPTH ? (pushed[depth_pushed++] = value, OK) : INVALID;
}
CUresult cuCtxPopCurrent(void **value) {
  return *value = current(), depth_pushed ? (--depth_pushed, OK) : INVALID_CONTEXT;
}

CUresult cuGetErrorName(CUresult error, const char **text) {
  *text = error == OUT_OF_MEMORY         ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == NOT_INITIALIZED     ? "CUDA_ERROR_NOT_INITIALIZED"
          : error == 100                 ? "CUDA_ERROR_NO_DEVICE"
          : error == INVALID_PTX         ? "CUDA_ERROR_INVALID_PTX"
          : error == NOT_FOUND           ? "CUDA_ERROR_NOT_FOUND"
          : error == ILLEGAL_ADDRESS     ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == CAPTURE_UNSUPPORTED ? "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
          : error == INVALID             ? "CUDA_ERROR_INVALID_VALUE"
                                         : "CUDA_ERROR_UNKNOWN";
  return OK;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
  return *text = "described", error < 0;
}

CUresult cuMemAlloc(CUdeviceptr *result, size_t size) {
  LOCKED
  if (!current() || ((Stream *)current())->capture)
    return CAPTURE_UNSUPPORTED;
  if (!size || (long)size > largest)
    return size ? OUT_OF_MEMORY : INVALID;
  for (int i = 0; i < MAX_BLOCKS; ++i)
    if (!blocks[i].pointer) {
      // Not zeroed, like fresh memory of a real device.
      blocks[i].pointer = memset(aligned_alloc(256, (size + 255) / 256 * 256), 0x7f, size);
      blocks[i].size = size;
      blocks[i].context = current();
      allocated_bytes += size;
      return *result = (CUdeviceptr)blocks[i].pointer, OK;
    }
  return OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr pointer) {
  LOCKED
  if (unsafe())
    return CAPTURE_UNSUPPORTED;
  // Like a real driver, completes work that may use the memory first.
  for (int i = 0; i < MAX_STREAMS && streams[i]; ++i)
    run_until(streams[i], streams[i]->queue.count);
  for (int i = 0; i < MAX_BLOCKS; ++i)
    if (blocks[i].pointer == (char *)pointer) {
      allocated_bytes -= blocks[i].size;
      free(blocks[i].pointer);
      blocks[i].pointer = 0;
      return OK;
    }
  return INVALID;
}

CUresult cuMemHostAlloc(void **result, size_t size, unsigned flags) {
  LOCKED(void) flags;
  if (!current())
    return INVALID;
  if (!size || (long)size > largest)
    return size ? OUT_OF_MEMORY : INVALID;
  for (int i = 0; i < MAX_BLOCKS; ++i)
    if (!locked_blocks[i].pointer) {
      locked_blocks[i].pointer = memset(aligned_alloc(256, (size + 255) / 256 * 256), 0x7f, size);
      locked_blocks[i].size = size;
      return *result = locked_blocks[i].pointer, OK;
    }
  return OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *pointer) {
  LOCKED
  if (unsafe())
    return CAPTURE_UNSUPPORTED;
  for (int i = 0; i < MAX_BLOCKS; ++i)
    if (locked_blocks[i].pointer == pointer) {
      free(pointer);
      locked_blocks[i].pointer = 0;
      return OK;
    }
  return INVALID;
}

/// Whether the device reads this host memory itself.
static int page_locked(const char *pointer) {
  for (int i = 0; i < MAX_BLOCKS; ++i)
    if (locked_blocks[i].pointer && pointer >= locked_blocks[i].pointer &&
        pointer < locked_blocks[i].pointer + locked_blocks[i].size)
      return 1;
  return 0;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, void *stream) {
  if (!mapped((void *)to, size) || !mapped((void *)from, size))
    return INVALID;
  return enqueue(
      stream, (Op){.kind = COPY, .destination = (char *)to, .source = (char *)from, .size = size});
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, void *stream) {
  Op op = {.kind = COPY, .destination = (char *)to, .source = from, .size = size};
  if (!mapped((void *)to, size))
    return INVALID;
  // Pageable memory is read before the call returns, unless the copy is captured.
  if (!stream_of(stream)->capture && !page_locked(from))
    op.staged = memcpy(malloc(size), from, size);
  return enqueue(stream, op);
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, void *stream) {
  return mapped((void *)from, size)
             ? enqueue(stream,
                       (Op){.kind = COPY, .destination = to, .source = (char *)from, .size = size})
             : INVALID;
}
static CUresult copy_async(CUdeviceptr to, CUdeviceptr from, size_t size, void *stream) {
  int device = mapped((void *)to, size);
  if (device && mapped((void *)from, size))
    return cuMemcpyDtoDAsync(to, from, size, stream);
  return device ? cuMemcpyHtoDAsync(to, (void *)from, size, stream)
                : cuMemcpyDtoHAsync((void *)to, from, size, stream);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, void *stream) {
  OBSERVED
  return copy_async(to, from, size, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size) {
  if (!mapped((void *)to, size))
    return INVALID;
  return memcpy((void *)to, from, size), OK;
}
static CUresult set_async(CUdeviceptr to, unsigned char value, size_t size, void *stream) {
  return mapped((void *)to, size)
             ? enqueue(stream,
                       (Op){.kind = SET, .destination = (char *)to, .value = value, .size = size})
             : INVALID;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t size, void *stream) {
  OBSERVED
  return set_async(to, value, size, stream);
}

/// CUDA_MEMCPY2D of cuda.h.
typedef struct {
  size_t offset, row;
  int kind;
  void *host;
  CUdeviceptr device;
  void *array;
  size_t pitch;
} Side;
typedef struct {
  Side source, destination;
  size_t width, rows;
} Copy2D;
CUresult cuMemcpy2DAsync(const Copy2D *copy, void *stream) {
  OBSERVED
  const Side *from = &copy->source, *to = &copy->destination;
  enum { HOST = 1, DEVICE = 2, UNIFIED = 4 };
  CUresult status = OK;
  for (size_t row = 0; row < copy->rows && status == OK; ++row) {
    size_t in = row * from->pitch, out = row * to->pitch;
    if (from->kind == HOST && to->kind == DEVICE)
      status = cuMemcpyHtoDAsync(to->device + out, (char *)from->host + in, copy->width, stream);
    else if (from->kind == DEVICE && to->kind == HOST)
      status = cuMemcpyDtoHAsync((char *)to->host + out, from->device + in, copy->width, stream);
    else if (from->kind == DEVICE && to->kind == DEVICE)
      status = cuMemcpyDtoDAsync(to->device + out, from->device + in, copy->width, stream);
    else if (from->kind == UNIFIED && to->kind == UNIFIED)
      status = copy_async(to->device + out, from->device + in, copy->width, stream);
    else
      status = INVALID;
  }
  return status;
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t rows, void *stream) {
  OBSERVED
  CUresult status = OK;
  for (size_t row = 0; row < rows && status == OK; ++row)
    status = set_async(to + row * pitch, value, width, stream);
  return status;
}

CUresult cuStreamCreate(void **result, unsigned flags) {
  LOCKED
  if (!current())
    return INVALID_CONTEXT;
  *result = calloc(1, sizeof(Stream));
  ((Stream *)*result)->context = current();
  for (int i = 0; i < MAX_STREAMS; ++i)
    if (!streams[i])
      return streams[i] = *result, ++live_streams, flags != 1;
  return OUT_OF_MEMORY;
}
/// Its work still runs. After that no context has it, so that a later use is refused.
CUresult cuStreamDestroy(void *handle) {
  LOCKED
  int found = -1, count = 0;
  for (; count < MAX_STREAMS && streams[count]; ++count)
    if (streams[count] == handle && count >= MAX_DEVICES)
      found = count;
  if (found < 0)
    return INVALID_CONTEXT;
  Stream *stream = handle;
  run_until(stream, stream->queue.count);
  stream->context = 0;
  streams[found] = streams[count - 1];
  streams[count - 1] = 0;
  return --live_streams, OK;
}
CUresult cuStreamSynchronize(void *handle) {
  Stream *stream = stream_of(handle);
  if (handle && stream->context != current())
    return INVALID_CONTEXT;
  if (stream->capture)
    return CAPTURE_UNSUPPORTED;
  run_until(stream, stream->queue.count);
  return *sticky_of(stream);
}
CUresult cuStreamIsCapturing(void *stream, int *status) {
  OBSERVED
  return *status = stream_of(stream)->capture != 0, OK;
}
CUresult cuStreamBeginCapture(void *handle, int mode) {
  Stream *stream = handle;
  set_leaves(stream, 0, 0);
  return stream->capture = calloc(1, sizeof(Graph)), ++captures, mode != 1;
}
CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
  int before = capture_mode;
  return capture_mode = *mode, *mode = before, OK;
}
CUresult cuStreamEndCapture(void *stream, void **graph) {
  *graph = ((Stream *)stream)->capture;
  ((Stream *)stream)->capture = 0;
  --captures;
  return *graph ? (++graphs, OK) : INVALID;
}

/// CUgraphEdgeData: all zero is a full dependency.
typedef struct Edge {
  unsigned char bytes[8];
} Edge;

CUresult cuStreamGetCaptureInfo(void *handle, int *status, uint64_t *id, Graph **graph,
                                Node ***nodes, Edge **edges, size_t *count) {
  static Edge none[64];
  Stream *stream = stream_of(handle);
  *status = stream->capture != 0, *id = 1, *graph = stream->capture, *nodes = stream->leaves,
  *edges = none, *count = stream->leaf_count;
  return stream->leaf_count > 64 ? INVALID : OK;
}
CUresult cuStreamUpdateCaptureDependencies(void *handle, Node **nodes, const Edge *edges,
                                           size_t count, unsigned flags) {
  Stream *stream = stream_of(handle);
  (void)edges;
  if (!stream->capture || flags != 1)
    return 401; // CUDA_ERROR_ILLEGAL_STATE
  return set_leaves(stream, nodes, count), OK;
}

CUresult cuGraphNodeGetType(const Node *node, int *type) {
  return *type = node->op.kind == KERNEL ? 0
                 : node->op.kind == COPY ? 1
                 : node->op.kind == SET  ? 2
                                         : 10,
         OK;
}

typedef struct MemsetParams {
  CUdeviceptr dst;
  size_t pitch;
  unsigned value, element_size;
  size_t width, height;
} MemsetParams;

CUresult cuGraphMemsetNodeGetParams(const Node *node, MemsetParams *params) {
  *params =
      (MemsetParams){(CUdeviceptr)node->op.destination, 0, node->op.value, 1, node->op.size, 1};
  return node->op.kind != SET;
}

static CUresult give_nodes(Node **found, size_t have, Node **nodes, size_t *count) {
  for (size_t i = 0; nodes && i < *count; ++i)
    nodes[i] = i < have ? found[i] : 0;
  return *count = nodes && *count < have ? *count : have, OK;
}
CUresult cuGraphNodeGetDependencies(const Node *node, Node **nodes, Edge *edges, size_t *count) {
  if (edges)
    memset(edges, 0, *count * sizeof(Edge));
  return give_nodes(node->before, node->count, nodes, count);
}

static int depends(const Node *node, const Node *other) {
  for (size_t i = 0; i < node->count; ++i)
    if (node->before[i] == other)
      return 1;
  return 0;
}

CUresult cuGraphNodeGetDependentNodes(const Node *node, Node **nodes, Edge *edges, size_t *count) {
  Node *found[256];
  size_t have = 0;
  const Graph *graph = node->graph;
  for (size_t i = 0; i < graph->count && have < 256; ++i)
    if (depends(graph->nodes[i], node))
      found[have++] = graph->nodes[i];
  if (edges)
    memset(edges, 0, *count * sizeof(Edge));
  return give_nodes(found, have, nodes, count);
}
CUresult cuGraphAddDependencies(Graph *graph, Node **from, Node **to, const Edge *edges,
                                size_t count) {
  (void)graph, (void)edges;
  for (size_t i = 0; i < count; ++i) {
    if (depends(to[i], from[i]))
      return INVALID;
    add_edge(from[i], to[i]);
  }
  return OK;
}
CUresult cuGraphDestroyNode(Node *node) {
  Graph *graph = node->graph;
  size_t kept = 0;
  for (size_t i = 0; i < graph->count; ++i) {
    Node *other = graph->nodes[i];
    if (other == node)
      continue;
    graph->nodes[kept++] = other;
    size_t left = 0;
    for (size_t j = 0; j < other->count; ++j)
      if (other->before[j] != node)
        other->before[left++] = other->before[j];
    other->count = left;
  }
  graph->count = kept;
  return free(node->before), free(node), OK;
}

static ConvoyCopy *duplicate(const ConvoyCopy *copies, unsigned count) {
  return memcpy(malloc(count * sizeof *copies), copies, count * sizeof *copies);
}
static Graph *copy_of(const Graph *graph) {
  Graph *copy = calloc(1, sizeof(Graph));
  for (size_t i = 0; i < graph->count; ++i) {
    Op op = graph->nodes[i]->op;
    if (op.kind == GRAPH)
      op.graph = copy_of(op.graph);
    if (op.copies)
      op.copies = duplicate(op.copies, op.copy_count);
    Node *node = add_node(copy, op);
    node->disabled = graph->nodes[i]->disabled;
    for (size_t j = 0; j < graph->nodes[i]->count; ++j)
      for (size_t k = 0; k < i; ++k)
        if (graph->nodes[k] == graph->nodes[i]->before[j])
          add_edge(copy->nodes[k], node);
  }
  return copy;
}
static void release(Graph *graph) {
  for (size_t i = 0; i < graph->count; ++i) {
    if (graph->nodes[i]->op.kind == GRAPH)
      release(graph->nodes[i]->op.graph);
    free(graph->nodes[i]->op.copies);
    free(graph->nodes[i]->before);
    free(graph->nodes[i]);
  }
  free(graph->nodes);
  free(graph);
}
static CUresult destroy(Graph *graph) { return release(graph), --graphs, OK; }

CUresult cuGraphInstantiateWithFlags(void **result, Graph *graph, unsigned long long flags) {
  return *result = copy_of(graph), ++graphs, flags != 0;
}
CUresult cuGraphAddChildGraphNode(Node **node, Graph *graph, Node *const *before, size_t count,
                                  const Graph *child) {
  *node = add_node(graph, (Op){.kind = GRAPH, .graph = copy_of(child)});
  for (size_t i = 0; i < count; ++i)
    add_edge(before[i], *node);
  return OK;
}
CUresult cuGraphLaunch(Graph *graph, void *stream) {
  OBSERVED
  // The launch has the parameters of now.
  return ++launches, enqueue(stream, (Op){.kind = GRAPH,
                                          .graph = copy_of(graph),
                                          .executable = stream_of(stream)->capture ? 0 : graph,
                                          .depth = graph_depth(graph)});
}

/// The node of an instance that was made from `node`.
static Node *node_in(Graph *executable, const Node *node) {
  for (size_t i = 0; i < node->graph->count && i < executable->count; ++i)
    if (node->graph->nodes[i] == node)
      return executable->nodes[i];
  return 0;
}
CUresult cuGraphNodeSetEnabled(Graph *executable, const Node *node, unsigned enabled) {
  OBSERVED
  Node *found = node_in(executable, node);
  return found && found->op.kind == KERNEL ? (found->disabled = !enabled, OK) : INVALID;
}
/// Like a launch, it needs a stream of the current context.
CUresult cuGraphUpload(Graph *graph, void *stream) {
  if (stream_of(stream)->context != current())
    return INVALID_CONTEXT;
  return ++uploads, graph ? OK : INVALID;
}
CUresult cuGraphDestroy(Graph *graph) { return check_home(), destroy(graph); }
CUresult cuGraphExecDestroy(Graph *graph) {
  LOCKED
  for (int i = 0; i < MAX_STREAMS && streams[i]; ++i)
    for (long j = streams[i]->queue.done; j < streams[i]->queue.count; ++j)
      if (streams[i]->queue.ops[j].kind == GRAPH && streams[i]->queue.ops[j].executable == graph) {
        ++early;
        run_until(streams[i], streams[i]->queue.count);
      }
  return destroy(graph);
}
int fake_early(void) { return early; }

/// The number of allocations of page-locked host memory.
int fake_locked(void) {
  int count = 0;
  for (int i = 0; i < MAX_BLOCKS; ++i)
    count += locked_blocks[i].pointer != 0;
  return count;
}

CUresult cuEventCreate(void **result, unsigned flags) {
  return *result = calloc(1, sizeof(Event)), ++live_events, flags && flags != 2;
}
CUresult cuEventDestroy(Event *event) {
  check_home();
  return event->destroyed ? INVALID : (event->destroyed = 1, --live_events, OK);
}
CUresult cuEventRecord(Event *event, void *handle) {
  OBSERVED
  LOCKED
  if (event->destroyed)
    return INVALID;
  Stream *stream = stream_of(handle);
  event->stream = stream;
  event->ticket = stream->queue.count;
  return OK;
}
CUresult cuEventSynchronize(Event *event) {
  if (unsafe())
    return CAPTURE_UNSUPPORTED;
  if (event->destroyed)
    return INVALID;
  run_until(event->stream, event->ticket);
  return event->stream ? *sticky_of(event->stream) : OK;
}
CUresult cuEventElapsedTime(float *milliseconds, Event *begin, Event *end) {
  LOCKED
  // The sum over all operations in between, so that times are the same in every run.
  *milliseconds = 0;
  for (long i = begin->ticket; i < end->ticket; ++i) {
    Op *op = &end->stream->queue.ops[i];
    *milliseconds += 0.001f * (op->kind == GRAPH ? op->depth : cost(op));
  }
  return begin->stream == end->stream ? OK : INVALID;
}
CUresult cuStreamWaitEvent(void *stream, Event *event, unsigned flags) {
  // The event may be recorded again before the wait runs, so its current state is copied.
  Event *now = malloc(sizeof(Event));
  *now = *event;
  return flags ? INVALID
               : enqueue(stream, (Op){.kind = WAIT, .event = now, .ticket = event->ticket});
}

/// The compiler's log: options 5 and 6 of CUjit_option are a buffer and its size. Other options are
/// not supported.
typedef struct Log {
  char *text;
  unsigned size;
} Log;

static CUresult open_log(Log *log, unsigned count, const int *options, void **values) {
  *log = (Log){0};
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == 5)
      log->text = values[i];
    else if (options[i] == 6)
      log->size = (uintptr_t)values[i];
    else
      return INVALID;
  return OK;
}

static CUresult refuse_ptx(Log log) {
  if (log.text)
    snprintf(log.text, log.size,
             "ptxas application ptx input, line 1; error   : no PTX\nptxas fatal   : Ptx assembly "
             "aborted due to errors\n");
  return INVALID_PTX;
}

CUresult cuModuleLoadDataEx(void **module, const char *image, unsigned count, const int *options,
                            void **values) {
  Log log;
  if (open_log(&log, count, options, values))
    return INVALID;
  if (strncmp(image, "//", 2))
    return refuse_ptx(log);
  return *module = strdup(image), ++modules, OK;
}
CUresult cuModuleLoadData(void **module, const char *image) {
  return cuModuleLoadDataEx(module, image, 0, 0, 0);
}
CUresult cuModuleUnload(void *module) { return check_home(), free(module), --modules, OK; }

/// A kernel, its maximum dynamic shared memory, and whether it first waits for the kernel before
/// it, as does one whose PTX has no body.
typedef struct Function {
  char name[256];
  unsigned shared;
  int waits;
} Function;

CUresult cuModuleGetFunction(Function **function, const char *module, const char *name) {
  char entry[256];
  snprintf(entry, sizeof entry, ".entry %s(", name);
  *function = calloc(1, sizeof(Function));
  (*function)->shared = SHARED;
  snprintf((*function)->name, sizeof(*function)->name, "%s", name);
  const char *text = strstr(module, entry), *body = text ? strchr(text, '{') : 0;
  (*function)->waits = !body || !strncmp(body, "{\n\tgriddepcontrol.wait;", 23);
  return text ? OK : NOT_FOUND;
}
CUresult cuFuncSetAttribute(Function *function, int attribute, int value) {
  if (attribute != 8 || value > MOST_SHARED)
    return INVALID;
  return function->shared = value, OK;
}
/// A tensor map, as the hardware would read it. The corners are those of windows.
typedef struct TensorMap {
  void *address;
  uint64_t columns, rows, pitch;
  uint32_t box[2];
  int corners[4];
} TensorMap;

CUresult cuTensorMapEncodeTiled(TensorMap *map, int type, unsigned rank, void *address,
                                const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *steps, int interleave, int swizzle, int promotion,
                                int fill) {
  (void)promotion;
  if ((type != 6 && type != 9) || rank != 2 || (uintptr_t)address % 16 || strides[0] % 16 ||
      box[0] != 64 || box[1] > 256 || steps[0] != 1 || steps[1] != 1 || interleave ||
      swizzle != 3 || fill)
    return INVALID;
  *map = (TensorMap){address, sizes[0], sizes[1], strides[0], {box[0], box[1]}, {0}};
  return OK;
}
CUresult cuTensorMapEncodeIm2col(TensorMap *map, int type, unsigned rank, void *address,
                                 const uint64_t *sizes, const uint64_t *strides, const int *first,
                                 const int *last, unsigned channels, unsigned pixels,
                                 const uint32_t *steps, int interleave, int swizzle, int promotion,
                                 int fill) {
  (void)promotion;
  if ((type != 6 && type != 9) || (rank != 4 && rank != 5) || (uintptr_t)address % 16 ||
      channels != 64 || pixels > 1024 || steps[0] != 1 || steps[rank - 1] != 1 || interleave ||
      swizzle != 3 || fill)
    return INVALID;
  uint64_t rows = sizes[rank - 1];
  int bound = rank == 4 ? 128 : 16;
  for (unsigned i = 0; i < rank - 2; ++i) {
    rows *= sizes[1 + i];
    if (strides[1 + i] != strides[i] * sizes[1 + i] || first[i] < -bound || first[i] >= bound ||
        last[i] < -bound || last[i] >= bound || steps[1 + i] > 8)
      return INVALID;
  }
  *map = (TensorMap){address,    sizes[0],           rows,
                     strides[0], {channels, pixels}, {first[0], first[1], last[0], last[1]}};
  return OK;
}

/// The copies of convoy_copy_... for `count` arrays. An array and its window are in mapped memory.
static CUresult take_copies(Op *op, const Function *function, unsigned count, void **arguments) {
  const ConvoyCopy *copies = arguments[0];
  if (count > (unsigned)atoi(function->name + strlen("convoy_copy_")))
    return INVALID;
  for (unsigned i = 0; i < count; ++i)
    if (copies[i].rows && (!mapped((void *)copies[i].to, copies[i].rows * copies[i].to_pitch) ||
                           !mapped((void *)copies[i].from, copies[i].rows * copies[i].from_pitch)))
      return INVALID;
  free(op->copies);
  return op->copies = duplicate(copies, count), op->copy_count = count, OK;
}

/// CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h.
typedef struct KernelNode {
  const Function *function;
  unsigned grid[3], block[3], shared;
  void **arguments, **extra, *kernel, *context;
} KernelNode;
CUresult cuGraphExecKernelNodeSetParams(Graph *executable, const Node *node,
                                        const KernelNode *parameters) {
  OBSERVED
  Node *found = node_in(executable, node);
  if (!found || !found->op.copies || strcmp(found->op.kernel, parameters->function->name) ||
      parameters->block[0] != CONVOY_COPY_THREADS || parameters->extra)
    return INVALID;
  return take_copies(&found->op, parameters->function, parameters->grid[1], parameters->arguments);
}

CUresult cuLaunchKernel(const Function *function, unsigned gx, unsigned gy, unsigned gz,
                        unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                        void **arguments, void **extra) {
  Op op = {.kind = KERNEL, .kernel = function->name, .threads = gx * gy * gz * bx * by * bz};
  int is_conv = !strncmp(function->name, "conv_", 5);
  if (extra || bx * by * bz > 1024 || shared > function->shared)
    return INVALID;
  // The only one that native code launches.
  if (!strncmp(function->name, "convoy_copy_", 12)) {
    OBSERVED
    return take_copies(&op, function, gy, arguments) ? INVALID : enqueue(stream, op);
  }
  for (int i = 0; strcmp(function->name, "trap") && i < 3 + is_conv; ++i) {
    op.arguments[i] = *(void **)arguments[i];
    if (!mapped(op.arguments[i], is_conv ? 16 : op.threads * sizeof(float)))
      return INVALID;
  }
  // These have a map of their first tensor, 1 x 8 halves, after four pointers.
  if (is_conv && strstr(function->name, "mapped")) {
    const TensorMap *map = arguments[4];
    if (map->address != op.arguments[0] || map->columns != 8 || map->rows != 1 ||
        map->pitch != 16 || map->box[1] != 32)
      return INVALID;
    // Windows of 2 columns, without padding.
    if (strstr(function->name, "windows") &&
        (map->corners[0] || map->corners[1] != -1 || map->corners[2] != -1 || map->corners[3] != 1))
      return INVALID;
  }
  // These take the number of the launch after four pointers, which is 0, 1, 2, and again.
  if (is_conv && strstr(function->name, "stepped")) {
    static int number;
    if (*(int *)arguments[4] != number)
      return INVALID;
    number = (number + 1) % 3;
  }
  return enqueue(stream, op);
}

/// CUlaunchConfig with CUlaunchAttributes.
typedef struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  void *stream;
  const struct {
    int id, padding, value[16];
  } *attributes;
  unsigned count;
} LaunchConfig;

/// The attribute is PROGRAMMATIC_STREAM_SERIALIZATION.
CUresult cuLaunchKernelEx(const LaunchConfig *config, const Function *function, void **arguments,
                          void **extra) {
  if (config->count != 1 || config->attributes->id != 6 || config->attributes->value[0] != 1 ||
      !function->waits)
    return INVALID;
  const unsigned *grid = config->grid, *block = config->block;
  return cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                        config->shared, config->stream, arguments, extra);
}

/// The PTX compiler. Its machine code is the PTX after an additional line. PTX that contains "takes
/// a while" takes a while.
typedef struct Linker {
  char *code;
  Log log;
} Linker;

CUresult cuLinkCreate(unsigned count, const int *options, void **values, Linker **linker) {
  Log log;
  if (!current())
    return INVALID_CONTEXT;
  if (open_log(&log, count, options, values))
    return INVALID;
  *linker = calloc(1, sizeof(Linker));
  (*linker)->log = log;
  long now = ++linkers, most = most_linkers;
  while (now > most && !atomic_compare_exchange_weak(&most_linkers, &most, now))
    ;
  return ++links, OK;
}
CUresult cuLinkAddData(Linker *linker, int type, const char *data, size_t size, const char *name,
                       unsigned count, int *options, void **values) {
  static const char head[] = "// machine code\n";
  (void)name, (void)options, (void)values;
  if (type != 1 || count || !size || data[size - 1])
    return INVALID;
  if (strstr(data, "takes a while"))
    usleep(50000);
  if (strncmp(data, "//", 2))
    return refuse_ptx(linker->log);
  linker->code = malloc(sizeof head + size);
  return strcat(strcpy(linker->code, head), data), OK;
}
CUresult cuLinkComplete(Linker *linker, void **code, size_t *size) {
  return *code = linker->code, *size = strlen(linker->code), OK;
}
CUresult cuLinkDestroy(Linker *linker) { return free(linker->code), free(linker), --linkers, OK; }

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                             int *status) {
  Dl_info self;
  (void)version, (void)flags;
  dladdr((void *)cuInit, &self);
  void *library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *function = dlsym(library, name);
  if (status)
    *status = *function ? 0 : 1;
  return *function ? OK : NOT_FOUND;
}
/// The name by which cuda.bindings asks for it.
CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags,
                          int *status) {
  return cuGetProcAddress_v2(name, function, version, flags, status);
}
