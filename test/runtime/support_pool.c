/* Runs the thread pool under load, in a separate library like a native library: `support_pool
   LIBRARY LOAD ROUNDS`. Each load checks that every step of every loop ran once; sanitizers check
   the accesses. */

#define _GNU_SOURCE
#include "convoy_abi.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSteps = 20000, kCallers = 4, kLibraries = 3 };

static const char *path;
static int rounds;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition);                     \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static void *open_library(ConvoyParallelFor *loop) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  *(void **)loop = dlsym(library, "convoy_parallel_for");
  CHECK(*loop);
  return library;
}

/* Written by the steps of a loop: plain memory, so that a step run by two threads, or one that the
 * caller does not wait for, is a data race. */
typedef struct {
  ConvoyParallelFor loop;
  int64_t begin;
  uint8_t *done;
} Loop;

static void mark(void *environment, int64_t first, int64_t last) {
  Loop *loop = environment;
  for (int64_t i = first; i < last; ++i)
    ++loop->done[i - loop->begin];
}

static void run(ConvoyParallelFor loop, uint8_t *done, int64_t begin, int64_t count) {
  memset(done, 0, (size_t)count);
  Loop one = {loop, begin, done};
  loop(mark, &one, begin, begin + count);
  for (int64_t i = 0; i < count; ++i)
    CHECK(done[i] == 1);
}

/* Loops of many steps, of fewer steps than threads, of one, of none. */
static const int64_t sizes[] = {kSteps, 1000, 64, 7, 3, 2, 1, 0};
enum { kSizes = sizeof sizes / sizeof *sizes };

static void *call(void *argument, int times) {
  ConvoyParallelFor loop = *(ConvoyParallelFor *)argument;
  uint8_t *done = malloc(kSteps);
  CHECK(done);
  for (int i = 0; i < times; ++i)
    run(loop, done, i % 3 - 1, sizes[i % kSizes]);
  free(done);
  return NULL;
}

static void *call_often(void *argument) { return call(argument, rounds); }

static void *call_twice(void *argument) { return call(argument, 2); }

static void call_concurrently(void *(*caller)(void *), ConvoyParallelFor *loops, int count) {
  pthread_t threads[kCallers];
  for (int i = 0; i < kCallers; ++i)
    CHECK(pthread_create(&threads[i], NULL, caller, &loops[i % count]) == 0);
  for (int i = 0; i < kCallers; ++i)
    pthread_join(threads[i], NULL);
}

static void load_one(void) {
  ConvoyParallelFor loop;
  void *library = open_library(&loop);
  call_often(&loop);
  dlclose(library);
}

static void load_callers(void) {
  ConvoyParallelFor loop;
  void *library = open_library(&loop);
  call_concurrently(call_often, &loop, 1);
  dlclose(library);
}

/* Only the first loop starts a pool, so the pool is started many times. Few loops follow, because
 * ThreadSanitizer records few accesses. */
static void load_start(void) {
  for (int i = 0; i < rounds; ++i) {
    ConvoyParallelFor loop;
    void *library = open_library(&loop);
    call_concurrently(call_twice, &loop, 1);
    dlclose(library);
  }
}

static void mark_nested(void *environment, int64_t first, int64_t last) {
  Loop *outer = environment;
  for (int64_t i = first; i < last; ++i) {
    Loop inner = {outer->loop, 0, outer->done + i * 16};
    outer->loop(mark, &inner, 0, 16);
  }
}

static void load_nested(void) {
  ConvoyParallelFor loop;
  void *library = open_library(&loop);
  static uint8_t done[64 * 16];
  for (int i = 0; i < rounds; ++i) {
    memset(done, 0, sizeof done);
    Loop outer = {loop, 0, done};
    loop(mark_nested, &outer, 0, 64);
    for (size_t j = 0; j < sizeof done; ++j)
      CHECK(done[j] == 1);
  }
  dlclose(library);
}

/* Forked children run loops while the parent's threads run loops. */
static void load_fork(void) {
  ConvoyParallelFor loop;
  void *library = open_library(&loop);
  static uint8_t done[kSteps];
  run(loop, done, 0, kSteps);
  pthread_t beside;
  CHECK(pthread_create(&beside, NULL, call_often, &loop) == 0);
  for (int i = 0; i < rounds / 20 + 1; ++i) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(20); /* a child that hangs is killed, which the parent sees */
      for (int j = 0; j < 3; ++j)
        run(loop, done, 0, kSteps);
      _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  pthread_join(beside, NULL);
  dlclose(library);
}

