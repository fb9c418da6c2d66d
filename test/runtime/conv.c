// A hand-written `cuda` artifact like those of the compiler: y = relu(conv(x, w) + b), float16
// NHWC, x 1x64x56x56, w 64x64x3x3. -DSTRIDE=0 creates a graph that cuDNN refuses; -DDTYPE=0 sets
// float32; -DACTIVATION=N sets another cudnnPointwiseMode_t; -DCALL=N changes the runtime call of
// convoy_main, and -DTHEN=N adds a second one.
#include "convoy_abi.h"

#ifndef DTYPE
#define DTYPE 2 // CUDNN_DATA_HALF
#endif
#ifndef STRIDE
#define STRIDE 1
#endif
#ifndef ACTIVATION
#define ACTIVATION 100 // CUDNN_POINTWISE_RELU_FWD
#endif
#ifndef CALL
#define CALL 0
#endif

// As float16, or as float32.
#define IMAGE (64 * 56 * 56 * (DTYPE ? 2 : 4))
#define FILTERS (64 * 64 * 9 * (DTYPE ? 2 : 4))
#define BIAS (64 * (DTYPE ? 2 : 4))
#ifdef MARK
// Code that runs as soon as the library is loaded: it creates the file MARK.
#include <stdio.h>
static void __attribute__((constructor)) mark(void) { fclose(fopen(MARK, "w")); }
#endif

#ifndef SIZES
#define SIZES 12, 0, 64, 1, IMAGE, 2, FILTERS, BIAS, 2, FILTERS, BIAS, 1, IMAGE
#endif
const int64_t *convoy_sizes(void) {
  static const int64_t sizes[] = {SIZES};
  return sizes;
}

enum { MAX = 32 };

typedef struct Builder {
  const ConvoyCudnn *cudnn;
  void *made[MAX];
  int count;
  int32_t status;
  const char *call;
} Builder;

static void *create(Builder *b, int32_t kind) {
  void *descriptor = 0;
  if (b->status)
    return 0;
  b->status = b->cudnn->create_descriptor(kind, &descriptor);
  if (b->status)
    b->call = "create";
  else
    b->made[b->count++] = descriptor;
  return descriptor;
}

static void set(Builder *b, void *descriptor, int32_t attribute, int32_t type, int64_t count,
                const void *elements) {
  if (b->status)
    return;
  b->status = b->cudnn->set_attribute(descriptor, attribute, type, count, elements);
  b->call = "set_attribute";
}

static void finalize(Builder *b, void *descriptor, const char *what) {
  if (b->status)
    return;
  b->status = b->cudnn->finalize(descriptor);
  b->call = what;
}

static void *tensor(Builder *b, int64_t uid, int32_t type, const int64_t *dims,
                    const int64_t *strides, char is_virtual) {
  int64_t alignment = 16;
  void *t = create(b, 17);
  set(b, t, 901, 1, 1, &type);
  set(b, t, 902, 3, 4, dims);
  set(b, t, 903, 3, 4, strides);
  set(b, t, 906, 3, 1, &uid);
  set(b, t, 900, 3, 1, &alignment);
  set(b, t, 907, 2, 1, &is_virtual);
  finalize(b, t, "finalize tensor");
  return t;
}

static void *pointwise(Builder *b, int32_t mode, void *x, void *second, void *y) {
  int32_t compute = 0;
  void *descriptor = create(b, 0), *operation = create(b, 13);
  set(b, descriptor, 0, 14, 1, &mode);
  set(b, descriptor, 1, 1, 1, &compute);
  finalize(b, descriptor, "finalize pointwise");
  set(b, operation, 750, 15, 1, &descriptor);
  set(b, operation, 751, 15, 1, &x);
  if (second)
    set(b, operation, 752, 15, 1, &second);
  set(b, operation, 753, 15, 1, &y);
  finalize(b, operation, "finalize pointwise operation");
  return operation;
}

