// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs an artifact of target `cpu` on raw files:
//
//   cc -O2 -I runtime/c examples/c/run.c runtime/c/*.c -lpthread -ldl -o run
//   ./run model.convoy                       lists inputs and outputs
//   ./run model.convoy x.bin - y.bin         reads each input, writes each output
//   ./run -w model.safetensors model.convoy x.bin - y.bin
//
// A file has the elements of one tensor in their order in memory, without a header. That is
// row-major (numpy's `tofile`) unless the list shows strides.

#include "convoy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Whether the elements are row-major.
static int isPacked(const ConvoyTensor *tensor) {
  int64_t elements = 1;
  for (size_t dim = tensor->rank; dim-- > 0; elements *= tensor->shape[dim])
    if (tensor->shape[dim] != 1 && tensor->strides[dim] != elements)
      return 0;
  return 1;
}

static void print(const char *what, const ConvoyTensor *tensors, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    printf("%s %s: %s[", what, tensors[i].name, tensors[i].dtype_name);
    for (size_t dim = 0; dim < tensors[i].rank; ++dim)
      printf("%s%lld", dim ? ", " : "", (long long)tensors[i].shape[dim]);
    printf("]");
    if (!isPacked(&tensors[i])) {
      printf(" strides [");
      for (size_t dim = 0; dim < tensors[i].rank; ++dim)
        printf("%s%lld", dim ? ", " : "", (long long)tensors[i].strides[dim]);
      printf("]");
    }
    printf("\n");
  }
}

/// Reads a whole file, with one byte more to notice a file that is too long.
static ConvoyBuffer readInput(const char *path, size_t expected) {
  ConvoyBuffer buffer = {malloc(expected + 1), 0};
  FILE *file = fopen(path, "rb");
  if (!file || !buffer.data) {
    perror(path);
    exit(1);
  }
  buffer.bytes = fread(buffer.data, 1, expected + 1, file);
  fclose(file);
  return buffer;
}

static void writeOutput(const char *path, ConvoyBuffer buffer) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(buffer.data, 1, buffer.bytes, file) != buffer.bytes || fclose(file)) {
    perror(path);
    exit(1);
  }
}

int main(int argc, char **argv) {
  ConvoyLoadOptions options = {0};
  if (argc > 3 && !strcmp(argv[1], "-w")) {
    options.weights = argv[2];
    argv += 2;
    argc -= 2;
  }
  if (argc < 2) {
    fprintf(stderr, "usage: run [-w WEIGHTS] MODEL.convoy [INPUT... - OUTPUT...]\n");
    return 2;
  }

  ConvoyError error;
  ConvoyProgram *program;
  ConvoyStatus status = convoy_program_load(argv[1], &options, &program, &error);
  if (status) {
    fprintf(stderr, "run: %s\n", error.message);
    return (int)status;
  }
  size_t input_count, output_count;
  const ConvoyTensor *inputs = convoy_program_inputs(program, &input_count);
  const ConvoyTensor *outputs = convoy_program_outputs(program, &output_count);
  if (argc == 2) {
    print("input", inputs, input_count);
    print("output", outputs, output_count);
    convoy_program_close(program);
    return 0;
  }
  if ((size_t)argc != input_count + output_count + 3 || strcmp(argv[input_count + 2], "-") != 0) {
    fprintf(stderr, "run: expected %zu inputs, - and %zu outputs\n", input_count, output_count);
    return 2;
  }

  ConvoyBuffer *sources = calloc(input_count + 1, sizeof *sources);
  ConvoyBuffer *results = calloc(output_count + 1, sizeof *results);
  if (!sources || !results)
    return 1;
  for (size_t i = 0; i < input_count; ++i)
    sources[i] = readInput(argv[2 + i], inputs[i].bytes);
  for (size_t i = 0; i < output_count; ++i)
    results[i] = (ConvoyBuffer){malloc(outputs[i].bytes + 1), outputs[i].bytes};
  status = convoy_program_run(program, sources, input_count, results, output_count, &error);
  if (status)
    fprintf(stderr, "run: %s\n", error.message);
  for (size_t i = 0; !status && i < output_count; ++i)
    writeOutput(argv[3 + input_count + i], results[i]);

  for (size_t i = 0; i < input_count; ++i)
    free(sources[i].data);
  for (size_t i = 0; i < output_count; ++i)
    free(results[i].data);
  free(sources);
  free(results);
  convoy_program_close(program);
  return (int)status;
}
