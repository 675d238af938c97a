/* lower_complex_math.c - functions of complex numbers, in f64 with the real functions of ir/math.def.
 *
 * The formulas are those of Kahan, "Branch cuts for complex elementary functions" (1987), with the special values of C's
 * Annex G; docs/numerics.md states them. Cases are selected, the later ones over the earlier.
 */
#include "lower_complex.h"

#include <math.h>

static const double LARGE_EXPONENT = 700; /* beyond it exp(x) may overflow although a product with it does not */

static hl_node *number(hl_puller *p, double value)
{
  return hl_put_float(p, HL_F64, value);
}

static hl_node *apply(hl_puller *p, hl_math_fn fn, hl_node *x)
{
  return hl_put_math(p, fn, 1, &x);
}

static hl_node *atan2_of(hl_puller *p, hl_node *y, hl_node *x)
{
  return hl_put_math(p, HL_MATH_ATAN2, 2, (hl_node *[]){y, x});
}

static hl_node *absolute(hl_puller *p, hl_node *x)
{
  return hl_put_unary(p, HL_LOOP_ABS, x);
}

static hl_node *negated(hl_puller *p, hl_node *x)
{
  return hl_put_unary(p, HL_LOOP_NEG, x);
}

static hl_node *times(hl_puller *p, double factor, hl_node *x)
{
  return hl_put_mul(p, number(p, factor), x);
}

static hl_node *plus(hl_puller *p, double term, hl_node *x)
{
  return hl_put_add(p, number(p, term), x);
}

static hl_node *half(hl_puller *p, hl_node *x)
{
  return times(p, 0.5, x);
}

static hl_node *root(hl_puller *p, hl_node *x)
{
  return hl_put_unary(p, HL_LOOP_SQRT, x);
}

static hl_node *is_less(hl_puller *p, hl_node *x, double limit)
{
  return hl_put_binary(p, HL_LOOP_LT, x, number(p, limit));
}

static hl_node *is_above(hl_puller *p, hl_node *x, double limit)
{
  return hl_put_binary(p, HL_LOOP_GT, x, number(p, limit));
}

static hl_node *equals(hl_puller *p, hl_node *x, double value)
{
  return hl_put_binary(p, HL_LOOP_EQ, x, number(p, value));
}

static hl_node *both(hl_puller *p, hl_node *x, hl_node *y)
{
  return hl_put_binary(p, HL_LOOP_AND, x, y);
}

static hl_node *either(hl_puller *p, hl_node *x, hl_node *y)
{
  return hl_put_binary(p, HL_LOOP_OR, x, y);
}

static hl_node *opposite(hl_puller *p, hl_node *x)
{
  return hl_put_unary(p, HL_LOOP_NOT, x);
}

/* --- |z| and its logarithm --- */

/* The parts' magnitudes by size. */
typedef struct legs {
  hl_node *longer, *shorter;
  hl_node *is_infinite, *is_nan, *is_zero;
} legs;

static legs legs_of(hl_puller *p, hl_value z)
{
  hl_node *x = absolute(p, z.re), *y = absolute(p, z.im);
  hl_node *is_first = hl_put_binary(p, HL_LOOP_GT, x, y);
  legs l = {hl_put_select(p, is_first, x, y), hl_put_select(p, is_first, y, x), NULL, NULL, NULL};
  l.is_infinite = either(p, equals(p, x, (double)INFINITY), equals(p, y, (double)INFINITY));
  l.is_nan = either(p, hl_put_is_nan(p, x), hl_put_is_nan(p, y));
  l.is_zero = equals(p, l.longer, 0);
  return l;
}

static hl_node *special_legs(hl_puller *p, legs l, double of_zero, hl_node *value)
{
  value = hl_put_select(p, l.is_zero, number(p, of_zero), value);
  value = hl_put_select(p, l.is_nan, number(p, (double)NAN), value);
  return hl_put_select(p, l.is_infinite, number(p, (double)INFINITY), value);
}

static hl_node *magnitude(hl_puller *p, hl_value z)
{
  legs l = legs_of(p, z);
  hl_node *r = hl_put_div(p, l.shorter, l.longer);
  hl_node *value = hl_put_mul(p, l.longer, root(p, plus(p, 1, hl_put_mul(p, r, r))));
  return special_legs(p, l, 0, value);
}

