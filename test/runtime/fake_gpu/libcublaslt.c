// A cuBLASLt that computes nothing, for the tests of the executor: a run copies 16 bytes from the
// left factor to the result with the driver of libcuda.c, as the plans of libcudnn.c do. It counts
// existing objects, and refuses what a real cuBLASLt would read out of bounds or misunderstand.
// Heuristics offer eight algorithms, or as many as set by a test. They differ:
//   60 copies once, 61 five times, 62 the wrong bytes, 63 cannot run, 64 splits sums in place,
//   others copy twice. Workspaces have 256 bytes for each number above 60.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum { INPLACE = 1, COMPUTE_TYPE = 2, FIRST = 60 };

int cuMemcpyDtoDAsync(uintptr_t to, uintptr_t from, size_t size, void *stream);
int cuMemsetD8Async(uintptr_t to, unsigned char value, size_t size, void *stream);

typedef struct Desc {
  int compute, scale;
  uint32_t epilogue;
  uintptr_t bias;
} Desc;

typedef struct Layout {
  int type, batch;
  uint64_t rows, columns;
  int64_t pitch, offset;
} Layout;

typedef struct Preference {
  uint64_t workspace;
  uint32_t reductions, alignments[4];
} Preference;

typedef struct Algorithm {
  uint32_t magic, number, split, reduction;
  uint32_t unused[12];
} Algorithm;

typedef struct Result {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} Result;

static _Atomic int alive, handles, queries, runs;
static int offered = 8, failing;
static size_t version = 130100;
static uint64_t most;
static char last[256];

/// Queried and set by tests. `fake_last` is the last product: compute type, epilogue, and for each
/// matrix type:rows x columns:pitch:batch:offset; then whether there is a residual.
int fake_alive(void) { return alive; }
int fake_handles(void) { return handles; }
int fake_queries(void) { return queries; }
int fake_runs(void) { return runs; }
const char *fake_last(void) { return last; }
uint64_t fake_most_workspace(void) { return most; }
void fake_offer(int algorithms) { offered = algorithms; }
void fake_fail(int status) { failing = status; }
void fake_version(int number) { version = number; }

/// As in libcudnn.c: a forked child may not even destroy its parent's objects.
static pid_t home;
static void check_home(void) {
  if (home && home != getpid()) {
    fprintf(stderr, "cuBLASLt was called in a child of fork\n");
    _exit(99);
  }
}

size_t cublasLtGetVersion(void) { return version; }
const char *cublasLtGetStatusName(int status) {
  return status == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_INVALID_VALUE";
}
const char *cublasLtGetStatusString(int status) { return status ? "as told" : ""; }

int cublasLtCreate(void **handle) { return home = getpid(), *handle = malloc(1), ++handles, OK; }
int cublasLtDestroy(void *handle) { return check_home(), free(handle), --handles, OK; }

static int destroy(void *object) { return check_home(), free(object), --alive, OK; }

int cublasLtMatmulDescCreate(Desc **desc, int compute, int scale) {
  *desc = calloc(1, sizeof(Desc));
  **desc = (Desc){compute, scale, 1, 0};
  return ++alive, OK;
}
int cublasLtMatmulDescDestroy(Desc *desc) { return destroy(desc); }
int cublasLtMatmulDescSetAttribute(Desc *desc, int name, const void *value, size_t size) {
  if (name == 7 && size == 4)
    return desc->epilogue = *(const uint32_t *)value, OK;
  if (name == 8 && size == 8)
    return desc->bias = *(const uintptr_t *)value, OK;
  return INVALID_VALUE;
}

int cublasLtMatrixLayoutCreate(Layout **layout, int type, uint64_t rows, uint64_t columns,
                               int64_t pitch) {
  *layout = calloc(1, sizeof(Layout));
  **layout = (Layout){type, 1, rows, columns, pitch, 0};
  return ++alive, OK;
}
int cublasLtMatrixLayoutDestroy(Layout *layout) { return destroy(layout); }
int cublasLtMatrixLayoutSetAttribute(Layout *layout, int name, const void *value, size_t size) {
  if (name == 5 && size == 4)
    return layout->batch = *(const int *)value, OK;
  if (name == 6 && size == 8)
    return layout->offset = *(const int64_t *)value, OK;
  return INVALID_VALUE;
}

int cublasLtMatmulPreferenceCreate(Preference **preference) {
  *preference = calloc(1, sizeof(Preference));
  return ++alive, OK;
}
int cublasLtMatmulPreferenceDestroy(Preference *preference) { return destroy(preference); }
int cublasLtMatmulPreferenceSetAttribute(Preference *preference, int name, const void *value,
                                         size_t size) {
  if (name == 1 && size == 8)
    return preference->workspace = *(const uint64_t *)value, OK;
  if (name == 3 && size == 4)
    return preference->reductions = *(const uint32_t *)value, OK;
  if (name >= 5 && name <= 8 && size == 4)
    return preference->alignments[name - 5] = *(const uint32_t *)value, OK;
  return INVALID_VALUE;
}

