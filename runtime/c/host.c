// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether this machine can run native code: the check of convoy_runtime.artifact.check_host. A
// test compares the two tables with those of that file.

#define _GNU_SOURCE
#include "common.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/// LLVM's feature names and those of /proc/cpuinfo, where they differ by more than punctuation.
static const char *const kCpuinfo[][2] = {
    {"64bit", "lm"},         {"bmi", "bmi1"},         {"crc32", "sse4_2"},
    {"lzcnt", "abm"},        {"pclmul", "pclmulqdq"}, {"prfchw", "3dnowprefetch"},
    {"rdrnd", "rdrand"},     {"sahf", "lahf_lm"},     {"sha", "sha_ni"},
    {"shstk", "user_shstk"}, {"sse3", "pni"},         {"x87", "fpu"},
};

/// Features that Linux does not list, and that models do not depend on.
static const char *const kNotShown[] = {
    "avx10.1",   "avx10.1-256", "avx10.1-512", "hreset", "kl",      "lwp",    "pconfig",
    "prefetchi", "ptwrite",     "sgx",         "uintr",  "usermsr", "widekl",
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/// Copies a feature's name without punctuation: avx512_vnni equals avx512vnni.
static void plain(const char *name, size_t length, char out[64]) {
  size_t used = 0;
  for (size_t i = 0; i < length && used < 63; ++i)
    if (isalnum((unsigned char)name[i]))
      out[used++] = name[i];
  out[used] = 0;
}

static bool isListed(const char *flags, const char *feature) {
  char wanted[64], got[64];
  plain(feature, strlen(feature), wanted);
  for (const char *at = flags; *at;) {
    at += strspn(at, " \t\n");
    size_t length = strcspn(at, " \t\n");
    plain(at, length, got);
    if (length && !strcmp(wanted, got))
      return true;
    at += length;
  }
  return false;
}

/// The flags of the first CPU for `free`, or null.
static char *readFlags(void) {
  FILE *file = fopen("/proc/cpuinfo", "re");
  if (!file)
    return NULL;
  char *line = NULL, *flags = NULL;
  size_t size = 0;
  while (!flags && getline(&line, &size, file) > 0)
    if (!strncmp(line, "flags", 5) || !strncmp(line, "Features", 8))
      flags = strchr(line, ':') ? strdup(strchr(line, ':') + 1) : NULL;
  free(line);
  fclose(file);
  return flags;
}

bool hostRuns(const char *triple, const char *cpu, const char *const *features, size_t count,
              char *problem, size_t bytes) {
  struct utsname machine;
  if (uname(&machine)) {
    snprintf(problem, bytes, "the name of this machine is not available");
    return false;
  }
  size_t length = strlen(machine.machine);
  if (strncmp(triple, machine.machine, length) || triple[length] != '-' ||
      !strstr(triple, "linux")) {
    snprintf(problem, bytes, "expected a machine %s, got %s %s", triple, machine.machine,
             machine.sysname);
    return false;
  }
  char *flags = readFlags();
  if (!flags) {
    snprintf(problem, bytes, "cannot read this machine's CPU features from /proc/cpuinfo");
    return false;
  }
  bool found = true;
  for (size_t i = 0; found && i < count; ++i) {
    const char *name = features[i];
    bool shown = true;
    for (size_t k = 0; k < COUNT(kNotShown); ++k)
      shown = shown && strcmp(kNotShown[k], name) != 0;
    for (size_t k = 0; k < COUNT(kCpuinfo); ++k)
      if (!strcmp(kCpuinfo[k][0], features[i]))
        name = kCpuinfo[k][1];
    found = !shown || isListed(flags, name);
    if (!found)
      snprintf(problem, bytes, "expected a CPU like %s with %s, got one without", cpu, features[i]);
  }
  free(flags);
  return found;
}
