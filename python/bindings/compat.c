// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* LLVM's archives call arc4random, which glibc has since 2.36. This definition lets the extension
 * load on glibc 2.34 and later. */
#include <stdint.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value = 0;
  (void)!getrandom(&value, sizeof value, 0);
  return value;
}