/// Whether the layouts are those of a product: D and C have A's rows and B's columns.
static int fits(const Desc *desc, const Layout *a, const Layout *b, const Layout *c,
                const Layout *d) {
  return a->columns == b->rows && d->rows == a->rows && d->columns == b->columns &&
         c->rows == d->rows && c->columns == d->columns && c->type == d->type &&
         a->type == b->type && a->batch == d->batch && b->batch == d->batch &&
         (!(desc->epilogue & 4) || desc->bias % 16 == 0);
}

static size_t workspace_of(const Algorithm *algorithm) { return (algorithm->number - FIRST) * 256; }

int cublasLtMatmulAlgoGetHeuristic(void *handle, Desc *desc, Layout *a, Layout *b, Layout *c,
                                   Layout *d, Preference *preference, int count, Result *results,
                                   int *found) {
  ++queries;
  if (failing)
    return failing;
  for (int i = 0; i < 4; ++i)
    if (preference->alignments[i] != 16)
      return INVALID_VALUE;
  if (!handle || !fits(desc, a, b, c, d) || (desc->epilogue & 4 && !desc->bias))
    return INVALID_VALUE;
  most = preference->workspace;
  *found = 0;
  for (int i = 0; i < offered && *found < count; ++i) {
    Algorithm algorithm = {0xa160, FIRST + i, i == 4 ? 2 : 1, i == 4 ? INPLACE : 0, {0}};
    // Real heuristics leave out what the preference forbids.
    if ((algorithm.reduction & ~preference->reductions) || workspace_of(&algorithm) > most)
      continue;
    results[(*found)++] = (Result){algorithm, workspace_of(&algorithm), OK, 1.0f, {0}};
  }
  return OK;
}

int cublasLtMatmulAlgoCheck(void *handle, Desc *desc, Layout *a, Layout *b, Layout *c, Layout *d,
                            const Algorithm *algorithm, Result *result) {
  if (!handle || !fits(desc, a, b, c, d) || algorithm->magic != 0xa160)
    return INVALID_VALUE;
  *result = (Result){*algorithm, workspace_of(algorithm), OK, 1.0f, {0}};
  return OK;
}

int cublasLtMatmulAlgoConfigGetAttribute(const Algorithm *algorithm, int name, void *value,
                                         size_t size, size_t *written) {
  const uint32_t values[] = {
      algorithm->number, 20, algorithm->split, algorithm->reduction, 0, 0, 36};
  // An old version: the last two attributes do not exist.
  if (name > 6 || size != 4)
    return INVALID_VALUE;
  return memcpy(value, &values[name], 4), *written = 4, OK;
}

static void note(const Desc *desc, const Layout *const *layouts, int residual) {
  int at = snprintf(last, sizeof last, "%d %u", desc->compute, desc->epilogue);
  for (int i = 0; i < 3; ++i)
    at += snprintf(last + at, sizeof last - at, " %d:%ldx%ld:%ld:%d:%ld", layouts[i]->type,
                   layouts[i]->rows, layouts[i]->columns, layouts[i]->pitch, layouts[i]->batch,
                   layouts[i]->offset);
  snprintf(last + at, sizeof last - at, " %d", residual);
}

int cublasLtMatmul(void *handle, Desc *desc, const float *alpha, uintptr_t a, Layout *a_layout,
                   uintptr_t b, Layout *b_layout, const float *beta, uintptr_t c, Layout *c_layout,
                   uintptr_t d, Layout *d_layout, const Algorithm *algorithm, uintptr_t workspace,
                   size_t size, void *stream) {
  uint32_t number = algorithm->number;
  int residual = *beta != 0;
  if (!handle || *alpha != 1 || (residual && *beta != 1) || (!residual && c != d) ||
      !fits(desc, a_layout, b_layout, c_layout, d_layout) || size != workspace_of(algorithm))
    return INVALID_VALUE;
  if (number == FIRST + 3)
    return NOT_SUPPORTED;
  ++runs;
  note(desc, (const Layout *[]){a_layout, b_layout, d_layout}, residual);
  // The workspace must be device memory, and so must the bias and the residual.
  if ((size && cuMemsetD8Async(workspace, 0, size, stream)) ||
      (residual && cuMemcpyDtoDAsync(d, c, 16, stream)) ||
      (desc->epilogue & 4 && cuMemcpyDtoDAsync(d, desc->bias, 16, stream)))
    return INVALID_VALUE;
  int copies = number == FIRST ? 1 : number == FIRST + 1 ? 5 : 2;
  for (int i = 0; i < copies; ++i)
    if (cuMemcpyDtoDAsync(d, number == FIRST + 2 ? a : b, 16, stream))
      return INVALID_VALUE;
  return OK;
}
