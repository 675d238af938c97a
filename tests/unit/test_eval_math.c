/* test_eval_math - special values and exact cases of the mathematical functions, and their errors
 * on a coarse sample.
 *
 * The proof of the error bounds is tests/math; here every function must be near libm's value in a
 * wider type.
 */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval_math.h"

#define INF ((double)INFINITY)
#define NOT ((double)NAN)

/* fn(x, y) = want, in f32 and in f64; the numbers are exact in both. */
static const struct {
  hl_math_fn fn;
  double x, y, want;
} cases[] = {
    {HL_MATH_EXP, 0, 0, 1},
    {HL_MATH_EXP, -0.0, 0, 1},
    {HL_MATH_EXP, INF, 0, INF},
    {HL_MATH_EXP, -INF, 0, 0},
    {HL_MATH_EXP, NOT, 0, NOT},
    {HL_MATH_EXP, 1e30, 0, INF},
    {HL_MATH_EXP, -1e30, 0, 0},
    {HL_MATH_EXPM1, 0, 0, 0},
    {HL_MATH_EXPM1, -0.0, 0, -0.0},
    {HL_MATH_EXPM1, INF, 0, INF},
    {HL_MATH_EXPM1, -INF, 0, -1},
    {HL_MATH_EXPM1, NOT, 0, NOT},
    {HL_MATH_EXPM1, 0x1p-149, 0, 0x1p-149},
    {HL_MATH_LOG, 1, 0, 0},
    {HL_MATH_LOG, 0, 0, -INF},
    {HL_MATH_LOG, -0.0, 0, -INF},
    {HL_MATH_LOG, INF, 0, INF},
    {HL_MATH_LOG, -1, 0, NOT},
    {HL_MATH_LOG, -INF, 0, NOT},
    {HL_MATH_LOG, NOT, 0, NOT},
    {HL_MATH_LOG1P, 0, 0, 0},
    {HL_MATH_LOG1P, -0.0, 0, -0.0},
    {HL_MATH_LOG1P, -1, 0, -INF},
    {HL_MATH_LOG1P, -2, 0, NOT},
    {HL_MATH_LOG1P, INF, 0, INF},
    {HL_MATH_LOG1P, NOT, 0, NOT},
    {HL_MATH_LOG1P, 0x1p-149, 0, 0x1p-149},
    {HL_MATH_LOG1P, -INF, 0, NOT},
    {HL_MATH_SQRT, 4, 0, 2},
    {HL_MATH_SQRT, -0.0, 0, -0.0},
    {HL_MATH_SQRT, -1, 0, NOT},
    {HL_MATH_SQRT, INF, 0, INF},
    {HL_MATH_RSQRT, 4, 0, 0.5},
    {HL_MATH_RSQRT, 0, 0, INF},
    {HL_MATH_RSQRT, -0.0, 0, -INF},
    {HL_MATH_RSQRT, INF, 0, 0},
    {HL_MATH_RSQRT, -1, 0, NOT},
    {HL_MATH_CBRT, -8, 0, -2},
    {HL_MATH_CBRT, 27, 0, 3},
    {HL_MATH_CBRT, 0.125, 0, 0.5},
    {HL_MATH_CBRT, -0.0, 0, -0.0},
    {HL_MATH_CBRT, -INF, 0, -INF},
    {HL_MATH_CBRT, NOT, 0, NOT},
    {HL_MATH_CBRT, 0x1p-147, 0, 0x1p-49},
    {HL_MATH_LOGISTIC, 0, 0, 0.5},
    {HL_MATH_LOGISTIC, INF, 0, 1},
    {HL_MATH_LOGISTIC, -INF, 0, 0},
    {HL_MATH_LOGISTIC, NOT, 0, NOT},
    {HL_MATH_TANH, 0, 0, 0},
    {HL_MATH_TANH, -0.0, 0, -0.0},
    {HL_MATH_TANH, INF, 0, 1},
    {HL_MATH_TANH, -INF, 0, -1},
    {HL_MATH_TANH, NOT, 0, NOT},
    {HL_MATH_TANH, 0x1p-149, 0, 0x1p-149},
    {HL_MATH_ERF, 0, 0, 0},
    {HL_MATH_ERF, -0.0, 0, -0.0},
    {HL_MATH_ERF, INF, 0, 1},
    {HL_MATH_ERF, -INF, 0, -1},
    {HL_MATH_ERF, NOT, 0, NOT},
    {HL_MATH_ERF, -100, 0, -1},
    {HL_MATH_SIN, 0, 0, 0},
    {HL_MATH_SIN, -0.0, 0, -0.0},
    {HL_MATH_SIN, INF, 0, NOT},
    {HL_MATH_SIN, NOT, 0, NOT},
    {HL_MATH_SIN, 0x1p-149, 0, 0x1p-149},
    {HL_MATH_COS, 0, 0, 1},
    {HL_MATH_COS, -0.0, 0, 1},
    {HL_MATH_COS, 0x1p-60, 0, 1},
    {HL_MATH_COS, -INF, 0, NOT},
    {HL_MATH_COS, NOT, 0, NOT},
    {HL_MATH_TAN, 0, 0, 0},
    {HL_MATH_TAN, -0.0, 0, -0.0},
    {HL_MATH_TAN, INF, 0, NOT},
    {HL_MATH_TAN, NOT, 0, NOT},
    {HL_MATH_ASIN, 0, 0, 0},
    {HL_MATH_ASIN, -0.0, 0, -0.0},
    {HL_MATH_ASIN, 1.5, 0, NOT},
    {HL_MATH_ASIN, -2, 0, NOT},
    {HL_MATH_ASIN, NOT, 0, NOT},
    {HL_MATH_ACOS, 1, 0, 0},
    {HL_MATH_ACOS, 1.5, 0, NOT},
    {HL_MATH_ACOS, -INF, 0, NOT},
    {HL_MATH_ATAN, -0.0, 0, -0.0},
    {HL_MATH_ATAN, 0x1p-149, 0, 0x1p-149},
    {HL_MATH_ATAN, NOT, 0, NOT},
    {HL_MATH_SINH, -0.0, 0, -0.0},
    {HL_MATH_SINH, -INF, 0, -INF},
    {HL_MATH_SINH, 1e4, 0, INF},
    {HL_MATH_SINH, NOT, 0, NOT},
    {HL_MATH_COSH, 0, 0, 1},
    {HL_MATH_COSH, -INF, 0, INF},
    {HL_MATH_COSH, NOT, 0, NOT},
    {HL_MATH_ASINH, -0.0, 0, -0.0},
    {HL_MATH_ASINH, -INF, 0, -INF},
    {HL_MATH_ASINH, NOT, 0, NOT},
    {HL_MATH_ACOSH, 1, 0, 0},
    {HL_MATH_ACOSH, 0.5, 0, NOT},
    {HL_MATH_ACOSH, INF, 0, INF},
    {HL_MATH_ACOSH, NOT, 0, NOT},
    {HL_MATH_ACOSH, -5, 0, NOT},
    {HL_MATH_ATANH, -0.0, 0, -0.0},
    {HL_MATH_ATANH, 1, 0, INF},
    {HL_MATH_ATANH, -1, 0, -INF},
    {HL_MATH_ATANH, 2, 0, NOT},
    {HL_MATH_ATANH, NOT, 0, NOT},
    {HL_MATH_POW_0_5, 4, 0, 2},
    {HL_MATH_POW_0_5, -0.0, 0, 0},
    {HL_MATH_POW_0_5, -INF, 0, INF},
    {HL_MATH_POW_0_5, -4, 0, NOT},
    {HL_MATH_POW_M0_5, -0.0, 0, INF},
    {HL_MATH_POW_M0_5, -INF, 0, 0},
    {HL_MATH_POW_M0_5, 0.25, 0, 2},
    {HL_MATH_POW_M0_5, -4, 0, NOT},
    {HL_MATH_POW_1, -3, 0, -3},
    {HL_MATH_POW_M1, -0.0, 0, -INF},
    {HL_MATH_POW_M1, -4, 0, -0.25},
    {HL_MATH_POW_1_5, 4, 0, 8},
    {HL_MATH_POW_1_5, -0.0, 0, 0},
    {HL_MATH_POW_1_5, -INF, 0, INF},
    {HL_MATH_POW_1_5, -4, 0, NOT},
    {HL_MATH_POW_M1_5, 4, 0, 0.125},
    {HL_MATH_POW_M1_5, 0, 0, INF},
    {HL_MATH_POW_M1_5, INF, 0, 0},
    {HL_MATH_POW_M1_5, -INF, 0, 0},
    {HL_MATH_POW_M1_5, -4, 0, NOT},
    {HL_MATH_POW_M1_5, NOT, 0, NOT},
    {HL_MATH_POW_2, -3, 0, 9},
    {HL_MATH_POW_3, -3, 0, -27},
    {HL_MATH_POW, 1, NOT, 1},
    {HL_MATH_POW, NOT, 0, 1},
    {HL_MATH_POW, NOT, -0.0, 1},
    {HL_MATH_POW, NOT, 1, NOT},
    {HL_MATH_POW, 2, NOT, NOT},
    {HL_MATH_POW, -0.0, -1, -INF},
    {HL_MATH_POW, 0, -1, INF},
    {HL_MATH_POW, -0.0, 3, -0.0},
    {HL_MATH_POW, -0.0, 2, 0},
    {HL_MATH_POW, -0.0, -2, INF},
    {HL_MATH_POW, -0.0, 0.5, 0},
    {HL_MATH_POW, -0.0, -INF, INF},
    {HL_MATH_POW, -1, INF, 1},
    {HL_MATH_POW, -1, -INF, 1},
    {HL_MATH_POW, -8, 1.5, NOT},
    {HL_MATH_POW, -2, 3, -8},
    {HL_MATH_POW, -2, 4, 16},
    {HL_MATH_POW, 2, -3, 0.125},
    {HL_MATH_POW, 0.5, INF, 0},
    {HL_MATH_POW, 0.5, -INF, INF},
    {HL_MATH_POW, 2, INF, INF},
    {HL_MATH_POW, 2, -INF, 0},
    {HL_MATH_POW, -INF, 3, -INF},
    {HL_MATH_POW, -INF, 2, INF},
    {HL_MATH_POW, -INF, -3, -0.0},
    {HL_MATH_POW, -INF, 0.5, INF},
    {HL_MATH_POW, INF, -0.5, 0},
    {HL_MATH_POW, INF, 2, INF},
    {HL_MATH_POW, 0, INF, 0},
    {HL_MATH_POW, 3, 4, 81},
    {HL_MATH_POW, 2, -149, 0x1p-149},
    {HL_MATH_POW, 2, 1e30, INF},
    {HL_MATH_POW, -2, 1e30, INF},
    {HL_MATH_POW, -0.5, 1e30, 0},
    {HL_MATH_POW, 1, INF, 1},
    {HL_MATH_POW, 10, 2, 100},
    {HL_MATH_ATAN2, 0, 1, 0},
    {HL_MATH_ATAN2, -0.0, 1, -0.0},
    {HL_MATH_ATAN2, 0, 0, 0},
    {HL_MATH_ATAN2, -0.0, 0, -0.0},
    {HL_MATH_ATAN2, 1, INF, 0},
    {HL_MATH_ATAN2, -1, INF, -0.0},
    {HL_MATH_ATAN2, NOT, 1, NOT},
    {HL_MATH_ATAN2, 1, NOT, NOT},
    {HL_MATH_ATAN2, NOT, INF, NOT},
    {HL_MATH_FMOD, 5, 3, 2},
    {HL_MATH_FMOD, -5, 3, -2},
    {HL_MATH_FMOD, 5, -3, 2},
    {HL_MATH_FMOD, 5, INF, 5},
    {HL_MATH_FMOD, 5, 0, NOT},
    {HL_MATH_FMOD, -0.0, 3, -0.0},
    {HL_MATH_FMOD, INF, 3, NOT},
    {HL_MATH_FMOD, NOT, 3, NOT},
    {HL_MATH_FMOD, 6, 3, 0},
    {HL_MATH_FMOD, -6, 3, -0.0},
    {HL_MATH_FMOD, 0x1p120, 0x1.8p-140, 0x1p-140},
};