/* x^2 + y^2 - 1, each square as the sum of two doubles. */
static hl_node *square_minus_one(hl_puller *p, hl_node *x, hl_node *y)
{
  hl_node *xx = hl_put_mul(p, x, x), *yy = hl_put_mul(p, y, y);
  hl_node *x_rest = hl_put(p, HL_LOOP_FMA, HL_F64, 3, (hl_node *[]){x, x, negated(p, xx)});
  hl_node *y_rest = hl_put(p, HL_LOOP_FMA, HL_F64, 3, (hl_node *[]){y, y, negated(p, yy)});
  return hl_put_add(p, hl_put_add(p, plus(p, -1, xx), yy), hl_put_add(p, x_rest, y_rest));
}

/* Near 1 by log1p, where the sum of squares cancels. */
static hl_node *log_magnitude(hl_puller *p, hl_value z)
{
  legs l = legs_of(p, z);
  hl_node *r = hl_put_div(p, l.shorter, l.longer);
  hl_node *far = hl_put_add(p, apply(p, HL_MATH_LOG, l.longer),
                            half(p, apply(p, HL_MATH_LOG1P, hl_put_mul(p, r, r))));
  hl_node *near = half(p, apply(p, HL_MATH_LOG1P, square_minus_one(p, l.longer, l.shorter)));
  hl_node *is_near = both(p, hl_put_binary(p, HL_LOOP_GE, l.longer, number(p, 0.5)),
                          hl_put_binary(p, HL_LOOP_LE, l.longer, number(p, 1.5)));
  return special_legs(p, l, -(double)INFINITY, hl_put_select(p, is_near, near, far));
}

static hl_value logarithm(hl_puller *p, hl_value z)
{
  return (hl_value){log_magnitude(p, z), atan2_of(p, z.im, z.re)};
}

static hl_value logarithm_plus_one(hl_puller *p, hl_value z)
{
  hl_value sum = {plus(p, 1, z.re), z.im}, far = logarithm(p, sum);
  hl_node *squares = hl_put_add(p, hl_put_mul(p, z.re, z.re), hl_put_mul(p, z.im, z.im));
  hl_node *near = half(p, apply(p, HL_MATH_LOG1P, hl_put_add(p, times(p, 2, z.re), squares)));
  hl_node *is_near = both(p, is_less(p, absolute(p, z.re), 0.5), is_less(p, absolute(p, z.im), 0.5));
  return (hl_value){hl_put_select(p, is_near, near, far.re), far.im};
}

/* --- exponentials --- */

/* exp of x, or of half of it where exp alone may overflow: then a product takes it twice. */
typedef struct factor {
  hl_node *value, *is_twice;
} factor;

static factor exp_factor(hl_puller *p, hl_node *x)
{
  factor f = {NULL, is_above(p, x, LARGE_EXPONENT)};
  f.value = apply(p, HL_MATH_EXP, hl_put_select(p, f.is_twice, half(p, x), x));
  return f;
}

static hl_node *times_factor(hl_puller *p, hl_node *s, factor f)
{
  hl_node *once = hl_put_mul(p, s, f.value);
  return hl_put_select(p, f.is_twice, hl_put_mul(p, once, f.value), once);
}

/* A zero imaginary part stays one even beside an infinity; the direction of exp(-inf + i inf) does not matter. */
static hl_value exponential(hl_puller *p, hl_value z)
{
  factor f = exp_factor(p, z.re);
  hl_value value = {times_factor(p, apply(p, HL_MATH_COS, z.im), f),
                    times_factor(p, apply(p, HL_MATH_SIN, z.im), f)};
  hl_node *is_high = hl_put_binary(p, HL_LOOP_GT, z.re, number(p, 0));
  hl_value lost = {hl_put_select(p, is_high, z.re, number(p, 0)),
                   hl_put_select(p, is_high, number(p, (double)NAN), number(p, 0))};
  hl_node *has_angle = hl_put_unary(p, HL_LOOP_IS_FINITE, z.im);
  hl_node *is_lost = both(p, hl_put_is_infinite(p, z.re), opposite(p, has_angle));
  value = hl_put_choice(p, is_lost, lost, value);
  return hl_put_choice(p, equals(p, z.im, 0), (hl_value){apply(p, HL_MATH_EXP, z.re), z.im}, value);
}

/* cos(y) - 1 = -2 sin(y/2)^2 */
static hl_value exponential_minus_one(hl_puller *p, hl_value z)
{
  hl_value whole = exponential(p, z);
  hl_node *is_small = is_less(p, absolute(p, z.re), 1), *sine = apply(p, HL_MATH_SIN, half(p, z.im));
  hl_node *grown = apply(p, HL_MATH_EXPM1, z.re);
  hl_node *near = hl_put_sub(p, hl_put_mul(p, grown, apply(p, HL_MATH_COS, z.im)),
                             hl_put_mul(p, times(p, 2, sine), sine));
  hl_node *re = hl_put_select(p, is_small, near, plus(p, -1, whole.re));
  return (hl_value){hl_put_select(p, equals(p, z.im, 0), grown, re), whole.im};
}

