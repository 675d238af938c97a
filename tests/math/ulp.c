/* ulp.c - the largest errors of the mathematical functions, in units in the last place of the exact
 * result.
 *
 *   ulp f32 [STEP] [NAME...]     every STEP-th f32 (1: all of them), pairs at random for two
 * arguments ulp f64 [COUNT] [NAME...]    COUNT f64 arguments, in every binade and near hard places
 *
 * f32 is judged by libm in f64, and by MPFR where that verdict is within its error of the worst
 * one; f64 by MPFR. Exits with 1 when an error is above 2 ULP, or when a NaN, an infinity or the
 * sign of a zero is wrong.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval_math.h"
#include "reference.h"
#include "verdict.h"

static const double bound = 2;

static double f32_of_bits(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

static double f64_of_bits(uint64_t bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* y as a number of f32. */
static double rounded(double y)
{
  uint32_t bits;
  float narrow = (float)y;
  memcpy(&bits, &narrow, sizeof bits);
  return f32_of_bits(bits);
}

static uint64_t next_random(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* x and y are numbers of f32. */
static void judge_f32(hl_math_fn fn, hl_worst *w, double x, double y)
{
  float args[2] = {(float)x, (float)y};
  double wide[2] = {x, y};
  double got = (double)hl_math_eval_f32(fn, args);
  double error = hl_error_f32(got, hl_reference_f64(fn, wide));
  if (error > w->error - 1e-6 && error > 0.5)
    error = hl_exact_error(fn, got, wide, false);
  hl_take(w, error, wide);
}

/* The widest type decides where it is further than its error from the worst and from 0.5. */
static void judge_f64(hl_math_fn fn, hl_worst *w, double x, double y)
{
  double args[2] = {x, y}, got = hl_math_eval_f64(fn, args);
  double error = hl_error_f64(got, hl_reference_wide(fn, args));
  if (error > w->error - 0.01 && error > 0.49)
    error = hl_exact_error(fn, got, args, true);
  hl_take(w, error, args);
}

static const double corners[] = {0.0, 1, 2, 3, 0.5, 1.5, 2.5, 0x1p-10, 7, 100, 1e10, INFINITY, NAN};

enum { CORNERS = sizeof corners / sizeof *corners };

static double corner(int i)
{
  return i < CORNERS ? corners[i] : -corners[i - CORNERS];
}

typedef void judge(hl_math_fn fn, hl_worst *w, double x, double y);

static void scan_corners(hl_math_fn fn, hl_worst *w, judge *by)
{
  for (int i = 0; i < 2 * CORNERS; i++)
    for (int j = 0; j < 2 * CORNERS; j++)
      by(fn, w, corner(i), corner(j));
}

/* y for which pow(x, y) is neither 0 nor infinite, mostly. */
static double exponent_for(double x, uint64_t random, double range)
{
  double log = log2(fabs(x)), unit = (double)(random >> 11) * 0x1p-52 - 1;
  double y = log != 0 && fabs(log) < 2000 ? unit * range / log : unit * 10;
  return x < 0 ? nearbyint(y) : y;
}

static void scan_pairs_f32(hl_math_fn fn, hl_worst *w, uint64_t count)
{
  uint64_t state = 1;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t r = next_random(&state), s = next_random(&state);
    double x = f32_of_bits((uint32_t)r), y = f32_of_bits((uint32_t)(r >> 32));
    if (i % 2)
      x = f32_of_bits((uint32_t)r % 0x02000000 + 0x3e800000);
    if (fn == HL_MATH_POW && i % 4)
      y = exponent_for(x, s, 151);
    else if (i % 4 == 2)
      y = x * ((double)(s >> 40) * 0x1p-23);
    judge_f32(fn, w, x, rounded(y));
  }
}

static void scan_f32(hl_math_fn fn, hl_worst *w, uint64_t step)
{
  scan_corners(fn, w, judge_f32);
  if (hl_math_arity(fn) == 2) {
    scan_pairs_f32(fn, w, (UINT64_C(1) << 32) / step);
    return;
  }
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += step)
    judge_f32(fn, w, f32_of_bits((uint32_t)bits), 0);
}

