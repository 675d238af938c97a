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

enum { PRECISION = 160 };

static const double bound = 2;

/* The worst error of one function. */
typedef struct worst {
  double error;
  double args[2];
} worst;

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

/* 2^exponent of the last place of a number whose leading bit is 2^(leading). */
static int last_place(int leading, bool is_f64)
{
  int least = is_f64 ? -1074 : -149, place = leading - (is_f64 ? 52 : 23);
  return place < least ? least : place;
}

/* Both infinite, both NaN, or both the same zero; *decided is false for other results. */
static double special_error(double got, double want, bool *decided)
{
  *decided = true;
  if (isnan(got) || isnan(want))
    return isnan(got) && isnan(want) ? 0 : INFINITY;
  if (want == 0)
    return got == 0 ? (signbit(got) == signbit(want) ? 0 : INFINITY) : INFINITY;
  if (isinf(want))
    return got == want ? 0 : INFINITY;
  if (got != 0 && signbit(got) != signbit(want))
    return INFINITY;
  *decided = false;
  return 0;
}

/* An infinite result counts as the power of two above the largest number. */
static double finite_end(double got, bool is_f64)
{
  return isinf(got) ? copysign(ldexp(1, is_f64 ? 1023 : 128), got) : got;
}

/* |want| is beyond the end of f32 but finite in f64: 2^128 then stands for all of it. */
static double error_f32(double got, double want)
{
  bool decided;
  double e = special_error(got, want, &decided);
  if (decided)
    return e;
  if (fabs(want) > 0x1p128)
    want = copysign(0x1p128, want);
  return fabs(finite_end(got, false) - want) /
         ldexp(1, last_place(ilogb(fabs(want) >= 0x1p128 ? 0x1p127 : want), false));
}

static double error_mpfr(double got, const mpfr_t want, bool is_f64)
{
  bool decided = mpfr_regular_p(want) == 0;
  if (decided)
    return special_error(got, mpfr_get_d(want, MPFR_RNDN), &decided);
  if (isnan(got) || (got != 0 && signbit(got) != (mpfr_sgn(want) < 0)))
    return INFINITY;
  long leading = mpfr_get_exp(want) - 1, end = is_f64 ? 1024 : 128;
  if (leading >= end)
    return isinf(got) ? 0 : INFINITY;
  mpfr_t difference;
  mpfr_init2(difference, PRECISION);
  mpfr_set_d(difference, isinf(got) ? copysign(1, got) : got, MPFR_RNDN);
  if (isinf(got))
    mpfr_mul_2si(difference, difference, end, MPFR_RNDN);
  mpfr_sub(difference, difference, want, MPFR_RNDN);
  int place = last_place(leading < -2000 ? -2000 : (int)leading, is_f64);
  mpfr_mul_2si(difference, difference, -place, MPFR_RNDN);
  double e = fabs(mpfr_get_d(difference, MPFR_RNDN));
  mpfr_clear(difference);
  return e;
}

static double exact_error(hl_math_fn fn, double got, const double *args, bool is_f64)
{
  mpfr_t want;
  mpfr_init2(want, PRECISION);
  hl_reference_mpfr(fn, want, args);
  double e = error_mpfr(got, want, is_f64);
  mpfr_clear(want);
  return e;
}

static void take(worst *w, double error, const double *args)
{
  if (!(error > w->error))
    return;
  w->error = error;
  memcpy(w->args, args, sizeof w->args);
}

/* x and y are numbers of f32. */
static void judge_f32(hl_math_fn fn, worst *w, double x, double y)
{
  float args[2] = {(float)x, (float)y};
  double wide[2] = {x, y};
  double got = (double)hl_math_eval_f32(fn, args);
  double error = error_f32(got, hl_reference_f64(fn, wide));
  if (error > w->error - 1e-6 && error > 0.5)
    error = exact_error(fn, got, wide, false);
  take(w, error, wide);
}

static void judge_f64(hl_math_fn fn, worst *w, double x, double y)
{
  double args[2] = {x, y};
  take(w, exact_error(fn, hl_math_eval_f64(fn, args), args, true), args);
}

static const double corners[] = {0.0, 1, 2, 3, 0.5, 1.5, 2.5, 0x1p-10, 7, 100, 1e10, INFINITY, NAN};

enum { CORNERS = sizeof corners / sizeof *corners };

static double corner(int i)
{
  return i < CORNERS ? corners[i] : -corners[i - CORNERS];
}

typedef void judge(hl_math_fn fn, worst *w, double x, double y);

static void scan_corners(hl_math_fn fn, worst *w, judge *by)
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

static void scan_pairs_f32(hl_math_fn fn, worst *w, uint64_t count)
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

static void scan_f32(hl_math_fn fn, worst *w, uint64_t step)
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
    x = (double)(r >> 34) * 1.57079632679489661923;
  if (i % 16 == 7)
    x = 1 + ldexp(x / 760 - 0.5, -(int)(r % 54));
  return r & 1 ? -x : x;
}

static void scan_f64(hl_math_fn fn, worst *w, uint64_t count)
{
  uint64_t state = 7;
  scan_corners(fn, w, judge_f64);
  judge_f64(fn, w, 0x1.6ac5b262ca1ffp+849, 0); /* nearest to a multiple of pi / 2 */
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
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  for (int i = 0; i < HL_MATH_COUNT; i++) {
    hl_math_fn fn = (hl_math_fn)i;
    worst w = {0};
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
