/* reference.c - the mathematical functions by libm and by MPFR. */
#include "reference.h"

#include <math.h>

static double power_exponent(hl_math_fn fn)
{
  static const double exponents[] = {0.5, 1, 1.5, 2, 3, -0.5, -1, -1.5};
  for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++)
    if (hl_math_pow_constant(exponents[i]) == fn)
      return exponents[i];
  return 0;
}

static double inverse_root(double x)
{
  return 1 / sqrt(x);
}

static double logistic_f64(double x)
{
  return 1 / (1 + exp(-x));
}

double hl_reference_f64(hl_math_fn fn, const double *args)
{
  static double (*const unaries[HL_MATH_COUNT])(double) = {
      [HL_MATH_EXP] = exp,     [HL_MATH_EXPM1] = expm1,
      [HL_MATH_LOG] = log,     [HL_MATH_LOG1P] = log1p,
      [HL_MATH_SQRT] = sqrt,   [HL_MATH_RSQRT] = inverse_root,
      [HL_MATH_CBRT] = cbrt,   [HL_MATH_LOGISTIC] = logistic_f64,
      [HL_MATH_TANH] = tanh,   [HL_MATH_ERF] = erf,
      [HL_MATH_SIN] = sin,     [HL_MATH_COS] = cos,
      [HL_MATH_TAN] = tan,     [HL_MATH_ASIN] = asin,
      [HL_MATH_ACOS] = acos,   [HL_MATH_ATAN] = atan,
      [HL_MATH_SINH] = sinh,   [HL_MATH_COSH] = cosh,
      [HL_MATH_ASINH] = asinh, [HL_MATH_ACOSH] = acosh,
      [HL_MATH_ATANH] = atanh,
  };
  if (unaries[fn])
    return unaries[fn](args[0]);
  if (hl_math_arity(fn) == 1)
    return pow(args[0], power_exponent(fn));
  return (fn == HL_MATH_ATAN2 ? atan2 : fn == HL_MATH_FMOD ? fmod : pow)(args[0], args[1]);
}

static long double inverse_root_wide(long double x)
{
  return 1 / sqrtl(x);
}

static long double logistic_wide(long double x)
{
  return 1 / (1 + expl(-x));
}

long double hl_reference_wide(hl_math_fn fn, const double *args)
{
  static long double (*const unaries[HL_MATH_COUNT])(long double) = {
      [HL_MATH_EXP] = expl,     [HL_MATH_EXPM1] = expm1l,
      [HL_MATH_LOG] = logl,     [HL_MATH_LOG1P] = log1pl,
      [HL_MATH_SQRT] = sqrtl,   [HL_MATH_RSQRT] = inverse_root_wide,
      [HL_MATH_CBRT] = cbrtl,   [HL_MATH_LOGISTIC] = logistic_wide,
      [HL_MATH_TANH] = tanhl,   [HL_MATH_ERF] = erfl,
      [HL_MATH_SIN] = sinl,     [HL_MATH_COS] = cosl,
      [HL_MATH_TAN] = tanl,     [HL_MATH_ASIN] = asinl,
      [HL_MATH_ACOS] = acosl,   [HL_MATH_ATAN] = atanl,
      [HL_MATH_SINH] = sinhl,   [HL_MATH_COSH] = coshl,
      [HL_MATH_ASINH] = asinhl, [HL_MATH_ACOSH] = acoshl,
      [HL_MATH_ATANH] = atanhl,
  };
  long double x = (long double)args[0];
  if (unaries[fn])
    return unaries[fn](x);
  if (hl_math_arity(fn) == 1)
    return powl(x, (long double)power_exponent(fn));
  return (fn == HL_MATH_ATAN2  ? atan2l
          : fn == HL_MATH_FMOD ? fmodl
                               : powl)(x, (long double)args[1]);
}

typedef int unary(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int binary(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

/* 1 / (1 + e^-x) with precision to spare: e^-x is exact enough and 1 + e^-x loses at most the last
 * bits. */
static int logistic(mpfr_t out, const mpfr_t x, mpfr_rnd_t round)
{
  mpfr_t t;
  mpfr_init2(t, mpfr_get_prec(out) + 64);
  mpfr_neg(t, x, round);
  mpfr_exp(t, t, round);
  mpfr_add_ui(t, t, 1, round);
  mpfr_ui_div(out, 1, t, round);
  mpfr_clear(t);
  return 0;
}

/* MPFR's 1/sqrt(-0) is +inf; IEEE's is -inf. */
static int reciprocal_root(mpfr_t out, const mpfr_t x, mpfr_rnd_t round)
{
  if (mpfr_zero_p(x))
    return mpfr_ui_div(out, 1, x, round);
  return mpfr_rec_sqrt(out, x, round);
}

static unary *const unaries_mpfr[HL_MATH_COUNT] = {
    [HL_MATH_EXP] = mpfr_exp,     [HL_MATH_EXPM1] = mpfr_expm1,  [HL_MATH_LOG] = mpfr_log,
    [HL_MATH_LOG1P] = mpfr_log1p, [HL_MATH_SQRT] = mpfr_sqrt,    [HL_MATH_RSQRT] = reciprocal_root,
    [HL_MATH_CBRT] = mpfr_cbrt,   [HL_MATH_LOGISTIC] = logistic, [HL_MATH_TANH] = mpfr_tanh,
    [HL_MATH_ERF] = mpfr_erf,     [HL_MATH_SIN] = mpfr_sin,      [HL_MATH_COS] = mpfr_cos,
    [HL_MATH_TAN] = mpfr_tan,     [HL_MATH_ASIN] = mpfr_asin,    [HL_MATH_ACOS] = mpfr_acos,
    [HL_MATH_ATAN] = mpfr_atan,   [HL_MATH_SINH] = mpfr_sinh,    [HL_MATH_COSH] = mpfr_cosh,
    [HL_MATH_ASINH] = mpfr_asinh, [HL_MATH_ACOSH] = mpfr_acosh,  [HL_MATH_ATANH] = mpfr_atanh,
};

static binary *binary_of(hl_math_fn fn)
{
  return fn == HL_MATH_ATAN2 ? mpfr_atan2 : fn == HL_MATH_FMOD ? mpfr_fmod : mpfr_pow;
}

void hl_reference_mpfr(hl_math_fn fn, mpfr_t out, const double *args)
{
  mpfr_t x, y;
  mpfr_init2(x, 53);
  mpfr_init2(y, 53);
  mpfr_set_d(x, args[0], MPFR_RNDN);
  unary *one = unaries_mpfr[fn];
  if (one) {
    one(out, x, MPFR_RNDN);
  } else {
    mpfr_set_d(y, hl_math_arity(fn) == 2 ? args[1] : power_exponent(fn), MPFR_RNDN);
    binary_of(fn)(out, x, y, MPFR_RNDN);
  }
  mpfr_clear(x);
  mpfr_clear(y);
}
