// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* A thread pool for parallel loops. Threads start with the first loop. An idle thread spins for
   some microseconds, then sleeps.

   Memory ordering, in terms of C11 atomics:
   * `holder` is a try-lock. Only the thread that holds it writes the non-atomic fields; releasing
   it publishes them to the next holder.
   * The holder writes the non-atomic fields of a loop before it sets `open`; a worker reads them
   after it sees `open` set.
   * A worker increments `active` before it reads `open`, and the holder clears `open` before it
   reads `active`, all sequentially consistent. So either the worker sees the loop closed, or the
   holder sees the worker and waits: no thread writes the fields, and no loop returns to the owner
   of `environment`, while a worker may use them.
   * A worker increments `sleepers` before the futex call compares `epoch`, and the holder changes
   `epoch` before it reads `sleepers`. So no wake-up is lost. */

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
  kSpins = 2000, /* polls for work before sleeping, about 50 us */
  kShares = 3, /* a chunk is this part of a thread's share of what is left: large chunks have better
                  cache locality, and small ones at the end balance cores of different speed */
};

typedef void (*Body)(void *, int64_t, int64_t);

static struct {
  _Atomic pid_t holder; /* process of the thread whose loop is running, 0 if none is */
  _Atomic int threads;  /* including the caller; 0 before the first loop */
  pid_t owner;          /* process that created the threads, which do not survive fork */
  pthread_t workers[kMaxThreads];

  Body body;
  void *environment;
  int64_t end, pieces;
  _Atomic int64_t next;
  _Atomic uint32_t epoch; /* counts loops; workers wait for it to change */
  _Atomic int32_t sleepers;
  _Atomic int32_t active; /* workers that may be reading the fields above */
  _Atomic int open;       /* whether the fields above describe a loop */
  _Atomic int stop;
} pool;

/* Runs the loops of this library. */
static void run_here(Body body, void *environment, int64_t begin, int64_t end);
static _Atomic(ConvoyParallelFor) loop = run_here;

/* Tries to become the holder. The lock of another process is stale: fork does not copy its holder's
 * thread. */
static int try_acquire(pid_t self) {
  pid_t holder = 0;
  while (!atomic_compare_exchange_weak(&pool.holder, &holder, self))
    if (holder == self)
      return 0;
  return 1;
}

static void release(void) { atomic_store_explicit(&pool.holder, 0, memory_order_release); }

static void pause_thread(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static void futex_wait(_Atomic uint32_t *word, uint32_t expected) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake_all(_Atomic uint32_t *word) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

static void run_chunks(void) {
  int64_t first = atomic_load_explicit(&pool.next, memory_order_relaxed);
  while (first < pool.end) {
    int64_t last = first + (pool.end - first + pool.pieces - 1) / pool.pieces;
    if (!atomic_compare_exchange_weak_explicit(&pool.next, &first, last, memory_order_relaxed,
                                               memory_order_relaxed))
      continue; /* `first` is where the other thread's chunk ends */
    pool.body(pool.environment, first, last);
    first = atomic_load_explicit(&pool.next, memory_order_relaxed);
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
    /* A late worker finds the loop closed; the caller waits only for workers that entered it. */
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

/* Called by the holder. If creating a thread fails, the pool is smaller. */
static void start(pid_t self) {
  pool.owner = self;
  atomic_store(&pool.sleepers, 0);
  atomic_store(&pool.active, 0);
  atomic_store(&pool.open, 0);
  atomic_store(&pool.stop, 0);
  int wanted = wanted_threads(), made = 0;
  uintptr_t seen = atomic_load(&pool.epoch);
  while (made + 1 < wanted && pthread_create(&pool.workers[made], NULL, work, (void *)seen) == 0)
    ++made;
  atomic_store_explicit(&pool.threads, made + 1, memory_order_release);
}

/* Workers run code of this library, so they end before it is unloaded. A thread may still run a
   loop when the process exits: workers finish their chunks, and that thread runs all later chunks
   itself, because `threads` is not reset. */
__attribute__((destructor)) static void stop(void) {
  int threads = atomic_load_explicit(&pool.threads, memory_order_acquire);
  if (threads <= 1 || pool.owner != getpid())
    return;
  atomic_store(&pool.stop, 1);
  atomic_fetch_add(&pool.epoch, 1);
  futex_wake_all(&pool.epoch);
  for (int i = 0; i + 1 < threads; ++i)
    pthread_join(pool.workers[i], NULL);
}

static int64_t pieces(void) {
  int threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
  return (int64_t)(threads ? threads : 1) * kShares;
}

/* Called by the holder. */
static void run_on_all(Body body, void *environment, int64_t begin, int64_t end) {
  pool.body = body;
  pool.environment = environment;
  pool.end = end;
  pool.pieces = pieces();
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
      sched_yield(); /* the worker may be waiting for this core */
  }
}

static void run_here(Body body, void *environment, int64_t begin, int64_t end) {
  while (begin < end) {
    pid_t self = getpid();
    if (end - begin > 1 && try_acquire(self)) {
      if (pool.owner != self)
        start(self);
      int single = atomic_load_explicit(&pool.threads, memory_order_relaxed) == 1;
      if (!single)
        run_on_all(body, environment, begin, end);
      release();
      if (single)
        body(environment, begin, end);
      return;
    }
    /* Another loop is running: run one chunk on this thread, then try again. */
    int64_t last = begin + (end - begin + pieces() - 1) / pieces();
    body(environment, begin, last);
    begin = last;
  }
}

void convoy_parallel_for(Body body, void *environment, int64_t begin, int64_t end) {
  atomic_load_explicit(&loop, memory_order_acquire)(body, environment, begin, end);
}

__attribute__((visibility("default"))) ConvoyParallelFor
convoy_share_threads(ConvoyParallelFor other) {
  if (other)
    atomic_store_explicit(&loop, other, memory_order_release);
  return run_here;
}
