// A hand-written native library whose loops run on the threads of runtime/support: y = x + 1 on
// float32, 4096 elements, 64 steps.
#include "../../runtime/support/convoy_support.h"

#ifdef OTHER
const char other[] = OTHER;
#endif

enum { STEPS = 64, ELEMENTS = 4096 / STEPS };

typedef struct Arrays {
  const float *x;
  float *y;
} Arrays;

static void add_one(void *environment, int64_t first, int64_t last) {
  const Arrays *arrays = environment;
  for (int64_t i = first * ELEMENTS; i < last * ELEMENTS; ++i)
    arrays->y[i] = arrays->x[i] + 1;
}

uint32_t convoy_abi_version(void) { return CONVOY_ABI_VERSION; }

const int64_t *convoy_sizes(void) {
  static const int64_t sizes[] = {8, 0, 0, 1, 4 * STEPS * ELEMENTS, 0, 0, 1, 4 * STEPS * ELEMENTS};
  return sizes;
}

int32_t convoy_main(const ConvoyRuntime *runtime, void *const *inputs, void *const *prepared,
                    void *const *outputs, void *arena) {
  (void)runtime, (void)prepared, (void)arena;
  Arrays arrays = {inputs[0], outputs[0]};
  convoy_parallel_for(add_one, &arrays, 0, STEPS);
  return 0;
}

int32_t convoy_prepare_weights(void *const *weights, void *const *prepared, void *arena) {
  (void)weights, (void)prepared, (void)arena;
  return 0;
}
