/* emit_math_fmod - the exact remainder of a division that truncates.
 *
 * With r = |x| and d = |y|, each round takes a multiple of D = d 2^k from r, k so that r / D is
 * below 2^23 (f32) or 2^52: the nearest integer n to the rounded quotient leaves r - n D between
 * -D/2 and D/2 but for a last place, which a fused multiply-add gives exactly, and D is added where
 * that is negative. When k was 0 the result is below d. A lane that is done stays as it is: n is 0,
 * or 1 when r > d/2, and then r - d and r - d + d are exact.
 */
#include "emit_math_internal.h"

/* The exponent of a positive number, denormal ones included, as an integer. */
static value exponent_of(emitter *e, value a)
{
  value tiny = less(e, a, K(MIN_NORMAL));
  value bits = bits_of(e, choose(e, tiny, mul(e, a, K(SCALE_UP)), a));
  value lost = choose(e, tiny, whole(e, (uint64_t)NUMBER(SCALE_BITS)), whole(e, 0));
  return isub(e, shift_right(e, bits, fraction_bits(e)), lost);
}

/* d 2^k for k up to twice the largest exponent, by two exact steps. */
static value scale(emitter *e, value d, value k)
{
  value half = shift_right(e, k, 1), one = whole(e, (uint64_t)bias(e));
  value once = mul(e, d, power_of_two(e, iadd(e, half, one)));
  return mul(e, once, power_of_two(e, iadd(e, isub(e, k, half), one)));
}

static value round_once(emitter *e, value r, value d, value d_exponent)
{
  value room = whole(e, fraction_bits(e) - 1), zero = whole(e, 0), integers = K(INTEGERS);
  value excess = isub(e, isub(e, exponent_of(e, r), d_exponent), room);
  value k = choose(e, LLVMBuildICmp(e->builder, LLVMIntSGT, excess, zero, ""), excess, zero);
  value multiple = scale(e, d, k);
  value n = sub(e, add(e, divide(e, r, multiple), integers), integers);
  value left = fused(e, negate(e, n), multiple, r);
  return choose(e, less(e, left, real(e, 0)), add(e, left, multiple), left);
}

/* r mod d for finite r >= 0 and d > 0. */
static value reduce(emitter *e, value start, value d)
{
  value d_exponent = exponent_of(e, d);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder), head = hl_math_block(e, "fmod");
  LLVMBasicBlockRef body = hl_math_block(e, "fmod.round"), after = hl_math_block(e, "fmod.done");
  LLVMBuildBr(e->builder, head);
  LLVMPositionBuilderAtEnd(e->builder, head);
  value r = LLVMBuildPhi(e->builder, real_type(e), "");
  LLVMBuildCondBr(e->builder, hl_math_any(e, at_least(e, r, d)), body, after);
  LLVMPositionBuilderAtEnd(e->builder, body);
  value next = round_once(e, r, d, d_exponent);
  LLVMBuildBr(e->builder, head);
  LLVMAddIncoming(r, (value[]){start, next}, (LLVMBasicBlockRef[]){before, body}, 2);
  LLVMPositionBuilderAtEnd(e->builder, after);
  return r;
}

value hl_math_fmod(emitter *e, value x, value y)
{
  value zero = real(e, 0), ax = magnitude(e, x), ay = magnitude(e, y);
  value x_finite = less(e, ax, infinity(e)), y_infinite = equal(e, ay, infinity(e));
  value regular = bit_and(e, x_finite, bit_and(e, greater(e, ay, zero), less(e, ay, infinity(e))));
  value r = reduce(e, choose(e, regular, ax, zero), choose(e, regular, ay, real(e, 1)));
  value irregular = choose(e, bit_and(e, x_finite, y_infinite), x, not_a_number(e));
  return choose(e, regular, with_sign(e, r, x), irregular);
}