static bool same_f64(double a, double b)
{
  return memcmp(&a, &b, sizeof a) == 0;
}

static bool same_f32(float a, float b)
{
  return memcmp(&a, &b, sizeof a) == 0;
}

START_TEST(special_values)
{
  double want = cases[_i].want, args[2] = {cases[_i].x, cases[_i].y};
  double wide = hl_math_eval_f64(cases[_i].fn, args);
  const char *name = hl_math_name(cases[_i].fn);
  ck_assert_msg(same_f64(wide, want), "%s_f64(%a, %a) = %a, not %a", name, args[0], args[1], wide,
                want);
  float narrow = hl_math_eval_f32(cases[_i].fn, (float[]){(float)args[0], (float)args[1]});
  ck_assert_msg(same_f32(narrow, (float)want), "%s_f32(%a, %a) = %a, not %a", name, args[0],
                args[1], (double)narrow, want);
}
END_TEST

/* Angles, which are pi times a fraction rounded once. */
START_TEST(angles)
{
  ck_assert(same_f32(hl_math_atan2_f32(0, -0.0F), (float)M_PI));
  ck_assert(same_f32(hl_math_atan2_f32(-0.0F, -1), -(float)M_PI));
  ck_assert(same_f32(hl_math_atan2_f32(1, 0), (float)M_PI_2));
  ck_assert(same_f64(hl_math_atan2_f64(INFINITY, INFINITY), M_PI_4));
  ck_assert(same_f64(hl_math_atan2_f64(INFINITY, -INFINITY), 3 * M_PI_4));
  ck_assert(same_f64(hl_math_atan2_f64(-1, -INFINITY), -M_PI));
  ck_assert(same_f64(hl_math_acos_f64(-1), M_PI));
  ck_assert(same_f64(hl_math_acos_f64(0), M_PI_2));
  ck_assert(same_f64(hl_math_asin_f64(-1), -M_PI_2));
  ck_assert(same_f64(hl_math_atan_f64(INFINITY), M_PI_2));
}
END_TEST

