/* pool.c - hlo_parallel_for and the small pool of threads behind it.
 *
 * One region runs at a time; a second caller, or a nested call, finds the pool busy and runs its
 * items itself. The owner of the pool offers the region to helper threads, each through a slot of
 * its own, takes part in the work, and at the end withdraws the offers that nobody took up: a
 * helper that wakes late delays nobody and never sees a region that is over. Ranges come from one
 * counter.
 *
 *   slot:  IDLE --owner--> OFFERED --helper--> RUNNING --helper--> IDLE
 *            |  <--owner withdraws--'             '--owner sleeps--> AWAITED --helper--> IDLE,
 * wakes the owner
 *            '--helper--> ASLEEP --owner--> OFFERED, wakes the helper
 *
 * Whoever waits spins for SPIN_NS, because the next region mostly follows at once, and then sleeps
 * on the slot as a futex. The pool's memory is wiped in a child of fork(), which makes the child's
 * pool a new one without a handler.
 *
 * With HLO_RT_WEAK defined this is the copy that generated libraries and programs carry inside: the
 * hook is weak and nothing else is visible.
 */
#define _GNU_SOURCE
#include "hlo_runtime.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  MAX_THREADS = 256,
  SPIN_NS = 50000,
  PAUSES_PER_LOOK = 32, /* between two looks at the clock */
  CHUNKS_PER_THREAD = 4 /* evens out threads of unequal speed */
};

enum slot_state { IDLE, OFFERED, RUNNING, AWAITED, ASLEEP };

typedef struct slot {
  _Alignas(64) _Atomic(uint32_t) state;
} slot;

/* Written by the owner before it offers the region, but for the counter. One cache line. */
typedef struct region {
  _Alignas(64) void (*body)(void *ctx, int64_t begin, int64_t end, int32_t worker);
  void *ctx;
  int64_t n;
  int64_t chunk; /* items */
  int64_t chunk_count;
  _Atomic(int64_t) next; /* chunk */
} region;

/* All zero is a pool that has not been used. */
typedef struct pool {
  _Alignas(64) _Atomic(bool) busy;
  _Atomic(int32_t) threads; /* caller included; 0: not known yet */
  bool started;             /* the helpers exist; owned by whoever set busy */
  pid_t owner_pid;          /* 0 where fork wipes the memory */
  region work;
  slot slots[MAX_THREADS]; /* slot 0, the owner's, stays unused */
} pool;

static _Atomic(pool *) the_pool;

/* ---- how many threads ---- */

static bool read_text(const char *path, char *text, size_t size)
{
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  ssize_t got = read(file, text, size - 1);
  close(file);
  text[got > 0 ? got : 0] = '\0';
  return got > 0;
}

/* The CPUs that `directory` of the cgroup tree grants, or MAX_THREADS when it sets no limit. */
static int64_t directory_cpus(const char *directory, bool unified)
{
  char path[1200], text[64];
  long long quota = 0, period = 0;
  if (unified) {
    snprintf(path, sizeof path, "%s/cpu.max", directory);
    if (!read_text(path, text, sizeof text) || sscanf(text, "%lld %lld", &quota, &period) != 2)
      return MAX_THREADS;
  } else {
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
    if (!read_text(path, text, sizeof text) || sscanf(text, "%lld", &quota) != 1)
      return MAX_THREADS;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    if (!read_text(path, text, sizeof text) || sscanf(text, "%lld", &period) != 1)
      return MAX_THREADS;
  }
  return quota > 0 && period > 0 ? (quota - 1) / period + 1 : MAX_THREADS;
}

static bool names_cpu(const char *controllers)
{
  for (const char *c = controllers; c; c = strchr(c, ',')) {
    c += *c == ',';
    if (strncmp(c, "cpu", 3) == 0 && (c[3] == ',' || c[3] == '\0'))
      return true;
  }
  return false;
}

