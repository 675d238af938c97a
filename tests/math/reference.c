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

double hl_reference_f64(hl_math_fn fn, const double *args)
{
  double x = args[0];
  switch (fn) {
  case HL_MATH_EXP: return exp(x);
  case HL_MATH_EXPM1: return expm1(x);
  case HL_MATH_LOG: return log(x);
  case HL_MATH_LOG1P: return log1p(x);
  case HL_MATH_SQRT: return sqrt(x);
  case HL_MATH_RSQRT: return 1 / sqrt(x);
  case HL_MATH_CBRT: return cbrt(x);
  case HL_MATH_LOGISTIC: return 1 / (1 + exp(-x));
  case HL_MATH_TANH: return tanh(x);
  case HL_MATH_ERF: return erf(x);
  case HL_MATH_SIN: return sin(x);
  case HL_MATH_COS: return cos(x);
  case HL_MATH_TAN: return tan(x);
  case HL_MATH_ASIN: return asin(x);
  case HL_MATH_ACOS: return acos(x);
  case HL_MATH_ATAN: return atan(x);
  case HL_MATH_SINH: return sinh(x);
  case HL_MATH_COSH: return cosh(x);
  case HL_MATH_ASINH: return asinh(x);
  case HL_MATH_ACOSH: return acosh(x);
  case HL_MATH_ATANH: return atanh(x);
  case HL_MATH_POW: return pow(x, args[1]);
  case HL_MATH_ATAN2: return atan2(x, args[1]);
  case HL_MATH_FMOD: return fmod(x, args[1]);
  default: return pow(x, power_exponent(fn));
  }
}

typedef int unary(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int binary(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

/* 1 / (1 + e^-x) with precision to spare: e^-x is exact enough and 1 + e^-x loses at most the last bits. */
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

static unary *unary_of(hl_math_fn fn)
{
  switch (fn) {
  case HL_MATH_EXP: return mpfr_exp;
  case HL_MATH_EXPM1: return mpfr_expm1;
  case HL_MATH_LOG: return mpfr_log;
  case HL_MATH_LOG1P: return mpfr_log1p;
  case HL_MATH_SQRT: return mpfr_sqrt;
  case HL_MATH_RSQRT: return reciprocal_root;
  case HL_MATH_CBRT: return mpfr_cbrt;
  case HL_MATH_LOGISTIC: return logistic;
  case HL_MATH_TANH: return mpfr_tanh;
  case HL_MATH_ERF: return mpfr_erf;
  case HL_MATH_SIN: return mpfr_sin;
  case HL_MATH_COS: return mpfr_cos;
  case HL_MATH_TAN: return mpfr_tan;
  case HL_MATH_ASIN: return mpfr_asin;
  case HL_MATH_ACOS: return mpfr_acos;
  case HL_MATH_ATAN: return mpfr_atan;
  case HL_MATH_SINH: return mpfr_sinh;
  case HL_MATH_COSH: return mpfr_cosh;
  case HL_MATH_ASINH: return mpfr_asinh;
  case HL_MATH_ACOSH: return mpfr_acosh;
  case HL_MATH_ATANH: return mpfr_atanh;
  default: return NULL;
  }
}

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
  unary *one = unary_of(fn);
  if (one) {
    one(out, x, MPFR_RNDN);
  } else {
    mpfr_set_d(y, hl_math_arity(fn) == 2 ? args[1] : power_exponent(fn), MPFR_RNDN);
    binary_of(fn)(out, x, y, MPFR_RNDN);
  }
  mpfr_clear(x);
  mpfr_clear(y);
}
