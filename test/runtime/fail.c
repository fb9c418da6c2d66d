// Both entry points fail, with different statuses.
#include "convoy_abi.h"

uint32_t convoy_abi_version(void) { return CONVOY_ABI_VERSION; }

const int64_t *convoy_sizes(void) {
  static const int64_t sizes[] = {8, 64, 64, 1, 24, 0, 0, 1, 24};
  return sizes;
}

int32_t convoy_main(const ConvoyRuntime *runtime, void *const *inputs, void *const *prepared,
                    void *const *outputs, void *arena) {
  (void)runtime, (void)inputs, (void)prepared, (void)outputs, (void)arena;
  return 41;
}

int32_t convoy_prepare_weights(void *const *weights, void *const *prepared, void *arena) {
  (void)weights, (void)prepared, (void)arena;
  return 42;
}
