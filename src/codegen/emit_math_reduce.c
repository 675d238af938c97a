/* emit_math_reduce - Payne and Hanek's reduction for sin, cos and tan; the steps of
 * ir/eval_math_trig.inc.
 *
 * Large arguments are rare, so their reduction is one function of the module for each type, made
 * when first needed:
 *
 *   reduce(a, high, low, quadrant, lanes)   for each lane: where a is large, overwrite the other
 * three
 *
 * A vector branches over it as a whole and otherwise goes through memory. It has the only table of
 * the mathematical functions (1/pi), and its multiplication is a loop, so that a module with a sine
 * compiles fast.
 */
#include "emit_math_internal.h"

#include <stdio.h>

enum { WINDOW = 7, USED = 5 };

static unsigned limb_bits(const emitter *e)
{
  return bit_count(e) / 2;
}

static value limb_mask(emitter *e)
{
  return whole(e, (UINT64_C(1) << limb_bits(e)) - 1);
}

static value mul_int(emitter *e, value a, value b)
{
  return LLVMBuildMul(e->builder, a, b, "");
}

static value shift_right_by(emitter *e, value a, value by)
{
  return LLVMBuildLShr(e->builder, a, by, "");
}

static value element(emitter *e, LLVMTypeRef type, value base, value index)
{
  return LLVMBuildInBoundsGEP2(e->builder, type, base, &index, 1, "");
}

static value phi(emitter *e, value first, LLVMBasicBlockRef from)
{
  value joined = LLVMBuildPhi(e->builder, LLVMTypeOf(first), "");
  LLVMAddIncoming(joined, &first, &from, 1);
  return joined;
}

/* The other way into a phi: from where the builder stands. */
static void feed(emitter *e, value joined, value next)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
  LLVMAddIncoming(joined, &next, &here, 1);
}

/* The limbs of 1/pi as a private constant; limbs are half as wide as the type. */
static value inv_pi_table(emitter *e)
{
  int bits = (int)limb_bits(e), count = hl_math_inv_pi_limbs(bits);
  LLVMTypeRef limb = LLVMIntTypeInContext(e->context, limb_bits(e));
  value limbs[128];
  for (int i = 0; i < count; i++)
    limbs[i] = LLVMConstInt(limb, hl_math_inv_pi_limb(i, bits), 0);
  value table = LLVMAddGlobal(e->module, LLVMArrayType2(limb, (uint64_t)count), "hl_math.inv_pi");
  LLVMSetInitializer(table, LLVMConstArray2(limb, limbs, (uint64_t)count));
  LLVMSetLinkage(table, LLVMPrivateLinkage);
  LLVMSetGlobalConstant(table, 1);
  LLVMSetUnnamedAddress(table, LLVMGlobalUnnamedAddr);
  return table;
}

/* What the multiplication loop carries: the place in it, the table's limb before, its product, the
 * carry. */
typedef struct multiplication {
  value low, high;          /* halves of the significand */
  value first, shift, back; /* first limb, and the shift that puts the binary point between limbs;
                               back = limb - shift */
  value index, limb, product, carry;
} multiplication;

static multiplication start_multiplication(emitter *e, value a)
{
  value bits = bits_of(e, a);
  uint64_t leading = UINT64_C(1) << fraction_bits(e);
  value significand = bit_or(e, bit_and(e, bits, whole(e, leading - 1)), whole(e, leading));
  significand = shift_left(e, significand, 1);
  /* The exponent field less this is the evaluator's e - 1. */
  uint64_t base = (uint64_t)bias(e) + fraction_bits(e) - limb_bits(e) + 1;
  value before = isub(e, shift_right(e, bits, fraction_bits(e)), whole(e, base));
  multiplication m = {.low = bit_and(e, significand, limb_mask(e)),
                      .high = shift_right(e, significand, limb_bits(e)),
                      .first = shift_right(e, before, e->is_f64 ? 5 : 4)};
  m.shift = iadd(e, bit_and(e, before, whole(e, limb_bits(e) - 1)), whole(e, 1));
  m.back = isub(e, whole(e, limb_bits(e)), m.shift);
  return m;
}

/* One limb of the product: sum of the two partial products and the carry. Returns the limb of the
 * fraction. */
static value multiply_limb(emitter *e, multiplication *m, value limb)
{
  value mask = limb_mask(e);
  value a = mul_int(e, limb, m->low), b = mul_int(e, m->limb, m->high);
  value sum = iadd(e, iadd(e, bit_and(e, a, mask), bit_and(e, b, mask)), m->carry);
  value product = bit_and(e, sum, mask), before = m->product;
  unsigned bits = limb_bits(e);
  m->carry =
      iadd(e, shift_right(e, sum, bits), iadd(e, shift_right(e, a, bits), shift_right(e, b, bits)));
  m->limb = limb;
  m->product = product;
  value up = LLVMBuildShl(e->builder, product, m->shift, "");
  return bit_and(e, bit_or(e, up, shift_right_by(e, before, m->back)), mask);
}

/* Fills fraction (WINDOW integers in memory, lowest first); returns the quadrant, of which two bits
 * count. */