START_TEST(constant_powers)
{
  ck_assert_int_eq(hl_math_pow_constant(0.5), HL_MATH_POW_0_5);
  ck_assert_int_eq(hl_math_pow_constant(-1.5), HL_MATH_POW_M1_5);
  ck_assert_int_eq(hl_math_pow_constant(3), HL_MATH_POW_3);
  ck_assert_int_eq(hl_math_pow_constant(1.7), HL_MATH_POW);
  ck_assert_int_eq(hl_math_pow_constant(0), HL_MATH_POW);
  ck_assert_int_eq(hl_math_pow_constant(NOT), HL_MATH_POW);
}
END_TEST

static double inverse_root(double x)
{
  return 1 / sqrt(x);
}

static double logistic(double x)
{
  return 1 / (1 + exp(-x));
}

static double power_exponent(hl_math_fn fn)
{
  static const double exponents[] = {0.5, 1, 1.5, 2, 3, -0.5, -1, -1.5};
  size_t i = 0;
  while (hl_math_pow_constant(exponents[i]) != fn)
    i++;
  return exponents[i];
}

/* Libm's value in f64. */
static double near_value(hl_math_fn fn, double x, double y)
{
  static double (*const unaries[HL_MATH_COUNT])(double) = {
      [HL_MATH_EXP] = exp,     [HL_MATH_EXPM1] = expm1,       [HL_MATH_LOG] = log,
      [HL_MATH_LOG1P] = log1p, [HL_MATH_SQRT] = sqrt,         [HL_MATH_RSQRT] = inverse_root,
      [HL_MATH_CBRT] = cbrt,   [HL_MATH_LOGISTIC] = logistic, [HL_MATH_TANH] = tanh,
      [HL_MATH_ERF] = erf,     [HL_MATH_SIN] = sin,           [HL_MATH_COS] = cos,
      [HL_MATH_TAN] = tan,     [HL_MATH_ASIN] = asin,         [HL_MATH_ACOS] = acos,
      [HL_MATH_ATAN] = atan,   [HL_MATH_SINH] = sinh,         [HL_MATH_COSH] = cosh,
      [HL_MATH_ASINH] = asinh, [HL_MATH_ACOSH] = acosh,       [HL_MATH_ATANH] = atanh,
  };
  if (unaries[fn])
    return unaries[fn](x);
  if (hl_math_arity(fn) == 1)
    return pow(x, power_exponent(fn));
  return (fn == HL_MATH_ATAN2 ? atan2 : fn == HL_MATH_FMOD ? fmod : pow)(x, y);
}

