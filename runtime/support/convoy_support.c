/* A pool of threads for parallel loops. Threads start with the first loop, look for work for some microseconds, then sleep. */

#define _GNU_SOURCE
#include "convoy_support.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  kMaxThreads = 256,
  kSpins = 2000,         /* rounds of looking for work before sleeping, about 50 us */
  kChunksPerThread = 4,  /* smaller chunks even out cores of different speed, larger ones keep data in their caches */
};

typedef void (*Body)(void *, int64_t, int64_t);

static struct {
  pthread_mutex_t lock; /* held by the caller whose loop is running */
  pid_t owner;          /* process that made the threads: they do not survive fork */
  int threads;          /* with the caller; 0 before the first loop */
  pthread_t workers[kMaxThreads];

  Body body;
  void *environment;
  int64_t end, chunk;
  _Atomic int64_t next;
  _Atomic uint32_t epoch;    /* counts loops; workers wait for it to change */
  _Atomic int32_t sleepers;
  _Atomic int32_t active;    /* workers that may be reading the fields above */
  _Atomic int open;          /* whether the fields above describe a loop */
  _Atomic int stop;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void pause_thread(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static void futex_wait(_Atomic uint32_t *word, uint32_t expected) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake_all(_Atomic uint32_t *word) { syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0); }

static void run_chunks(void) {
  for (;;) {
    int64_t first = atomic_fetch_add_explicit(&pool.next, pool.chunk, memory_order_relaxed);
    if (first >= pool.end)
      return;
    int64_t last = first + pool.chunk;
    pool.body(pool.environment, first, last < pool.end ? last : pool.end);
  }
}

static void *work(void *argument) {
  uint32_t seen = (uint32_t)(uintptr_t)argument;
  for (;;) {
    int spins = 0;
    while (atomic_load_explicit(&pool.epoch, memory_order_acquire) == seen) {
      if (++spins < kSpins) {
        pause_thread();
        continue;
      }
      atomic_fetch_add(&pool.sleepers, 1);
      futex_wait(&pool.epoch, seen);
      atomic_fetch_sub(&pool.sleepers, 1);
    }
    seen = atomic_load(&pool.epoch);
    if (atomic_load(&pool.stop))
      return NULL;
    /* A worker that comes too late finds the loop closed; the caller waits for those that came in time only. */
    atomic_fetch_add(&pool.active, 1);
    if (atomic_load(&pool.open))
      run_chunks();
    atomic_fetch_sub(&pool.active, 1);
  }
}

static int wanted_threads(void) {
  const char *text = getenv("CONVOY_NUM_THREADS");
  if (text) {
    char *rest;
    long number = strtol(text, &rest, 10);
    if (rest != text && *rest == '\0' && number >= 1)
      return number < kMaxThreads ? (int)number : kMaxThreads;
  }
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 0)
    return CPU_COUNT(&cores) < kMaxThreads ? CPU_COUNT(&cores) : kMaxThreads;
  return 1;
}

/* Called with the lock held. A thread that cannot be made only makes the pool smaller. */
static void start(void) {
  pool.owner = getpid();
  atomic_store(&pool.sleepers, 0);
  atomic_store(&pool.active, 0);
  atomic_store(&pool.open, 0);
  atomic_store(&pool.stop, 0);
  int wanted = wanted_threads(), made = 0;
  uintptr_t seen = atomic_load(&pool.epoch);
  while (made + 1 < wanted && pthread_create(&pool.workers[made], NULL, work, (void *)seen) == 0)
    ++made;
  pool.threads = made + 1;
}

/* Workers run code of this library, so they end before it is unloaded. */
__attribute__((destructor)) static void stop(void) {
  if (pool.threads <= 1 || pool.owner != getpid())
    return;
  atomic_store(&pool.stop, 1);
  atomic_fetch_add(&pool.epoch, 1);
  futex_wake_all(&pool.epoch);
  for (int i = 0; i + 1 < pool.threads; ++i)
    pthread_join(pool.workers[i], NULL);
  pool.threads = 0;
}

void convoy_parallel_for(Body body, void *environment, int64_t begin, int64_t end) {
  int64_t count = end - begin;
  if (count <= 0)
    return;
  if (count == 1) {
    body(environment, begin, end);
    return;
  }
  if (pool.threads != 0 && pool.owner != getpid()) { /* a child of fork: no worker and no other user of the lock came along */
    pthread_mutex_init(&pool.lock, NULL);
    pool.threads = 0;
  }
  if (pthread_mutex_trylock(&pool.lock) != 0) {
    body(environment, begin, end);
    return;
  }
  if (pool.threads == 0)
    start();
  if (pool.threads == 1) {
    pthread_mutex_unlock(&pool.lock);
    body(environment, begin, end);
    return;
  }

  int64_t chunks = (int64_t)pool.threads * kChunksPerThread;
  pool.body = body;
  pool.environment = environment;
  pool.end = end;
  pool.chunk = count < chunks ? 1 : (count + chunks - 1) / chunks;
  atomic_store_explicit(&pool.next, begin, memory_order_relaxed);
  atomic_store(&pool.open, 1);
  atomic_fetch_add(&pool.epoch, 1);
  if (atomic_load(&pool.sleepers) > 0)
    futex_wake_all(&pool.epoch);
  run_chunks();
  atomic_store(&pool.open, 0);
  for (int spins = 0; atomic_load(&pool.active) != 0;) {
    if (++spins < kSpins)
      pause_thread();
    else
      sched_yield(); /* the worker may wait for this very core */
  }
  pthread_mutex_unlock(&pool.lock);
}
