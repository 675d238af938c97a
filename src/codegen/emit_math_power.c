/* emit_math_power - cbrt, pow, pow by the constants that need a square root; the steps of
 * ir/eval_math_power.inc. */
#include "emit_math_internal.h"

/* One of three by rest: below 0, 0, above 0. */
static value by_sign(emitter *e, value rest, value below, double none, value above)
{
  value upper = choose(e, greater(e, rest, real(e, 0)), above, real(e, none));
  return choose(e, less(e, rest, real(e, 0)), below, upper);
}

/* One of Newton's steps for y^3 = m. */
static value cbrt_step(emitter *e, value y, value m)
{
  value z = mul(e, y, y), low = fused(e, y, y, negate(e, z));
  value error = fused(e, low, y, fused(e, z, y, negate(e, m)));
  return sub(e, y, divide(e, error, mul(e, real(e, 3), z)));
}

value hl_math_cbrt(emitter *e, value x)
{
  value a = magnitude(e, x), tiny = less(e, a, K(MIN_NORMAL));
  value bits = bits_of(e, choose(e, tiny, mul(e, a, K(SCALE_UP)), a));
  value biased = shift_right(e, bits, fraction_bits(e));
  value exponent = small_to_real(e, isub(e, biased, whole(e, (uint64_t)bias(e))));
  value magic = real(e, NUMBER(MAGIC) + bias(e));
  value shifted = fused(e, exponent, K(THIRD), magic), third = sub(e, shifted, magic);
  value rest = fused(e, third, real(e, -3), exponent);
  value m = bit_and(e, bits, whole(e, (UINT64_C(1) << fraction_bits(e)) - 1));
  m = real_of(e, bit_or(e, m, bits_of(e, real(e, 1))));
  value y = mul(e, POLY(CBRT, m), by_sign(e, rest, K(CBRT_HALF), 1, K(CBRT_2)));
  m = mul(e, m, by_sign(e, rest, real(e, 0.5), 1, real(e, 2)));
  for (int i = 0; i < (e->is_f64 ? 2 : 1); i++)
    y = cbrt_step(e, y, m);
  value down = choose(e, tiny, K(CBRT_DOWN), real(e, 1));
  y = mul(e, y, mul(e, power_of_two(e, bits_of(e, shifted)), down));
  value regular = bit_and(e, greater(e, a, real(e, 0)), less(e, a, infinity(e)));
  return choose(e, regular, with_sign(e, y, x), x);
}

/* (1 + s) / (1 - s) = m: s = high + low. */
static value atanh_argument(emitter *e, value m, value *low)
{
  value one = real(e, 1), f = sub(e, m, one), d = add(e, m, one);
  value inverse = divide(e, one, d), s = mul(e, f, inverse), minus = negate(e, s);
  value rest = fused(e, minus, sub(e, m, sub(e, d, one)), fused(e, minus, d, f));
  *low = mul(e, rest, inverse);
  return s;
}

/* C1 + z (C3 + z P(z)) = high + low for z = z + z_low. */
static value log2_factor(emitter *e, value z, value z_low, value *low)
{
  value c1 = K(POW_C1_HI), c3 = K(POW_C3_HI);
  value p = mul(e, POLY(POW_LOG2, z), z);
  value w = add(e, c3, p), w_low = add(e, sum_error(e, c3, p, w), K(POW_C3_LO));
  value g = mul(e, z, w), g_low = fused(e, z_low, w, fused(e, z, w, negate(e, g)));
  g_low = fused(e, z, w_low, g_low);
  value v = add(e, c1, g);
  *low = add(e, sum_error(e, c1, g, v), add(e, g_low, K(POW_C1_LO)));
  return v;
}

/* log2 a - offset; a is positive and normal. */
static value log2_parts(emitter *e, value a, value offset, value *low)
{
  value biased, m = hl_math_split_exponent(e, a, &biased), s_low, v_low;
  value s = atanh_argument(e, m, &s_low);
  value z = mul(e, s, s);
  value z_low = fused(e, add(e, s, s), s_low, fused(e, s, s, negate(e, z)));
  value v = log2_factor(e, z, z_low, &v_low);
  value h = mul(e, s, v);
  value h_low = fused(e, s_low, v, fused(e, s, v_low, fused(e, s, v, negate(e, h))));
  value scale = hl_math_exponent(e, biased, offset), high = add(e, scale, h);
  *low = add(e, sum_error(e, scale, h, high), h_low);
  return high;
}

static value exp2_sum(emitter *e, value t, value low)
{
  value y = clamp_above(e, clamp_below(e, t, K(EXP2_MIN)), K(EXP2_MAX));
  value magic = real(e, NUMBER(MAGIC) + 2 * bias(e));
  value shifted = add(e, y, magic);
  low = choose(e, equal(e, t, y), low, real(e, 0));
  value r = add(e, sub(e, y, sub(e, shifted, magic)), low);
  return hl_math_scale_twice(e, fused(e, POLY(EXP2, r), r, real(e, 1)), shifted);
}

