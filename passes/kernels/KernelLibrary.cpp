// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernels/KernelLibrary.h"

extern "C" {
extern const unsigned char convoy_kernel_library[];
extern const unsigned long convoy_kernel_library_bytes;
}

namespace convoy {

llvm::ArrayRef<char> kernelLibrary() {
  return {reinterpret_cast<const char *>(convoy_kernel_library), convoy_kernel_library_bytes};
}

} // namespace convoy
