/* machine - what this machine can do at most: memory by copying, arithmetic by its clock. */
#include "explain.h"

#include "runtime/hlo_runtime.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  COPY_BYTES = 64 << 20,  /* beyond what the caches hold */
  COPY_CHUNK = 1 << 20,
  ROUNDS = 3,
  CHAIN = 1 << 20,
  CHAIN_CYCLES = 6, /* three shifts and three xors, each of which waits for the one before */
  FMA_UNITS = 2
};

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void copy_chunks(void *ctx, int64_t begin, int64_t end, int32_t worker)
{
  char *memory = ctx;
  (void)worker;
  memcpy(memory + COPY_BYTES + begin * COPY_CHUNK, memory + begin * COPY_CHUNK,
         (size_t)(end - begin) * COPY_CHUNK);
}

/* Bytes read and written a second; 0 without memory for it. */
static double copy_bandwidth(int workers)
{
  char *memory = malloc(2 * (size_t)COPY_BYTES);
  double best = 0;
  if (!memory)
    return 0;
  memset(memory, 1, 2 * (size_t)COPY_BYTES);
  for (int i = 0; i < ROUNDS; i++) {
    double start = now();
    hlo_parallel_for(copy_chunks, memory, COPY_BYTES / COPY_CHUNK, 1, workers);
    double rate = (double)(2 * (int64_t)COPY_BYTES) / (now() - start);
    best = rate > best ? rate : best;
  }
  free(memory);
  return best;
}

static double cycles_per_second(void)
{
  double best = 0;
  for (int i = 0; i < ROUNDS; i++) {
    volatile uint64_t seed = 88172645463325252u;
    uint64_t x = seed;
    double start = now();
    for (int k = 0; k < CHAIN; k++) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
    seed = x;
    double rate = (double)((int64_t)CHAIN * CHAIN_CYCLES) / (now() - start);
    best = rate > best ? rate : best;
  }
  return best;
}

static void count_chunks(void *ctx, int64_t begin, int64_t end, int32_t worker)
{
  (void)begin;
  (void)end;
  ((bool *)ctx)[worker] = true;
  nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* Threads that the pool runs at the same time. */
static int threads_of_pool(hl_arena *arena, int workers)
{
  bool *ran = HL_ARRAY(arena, workers, bool);
  int count = 0;
  hlo_parallel_for(count_chunks, ran, 4 * (int64_t)workers, 1, workers);
  for (int i = 0; i < workers; i++)
    count += ran[i];
  return count;
}

void hl_machine_measure(hl_machine *machine, const hl_target_info *target, int workers)
{
  if (machine->bandwidth == 0)
    machine->bandwidth = copy_bandwidth(workers);
  if (machine->peak != 0)
    return;
  hl_arena *arena = hl_arena_new(NULL);
  if (!arena)
    return;
  int lanes = target->vector_bytes ? target->vector_bytes / 4 : 1;
  int each_cycle = lanes * FMA_UNITS * (target->has_fma ? 2 : 1);
  machine->peak = cycles_per_second() * each_cycle * threads_of_pool(arena, workers);
  hl_arena_free(arena);
}
