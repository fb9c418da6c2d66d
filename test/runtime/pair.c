// A hand-written native library with two outputs: y = x and z = -x on float32, 3 elements.
#include "convoy_abi.h"

uint32_t convoy_abi_version(void) { return CONVOY_ABI_VERSION; }

const int64_t *convoy_sizes(void) {
  static const int64_t sizes[] = {9, 0, 0, 1, 12, 0, 0, 2, 12, 12};
  return sizes;
}

int32_t convoy_main(const ConvoyRuntime *runtime, void *const *inputs, void *const *prepared,
                    void *const *outputs, void *arena) {
  const float *x = inputs[0];
  float *y = outputs[0], *z = outputs[1];
  (void)runtime, (void)prepared, (void)arena;
  for (int i = 0; i < 3; ++i) {
    y[i] = x[i];
    z[i] = -x[i];
  }
  return 0;
}

int32_t convoy_prepare_weights(void *const *weights, void *const *prepared, void *arena) {
  (void)weights, (void)prepared, (void)arena;
  return 0;
}