static hl_value one_over(hl_puller *p, hl_value z)
{
  return hl_put_complex_divide(p, (hl_value){number(p, 1), number(p, 0)}, z);
}

static hl_value logistic(hl_puller *p, hl_value z)
{
  hl_value e = exponential(p, (hl_value){negated(p, z.re), negated(p, z.im)});
  return one_over(p, (hl_value){plus(p, 1, e.re), e.im});
}

/* --- hyperbolic functions; those of circles are theirs, turned --- */

/* i z and -i z */
static hl_value turned(hl_puller *p, hl_value z)
{
  return (hl_value){negated(p, z.im), z.re};
}

static hl_value turned_back(hl_puller *p, hl_value z)
{
  return (hl_value){z.im, negated(p, z.re)};
}

/* s cosh(x), t sinh(x) */
static hl_value times_hyperbolic(hl_puller *p, hl_node *s, hl_node *t, hl_node *x)
{
  hl_node *size = absolute(p, x);
  factor f = exp_factor(p, size);
  hl_node *near_s = hl_put_mul(p, s, apply(p, HL_MATH_COSH, x));
  hl_node *near_t = hl_put_mul(p, t, apply(p, HL_MATH_SINH, x));
  hl_node *signed_t = hl_put_copysign(p, t, hl_put_mul(p, t, x));
  return (hl_value){hl_put_select(p, f.is_twice, times_factor(p, half(p, s), f), near_s),
                    hl_put_select(p, f.is_twice, times_factor(p, half(p, signed_t), f), near_t)};
}

static hl_value sinh_of(hl_puller *p, hl_value z)
{
  hl_node *cosine = apply(p, HL_MATH_COS, z.im), *sine = apply(p, HL_MATH_SIN, z.im);
  hl_value v = times_hyperbolic(p, sine, cosine, z.re);
  return (hl_value){v.im, v.re};
}

static hl_value cosh_of(hl_puller *p, hl_value z)
{
  hl_node *cosine = apply(p, HL_MATH_COS, z.im), *sine = apply(p, HL_MATH_SIN, z.im);
  return times_hyperbolic(p, cosine, sine, z.re);
}

static hl_value tanh_of(hl_puller *p, hl_value z)
{
  hl_node *x = absolute(p, z.re), *zero = number(p, 0);
  hl_node *sine = hl_put_select(p, hl_put_unary(p, HL_LOOP_IS_FINITE, z.im),
                                apply(p, HL_MATH_SIN, times(p, 2, z.im)), zero);
  hl_value far = {hl_put_copysign(p, number(p, 1), z.re),
                  hl_put_mul(p, times(p, 2, sine), apply(p, HL_MATH_EXP, times(p, -2, x)))};
  hl_node *t = apply(p, HL_MATH_TAN, z.im), *s = apply(p, HL_MATH_SINH, z.re);
  hl_node *beta = plus(p, 1, hl_put_mul(p, t, t)), *rho = root(p, plus(p, 1, hl_put_mul(p, s, s)));
  hl_node *d = plus(p, 1, hl_put_mul(p, hl_put_mul(p, beta, s), s));
  hl_node *top = hl_put_mul(p, hl_put_mul(p, beta, rho), s);
  hl_value near = {hl_put_div(p, top, d), hl_put_div(p, t, d)};
  return hl_put_choice(p, is_above(p, x, 20), far, near);
}

static hl_value sine(hl_puller *p, hl_value z)
{
  return turned_back(p, sinh_of(p, turned(p, z)));
}

static hl_value cosine(hl_puller *p, hl_value z)
{
  return cosh_of(p, turned(p, z));
}

static hl_value tangent(hl_puller *p, hl_value z)
{
  return turned_back(p, tanh_of(p, turned(p, z)));
}

/* --- roots --- */

