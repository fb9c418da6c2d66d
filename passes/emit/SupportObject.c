// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* The object files of runtime/support, which are linked into every native library; the linker drops
 * unused functions. */
const unsigned char convoy_support_object[] = {
#embed "convoy_support.o"
};
const unsigned long convoy_support_object_bytes = sizeof convoy_support_object;

const unsigned char convoy_calls_object[] = {
#embed "convoy_calls.o"
};
const unsigned long convoy_calls_object_bytes = sizeof convoy_calls_object;

const unsigned char convoy_floats_object[] = {
#embed "convoy_floats.o"
};
const unsigned long convoy_floats_object_bytes = sizeof convoy_floats_object;

const unsigned char convoy_run_object[] = {
#embed "convoy_run.o"
};
const unsigned long convoy_run_object_bytes = sizeof convoy_run_object;

const unsigned char convoy_copies_object[] = {
#embed "convoy_copies.o"
};
const unsigned long convoy_copies_object_bytes = sizeof convoy_copies_object;
