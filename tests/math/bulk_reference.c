/* bulk_reference.c - blocks of results of libm in f64, by glibc's functions of eight lanes where
 * the processor has AVX-512 (their errors are below 4 ULP), and what results in f32 differ from
 * them. */
#include "bulk.h"
#include "reference.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static double bits_as_f64(uint64_t bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint64_t bits_of_f64(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Far beyond it e^x and e^-x are out of the range of f32; the functions of eight lanes leave the
 * lanes that overflow in f64 to slow code. */
static double clamped(double x)
{
  return x > 300 ? 300 : x < -300 ? -300 : x;
}

#ifdef __AVX512F__
#include <immintrin.h>

#define WIDE(name)                                                                                 \
  __m512d _ZGVeN8v_##name(__m512d x);                                                              \
  static void wide_##name(const double *x, double *out)                                            \
  {                                                                                                \
    for (int i = 0; i < BULK; i += 8)                                                              \
      _mm512_storeu_pd(out + i, _ZGVeN8v_##name(_mm512_loadu_pd(x + i)));                          \
  }
#else
#define WIDE(name)                                                                                 \
  static void wide_##name(const double *x, double *out)                                            \
  {                                                                                                \
    for (int i = 0; i < BULK; i++)                                                                 \
      out[i] = name(x[i]);                                                                         \
  }
#endif

#define NARROW(name)                                                                               \
  static void wide_##name(const double *x, double *out)                                            \
  {                                                                                                \
    for (int i = 0; i < BULK; i++)                                                                 \
      out[i] = name(x[i]);                                                                         \
  }

/* clang-format off */
WIDE(exp) WIDE(expm1) WIDE(log1p) WIDE(cbrt) WIDE(tanh) WIDE(erf) WIDE(sin) WIDE(cos) WIDE(tan)
WIDE(asin) WIDE(atan) WIDE(sinh) WIDE(cosh) WIDE(asinh) WIDE(acosh) WIDE(atanh)
NARROW(log) NARROW(acos)
    /* clang-format on */

    /* -inf to the power of y, +inf or 0, where the square root would be NaN. */
    static double root(double x)
{
  return isinf(x) ? (double)INFINITY : sqrt(x + 0.0);
}

#define STEPS(name, value)                                                                         \
  static void wide_##name(const double *x, double *out)                                            \
  {                                                                                                \
    for (int i = 0; i < BULK; i++)                                                                 \
      out[i] = value;                                                                              \
  }

STEPS(sqrt, sqrt(x[i]))
STEPS(rsqrt, 1 / sqrt(x[i]))
STEPS(pow_0_5, root(x[i]))
STEPS(pow_1, x[i])
STEPS(pow_1_5, fabs(x[i]) * root(x[i]))
STEPS(pow_2, x[i] * x[i])
STEPS(pow_3, x[i] * x[i] * x[i])
STEPS(pow_m0_5, 1 / root(x[i]))
STEPS(pow_m1, 1 / x[i])
STEPS(pow_m1_5, 1 / (fabs(x[i]) * root(x[i])))

static void wide_logistic(const double *x, double *out)
{
  double t[BULK];
  for (int i = 0; i < BULK; i++)
    t[i] = -x[i];
  wide_exp(t, out);
  for (int i = 0; i < BULK; i++)
    out[i] = 1 / (1 + out[i]);
}

static bool grows(hl_math_fn fn)
{
  return fn == HL_MATH_EXP || fn == HL_MATH_LOGISTIC || fn == HL_MATH_SINH || fn == HL_MATH_COSH ||
         fn == HL_MATH_EXPM1;
}

void hl_bulk_reference(hl_math_fn fn, const float *x, double *out)
{
  static void (*const functions[HL_MATH_COUNT])(const double *, double *) = {
      [HL_MATH_EXP] = wide_exp,           [HL_MATH_EXPM1] = wide_expm1,
      [HL_MATH_LOG] = wide_log,           [HL_MATH_LOG1P] = wide_log1p,
      [HL_MATH_SQRT] = wide_sqrt,         [HL_MATH_RSQRT] = wide_rsqrt,
      [HL_MATH_CBRT] = wide_cbrt,         [HL_MATH_LOGISTIC] = wide_logistic,
      [HL_MATH_TANH] = wide_tanh,         [HL_MATH_ERF] = wide_erf,
      [HL_MATH_SIN] = wide_sin,           [HL_MATH_COS] = wide_cos,
      [HL_MATH_TAN] = wide_tan,           [HL_MATH_ASIN] = wide_asin,
      [HL_MATH_ACOS] = wide_acos,         [HL_MATH_ATAN] = wide_atan,
      [HL_MATH_SINH] = wide_sinh,         [HL_MATH_COSH] = wide_cosh,
      [HL_MATH_ASINH] = wide_asinh,       [HL_MATH_ACOSH] = wide_acosh,
      [HL_MATH_ATANH] = wide_atanh,       [HL_MATH_POW_0_5] = wide_pow_0_5,
      [HL_MATH_POW_1] = wide_pow_1,       [HL_MATH_POW_1_5] = wide_pow_1_5,
      [HL_MATH_POW_2] = wide_pow_2,       [HL_MATH_POW_3] = wide_pow_3,
      [HL_MATH_POW_M0_5] = wide_pow_m0_5, [HL_MATH_POW_M1] = wide_pow_m1,
      [HL_MATH_POW_M1_5] = wide_pow_m1_5,
  };
  double wide[BULK];
  bool clamp = grows(fn);
  for (int i = 0; i < BULK; i++)
    wide[i] = clamp ? clamped((double)x[i]) : (double)x[i];
  functions[fn](wide, out);
}

/* The same bits, two NaNs, or infinity for what is beyond it. */
static bool same_special(double got, double want)
{
  bool overflow = fabs(want) >= 0x1p128 && got == copysign((double)INFINITY, want);
  return bits_of_f64(got) == bits_of_f64(want) || (got != got && want != want) || overflow;
}

static double one_error(double got, double want)
{
  static const uint64_t exponent = 0x7ffULL << 52, least = 0x381ULL << 52, units = 0x815ULL << 52;
  uint64_t g = bits_of_f64(got), w = bits_of_f64(want), e = w & exponent;
  e = e < least ? least : e;
  double unit = bits_as_f64(units - e), size = fabs(want);
  bool plain = size > 0 && size < 0x1p128 && fabs(got) < (double)INFINITY && ((g ^ w) >> 63) == 0;
  double error = fabs(got - want) * unit;
  return plain ? error : same_special(got, want) ? 0 : (double)INFINITY;
}

double hl_bulk_errors(const float *got, const double *want, double *error)
{
  double most = 0;
  for (int i = 0; i < BULK; i++)
    error[i] = one_error((double)got[i], want[i]);
  for (int i = 0; i < BULK; i++)
    most = error[i] > most ? error[i] : most;
  return most;
}