/* A power of two that brings z to a size whose squares and sums stay in range, and what undoes it for the root. */
static hl_node *root_scale(hl_puller *p, hl_value z, hl_node **back)
{
  hl_node *x = absolute(p, z.re), *y = absolute(p, z.im);
  hl_node *a = hl_put_select(p, hl_put_binary(p, HL_LOOP_GT, x, y), x, y);
  hl_node *is_large = is_above(p, a, 0x1p1000), *is_small = is_less(p, a, 0x1p-1000);
  hl_node *scale = hl_put_select(p, is_small, number(p, 0x1p200), number(p, 1));
  *back = hl_put_select(p, is_small, number(p, 0x1p-100), number(p, 1));
  *back = hl_put_select(p, is_large, number(p, 0x1p2), *back);
  return hl_put_select(p, is_large, number(p, 0x1p-4), scale);
}

static hl_value plain_root(hl_puller *p, hl_value z)
{
  hl_node *back, *scale = root_scale(p, z, &back);
  hl_value s = {hl_put_mul(p, z.re, scale), hl_put_mul(p, z.im, scale)};
  hl_node *t = root(p, half(p, hl_put_add(p, absolute(p, s.re), magnitude(p, s))));
  hl_node *other = hl_put_div(p, absolute(p, s.im), times(p, 2, t));
  hl_node *is_right = hl_put_binary(p, HL_LOOP_GE, s.re, number(p, 0));
  hl_node *re = hl_put_select(p, is_right, t, other), *im = hl_put_select(p, is_right, other, t);
  return (hl_value){hl_put_mul(p, re, back), hl_put_mul(p, hl_put_copysign(p, im, z.im), back)};
}

/* An infinite real part: the root lies along it, unless the imaginary part is NaN. */
static hl_value root_of_infinity(hl_puller *p, hl_value z)
{
  hl_node *zero = number(p, 0), *infinity = number(p, (double)INFINITY);
  hl_node *is_right = hl_put_binary(p, HL_LOOP_GT, z.re, zero), *is_nan = hl_put_is_nan(p, z.im);
  hl_node *size = hl_put_select(p, is_right, zero, infinity);
  hl_node *left = hl_put_select(p, is_nan, z.im, zero);
  return (hl_value){hl_put_select(p, is_right, z.re, left),
                    hl_put_select(p, is_nan, z.im, hl_put_copysign(p, size, z.im))};
}

static hl_value square_root(hl_puller *p, hl_value z)
{
  hl_node *zero = number(p, 0), *infinity = number(p, (double)INFINITY);
  hl_value value = hl_put_choice(p, hl_put_is_infinite(p, z.re), root_of_infinity(p, z), plain_root(p, z));
  value = hl_put_choice(p, hl_put_is_infinite(p, z.im), (hl_value){infinity, z.im}, value);
  hl_node *is_zero = both(p, equals(p, z.re, 0), equals(p, z.im, 0));
  return hl_put_choice(p, is_zero, (hl_value){zero, z.im}, value);
}

static hl_value reciprocal_root(hl_puller *p, hl_value z)
{
  return one_over(p, square_root(p, z));
}

/* --- inverse functions --- */

static hl_value one_minus(hl_puller *p, hl_value z)
{
  return (hl_value){hl_put_sub(p, number(p, 1), z.re), negated(p, z.im)};
}

static hl_value one_plus(hl_puller *p, hl_value z)
{
  return (hl_value){plus(p, 1, z.re), z.im};
}

static hl_node *asinh_real(hl_puller *p, hl_node *x)
{
  return apply(p, HL_MATH_ASINH, x);
}

/* x y - z w */
static hl_node *cross(hl_puller *p, hl_node *x, hl_node *y, hl_node *z, hl_node *w)
{
  return hl_put_sub(p, hl_put_mul(p, x, y), hl_put_mul(p, z, w));
}

static hl_value acos_of(hl_puller *p, hl_value z)
{
  hl_value a = square_root(p, one_minus(p, z)), b = square_root(p, one_plus(p, z));
  return (hl_value){times(p, 2, atan2_of(p, a.re, b.re)),
                    asinh_real(p, cross(p, b.re, a.im, b.im, a.re))};
}

static hl_value asin_of(hl_puller *p, hl_value z)
{
  hl_value a = square_root(p, one_minus(p, z)), b = square_root(p, one_plus(p, z));
  return (hl_value){atan2_of(p, z.re, cross(p, a.re, b.re, a.im, b.im)),
                    asinh_real(p, cross(p, a.re, b.im, a.im, b.re))};
}

static hl_value acosh_of(hl_puller *p, hl_value z)
{
  hl_value a = square_root(p, (hl_value){plus(p, -1, z.re), z.im}), b = square_root(p, one_plus(p, z));
  hl_node *sum = hl_put_add(p, hl_put_mul(p, a.re, b.re), hl_put_mul(p, a.im, b.im));
  return (hl_value){asinh_real(p, sum), times(p, 2, atan2_of(p, a.im, b.re))};
}

