/* verdict.c - errors in units in the last place of the exact result. */
#include "verdict.h"

#include <math.h>
#include <string.h>

#include "reference.h"

enum { PRECISION = 160 };

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
double hl_error_f32(double got, double want)
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

double hl_error_f64(double got, long double want)
{
  double near = (double)want;
  if ((isnan(got) && isnan(want)) ||
      (got == near && (got == 0 || isinf(got)) && signbit(got) == signbit(near)))
    return 0;
  if (!isfinite(got) || !isfinite(near) || got == 0 || near == 0 || signbit(got) != signbit(near))
    return (double)INFINITY;
  return (double)fabsl(ldexpl((long double)got - want, -last_place(ilogbl(want), true)));
}

double hl_exact_error(hl_math_fn fn, double got, const double *args, bool is_f64)
{
  mpfr_t want;
  mpfr_init2(want, PRECISION);
  hl_reference_mpfr(fn, want, args);
  double e = error_mpfr(got, want, is_f64);
  mpfr_clear(want);
  return e;
}

void hl_take(hl_worst *w, double error, const double *args)
{
  if (!(error > w->error))
    return;
  w->error = error;
  memcpy(w->args, args, sizeof w->args);
}

void hl_verdict_start(void)
{
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
}