int32_t conv_build(const ConvoyCudnn *cudnn, void *handle, void **graph) {
  Builder builder = {.cudnn = cudnn}, *b = &builder;
  int64_t image[4] = {1, 64, 56, 56}, nhwc[4] = {64 * 56 * 56, 1, 64 * 56, 64};
  int64_t filter[4] = {64, 64, 3, 3}, krsc[4] = {64 * 9, 1, 64 * 3, 64};
  int64_t vector[4] = {1, 64, 1, 1}, packed[4] = {64, 1, 64, 64};
  void *x = tensor(b, 1, DTYPE, image, nhwc, 0), *w = tensor(b, 2, DTYPE, filter, krsc, 0),
       *bias = tensor(b, 3, DTYPE, vector, packed, 0);
  void *y = tensor(b, 4, DTYPE, image, nhwc, 0);
  void *product = tensor(b, 5, 0, image, nhwc, 1), *sum = tensor(b, 6, 0, image, nhwc, 1);

  int64_t rank = 2, ones[2] = {1, 1}, strides[2] = {STRIDE, STRIDE};
  int32_t compute = 0, correlation = 1;
  double one = 1, zero = 0;
  void *descriptor = create(b, 1), *conv = create(b, 10);
  set(b, descriptor, 106, 3, 1, &rank);
  set(b, descriptor, 100, 1, 1, &compute);
  set(b, descriptor, 101, 7, 1, &correlation);
  set(b, descriptor, 102, 3, 2, ones);
  set(b, descriptor, 103, 3, 2, strides);
  set(b, descriptor, 104, 3, 2, ones);
  set(b, descriptor, 105, 3, 2, ones);
  finalize(b, descriptor, "finalize convolution");
  set(b, conv, 700, 5, 1, &one);
  set(b, conv, 701, 5, 1, &zero);
  set(b, conv, 702, 15, 1, &descriptor);
  set(b, conv, 703, 15, 1, &w);
  set(b, conv, 704, 15, 1, &x);
  set(b, conv, 705, 15, 1, &product);
  finalize(b, conv, "finalize convolution operation");

  void *operations[3] = {conv, pointwise(b, 0, product, bias, sum),
                         pointwise(b, ACTIVATION, sum, 0, y)};
  *graph = create(b, 15);
  if (handle)
    set(b, *graph, 800, 0, 1, &handle);
  set(b, *graph, 801, 15, 3, operations);
  finalize(b, *graph, "finalize operation graph");

  if (b->status)
    cudnn->report(b->status, b->call, "model.py:12");
  // The graph keeps what it needs. On success all descriptors except the graph, the last one, are
  // destroyed.
  for (int i = 0; i < b->count - !b->status; ++i)
    cudnn->destroy_descriptor(b->made[i]);
  if (b->status)
    *graph = 0;
  return b->status;
}

uint32_t convoy_abi_version(void) { return CONVOY_ABI_VERSION; }

int32_t convoy_main(const ConvoyRuntime *runtime, void *const *inputs, void *const *prepared,
                    void *const *outputs, void *arena) {
  (void)arena;
  void *pointers[4] = {inputs[0], prepared[0], prepared[1], outputs[0]};
#ifdef THEN
  int32_t status = runtime->execute_graph(runtime->context, CALL, pointers, 4);
  return status ? status : runtime->execute_graph(runtime->context, THEN, pointers, 4);
#else
  return runtime->execute_graph(runtime->context, CALL, pointers, 4);
#endif
}

int32_t convoy_prepare_weights(void *const *weights, void *const *prepared, void *arena) {
  (void)arena;
  const int16_t *w = weights[0], *bias = weights[1];
  int16_t *krsc = prepared[0], *packed = prepared[1];
  for (int k = 0; k < 64; ++k) {
    packed[k] = bias[k];
    for (int c = 0; c < 64; ++c)
      for (int i = 0; i < 9; ++i)
        krsc[(k * 9 + i) * 64 + c] = w[(k * 64 + c) * 9 + i];
  }
  return 0;
}
