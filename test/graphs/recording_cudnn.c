// Stands in for libcudnn.so.9 in a separate process. It records every call that creates, fills or
// finalizes a descriptor, one per line, and forwards it to the real library, with which it is
// linked. All other symbols are the real library's.
//
//   create ID KIND STATUS
//   set ID ATTRIBUTE TYPE COUNT STATUS DATA   hexadecimal, or for descriptors their ids with commas
//   between finalize ID STATUS
//
// Ids restart from 0 after recorder_begin(PATH), which also sets the file for the following lines.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLimit = 4096, kHandle = 0, kDescriptor = 15 };

static FILE *out;
static void *known[kLimit];
static int count;

static int64_t elementSize(int type) {
  switch (type) {
  case 0: // a handle, a 64-bit integer, a double, a pointer, a descriptor
  case 3:
  case 5:
  case 6:
  case kDescriptor:
    return 8;
  case 2: // a boolean, a character
  case 24:
    return 1;
  case 26: // a fraction
    return 16;
  default:
    return 4;
  }
}

/// An address may be reused; returns the latest descriptor at this address.
static int idOf(void *descriptor) {
  for (int id = count - 1; id >= 0; --id)
    if (known[id] == descriptor)
      return id;
  return -1;
}

static void *real(const char *name) {
  void *address = dlsym(RTLD_NEXT, name);
  if (!address) {
    fprintf(stderr, "the real cuDNN has no %s: %s\n", name, dlerror());
    abort();
  }
  return address;
}

void recorder_begin(const char *path) {
  if (out)
    fclose(out);
  out = fopen(path, "w");
  if (!out)
    abort();
  count = 0;
}

void recorder_end(void) {
  if (out)
    fclose(out);
  out = NULL;
}

int cudnnBackendCreateDescriptor(int kind, void **result) {
  int (*create)(int, void **) = real("cudnnBackendCreateDescriptor");
  int status = create(kind, result);
  if (out) {
    if (count == kLimit)
      abort();
    known[count] = status ? NULL : *result;
    fprintf(out, "create %d %d %d\n", count++, kind, status);
  }
  return status;
}

int cudnnBackendSetAttribute(void *descriptor, int attribute, int type, int64_t elements,
                             const void *data) {
  int (*set)(void *, int, int, int64_t, const void *) = real("cudnnBackendSetAttribute");
  int status = set(descriptor, attribute, type, elements, data);
  if (out) {
    fprintf(out, "set %d %d %d %lld %d ", idOf(descriptor), attribute, type, (long long)elements,
            status);
    if (type == kDescriptor)
      for (int64_t i = 0; i < elements; ++i)
        fprintf(out, "%s%d", i ? "," : "", idOf(((void *const *)data)[i]));
    else if (type != kHandle)
      for (int64_t i = 0; i < elements * elementSize(type); ++i)
        fprintf(out, "%02x", ((const unsigned char *)data)[i]);
    fprintf(out, "\n");
  }
  return status;
}

int cudnnBackendFinalize(void *descriptor) {
  int (*finalize)(void *) = real("cudnnBackendFinalize");
  int status = finalize(descriptor);
  if (out)
    fprintf(out, "finalize %d %d\n", idOf(descriptor), status);
  return status;
}
