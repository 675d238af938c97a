/* emit_math_trig - sin, cos, tan, asin, acos, atan, atan2; the steps of ir/eval_math_trig.inc. */
#include "emit_math_internal.h"

static value reduce_quadrant(emitter *e, value a, value *quadrant)
{
  value shifted = fused(e, a, K(INV_HALF_PI), K(MAGIC)), n = sub(e, shifted, K(MAGIC));
  value r = fused(e, n, real(e, -NUMBER(HALF_PI_HI)), a);
  r = fused(e, n, real(e, -NUMBER(HALF_PI_MID)), r);
  r = fused(e, n, real(e, -NUMBER(HALF_PI_LO)), r);
  hl_reduction whole_range =
      hl_math_reduce_large(e, a, (hl_reduction){r, NULL, bits_of(e, shifted)});
  *quadrant = whole_range.quadrant;
  return whole_range.high;
}

static value sin_quadrant(emitter *e, value r, value quadrant, value sign)
{
  value z = mul(e, r, r);
  value s = fused(e, mul(e, r, z), POLY(SIN, z), r);
  value c = fused(e, fused(e, POLY(COS, z), z, real(e, -0.5)), z, real(e, 1));
  value t = choose(e, odd(e, quadrant), c, s);
  value turned = shift_left(e, shift_right(e, quadrant, 1), bit_count(e) - 1);
  return flip_sign(e, t, sign ? bit_xor(e, turned, sign) : turned);
}

static value finite_or_nan(emitter *e, value a, value t)
{
  return choose(e, less(e, a, infinity(e)), t, not_a_number(e));
}

value hl_math_sin(emitter *e, value x)
{
  value a = magnitude(e, x), quadrant;
  value r = reduce_quadrant(e, a, &quadrant);
  return finite_or_nan(e, a, sin_quadrant(e, r, quadrant, sign_of(e, x)));
}

value hl_math_cos(emitter *e, value x)
{
  value a = magnitude(e, x), quadrant;
  value r = reduce_quadrant(e, a, &quadrant);
  return finite_or_nan(e, a, sin_quadrant(e, r, iadd(e, quadrant, whole(e, 1)), NULL));
}

static hl_reduction reduce_quadrant_twice(emitter *e, value a)
{
  value shifted = fused(e, a, K(INV_HALF_PI), K(MAGIC)), n = sub(e, shifted, K(MAGIC));
  value exact = fused(e, n, real(e, -NUMBER(HALF_PI_HI)), a);
  value p = mul(e, n, K(HALF_PI_MID)), p_low = fused(e, n, K(HALF_PI_MID), negate(e, p));
  value near = sub(e, exact, p);
  value taken = sub(e, near, exact);
  value lost = sub(e, sub(e, exact, sub(e, near, taken)), add(e, p, taken));
  value rest = fused(e, n, real(e, -NUMBER(HALF_PI_LO)), sub(e, lost, p_low));
  value high = add(e, near, rest), low = sum_error(e, near, rest, high);
  return hl_math_reduce_large(e, a, (hl_reduction){high, low, bits_of(e, shifted)});
}

value hl_math_tan(emitter *e, value x)
{
  value a = magnitude(e, x);
  hl_reduction r = reduce_quadrant_twice(e, a);
  value z = mul(e, r.high, r.high);
  value tail = fused(e, mul(e, r.high, z), POLY(TAN, z), fused(e, z, r.low, r.low));
  value t = add(e, r.high, tail);
  value y = choose(e, odd(e, r.quadrant), divide(e, real(e, -1), t), t);
  return finite_or_nan(e, a, flip_sign(e, y, sign_of(e, x)));
}

static value add_to_angle(emitter *e, value high, value low, value s, value tail)
{
  value sum = add(e, high, s);
  return add(e, sum, add(e, low, add(e, tail, sum_error(e, high, s, sum))));
}

static value atan_from(emitter *e, value high, value low, value q, value sign)
{
  value z = mul(e, q, q), s = flip_sign(e, q, sign);
  return add_to_angle(e, high, low, s, mul(e, mul(e, POLY(ATAN, z), z), s));
}

value hl_math_atan(emitter *e, value x)
{
  value zero = real(e, 0), one = real(e, 1);
  value a = magnitude(e, x), steep = greater(e, a, one);
  value high = choose(e, steep, K(HALF_PI_HI), zero), low = choose(e, steep, K(HALF_PI_MID), zero);
  value q = choose(e, steep, divide(e, one, a), a);
  value sign = choose(e, steep, sign_mask(e), whole(e, 0));
  return with_sign(e, atan_from(e, high, low, q, sign), x);
}

value hl_math_atan2(emitter *e, value y, value x)
{
  value zero = real(e, 0), one = real(e, 1);
  value ay = magnitude(e, y), ax = magnitude(e, x);
  value steep = greater(e, ay, ax), behind = is_negative(e, x);
  value small = choose(e, steep, ax, ay), large = choose(e, steep, ay, ax);
  value same = choose(e, greater(e, large, zero), one, zero);
  value q = choose(e, equal(e, small, large), same, divide(e, small, large));
  value turns = choose(e, steep, one, choose(e, behind, real(e, 2), zero));
  value sign = choose(e, bit_xor(e, steep, behind), sign_mask(e), whole(e, 0));
  value high = mul(e, turns, K(HALF_PI_HI)), low = mul(e, turns, K(HALF_PI_MID));
  value r = with_sign(e, atan_from(e, high, low, q, sign), y);
  value ordered = LLVMBuildFCmp(e->builder, LLVMRealORD, ax, ay, "");
  return choose(e, ordered, r, not_a_number(e));
}

/* s and the tail, and whether a >= 1/2. */
typedef struct arcsine {
  value large, s, tail;
} arcsine;

static arcsine arcsine_parts(emitter *e, value a)
{
  value large = at_least(e, a, real(e, 0.5));
  value z = choose(e, large, fused(e, a, real(e, -0.5), real(e, 0.5)), mul(e, a, a));
  value s = choose(e, large, square_root(e, z), a);
  return (arcsine){large, s, mul(e, mul(e, POLY(ASIN, z), z), s)};
}

value hl_math_asin(emitter *e, value x)
{
  arcsine p = arcsine_parts(e, magnitude(e, x));
  value minus_two = real(e, -2);
  value r = add_to_angle(e, K(HALF_PI_HI), K(HALF_PI_MID), mul(e, minus_two, p.s),
                         mul(e, minus_two, p.tail));
  return with_sign(e, choose(e, p.large, r, add(e, p.s, p.tail)), x);
}

value hl_math_acos(emitter *e, value x)
{
  arcsine p = arcsine_parts(e, magnitude(e, x));
  value negative = less(e, x, real(e, 0)), two = real(e, 2), zero = real(e, 0);
  value s = choose(e, p.large, mul(e, two, p.s), p.s);
  value tail = choose(e, p.large, mul(e, two, p.tail), p.tail);
  value turns = choose(e, p.large, choose(e, negative, two, zero), real(e, 1));
  value sign = choose(e, bit_xor(e, p.large, negative), whole(e, 0), sign_mask(e));
  value high = mul(e, turns, K(HALF_PI_HI)), low = mul(e, turns, K(HALF_PI_MID));
  return add_to_angle(e, high, low, flip_sign(e, s, sign), flip_sign(e, tail, sign));
}