/* got is within `units` last places of f32 of want, or both are NaN, or both overflow. */
static bool is_near(float got, double want, double units)
{
  if (isnan(want))
    return got != got;
  if (fabs(want) >= 0x1.fffffep127)
    return fabs((double)got) >= 0x1.fffffcp127 && (got > 0) == (want > 0);
  int place = want == 0 ? -149 : ilogb(want) - 23;
  return fabs((double)got - want) <= units * ldexp(1, place < -149 ? -149 : place);
}

START_TEST(f32_is_near_libm)
{
  hl_math_fn fn = (hl_math_fn)_i;
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 50021) {
    uint32_t pattern = (uint32_t)bits, other = (uint32_t)(bits * 2654435761U);
    float x, y;
    memcpy(&x, &pattern, sizeof x);
    memcpy(&y, &other, sizeof y);
    float got = hl_math_eval_f32(fn, (float[]){x, y});
    double want = near_value(fn, (double)x, (double)y);
    if (!is_near(got, want, 2))
      ck_abort_msg("%s(%a, %a) = %a, libm has %a", hl_math_name(fn), (double)x, (double)y,
                   (double)got, want);
  }
}
END_TEST

/* f64 agrees with libm to a few of its own last places. */
START_TEST(f64_is_near_libm)
{
  hl_math_fn fn = (hl_math_fn)_i;
  for (int i = -40000; i < 40000; i++) {
    double x = i % 2 ? i * 0x1.3p-12 : ldexp(1 + i * 0x1p-18, i % 1000), y = (i % 77) * 0.25;
    double got = hl_math_eval_f64(fn, (double[]){x, y}), want = near_value(fn, x, y);
    bool same =
        (got != got && want != want) || got == want || fabs(got - want) <= 0x1p-50 * fabs(want);
    if (!same && fabs(want) > 0x1p-1020)
      ck_abort_msg("%s(%a, %a) = %a, libm has %a", hl_math_name(fn), x, y, got, want);
  }
}
END_TEST

/* Large and so near to a multiple of pi / 2 that the first limb of the fraction is 0: what the rest of it loses in rounding
 * counts. The exact tangent is want + more. */
START_TEST(tan_near_a_large_multiple)
{
  double x = 0x1.01881cd76f5efp+30, want = -0x1.fa073fc835709p+31, more = -0x1.8b2f7225a9941p-27, place = 0x1p-21;
  ck_assert_double_le(fabs(hl_math_tan_f64(x) - want - more), 1.5 * place);
  ck_assert_double_le(fabs(hl_math_tan_f64(-x) + want + more), 1.5 * place);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("eval_math");
  TCase *t = tcase_create("values");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, special_values, 0, (int)(sizeof cases / sizeof *cases));
  tcase_add_test(t, angles);
  tcase_add_test(t, constant_powers);
  tcase_add_test(t, tan_near_a_large_multiple);
  tcase_add_loop_test(t, f32_is_near_libm, 0, HL_MATH_COUNT);
  tcase_add_loop_test(t, f64_is_near_libm, 0, HL_MATH_COUNT);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
