/* own_pool.c - a model whose loops run on the program's own threads.
 *
 *   hlo-lite compile softmax.hlo
 *   cc own_pool.c softmax.o -o own_pool
 *   ./own_pool
 *
 * An object asks for one function, weakly: hlo_parallel_for. Without it the model runs on the calling thread; libhlo_lite_rt
 * has one; and a program that has threads already defines it itself, as this one does. How the work is cut never changes a
 * bit of the result, so the checksum below is the same for any number of threads.
 */
#include "softmax.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROWS = 8192, COLUMNS = 1024, ELEMENTS = ROWS * COLUMNS };

typedef void loop_body(void *ctx, int64_t begin, int64_t end, int32_t worker);

/* ---- the pool: a fixed part of each loop for each thread ---- */

typedef struct loop {
  loop_body *body;
  void *ctx;
  int64_t n, part; /* items in all, and in one part */
} loop;

static struct {
  pthread_mutex_t callers; /* one loop at a time */
  pthread_mutex_t lock;    /* guards the rest */
  pthread_cond_t started, finished;
  loop current;
  unsigned long count;    /* loops so far: a thread that sees a new number has work */
  int running, is_closed; /* threads that have not finished the current loop */
  unsigned ran_on;        /* bit t: thread t has run a body */
} pool = {.callers = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .started = PTHREAD_COND_INITIALIZER,
          .finished = PTHREAD_COND_INITIALIZER};

/* Part t of the loop, on thread t. Returns whether there was any. */
static int run_part(const loop *l, int t)
{
  int64_t begin = t * l->part, end = begin + l->part < l->n ? begin + l->part : l->n;
  if (begin < end)
    l->body(l->ctx, begin, end, t);
  return begin < end;
}

static void *thread_main(void *number)
{
  int t = (int)(intptr_t)number;
  unsigned long seen = 0;
  pthread_mutex_lock(&pool.lock);
  for (;;) {
    while (pool.count == seen && !pool.is_closed)
      pthread_cond_wait(&pool.started, &pool.lock);
    if (pool.is_closed)
      break;
    seen = pool.count;
    loop l = pool.current;
    pthread_mutex_unlock(&pool.lock);
    unsigned ran = run_part(&l, t) ? 1u << t : 0;
    pthread_mutex_lock(&pool.lock);
    pool.ran_on |= ran;
    if (--pool.running == 0)
      pthread_cond_signal(&pool.finished);
  }
  pthread_mutex_unlock(&pool.lock);
  return NULL;
}

/* The hook. Ranges cover [0, n); each but the last is a multiple of grain; worker, which selects scratch memory in the workspace, is
 * below max_workers. */
void hlo_parallel_for(loop_body *body, void *ctx, int64_t n, int64_t grain, int32_t max_workers)
{
  if (n <= 0)
    return;
  int64_t threads = max_workers < THREADS ? max_workers : THREADS;
  int64_t grains = (n + grain - 1) / grain;
  loop l = {body, ctx, n, (grains + threads - 1) / threads * grain};
  pthread_mutex_lock(&pool.callers);
  pthread_mutex_lock(&pool.lock);
  pool.current = l;
  pool.running = THREADS;
  pool.count++;
  pthread_cond_broadcast(&pool.started);
  while (pool.running)
    pthread_cond_wait(&pool.finished, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
  pthread_mutex_unlock(&pool.callers);
}

static void start_pool(pthread_t *threads)
{
  for (intptr_t t = 0; t < THREADS; t++)
    if (pthread_create(&threads[t], NULL, thread_main, (void *)t) != 0)
      exit(1);
}

static void end_pool(const pthread_t *threads)
{
  pthread_mutex_lock(&pool.lock);
  pool.is_closed = 1;
  pthread_cond_broadcast(&pool.started);
  pthread_mutex_unlock(&pool.lock);
  for (int t = 0; t < THREADS; t++)
    pthread_join(threads[t], NULL);
}

/* ---- the program ---- */

static _Alignas(64) float x[ELEMENTS];
static _Alignas(64) float y[ELEMENTS];
static _Alignas(64) unsigned char workspace[SOFTMAX_WORKSPACE_BYTES + 1];

/* FNV-1a over the bits of the result. */
static uint64_t checksum(void)
{
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < sizeof y; i++)
    hash = (hash ^ ((const unsigned char *)y)[i]) * UINT64_C(1099511628211);
  return hash;
}

int main(void)
{
  pthread_t threads[THREADS];
  start_pool(threads);
  for (int i = 0; i < ELEMENTS; i++)
    x[i] = (float)(i * 37L % 1009) / 64;
  softmax_args args = {.x = x};
  softmax_results results = {.result0 = y};
  int status = softmax(&args, &results, workspace);
  end_pool(threads);
  int ran = 0;
  for (int t = 0; t < THREADS; t++)
    ran += pool.ran_on >> t & 1;
  printf("status %d, bodies ran on %d threads\n", status, ran);
  printf("y[0][0] %.9g, y[8191][1023] %.9g\n", y[0], y[ELEMENTS - 1]);
  printf("checksum %016llx\n", (unsigned long long)checksum());
  return status;
}
