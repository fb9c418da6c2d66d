/* runtime/support, compiled, as bytes: it is linked into every native library. */
const unsigned char convoy_support_object[] = {
#embed "convoy_support.o"
};
const unsigned long convoy_support_object_bytes = sizeof convoy_support_object;
