/* A pool of threads for parallel loops. Threads start with the first loop, look for work for some
   microseconds, then sleep.

   What orders what, in C11 atomics:
   * `holder` is a lock that nobody waits for. Whoever has it writes the plain fields; giving it up
   releases them to the next one.
   * The holder writes the plain fields of a loop before it sets `open`; a worker reads them after
   it saw `open` set.
   * A worker counts itself in `active` before it looks at `open`, and the holder clears `open`
   before it looks at `active`, all in the one order of sequentially consistent operations. So a
   worker either sees the loop closed, or the holder sees the worker and waits: nothing writes the
   fields, or returns to the owner of `environment`, while a worker may use them.
   * A worker that goes to sleep counts itself in `sleepers` before the kernel compares `epoch`, and
   the holder changes `epoch` before it looks at `sleepers`. So no wake-up is lost. */

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
  kSpins = 2000,        /* rounds of looking for work before sleeping, about 50 us */
  kChunksPerThread = 4, /* smaller chunks even out cores of different speed, larger ones keep data
                           in their caches */
};

typedef void (*Body)(void *, int64_t, int64_t);

static struct {
  _Atomic pid_t holder; /* process of the thread whose loop is running, 0 for none */
  _Atomic int threads;  /* with the caller; 0 before the first loop */
  pid_t owner;          /* process that made the threads: they do not survive fork */
  pthread_t workers[kMaxThreads];

  Body body;
  void *environment;
  int64_t end, chunk;
  _Atomic int64_t next;
  _Atomic uint32_t epoch; /* counts loops; workers wait for it to change */
  _Atomic int32_t sleepers;
  _Atomic int32_t active; /* workers that may be reading the fields above */
  _Atomic int open;       /* whether the fields above describe a loop */
  _Atomic int stop;
} pool;

/* What the loops of this library go through. */
static void run_here(Body body, void *environment, int64_t begin, int64_t end);
static _Atomic(ConvoyParallelFor) loop = run_here;

/* Whether this thread is the holder now. A holder of another process is a thread that fork did not
 * bring along. */
static int take(pid_t self) {
  pid_t holder = 0;
  while (!atomic_compare_exchange_weak(&pool.holder, &holder, self))
    if (holder == self)
      return 0;
  return 1;
}

static void give(void) { atomic_store_explicit(&pool.holder, 0, memory_order_release); }

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
    /* A worker that comes too late finds the loop closed; the caller waits for those that came in
     * time only. */
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

/* Called by the holder. A thread that cannot be made only makes the pool smaller. */
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

/* Workers run code of this library, so they end before it is unloaded. A thread may still be in a
   loop when the process exits: workers finish their part of it, and that thread does what comes
   after by itself, because `threads` stays. */
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

static int64_t piece_of(int64_t count) {
  int threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
  int64_t pieces = (int64_t)(threads ? threads : 1) * kChunksPerThread;
  return (count + pieces - 1) / pieces;
}

/* Called by the holder. */
static void run_on_all(Body body, void *environment, int64_t begin, int64_t end) {
  pool.body = body;
  pool.environment = environment;
  pool.end = end;
  pool.chunk = piece_of(end - begin);
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
}

static void run_here(Body body, void *environment, int64_t begin, int64_t end) {
  int64_t count = end - begin;
  while (begin < end) {
    pid_t self = getpid();
    if (end - begin > 1 && take(self)) {
      if (pool.owner != self)
        start(self);
      int alone = atomic_load_explicit(&pool.threads, memory_order_relaxed) == 1;
      if (!alone)
        run_on_all(body, environment, begin, end);
      give();
      if (alone)
        body(environment, begin, end);
      return;
    }
    /* Another loop is running: one piece alone, then the threads may be free. */
    int64_t last = begin + piece_of(count) < end ? begin + piece_of(count) : end;
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