static int threads_now(void) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  int count = 0;
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "Threads: %d", &count) == 1)
      break;
  fclose(file);
  return count;
}

/* The kernel counts a thread for a moment after it has been joined. */
static int threads_fall_to(int count) {
  for (int i = 0; i < 100 && threads_now() > count; ++i)
    usleep(10000);
  return threads_now() <= count;
}

static void *store_id(void *id) {
  *(long *)id = syscall(SYS_gettid);
  return NULL;
}

/* The number of threads after one has run: ThreadSanitizer starts its own thread with the first. */
static int start_a_thread(void) {
  pthread_t thread;
  long id = 0;
  char task[64];
  CHECK(pthread_create(&thread, NULL, store_id, &id) == 0);
  pthread_join(thread, NULL);
  snprintf(task, sizeof task, "/proc/self/task/%ld", id);
  for (int i = 0; i < 100 && access(task, F_OK) == 0; ++i)
    usleep(10000);
  return threads_now();
}

/* Loading, a few loops, unloading: threads end before their code is unloaded. */
static void load_unload(void) {
  int before = start_a_thread();
  static uint8_t done[kSteps];
  for (int i = 0; i < rounds / 4 + 1; ++i) {
    ConvoyParallelFor loop;
    void *library = open_library(&loop);
    for (int j = 0; j < i % 3; ++j) /* also without a loop */
      run(loop, done, 0, sizes[(i + j) % (kSizes - 2)]);
    CHECK(dlclose(library) == 0);
  }
  CHECK(threads_fall_to(before));
}

/* Opens copies of the library, like several artifacts in one process. */
static void open_copies(void **libraries, ConvoyParallelFor *loops) {
  const char *original = path;
  for (int i = 0; i < kLibraries; ++i) {
    char copy[] = "/tmp/convoy-pool-XXXXXX", command[4200];
    int file = mkstemp(copy);
    CHECK(file >= 0);
    close(file);
    snprintf(command, sizeof command, "cp '%s' '%s'", original, copy);
    CHECK(system(command) == 0);
    path = copy;
    libraries[i] = open_library(&loops[i]);
    unlink(copy);
    path = original;
  }
}

/* The loops of the libraries run concurrently, on separate threads. */
static void load_libraries(void) {
  void *libraries[kLibraries];
  ConvoyParallelFor loops[kLibraries];
  open_copies(libraries, loops);
  call_concurrently(call_often, loops, kLibraries);
  for (int i = 0; i < kLibraries; ++i)
    dlclose(libraries[i]);
}

/* The same on the threads of the first library, which is unloaded last. */
static void load_shared(void) {
  void *libraries[kLibraries];
  ConvoyParallelFor loops[kLibraries], first = NULL;
  open_copies(libraries, loops);
  int before = start_a_thread();
  for (int i = 0; i < kLibraries; ++i) {
    ConvoyParallelFor (*share)(ConvoyParallelFor);
    *(void **)&share = dlsym(libraries[i], "convoy_share_threads");
    CHECK(share);
    ConvoyParallelFor own = share(first);
    first = first ? first : own;
  }
  call_concurrently(call_often, loops, kLibraries);
  CHECK(threads_fall_to(before + atoi(getenv("CONVOY_NUM_THREADS")) - 1));
  for (int i = kLibraries; i > 0; --i)
    dlclose(libraries[i - 1]);
  CHECK(threads_fall_to(before));
}

static const struct {
  const char *name;
  void (*run)(void);
} loads[] = {{"one", load_one},
             {"callers", load_callers},
             {"start", load_start},
             {"nested", load_nested},
             {"fork", load_fork},
             {"unload", load_unload},
             {"libraries", load_libraries},
             {"shared", load_shared}};

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s LIBRARY LOAD ROUNDS\n", argv[0]);
    return 2;
  }
  path = argv[1];
  rounds = atoi(argv[3]);
  for (size_t i = 0; i < sizeof loads / sizeof *loads; ++i)
    if (strcmp(loads[i].name, argv[2]) == 0) {
      loads[i].run();
      return 0;
    }
  fprintf(stderr, "no load is called %s\n", argv[2]);
  return 2;
}
