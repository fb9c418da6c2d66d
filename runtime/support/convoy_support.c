// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* A thread pool for parallel loops. Threads start with the first loop. An idle thread spins for
   some microseconds, then sleeps.

   Each thread begins with its own share of the iterations, the same part of each loop: a loop often
   reads what the same part of an earlier one has written, which is in the cache of that core. A
   thread without work takes chunks of the others' shares.

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
  kParts = 3,    /* a chunk is this part of what is left of a share: large chunks have better cache
                    locality, and small ones at the end balance cores of different speed */
  kCacheLine = 64,
};

typedef void (*Body)(void *, int64_t, int64_t);

/* The iterations of one thread that no thread has taken yet. */
struct share {
  _Alignas(kCacheLine) _Atomic int64_t next;
  int64_t end;
};

static struct {
  _Atomic pid_t holder; /* process of the thread whose loop is running, 0 if none is */
  _Atomic int threads;  /* including the caller; 0 before the first loop */
  pid_t owner;          /* process that created the threads, which do not survive fork */
  uint32_t first_epoch; /* `epoch` when it created them */
  pthread_t workers[kMaxThreads];

  Body body;
  void *environment;
  struct share shares[kMaxThreads]; /* the caller's, then one for each worker */
  _Atomic uint32_t epoch;           /* counts loops; workers wait for it to change */
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

static void run_chunks(struct share *share) {
  int64_t first = atomic_load_explicit(&share->next, memory_order_relaxed);
  while (first < share->end) {
    int64_t last = first + (share->end - first + kParts - 1) / kParts;
    if (!atomic_compare_exchange_weak_explicit(&share->next, &first, last, memory_order_relaxed,
                                               memory_order_relaxed))
      continue; /* `first` is where the other thread's chunk ends */
    pool.body(pool.environment, first, last);
    first = atomic_load_explicit(&share->next, memory_order_relaxed);
  }
}

/* Runs the share of thread `self`, then what is left of the others'. */
static void run_shares(int self) {
  int threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
  for (int i = 0; i < threads; ++i)
    run_chunks(&pool.shares[(self + i) % threads]);
}

static void *work(void *argument) {
  int self = (int)(intptr_t)argument;
  uint32_t seen = pool.first_epoch;
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
      run_shares(self);
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
  pool.first_epoch = atomic_load(&pool.epoch);
  int wanted = wanted_threads(), threads = 1;
  while (threads < wanted &&
         pthread_create(&pool.workers[threads - 1], NULL, work, (void *)(intptr_t)threads) == 0)
    ++threads;
  atomic_store_explicit(&pool.threads, threads, memory_order_release);
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

/* Called by the holder. */
static void run_on_all(Body body, void *environment, int64_t begin, int64_t end) {
  int64_t threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
  pool.body = body;
  pool.environment = environment;
  for (int64_t i = 0; i < threads; ++i) {
    int64_t next = begin + (end - begin) * i / threads;
    atomic_store_explicit(&pool.shares[i].next, next, memory_order_relaxed);
    pool.shares[i].end = begin + (end - begin) * (i + 1) / threads;
  }
  atomic_store(&pool.open, 1);
  atomic_fetch_add(&pool.epoch, 1);
  if (atomic_load(&pool.sleepers) > 0)
    futex_wake_all(&pool.epoch);
  run_shares(0);
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
    int64_t pieces = (int64_t)atomic_load_explicit(&pool.threads, memory_order_relaxed) * kParts;
    pieces = pieces ? pieces : kParts;
    int64_t last = begin + (end - begin + pieces - 1) / pieces;
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
