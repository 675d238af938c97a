/* limits - what this machine can do at most, measured: a copy past the caches, and registers full of fused
 * multiply-adds.
 *
 * Twelve sums at a time hide the latency of two units of four or five cycles. */
#include "limits.h"

#include "codegen/clock.h"

#include "runtime/hlo_runtime.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { CHUNK = 1 << 20, ROUNDS = 5, SUMS = 12, FMA_ROUNDS = 500000 };

/* ---- copies ---- */

typedef struct copy {
  char *to, *from; /* aligned to 64 */
} copy;

static void copy_chunk(char *to, const char *from)
{
#if defined(__x86_64__)
  for (size_t i = 0; i < CHUNK; i += sizeof(__m128i))
    _mm_stream_si128((__m128i *)(to + i), _mm_load_si128((const __m128i *)(from + i)));
#else
  memcpy(to, from, CHUNK);
#endif
}

static void copy_chunks(void *context, int64_t begin, int64_t end, int32_t worker)
{
  const copy *c = context;
  (void)worker;
  for (int64_t i = begin; i < end; i++)
    copy_chunk(c->to + i * CHUNK, c->from + i * CHUNK);
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

static double measure_copy(int64_t bytes, int threads)
{
  copy c = {aligned_alloc(64, (size_t)bytes), aligned_alloc(64, (size_t)bytes)};
  double best = 0;
  if (c.to && c.from) {
    memset(c.to, 1, (size_t)bytes);
    memset(c.from, 1, (size_t)bytes);
  }
  for (int i = 0; c.to && c.from && i < ROUNDS; i++) {
    double start = hl_seconds();
    hlo_parallel_for(copy_chunks, &c, bytes / CHUNK, 8, threads);
    double rate = 2.0 * (double)bytes / (hl_seconds() - start);
    best = rate > best ? rate : best;
  }
  free(c.to);
  free(c.from);
  return best;
}

/* ---- fused multiply-adds ---- */

/* Runs FMA_ROUNDS of them on each sum; returns the lanes of one. What it computes is stored so that the
 * compiler keeps it. */
typedef int fma_loop(float *result);

#if !defined(__aarch64__)
/* A multiplication and an addition on one lane, where there is nothing better. */
static int multiply_add(float *result)
{
  float sums[SUMS], x = 0.75f, y = 1e-7f;
  for (int i = 0; i < SUMS; i++)
    sums[i] = (float)i;
  for (int round = 0; round < FMA_ROUNDS; round++)
#pragma GCC unroll 12
    for (int i = 0; i < SUMS; i++)
      sums[i] = sums[i] * x + y;
  for (int i = 1; i < SUMS; i++)
    sums[0] += sums[i];
  *result = sums[0];
  return 1;
}
#endif

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static int fma_avx512(float *result)
{
  __m512 sums[SUMS], x = _mm512_set1_ps(1.5f), y = _mm512_set1_ps(1e-7f);
  for (int i = 0; i < SUMS; i++)
    sums[i] = _mm512_set1_ps((float)i);
  for (int round = 0; round < FMA_ROUNDS; round++)
#pragma GCC unroll 12
    for (int i = 0; i < SUMS; i++)
      sums[i] = _mm512_fmadd_ps(x, y, sums[i]);
  for (int i = 1; i < SUMS; i++)
    sums[0] = _mm512_add_ps(sums[0], sums[i]);
  _mm512_storeu_ps(result, sums[0]);
  return 16;
}

__attribute__((target("avx2,fma"))) static int fma_avx2(float *result)
{
  __m256 sums[SUMS], x = _mm256_set1_ps(1.5f), y = _mm256_set1_ps(1e-7f);
  for (int i = 0; i < SUMS; i++)
    sums[i] = _mm256_set1_ps((float)i);
  for (int round = 0; round < FMA_ROUNDS; round++)
#pragma GCC unroll 12
    for (int i = 0; i < SUMS; i++)
      sums[i] = _mm256_fmadd_ps(x, y, sums[i]);
  for (int i = 1; i < SUMS; i++)
    sums[0] = _mm256_add_ps(sums[0], sums[i]);
  _mm256_storeu_ps(result, sums[0]);
  return 8;
}

static fma_loop *best_loop(void)
{
  if (__builtin_cpu_supports("avx512f"))
    return fma_avx512;
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") ? fma_avx2 : multiply_add;
}
#elif defined(__aarch64__)
static int fma_neon(float *result)
{
  float32x4_t sums[SUMS], x = vdupq_n_f32(1.5f), y = vdupq_n_f32(1e-7f);
  for (int i = 0; i < SUMS; i++)
    sums[i] = vdupq_n_f32((float)i);
  for (int round = 0; round < FMA_ROUNDS; round++)
#pragma GCC unroll 12
    for (int i = 0; i < SUMS; i++)
      sums[i] = vfmaq_f32(sums[i], x, y);
  for (int i = 1; i < SUMS; i++)
    sums[0] = vaddq_f32(sums[0], sums[i]);
  vst1q_f32(result, sums[0]);
  return 4;
}

static fma_loop *best_loop(void)
{
  return fma_neon;
}
#else
static fma_loop *best_loop(void)
{
  return multiply_add;
}
#endif

typedef struct fma_work {
  fma_loop *loop;
  int lanes;
} fma_work;

static void run_fma(void *context, int64_t begin, int64_t end, int32_t worker)
{
  const fma_work *w = context;
  float result[16];
  (void)worker;
  for (int64_t i = begin; i < end; i++)
    w->loop(result);
}

static double measure_fma(int threads)
{
  float result[16];
  fma_work w = {.loop = best_loop()};
  double best = 0;
  w.lanes = w.loop(result);
  for (int i = 0; i < ROUNDS; i++) {
    double start = hl_seconds();
    hlo_parallel_for(run_fma, &w, threads, 1, threads);
    int64_t count = (int64_t)FMA_ROUNDS * SUMS * w.lanes * threads;
    double rate = 2.0 * (double)count / (hl_seconds() - start);
    best = rate > best ? rate : best;
  }
  return best;
}

hl_limits hl_limits_measure(int64_t copy_bytes, int threads)
{
  return (hl_limits){threads, measure_copy(copy_bytes, threads), measure_fma(threads)};
}
