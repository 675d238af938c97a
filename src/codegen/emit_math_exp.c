/* emit_math_exp - exp, expm1, tanh, logistic, sinh, cosh, erf; the steps of ir/eval_math_exp.inc.
 */
#include "emit_math_internal.h"

static value reduce_ln2(emitter *e, value x, double offset, value *shifted)
{
  value magic = real(e, NUMBER(MAGIC) + offset);
  *shifted = fused(e, x, K(LOG2E), magic);
  value n = sub(e, *shifted, magic);
  value r = fused(e, n, real(e, -NUMBER(LN2_HI)), x);
  return fused(e, n, real(e, -NUMBER(LN2_LO)), r);
}

static value exp_small(emitter *e, value r)
{
  value p = mul(e, POLY(EXP, r), r);
  return add(e, real(e, 1), fused(e, p, r, r));
}

value hl_math_scale_twice(emitter *e, value q, value shifted)
{
  value n = bits_of(e, shifted), half = shift_right(e, n, 1);
  value near = mul(e, q, power_of_two(e, half));
  return mul(e, near, power_of_two(e, isub(e, n, half)));
}

static value exp_scaled(emitter *e, value x, int extra)
{
  value shifted, r = reduce_ln2(e, x, 2 * bias(e) + extra, &shifted);
  return hl_math_scale_twice(e, exp_small(e, r), shifted);
}

static value exp_normal(emitter *e, value x)
{
  value shifted, r = reduce_ln2(e, x, bias(e), &shifted);
  return mul(e, exp_small(e, r), power_of_two(e, bits_of(e, shifted)));
}

value hl_math_exp(emitter *e, value x)
{
  value y = clamp_below(e, x, K(EXP_MIN));
  return exp_scaled(e, clamp_above(e, y, K(EXP_MAX)), 0);
}

value hl_math_expm1(emitter *e, value x)
{
  value y = clamp_above(e, clamp_below(e, x, K(EXPM1_MIN)), K(EXP_MAX));
  value shifted, r = reduce_ln2(e, y, bias(e) - 1, &shifted);
  value s = power_of_two(e, bits_of(e, shifted));
  value t = fused(e, s, r, sub(e, s, real(e, 0.5)));
  t = fused(e, mul(e, mul(e, r, r), s), POLY(EXP, r), t);
  return choose(e, less(e, magnitude(e, x), K(TINY)), x, add(e, t, t));
}

value hl_math_tanh(emitter *e, value x)
{
  value a = magnitude(e, x), z = mul(e, a, a);
  value b = clamp_above(e, a, K(TANH_MAX));
  value d = add(e, exp_normal(e, add(e, b, b)), real(e, 1));
  value large = sub(e, real(e, 1), divide(e, real(e, 2), d));
  value small = fused(e, mul(e, POLY(TANH, z), z), a, a);
  return with_sign(e, choose(e, less(e, a, K(TANH_SPLIT)), small, large), x);
}

value hl_math_logistic(emitter *e, value x)
{
  value one = real(e, 1), y = negate(e, magnitude(e, x));
  value t = exp_scaled(e, clamp_below(e, y, K(EXP_MIN)), 0);
  value is_below = less(e, x, real(e, 0));
  value d = add(e, one, t), n = choose(e, is_below, t, one), q = divide(e, n, d);
  value minus = negate(e, q);
  value rest = fused(e, minus, sum_error(e, one, t, d), fused(e, minus, d, n));
  return fused(e, rest, choose(e, is_below, sub(e, one, q), q), q);
}

static value half_exp(emitter *e, value a)
{
  return exp_scaled(e, clamp_above(e, a, K(SINH_MAX)), -1);
}

value hl_math_cosh(emitter *e, value x)
{
  value h = half_exp(e, magnitude(e, x));
  return add(e, h, divide(e, real(e, 0.25), h));
}

value hl_math_sinh(emitter *e, value x)
{
  value a = magnitude(e, x), h = half_exp(e, a), z = mul(e, a, a);
  value large = sub(e, h, divide(e, real(e, 0.25), h));
  value small = fused(e, mul(e, POLY(SINH, z), z), a, a);
  return with_sign(e, choose(e, less(e, a, real(e, 1)), small, large), x);
}

value hl_math_erf(emitter *e, value x)
{
  value a = magnitude(e, x), z = mul(e, a, a);
  value b = clamp_above(e, a, K(ERF_MAX));
  value large = sub(e, real(e, 1), exp_normal(e, negate(e, POLY(ERFC, b))));
  value small = fused(e, POLY(ERF, z), a, a);
  return with_sign(e, choose(e, less(e, a, K(ERF_SPLIT)), small, large), x);
}
