// y = x, for three elements of two bytes.
#include "convoy_abi.h"
#include <string.h>

uint32_t convoy_abi_version(void) { return CONVOY_ABI_VERSION; }

const int64_t *convoy_sizes(void) {
  static const int64_t sizes[] = {8, 0, 64, 1, 6, 0, 0, 1, 6};
  return sizes;
}

int32_t convoy_main(const ConvoyRuntime *runtime, void *const *inputs, void *const *prepared,
                    void *const *outputs, void *arena) {
  (void)runtime, (void)prepared, (void)arena;
  memcpy(outputs[0], inputs[0], 6);
  return 0;
}

int32_t convoy_prepare_weights(void *const *weights, void *const *prepared, void *arena) {
  (void)weights, (void)prepared, (void)arena;
  return 0;
}
