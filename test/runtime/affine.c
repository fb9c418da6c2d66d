// A hand-written native library, so that the loader is tested without the compiler: y = relu(x * (w
// * s) + b) on float32 2x3, where prepare_weights computes w * s. The product is stored in the
// arena. With GATE the function named by AFFINE_GATE writes a byte to the descriptor AFFINE_ENTERED
// and reads one from AFFINE_LEAVE before it accesses an argument.
#include "convoy_abi.h"
#ifdef GATE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void gate(const char *function) {
  char byte = 0;
  if (getenv("AFFINE_GATE") && !strcmp(getenv("AFFINE_GATE"), function) &&
      write(atoi(getenv("AFFINE_ENTERED")), &byte, 1) == 1)
    (void)!read(atoi(getenv("AFFINE_LEAVE")), &byte, 1);
}
#else
#define gate(function)
#endif

#ifdef OTHER
const char other[] = OTHER;
#endif

#ifndef ABI
#define ABI CONVOY_ABI_VERSION
#endif

enum { ROWS = 2, COLUMNS = 3 };

uint32_t convoy_abi_version(void) { return ABI; }

#ifndef ARENA
#define ARENA 64
#endif
#ifndef PREPARE_ARENA
#define PREPARE_ARENA 64
#endif
#ifndef SIZES
#define SIZES 13, ARENA, PREPARE_ARENA, 1, 24, 3, 12, 4, 12, 2, 12, 12, 1, 24
#endif
const int64_t *convoy_sizes(void) {
  static const int64_t sizes[] = {SIZES};
  return sizes;
}

int32_t convoy_main(const ConvoyRuntime *runtime, void *const *inputs, void *const *prepared,
                    void *const *outputs, void *arena) {
  gate("main");
  const float *x = inputs[0], *w = prepared[0], *b = prepared[1];
  float *y = outputs[0], *product = arena;
  uintptr_t all = (uintptr_t)x | (uintptr_t)w | (uintptr_t)b | (uintptr_t)y | (uintptr_t)product;
  if (all % 64 || runtime)
    return 7;
  for (int i = 0; i < ROWS * COLUMNS; ++i)
    product[i] = x[i] * w[i % COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; ++i)
#ifdef LEAKY
    if (i)
#endif
      y[i] = product[i] + b[i % COLUMNS] < 0 ? 0 : product[i] + b[i % COLUMNS];
  return 0;
}

int32_t convoy_prepare_weights(void *const *weights, void *const *prepared, void *arena) {
  gate("prepare");
  const float *w = weights[0], *s = weights[1], *b = weights[2];
  float *scaled = prepared[0], *bias = prepared[1], *temporary = arena;
  if (((uintptr_t)w | (uintptr_t)s | (uintptr_t)b | (uintptr_t)temporary) % 64)
    return 8;
  for (int i = 0; i < COLUMNS; ++i) {
    temporary[i] = w[i] * s[0];
    scaled[i] = temporary[i];
    bias[i] = b[i];
  }
  return 0;
}
