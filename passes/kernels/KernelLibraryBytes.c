// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* The bitcode of runtime/device. */
const unsigned char convoy_kernel_library[] = {
#embed "convoy_device.bc"
};
const unsigned long convoy_kernel_library_bytes = sizeof convoy_kernel_library;