/* All binades, the range in which most functions bend, near 1, near multiples of pi / 2. */
static double sample_f64(uint64_t i, uint64_t *state)
{
  uint64_t r = next_random(state);
  if (i % 4 == 0)
    return f64_of_bits(r);
  double x = (double)(r >> 11) * 0x1p-53 * (i % 4 == 1 ? 2 : i % 4 == 2 ? 40 : 760);
  if (i % 16 == 15)
    x = (double)(r >> (11 + i / 16 % 42)) * 1.57079632679489661923;
  if (i % 16 == 7)
    x = 1 + ldexp(x / 760 - 0.5, -(int)(r % 54));
  return r & 1 ? -x : x;
}

/* Fixed arguments: the first is the nearest to a multiple of pi / 2; the others have results that
 * are hard for some implementation, or stand at ends and turns. */
static const double hard[] = {
    0x1.6ac5b262ca1ffp+849, 0x1.9e9cbbfd6080bp-31,   0x1.62a88613629b6p+678, 0x1.e0000000001c2p-20,
    0x1.f83d4bd2b2b3bp+9,   -0x1.d19ebc5567dcdp+311, 0x1.371a47b7e4eb2p+11,  0x1.6c042a6378102p-1,
    0x1.dffffb3488a4p-1,    0x1.62ff6a1682c25p-1,    -0x1.adc135eb544c1p-2,  0x1.633c654fee2bap+9,
    0x1.c41e527b70f43p-3,   0x1.1f6edcbd1e2a6p-3,    0x1.0001ff6afc4bap+0,   0x1.efd6ed2b9a4c9p-2,
    0x1.6237c6d42c7p-1,     0x1.63daa8a73d2dep-2,    0x1.dc6d1b4ef5b1p-1,    -0x1.2c10396268852p-2,
    0x1.7a337e1ba1ec2p-257, 0x1.c332bde7ca515p-5,    0x1.921fb54442d18p+0,   0x1.921fb54442d18p+20,
    0x1.62e42fefa39efp+9,   -0x1.74910d52d3051p+9,   0x1.fffffffffffffp-1,   0x1.0000000000001p+0,
    0x1.01881cd76f5efp+30};

static void scan_f64(hl_math_fn fn, hl_worst *w, uint64_t count)
{
  uint64_t state = 7;
  scan_corners(fn, w, judge_f64);
  for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
    for (size_t j = 0; j < 2 * (sizeof hard / sizeof *hard); j++)
      judge_f64(fn, w, j % 2 ? hard[i] : -hard[i], hard[j / 2]);
  for (uint64_t i = 0; i < count; i++) {
    double x = sample_f64(i, &state), y = sample_f64(next_random(&state), &state);
    if (fn == HL_MATH_POW)
      y = exponent_for(x, next_random(&state), 1076);
    judge_f64(fn, w, x, y);
  }
}

static bool wanted(const char *name, int argc, char **argv)
{
  for (int i = 3; i < argc; i++)
    if (!strcmp(argv[i], name))
      return true;
  return argc <= 3;
}

int main(int argc, char **argv)
{
  bool is_f64 = argc > 1 && !strcmp(argv[1], "f64"), failed = false;
  uint64_t amount = argc > 2 ? strtoull(argv[2], NULL, 10) : is_f64 ? 1000000 : 1;
  hl_verdict_start();
  for (int i = 0; i < HL_MATH_COUNT; i++) {
    hl_math_fn fn = (hl_math_fn)i;
    hl_worst w = {0};
    if (!wanted(hl_math_name(fn), argc, argv))
      continue;
    (is_f64 ? scan_f64 : scan_f32)(fn, &w, amount);
    printf("%-9s %s  %.4f ULP at %a", hl_math_name(fn), is_f64 ? "f64" : "f32", w.error, w.args[0]);
    if (hl_math_arity(fn) == 2)
      printf(", %a", w.args[1]);
    puts("");
    fflush(stdout);
    failed = failed || w.error > bound;
  }
  return failed;
}
