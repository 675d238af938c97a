/* emit_math_log - log, log1p, asinh, acosh, atanh; the steps of ir/eval_math_log.inc. */
#include "emit_math_internal.h"

value hl_math_split_exponent(emitter *e, value x, value *biased)
{
  value mask = whole(e, (UINT64_C(1) << fraction_bits(e)) - 1), root = bits_of(e, K(SQRT_HALF));
  value from_half = isub(e, bits_of(e, x), isub(e, root, bits_of(e, real(e, 1))));
  *biased = shift_right(e, from_half, fraction_bits(e));
  return real_of(e, iadd(e, bit_and(e, from_half, mask), root));
}

value hl_math_exponent(emitter *e, value biased, value offset)
{
  return sub(e, small_to_real(e, biased), add(e, offset, real(e, bias(e))));
}

/* low: NULL for none. */
static value log_sum(emitter *e, value f, value low, value k)
{
  value z = mul(e, f, f);
  value t = fused(e, k, K(LN2_LO), mul(e, mul(e, POLY(LOG, f), f), z));
  t = low ? add(e, t, low) : t;
  t = add(e, fused(e, real(e, -0.5), z, t), f);
  return fused(e, k, K(LN2_HI), t);
}

/* r where x < inf, else inf; NaN where x > least fails, but -inf for equality. */
static value log_domain(emitter *e, value r, value x, double least)
{
  r = choose(e, less(e, x, infinity(e)), r, infinity(e));
  value outside = choose(e, equal(e, x, real(e, least)), real(e, -INFINITY), not_a_number(e));
  return choose(e, greater(e, x, real(e, least)), r, outside);
}

value hl_math_log(emitter *e, value x)
{
  value tiny = less(e, x, K(MIN_NORMAL)), biased;
  value m = hl_math_split_exponent(e, choose(e, tiny, mul(e, x, K(SCALE_UP)), x), &biased);
  value exponent = hl_math_exponent(e, biased, choose(e, tiny, K(SCALE_BITS), real(e, 0)));
  return log_domain(e, log_sum(e, sub(e, m, real(e, 1)), NULL, exponent), x, 0);
}

/* log(1 + x + low) - offset ln 2; low: NULL for none. */
static value log1p_sum(emitter *e, value x, value low, value offset)
{
  value one = real(e, 1), above = greater(e, x, one), biased;
  value big = choose(e, above, x, one), small = choose(e, above, one, x);
  value u = add(e, big, small), c = sum_error(e, big, small, u);
  c = low ? add(e, c, low) : c;
  value m = sub(e, hl_math_split_exponent(e, u, &biased), one);
  value down = power_of_two(e, isub(e, whole(e, 2 * (uint64_t)bias(e)), biased));
  c = choose(e, less(e, x, K(ONE_LOST)), mul(e, c, down), real(e, 0));
  value f = add(e, m, c);
  return log_sum(e, f, sum_error(e, m, c, f), hl_math_exponent(e, biased, offset));
}

value hl_math_log1p(emitter *e, value x)
{
  value r = with_sign(e, magnitude(e, log1p_sum(e, x, NULL, real(e, 0))), x);
  return log_domain(e, r, x, -1);
}

value hl_math_asinh(emitter *e, value x)
{
  value zero = real(e, 0), one = real(e, 1);
  value a = magnitude(e, x), z = mul(e, a, a), near = less(e, a, K(ONE_LOST));
  value root = square_root(e, add(e, one, z));
  value d = choose(e, near, divide(e, z, add(e, one, root)), zero);
  value v = add(e, a, d);
  value r = log1p_sum(e, v, sum_error(e, a, d, v), choose(e, near, zero, real(e, -1)));
  return with_sign(e, choose(e, less(e, a, infinity(e)), r, a), x);
}

value hl_math_acosh(emitter *e, value x)
{
  value zero = real(e, 0), one = real(e, 1);
  value t = sub(e, x, one), near = less(e, x, K(ONE_LOST));
  value w = choose(e, near, square_root(e, fused(e, t, t, add(e, t, t))), zero);
  value v = add(e, w, t), low = choose(e, near, sum_error(e, w, t, v), zero);
  value r = log1p_sum(e, v, low, choose(e, near, zero, real(e, -1)));
  r = choose(e, less(e, x, infinity(e)), r, infinity(e));
  return choose(e, at_least(e, x, one), r, not_a_number(e));
}

value hl_math_atanh(emitter *e, value x)
{
  value one = real(e, 1), a = magnitude(e, x), b = add(e, a, a), d = sub(e, one, a);
  value v = divide(e, b, d), minus = negate(e, v);
  value rest = fused(e, minus, sub(e, sub(e, one, d), a), fused(e, minus, d, b));
  value r = mul(e, real(e, 0.5), log1p_sum(e, v, divide(e, rest, d), real(e, 0)));
  value outside = choose(e, equal(e, a, one), infinity(e), not_a_number(e));
  return with_sign(e, choose(e, less(e, a, one), r, outside), x);
}