static value turn_fraction(emitter *e, value a, value fraction)
{
  LLVMTypeRef limb_type = LLVMIntTypeInContext(e->context, limb_bits(e)), type = int_type(e);
  value table = inv_pi_table(e), zero = whole(e, 0);
  multiplication m = start_multiplication(e, a);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef body = hl_math_block(e, "limb"), after = hl_math_block(e, "limbs");
  LLVMBuildBr(e->builder, body);
  LLVMPositionBuilderAtEnd(e->builder, body);
  multiplication at = m;
  at.index = phi(e, zero, before), at.limb = phi(e, zero, before);
  at.product = phi(e, zero, before), at.carry = phi(e, zero, before);
  multiplication next = at;
  value place = isub(e, iadd(e, m.first, whole(e, WINDOW - 1)), at.index);
  value limb = LLVMBuildLoad2(e->builder, limb_type, element(e, limb_type, table, place), "");
  value part = multiply_limb(e, &next, LLVMBuildZExt(e->builder, limb, type, ""));
  LLVMBuildStore(e->builder, part, element(e, type, fraction, at.index));
  next.index = iadd(e, at.index, whole(e, 1));
  feed(e, at.index, next.index), feed(e, at.limb, next.limb);
  feed(e, at.product, next.product), feed(e, at.carry, next.carry);
  value more = LLVMBuildICmp(e->builder, LLVMIntNE, next.index, whole(e, WINDOW), "");
  LLVMBuildCondBr(e->builder, more, body, after);
  LLVMPositionBuilderAtEnd(e->builder, after);
  value top = shift_left(e, iadd(e, mul_int(e, next.limb, m.high), next.carry), limb_bits(e));
  return shift_right_by(e, bit_or(e, top, next.product), m.back);
}

/* Limb `i` of the fraction from the top, flipped, times 2^(-bits (i + 1)). */
static value fraction_part(emitter *e, value limb, value flip, unsigned i)
{
  LLVMTypeRef narrow = LLVMInt32TypeInContext(e->context);
  value small = bit_xor(e, limb, flip);
  small = e->is_f64 ? LLVMBuildTrunc(e->builder, small, narrow, "") : small;
  value x = LLVMBuildUIToFP(e->builder, small, real_type(e), "");
  return mul(e, x, real(e, ldexp(1, -(int)(limb_bits(e) * (i + 1)))));
}

/* The distance of the fraction from its nearest integer times pi / 2, as a sum. */
static hl_reduction scale_turn(emitter *e, const value part[USED])
{
  value rest = add(e, part[2], add(e, part[3], part[4])), tail = add(e, part[1], rest);
  value turn = add(e, part[0], tail);
  value turn_low = add(e, sum_error(e, part[0], tail, turn), sum_error(e, part[1], rest, tail));
  value half_pi = K(HALF_PI_HI), p = mul(e, turn, half_pi);
  value p_low = fused(e, turn, K(HALF_PI_MID), mul(e, turn_low, half_pi));
  p_low = add(e, p_low, fused(e, turn, half_pi, negate(e, p)));
  value high = add(e, p, p_low);
  return (hl_reduction){high, sum_error(e, p, p_low, high), NULL};
}

static hl_reduction reduce_one(emitter *e, value a, value fraction)
{
  value limbs[USED], part[USED];
  value quadrant = turn_fraction(e, a, fraction);
  for (unsigned i = 0; i < USED; i++)
    limbs[i] = LLVMBuildLoad2(e->builder, int_type(e),
                              element(e, int_type(e), fraction, whole(e, WINDOW - 1 - i)), "");
  value up = shift_right(e, limbs[0], limb_bits(e) - 1);
  value flip = bit_and(e, isub(e, whole(e, 0), up), limb_mask(e));
  for (unsigned i = 0; i < USED; i++)
    part[i] = fraction_part(e, limbs[i], flip, i);
  hl_reduction r = scale_turn(e, part);
  value sign = shift_left(e, up, bit_count(e) - 1);
  return (hl_reduction){flip_sign(e, r.high, sign), flip_sign(e, r.low, sign),
                        iadd(e, quadrant, up)};
}

static value is_large(emitter *e, value a)
{
  return bit_and(e, at_least(e, a, K(TRIG_MAX)), less(e, a, infinity(e)));
}

enum { VALUES, HIGH, LOW, QUADRANT, LANES, PARAMETERS };

static LLVMTypeRef function_type(const emitter *e)
{
  LLVMTypeRef pointer = LLVMPointerTypeInContext(e->context, 0);
  LLVMTypeRef parameters[PARAMETERS] = {pointer, pointer, pointer, pointer, scalar_int(e)};
  return LLVMFunctionType(LLVMVoidTypeInContext(e->context), parameters, PARAMETERS, 0);
}