static hl_value asinh_of(hl_puller *p, hl_value z)
{
  return turned_back(p, asin_of(p, turned(p, z)));
}

static hl_value atanh_of(hl_puller *p, hl_value z)
{
  hl_node *below = hl_put_sub(p, number(p, 1), z.re), *square = hl_put_mul(p, z.im, z.im);
  hl_node *sum = hl_put_add(p, hl_put_mul(p, below, below), square);
  hl_node *re = apply(p, HL_MATH_LOG1P, hl_put_div(p, times(p, 4, z.re), sum));
  hl_node *x = hl_put_sub(p, hl_put_mul(p, below, plus(p, 1, z.re)), square);
  return (hl_value){times(p, 0.25, re), half(p, atan2_of(p, times(p, 2, z.im), x))};
}

/* --- the table --- */

static hl_value sign_of(hl_puller *p, hl_value z)
{
  hl_node *m = magnitude(p, z);
  hl_value value = {hl_put_div(p, z.re, m), hl_put_div(p, z.im, m)};
  return hl_put_choice(p, equals(p, m, 0), z, value);
}

static hl_value absolute_value(hl_puller *p, hl_value z)
{
  return (hl_value){magnitude(p, z), number(p, 0)};
}

typedef hl_value function(hl_puller *p, hl_value z);

hl_value hl_put_complex_function(hl_puller *p, hl_opcode opcode, hl_value z)
{
  static function *const functions[HL_OP_COUNT] = {
      [HL_OP_ABS] = absolute_value,
      [HL_OP_SIGN] = sign_of,
      [HL_OP_EXPONENTIAL] = exponential,
      [HL_OP_EXPONENTIAL_MINUS_ONE] = exponential_minus_one,
      [HL_OP_LOG] = logarithm,
      [HL_OP_LOG_PLUS_ONE] = logarithm_plus_one,
      [HL_OP_SQRT] = square_root,
      [HL_OP_RSQRT] = reciprocal_root,
      [HL_OP_TANH] = tanh_of,
      [HL_OP_LOGISTIC] = logistic,
      [HL_OP_SINE] = sine,
      [HL_OP_COSINE] = cosine,
      [HL_OP_TAN] = tangent,
      [HL_OP_SINH] = sinh_of,
      [HL_OP_COSH] = cosh_of,
      [HL_OP_ASIN] = asin_of,
      [HL_OP_ACOS] = acos_of,
      [HL_OP_ASINH] = asinh_of,
      [HL_OP_ACOSH] = acosh_of,
      [HL_OP_ATANH] = atanh_of,
  };
  return functions[opcode](p, z);
}

/* exp(w log z); 0 to the power 0 is 1, to one of positive real part 0. */
hl_value hl_put_complex_power(hl_puller *p, hl_value z, hl_value w)
{
  hl_value l = logarithm(p, z);
  hl_node *size = cross(p, w.re, l.re, w.im, l.im);
  hl_node *angle = hl_put_add(p, hl_put_mul(p, w.re, l.im), hl_put_mul(p, w.im, l.re));
  factor f = exp_factor(p, size);
  hl_value value = {times_factor(p, apply(p, HL_MATH_COS, angle), f),
                    times_factor(p, apply(p, HL_MATH_SIN, angle), f)};
  hl_node *one = number(p, 1), *zero = number(p, 0);
  hl_node *is_zero = both(p, equals(p, z.re, 0), equals(p, z.im, 0));
  value = hl_put_choice(p, both(p, is_zero, is_above(p, w.re, 0)), (hl_value){zero, zero}, value);
  hl_node *is_empty = both(p, equals(p, w.re, 0), equals(p, w.im, 0));
  return hl_put_choice(p, is_empty, (hl_value){one, zero}, value);
}

/* -i log((x + i y) / sqrt(x^2 + y^2)) */
hl_value hl_put_complex_atan2(hl_puller *p, hl_value y, hl_value x)
{
  hl_node *re = hl_put_add(p, cross(p, x.re, x.re, x.im, x.im), cross(p, y.re, y.re, y.im, y.im));
  hl_node *im = hl_put_add(p, hl_put_mul(p, x.re, x.im), hl_put_mul(p, y.re, y.im));
  hl_value size = square_root(p, (hl_value){re, times(p, 2, im)});
  hl_value sum = {hl_put_sub(p, x.re, y.im), hl_put_add(p, x.im, y.re)};
  return turned_back(p, logarithm(p, hl_put_complex_divide(p, sum, size)));
}
