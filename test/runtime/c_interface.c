// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of the C runtime that examples/c does not make, on the artifact of affine.c: c_interface
// PATH DIGEST. Prints each check that fails.

#include "convoy.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static void check(int condition, const char *what, const char *got) {
  if (condition)
    return;
  fprintf(stderr, "%s: got %s\n", what, got);
  ++failures;
}

static const float kInput[6] = {1, 2, 3, -4, 5, -6};
static const float kOutput[6] = {2.5f, 0, 17, 0, 0, 0};

static void *runOften(void *context) {
  ConvoyProgram *program = context;
  for (int i = 0; i < 200; ++i) {
    float y[6];
    ConvoyBuffer input = {(void *)(uintptr_t)kInput, sizeof kInput}, output = {y, sizeof y};
    if (convoy_program_run(program, &input, 1, &output, 1, NULL) || memcmp(y, kOutput, sizeof y))
      return program;
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  ConvoyError error = {""};
  ConvoyProgram *program = NULL, *second = NULL;
  ConvoyLoadOptions options = {.digest = argv[2]};
  check(convoy_c_version() == CONVOY_C_VERSION, "version", "another");
  check(!convoy_program_load(argv[1], &options, &program, &error), "load", error.message);
  check(!convoy_program_load(argv[1], NULL, &second, NULL), "load without options", "failure");
  check(!strcmp(convoy_program_digest(program), argv[2]), "digest", convoy_program_digest(program));

  char other[] = "sha256:0000000000000000000000000000000000000000000000000000000000000000";
  ConvoyProgram *third = program;
  options.digest = other;
  check(convoy_program_load(argv[1], &options, &third, &error) == CONVOY_BAD_ARTIFACT && !third,
        "load with another digest", "no failure");
  check(strstr(error.message, "does not match the given digest") != NULL, "message", error.message);

  size_t count;
  const ConvoyTensor *weights = convoy_program_weights(program, &count);
  check(count == 3 && !strcmp(weights[0].name, "w") && weights[0].dtype == CONVOY_FLOAT32 &&
            weights[0].rank == 1 && weights[0].shape[0] == 3 && weights[0].bytes == 12,
        "weights", "others");

  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, runOften, i % 2 ? program : second);
  for (int i = 0; i < 4; ++i) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    check(!wrong, "run in a thread", "another result");
  }
  // The threads of the first program's library remain while the second uses them.
  convoy_program_close(program);
  check(!runOften(second), "run after the first program is closed", "another result");

  // The output overwrites the input, and both are not aligned.
  char *memory = malloc(sizeof kInput + 1);
  memcpy(memory + 1, kInput, sizeof kInput);
  ConvoyBuffer both = {memory + 1, sizeof kInput};
  check(!convoy_program_run(second, &both, 1, &both, 1, &error), "run in place", error.message);
  check(!memcmp(memory + 1, kOutput, sizeof kOutput), "run in place", "another result");
  free(memory);

  check(convoy_program_run(second, &both, 0, &both, 1, &error) == CONVOY_BAD_ARGUMENT &&
            !strcmp(error.message, "expected 1 inputs, got 0"),
        "no inputs", error.message);
  ConvoyBuffer null = {NULL, sizeof kInput};
  check(convoy_program_run(second, &null, 1, &both, 1, &error) == CONVOY_BAD_ARGUMENT &&
            !strcmp(error.message, "input x: expected memory, got null"),
        "null input", error.message);
  convoy_program_close(second);
  convoy_program_close(NULL);
  return failures ? 1 : 0;
}