static value pow_magnitude(emitter *e, value a, value y)
{
  value tiny = less(e, a, K(MIN_NORMAL)), low;
  value scaled = choose(e, tiny, mul(e, a, K(SCALE_UP)), a);
  value offset = choose(e, tiny, K(SCALE_BITS), real(e, 0));
  value high = log2_parts(e, scaled, offset, &low);
  high = choose(e, greater(e, a, real(e, 0)), high, real(e, -INFINITY));
  high = choose(e, less(e, a, infinity(e)), high, a);
  value t = mul(e, y, high);
  return exp2_sum(e, t, fused(e, y, low, fused(e, y, high, negate(e, t))));
}

/* Whether a >= 0 is an integer. */
static value is_whole(emitter *e, value a)
{
  value integers = K(INTEGERS);
  value near = sub(e, add(e, a, integers), integers);
  return equal(e, choose(e, less(e, a, integers), near, a), a);
}

value hl_math_pow(emitter *e, value x, value y)
{
  value most = K(POW_MAX), zero = real(e, 0), one = real(e, 1);
  value b = clamp_above(e, clamp_below(e, y, real(e, -NUMBER(POW_MAX))), most);
  value r = pow_magnitude(e, magnitude(e, x), b);
  value c = magnitude(e, b);
  value whole_exponent = is_whole(e, c), even = is_whole(e, mul(e, c, real(e, 0.5)));
  value is_odd = bit_and(e, whole_exponent, LLVMBuildNot(e->builder, even, ""));
  r = choose(e, is_odd, with_sign(e, r, x), r);
  value finite_below = bit_and(e, less(e, x, zero), greater(e, x, real(e, -INFINITY)));
  value undefined = bit_and(e, finite_below, LLVMBuildNot(e->builder, whole_exponent, ""));
  r = choose(e, undefined, not_a_number(e), r);
  return choose(e, bit_or(e, equal(e, y, zero), equal(e, x, one)), one, r);
}

static value cube_of_inverse_root(emitter *e, value x, value y)
{
  value t = mul(e, x, y), t_low = fused(e, x, y, negate(e, t));
  value error = fused(e, negate(e, t_low), y, fused(e, negate(e, t), y, real(e, 1)));
  value z = mul(e, y, y), z_low = fused(e, y, y, negate(e, z));
  value correction = mul(e, mul(e, mul(e, real(e, 1.5), error), z), y);
  value r = fused(e, z, y, fused(e, z_low, y, correction));
  r = choose(e, at_least(e, y, K(CUBE_MAX)), infinity(e), r);
  return choose(e, equal(e, y, real(e, 0)), real(e, 0), r);
}

static value reciprocal(emitter *e, value x)
{
  return divide(e, real(e, 1), x);
}

value hl_math_sqrt(emitter *e, value x)
{
  return square_root(e, x);
}

value hl_math_rsqrt(emitter *e, value x)
{
  return reciprocal(e, square_root(e, x));
}

/* The square root that pow has: +0 for -0. */
static value positive_root(emitter *e, value x)
{
  return add(e, square_root(e, x), real(e, 0));
}

/* r, but pow(-inf, ...) is not the NaN that comes of a square root. */
static value unless_minus_infinity(emitter *e, value x, double at_minus_infinity, value r)
{
  return choose(e, equal(e, x, real(e, -INFINITY)), real(e, at_minus_infinity), r);
}

value hl_math_pow_0_5(emitter *e, value x)
{
  return unless_minus_infinity(e, x, INFINITY, positive_root(e, x));
}

value hl_math_pow_m0_5(emitter *e, value x)
{
  return unless_minus_infinity(e, x, 0, reciprocal(e, positive_root(e, x)));
}

value hl_math_pow_1_5(emitter *e, value x)
{
  value r = add(e, mul(e, x, square_root(e, x)), real(e, 0));
  return unless_minus_infinity(e, x, INFINITY, r);
}

value hl_math_pow_m1_5(emitter *e, value x)
{
  value r = cube_of_inverse_root(e, x, reciprocal(e, positive_root(e, x)));
  return unless_minus_infinity(e, x, 0, r);
}

value hl_math_pow_1(emitter *e, value x)
{
  (void)e;
  return x;
}

value hl_math_pow_m1(emitter *e, value x)
{
  return reciprocal(e, x);
}

value hl_math_pow_2(emitter *e, value x)
{
  return mul(e, x, x);
}

value hl_math_pow_3(emitter *e, value x)
{
  return mul(e, mul(e, x, x), x);
}