/* The least limit of the group at `path` and of the groups above it. */
static int64_t group_cpus(const char *controllers, const char *path)
{
  bool unified = *controllers == '\0';
  char directory[1100];
  int base =
      snprintf(directory, sizeof directory, "/sys/fs/cgroup%s%s", unified ? "" : "/", controllers);
  int length = snprintf(directory, sizeof directory, "/sys/fs/cgroup%s%s%s", unified ? "" : "/",
                        controllers, path);
  if (length >= (int)sizeof directory)
    return MAX_THREADS;
  int64_t cpus = directory_cpus(directory, unified);
  while (length > base) {
    if (directory[--length] != '/')
      continue;
    directory[length] = '\0';
    int64_t above = directory_cpus(directory, unified);
    cpus = above < cpus ? above : cpus;
  }
  return cpus;
}

/* Each line of /proc/self/cgroup is ID:CONTROLLERS:PATH; version 2 has no controllers there. */
static int64_t quota_cpus(void)
{
  char text[4096], *rest = NULL;
  if (!read_text("/proc/self/cgroup", text, sizeof text))
    return MAX_THREADS;
  int64_t cpus = MAX_THREADS;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
      continue;
    controllers++;
    *path++ = '\0';
    if (*controllers && !names_cpu(controllers))
      continue;
    int64_t here = group_cpus(controllers, path);
    cpus = here < cpus ? here : cpus;
  }
  return cpus;
}

static int64_t affinity_cpus(void)
{
  cpu_set_t sets[8]; /* 8192 CPUs */
  memset(sets, 0, sizeof sets);
  if (sched_getaffinity(0, sizeof sets, sets) != 0)
    return 1;
  return CPU_COUNT_S(sizeof sets, sets);
}

static int64_t wanted_threads(void)
{
  const char *text = getenv("HLO_NUM_THREADS");
  char *end = NULL;
  long wanted = text ? strtol(text, &end, 10) : 0;
  if (wanted > 0 && *end == '\0')
    return wanted;
  int64_t cpus = affinity_cpus(), quota = quota_cpus();
  return quota < cpus ? quota : cpus;
}

static int32_t count_threads(void)
{
  int64_t wanted = wanted_threads();
  return wanted < 1 ? 1 : wanted > MAX_THREADS ? MAX_THREADS : (int32_t)wanted;
}

/* ---- waiting ---- */

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#else
  atomic_signal_fence(memory_order_seq_cst);
#endif
}

static int64_t now_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint32_t state_of(slot *s)
{
  return atomic_load_explicit(&s->state, memory_order_acquire);
}

static bool change(slot *s, uint32_t from, uint32_t to)
{
  return atomic_compare_exchange_strong_explicit(&s->state, &from, to, memory_order_acq_rel,
                                                 memory_order_acquire);
}

/* Spins while the slot has `state`; false when SPIN_NS have passed and it still has. */
static bool spin_while(slot *s, uint32_t state)
{
  int64_t end = 0;
  for (int pauses = 1; state_of(s) == state; pauses++) {
    pause_cpu();
    if (pauses % PAUSES_PER_LOOK != 0)
      continue;
    int64_t now = now_ns();
    end = end ? end : now + SPIN_NS;
    if (now >= end)
      return false;
  }
  return true;
}

static void sleep_while(slot *s, uint32_t state)
{
  while (state_of(s) == state)
    syscall(SYS_futex, &s->state, FUTEX_WAIT_PRIVATE, state, NULL, NULL, 0);
}

static void wake(slot *s)
{
  syscall(SYS_futex, &s->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- helpers ---- */

static void take_chunks(region *r, int32_t worker)
{
  for (;;) {
    int64_t index = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed);
    if (index >= r->chunk_count)
      return;
    int64_t begin = index * r->chunk;
    int64_t end = r->n - begin > r->chunk ? begin + r->chunk : r->n;
    r->body(r->ctx, begin, end, worker);
  }
}

static void wait_for_offer(slot *s)
{
  while (!change(s, OFFERED, RUNNING))
    if (!spin_while(s, IDLE) && change(s, IDLE, ASLEEP))
      sleep_while(s, ASLEEP);
}

static void *helper(void *argument)
{
  slot *s = (slot *)argument;
  pool *p = atomic_load_explicit(&the_pool, memory_order_acquire);
  int32_t worker = (int32_t)(s - p->slots);
  for (;;) {
    wait_for_offer(s);
    take_chunks(&p->work, worker);
    if (atomic_exchange_explicit(&s->state, IDLE, memory_order_acq_rel) == AWAITED)
      wake(s);
  }
  return NULL;
}

/* Threads inherit the signal mask, so it is closed around their creation. */
static void start_helpers(pool *p)
{
  int32_t wanted = atomic_load_explicit(&p->threads, memory_order_relaxed), count = 1;
  pthread_attr_t attributes;
  sigset_t all, old;
  p->started = true;
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_t thread;
    while (count < wanted && pthread_create(&thread, &attributes, helper, &p->slots[count]) == 0)
      count++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
  }
  atomic_store_explicit(&p->threads, count, memory_order_relaxed);
}