/* The body for one lane; e is scalar and stands in a block of its own. */
static void reduce_lane(emitter *e, value function, value lane, value fraction)
{
  LLVMTypeRef f = real_type(e);
  value x = LLVMBuildLoad2(e->builder, f, element(e, f, LLVMGetParam(function, VALUES), lane), "");
  LLVMBasicBlockRef work = hl_math_block(e, "large"), after = hl_math_block(e, "next");
  LLVMBuildCondBr(e->builder, is_large(e, x), work, after);
  LLVMPositionBuilderAtEnd(e->builder, work);
  hl_reduction r = reduce_one(e, x, fraction);
  LLVMBuildStore(e->builder, r.high, element(e, f, LLVMGetParam(function, HIGH), lane));
  LLVMBuildStore(e->builder, r.low, element(e, f, LLVMGetParam(function, LOW), lane));
  LLVMBuildStore(e->builder, r.quadrant,
                 element(e, int_type(e), LLVMGetParam(function, QUADRANT), lane));
  LLVMBuildBr(e->builder, after);
  LLVMPositionBuilderAtEnd(e->builder, after);
}

static void define_function(emitter *outer, value function)
{
  emitter scalar = *outer, *e = &scalar;
  e->lanes = 1;
  e->builder = LLVMCreateBuilderInContext(e->context);
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(e->context, function, "");
  LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(e->context, function, "lane");
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(e->context, function, "end");
  LLVMPositionBuilderAtEnd(e->builder, entry);
  value fraction = LLVMBuildAlloca(e->builder, LLVMArrayType2(int_type(e), WINDOW), "");
  LLVMBuildBr(e->builder, body);
  LLVMPositionBuilderAtEnd(e->builder, body);
  value lane = phi(e, whole(e, 0), entry);
  reduce_lane(e, function, lane, fraction);
  value next = iadd(e, lane, whole(e, 1));
  feed(e, lane, next);
  value more = LLVMBuildICmp(e->builder, LLVMIntNE, next, LLVMGetParam(function, LANES), "");
  LLVMBuildCondBr(e->builder, more, body, end);
  LLVMPositionBuilderAtEnd(e->builder, end);
  LLVMBuildRetVoid(e->builder);
  LLVMDisposeBuilder(e->builder);
}

static value reduce_function(emitter *e)
{
  const char *name = e->is_f64 ? "hl_math.reduce.f64" : "hl_math.reduce.f32";
  value function = LLVMGetNamedFunction(e->module, name);
  if (function)
    return function;
  function = LLVMAddFunction(e->module, name, function_type(e));
  LLVMSetLinkage(function, LLVMInternalLinkage);
  unsigned kind = LLVMGetEnumAttributeKindForName("nounwind", 8);
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(e->context, kind, 0));
  define_function(e, function);
  return function;
}

/* Memory for one value, made at the start of the function so that loops do not make it again. */
static value memory_for(emitter *e, LLVMTypeRef type)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(here));
  value first = LLVMGetFirstInstruction(entry);
  if (first)
    LLVMPositionBuilderBefore(e->builder, first);
  else
    LLVMPositionBuilderAtEnd(e->builder, entry);
  value memory = LLVMBuildAlloca(e->builder, type, "");
  LLVMPositionBuilderAtEnd(e->builder, here);
  return memory;
}

/* All lanes through the function. */
static hl_reduction reduce_lanes(emitter *e, value a, hl_reduction near)
{
  LLVMTypeRef f = real_type(e), i = int_type(e);
  value arguments[PARAMETERS] = {memory_for(e, f), memory_for(e, f), memory_for(e, f),
                                 memory_for(e, i), LLVMConstInt(scalar_int(e), e->lanes, 0)};
  LLVMBuildStore(e->builder, a, arguments[VALUES]);
  LLVMBuildStore(e->builder, near.high, arguments[HIGH]);
  if (near.low)
    LLVMBuildStore(e->builder, near.low, arguments[LOW]);
  LLVMBuildStore(e->builder, near.quadrant, arguments[QUADRANT]);
  LLVMBuildCall2(e->builder, function_type(e), reduce_function(e), arguments, PARAMETERS, "");
  hl_reduction far = {LLVMBuildLoad2(e->builder, f, arguments[HIGH], ""), NULL,
                      LLVMBuildLoad2(e->builder, i, arguments[QUADRANT], "")};
  far.low = near.low ? LLVMBuildLoad2(e->builder, f, arguments[LOW], "") : NULL;
  return far;
}

hl_reduction hl_math_reduce_large(emitter *e, value a, hl_reduction near)
{
  value any = hl_math_any(e, is_large(e, a));
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef slow = hl_math_block(e, "reduce"), after = hl_math_block(e, "reduced");
  LLVMBuildCondBr(e->builder, any, slow, after);
  LLVMPositionBuilderAtEnd(e->builder, slow);
  hl_reduction far = reduce_lanes(e, a, near), r = {0};
  LLVMBuildBr(e->builder, after);
  LLVMPositionBuilderAtEnd(e->builder, after);
  r.high = phi(e, near.high, before);
  r.quadrant = phi(e, near.quadrant, before);
  LLVMAddIncoming(r.high, &far.high, &slow, 1);
  LLVMAddIncoming(r.quadrant, &far.quadrant, &slow, 1);
  if (near.low) {
    r.low = phi(e, near.low, before);
    LLVMAddIncoming(r.low, &far.low, &slow, 1);
  }
  return r;
}
