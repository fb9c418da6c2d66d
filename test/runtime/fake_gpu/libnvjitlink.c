/// An nvJitLink whose machine code the driver of libcuda.c loads. It supports PTX that begins with
/// a comment and has the entry of a kernel, and counts what it compiles.
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Linker {
  char *code, architecture[32];
} Linker;

static _Atomic long compiled, linkers, most_linkers;
static char last[32];

long fake_compiled(void) { return compiled; }
/// The number of objects that are not destroyed.
long fake_alive(void) { return linkers; }
/// The largest number of objects at a time since the last call.
long fake_most(void) { return atomic_exchange(&most_linkers, 0); }
/// The last architecture.
const char *fake_architecture(void) { return last; }

int nvJitLinkCreate(Linker **linker, uint32_t count, const char **options) {
  static const char arch[] = "-arch=";
  if (count != 1 || strncmp(options[0], arch, strlen(arch)))
    return 1;
  *linker = calloc(1, sizeof(Linker));
  snprintf((*linker)->architecture, sizeof last, "%s", options[0] + strlen(arch));
  long now = ++linkers, most = most_linkers;
  while (now > most && !atomic_compare_exchange_weak(&most_linkers, &most, now))
    ;
  return 0;
}
int nvJitLinkDestroy(Linker **linker) {
  free((*linker)->code), free(*linker), --linkers;
  return 0;
}
int nvJitLinkAddData(Linker *linker, int type, const char *data, size_t size, const char *name) {
  static const char head[] = "// code of nvJitLink\n";
  if (type != 2 || data[size - 1] || !strstr(name, ".ptx"))
    return 3;
  if (strstr(data, "takes a while"))
    usleep(50000);
  if (strncmp(data, "//", 2))
    return 4;
  linker->code = malloc(sizeof head + size);
  strcat(strcpy(linker->code, head), data);
  return 0;
}
int nvJitLinkComplete(Linker *linker) {
  memcpy(last, linker->architecture, sizeof last);
  return ++compiled, 0;
}
int nvJitLinkGetLinkedCubinSize(Linker *linker, size_t *size) {
  *size = strlen(linker->code);
  return 0;
}
int nvJitLinkGetLinkedCubin(Linker *linker, void *code) {
  memcpy(code, linker->code, strlen(linker->code));
  return 0;
}