/* ---- the owner's side ---- */

static pool *new_pool(void)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (sizeof(pool) + page - 1) / page * page;
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  pool *fresh = (pool *)memory, *other = NULL;
  if (madvise(memory, size, MADV_WIPEONFORK) != 0)
    fresh->owner_pid = getpid();
  if (atomic_compare_exchange_strong(&the_pool, &other, fresh))
    return fresh;
  munmap(memory, size);
  return other;
}

static int32_t pool_threads(pool *p)
{
  int32_t threads = atomic_load_explicit(&p->threads, memory_order_relaxed);
  if (threads == 0) {
    threads = count_threads();
    atomic_store_explicit(&p->threads, threads, memory_order_relaxed);
  }
  return threads;
}

/* The pool, owned by the caller and with at least one helper, or NULL. A child whose memory fork
 * did not wipe has a pool without threads, and does without. */
static pool *claim_pool(void)
{
  pool *p = atomic_load_explicit(&the_pool, memory_order_acquire);
  if (!p)
    p = new_pool();
  if (!p || pool_threads(p) == 1 || (p->owner_pid != 0 && p->owner_pid != getpid()))
    return NULL;
  if (atomic_exchange_explicit(&p->busy, true, memory_order_acquire))
    return NULL;
  if (!p->started)
    start_helpers(p);
  return p;
}

static void offer(slot *s)
{
  if (atomic_exchange_explicit(&s->state, OFFERED, memory_order_acq_rel) == ASLEEP)
    wake(s);
}

/* Takes the offer back, or waits for the helper that took it up. */
static void settle(slot *s)
{
  if (change(s, OFFERED, IDLE) || spin_while(s, RUNNING))
    return;
  if (change(s, RUNNING, AWAITED))
    sleep_while(s, AWAITED);
}

static void run_region(pool *p, int32_t workers)
{
  for (int32_t i = 1; i < workers; i++)
    offer(&p->slots[i]);
  take_chunks(&p->work, 0);
  for (int32_t i = 1; i < workers; i++)
    settle(&p->slots[i]);
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

#ifdef HLO_RT_WEAK
__attribute__((weak))
#endif
void hlo_parallel_for(void (*body)(void *ctx, int64_t begin, int64_t end, int32_t worker), void *ctx, int64_t n,
                      int64_t grain, int32_t max_workers)
{
  grain = grain < 1 ? 1 : grain;
  pool *p = n > grain && max_workers > 1 ? claim_pool() : NULL;
  if (!p) {
    if (n > 0)
      body(ctx, 0, n, 0);
    return;
  }
  int64_t grains = (n - 1) / grain + 1;
  int32_t workers = (int32_t)least(least(pool_threads(p), max_workers), grains);
  int64_t per_chunk = grains / ((int64_t)workers * CHUNKS_PER_THREAD);
  per_chunk = per_chunk < 1 ? 1 : per_chunk;
  p->work.body = body;
  p->work.ctx = ctx;
  p->work.n = n;
  p->work.chunk = per_chunk * grain;
  p->work.chunk_count = (grains - 1) / per_chunk + 1;
  atomic_store_explicit(&p->work.next, 0, memory_order_relaxed);
  run_region(p, workers);
  atomic_store_explicit(&p->busy, false, memory_order_release);
}

#ifndef HLO_RT_WEAK
int32_t hlo_num_threads(void)
{
  pool *p = atomic_load_explicit(&the_pool, memory_order_acquire);
  return p || (p = new_pool()) ? pool_threads(p) : count_threads();
}
#endif
