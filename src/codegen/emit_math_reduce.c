/* emit_math_reduce - Payne and Hanek's reduction for sin, cos and tan; the steps of ir/eval_math_trig.inc.
 *
 * Large arguments are rare, so vector code branches over this as a whole: lanes go through memory to one scalar function
 * of the module, made when first needed, which has the only table of the mathematical functions (1/pi).
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

static value shift_left_by(emitter *e, value a, value by)
{
  return LLVMBuildShl(e->builder, a, by, "");
}

static value shift_right_by(emitter *e, value a, value by)
{
  return LLVMBuildLShr(e->builder, a, by, "");
}

/* The limbs of 1/pi as a private constant; limbs are half as wide as the type. */
static value inv_pi_table(emitter *e)
{
  char name[32];
  snprintf(name, sizeof name, "hl_math.inv_pi.%u", limb_bits(e));
  value table = LLVMGetNamedGlobal(e->module, name);
  if (table)
    return table;
  int count = hl_math_inv_pi_limbs((int)limb_bits(e));
  LLVMTypeRef limb = LLVMIntTypeInContext(e->context, limb_bits(e));
  value limbs[128];
  for (int i = 0; i < count; i++)
    limbs[i] = LLVMConstInt(limb, hl_math_inv_pi_limb(i, (int)limb_bits(e)), 0);
  table = LLVMAddGlobal(e->module, LLVMArrayType2(limb, (uint64_t)count), name);
  LLVMSetInitializer(table, LLVMConstArray2(limb, limbs, (uint64_t)count));
  LLVMSetLinkage(table, LLVMPrivateLinkage);
  LLVMSetGlobalConstant(table, 1);
  LLVMSetUnnamedAddress(table, LLVMGlobalUnnamedAddr);
  return table;
}

/* Limb `first` + `step` of 1/pi in the type's integers. */
static value load_limb(emitter *e, value table, value first, unsigned step)
{
  LLVMTypeRef limb = LLVMIntTypeInContext(e->context, limb_bits(e));
  value index = iadd(e, first, whole(e, step));
  value address = LLVMBuildInBoundsGEP2(e->builder, limb, table, &index, 1, "");
  return LLVMBuildZExt(e->builder, LLVMBuildLoad2(e->builder, limb, address, ""), int_type(e), "");
}

static void multiply_window(emitter *e, value significand, value first, value product[WINDOW + 1])
{
  unsigned bits = limb_bits(e);
  value table = inv_pi_table(e), mask = limb_mask(e);
  value low = bit_and(e, significand, mask), high = shift_right(e, significand, bits);
  value carry = whole(e, 0), previous = whole(e, 0);
  for (unsigned i = 0; i <= WINDOW; i++) {
    value limb = i < WINDOW ? load_limb(e, table, first, WINDOW - 1 - i) : whole(e, 0);
    value a = mul_int(e, limb, low), b = mul_int(e, previous, high);
    value sum = iadd(e, iadd(e, bit_and(e, a, mask), bit_and(e, b, mask)), carry);
    product[i] = bit_and(e, sum, mask);
    carry = iadd(e, shift_right(e, sum, bits), iadd(e, shift_right(e, a, bits), shift_right(e, b, bits)));
    previous = limb;
  }
}

/* fraction: the WINDOW limbs, highest last; returns the integer below them. */
static value turn_fraction(emitter *e, value a, value fraction[WINDOW])
{
  value bits = bits_of(e, a), product[WINDOW + 1], limb = whole(e, limb_bits(e));
  uint64_t leading = UINT64_C(1) << fraction_bits(e);
  value significand = bit_or(e, bit_and(e, bits, whole(e, leading - 1)), whole(e, leading));
  /* The exponent field less this is e - 1. */
  uint64_t base = (uint64_t)bias(e) + fraction_bits(e) - limb_bits(e) + 1;
  value before = isub(e, shift_right(e, bits, fraction_bits(e)), whole(e, base));
  value first = shift_right(e, before, e->is_f64 ? 5 : 4);
  value shift = iadd(e, bit_and(e, before, whole(e, limb_bits(e) - 1)), whole(e, 1));
  value back = isub(e, limb, shift);
  multiply_window(e, shift_left(e, significand, 1), first, product);
  for (unsigned i = 0; i < WINDOW; i++) {
    value up = shift_left_by(e, product[i], shift);
    value both = i ? bit_or(e, up, shift_right_by(e, product[i - 1], back)) : up;
    fraction[i] = bit_and(e, both, limb_mask(e));
  }
  value top = bit_or(e, shift_left(e, product[WINDOW], limb_bits(e)), product[WINDOW - 1]);
  return shift_right_by(e, top, back);
}

/* Limb times 2^(-bits (i + 1)). */
static value limb_to_real(emitter *e, value limb, unsigned i)
{
  LLVMTypeRef narrow = LLVMInt32TypeInContext(e->context);
  value small = e->is_f64 ? LLVMBuildTrunc(e->builder, limb, narrow, "") : limb;
  value x = LLVMBuildUIToFP(e->builder, small, real_type(e), "");
  return mul(e, x, real(e, ldexp(1, -(int)(limb_bits(e) * (i + 1)))));
}

/* The distance of the fraction from its nearest integer times pi / 2, as a sum. */
static hl_reduction scale_turn(emitter *e, const value part[USED])
{
  value tail = add(e, part[1], add(e, part[2], add(e, part[3], part[4])));
  value turn = add(e, part[0], tail), turn_low = sum_error(e, part[0], tail, turn);
  value half_pi = K(HALF_PI_HI), p = mul(e, turn, half_pi);
  value p_low = fused(e, turn, K(HALF_PI_MID), mul(e, turn_low, half_pi));
  p_low = add(e, p_low, fused(e, turn, half_pi, negate(e, p)));
  value high = add(e, p, p_low);
  return (hl_reduction){high, sum_error(e, p, p_low, high), NULL};
}

/* The scalar function's body: e is scalar. */
static hl_reduction reduce_scalar(emitter *e, value a)
{
  value fraction[WINDOW], part[USED];
  value quadrant = turn_fraction(e, a, fraction);
  value up = shift_right(e, fraction[WINDOW - 1], limb_bits(e) - 1);
  value flip = bit_and(e, isub(e, whole(e, 0), up), limb_mask(e));
  for (unsigned i = 0; i < USED; i++)
    part[i] = limb_to_real(e, bit_xor(e, fraction[WINDOW - 1 - i], flip), i);
  hl_reduction r = scale_turn(e, part);
  value sign = shift_left(e, up, bit_count(e) - 1);
  return (hl_reduction){flip_sign(e, r.high, sign), flip_sign(e, r.low, sign), iadd(e, quadrant, up)};
}

static LLVMTypeRef result_type(const emitter *e)
{
  LLVMTypeRef fields[] = {scalar_real(e), scalar_real(e), scalar_int(e)};
  return LLVMStructTypeInContext(e->context, fields, 3, 0);
}

static LLVMTypeRef function_type(const emitter *e)
{
  LLVMTypeRef argument = scalar_real(e);
  return LLVMFunctionType(result_type(e), &argument, 1, 0);
}

static void set_attribute(emitter *e, value function, const char *name, size_t length)
{
  unsigned kind = LLVMGetEnumAttributeKindForName(name, length);
  LLVMAttributeRef attribute = LLVMCreateEnumAttribute(e->context, kind, 0);
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

static void define_function(emitter *e, value function)
{
  emitter scalar = *e;
  scalar.lanes = 1;
  scalar.builder = LLVMCreateBuilderInContext(e->context);
  LLVMPositionBuilderAtEnd(scalar.builder, LLVMAppendBasicBlockInContext(e->context, function, ""));
  hl_reduction r = reduce_scalar(&scalar, LLVMGetParam(function, 0));
  value fields[] = {r.high, r.low, r.quadrant};
  LLVMBuildAggregateRet(scalar.builder, fields, 3);
  LLVMDisposeBuilder(scalar.builder);
}

static value reduce_function(emitter *e)
{
  const char *name = e->is_f64 ? "hl_math.reduce.f64" : "hl_math.reduce.f32";
  value function = LLVMGetNamedFunction(e->module, name);
  if (function)
    return function;
  function = LLVMAddFunction(e->module, name, function_type(e));
  LLVMSetLinkage(function, LLVMInternalLinkage);
  set_attribute(e, function, "nounwind", 8);
  set_attribute(e, function, "noinline", 8);
  define_function(e, function);
  return function;
}

static hl_reduction call_reduce(emitter *e, value a)
{
  value r = LLVMBuildCall2(e->builder, function_type(e), reduce_function(e), &a, 1, "");
  return (hl_reduction){LLVMBuildExtractValue(e->builder, r, 0, ""),
                        LLVMBuildExtractValue(e->builder, r, 1, ""),
                        LLVMBuildExtractValue(e->builder, r, 2, "")};
}

/* Memory for one vector, made at the start of the function so that loops do not make it again. */
static value lane_memory(emitter *e, LLVMTypeRef type)
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

static value lane_address(emitter *e, LLVMTypeRef type, value memory, value lane)
{
  return LLVMBuildInBoundsGEP2(e->builder, type, memory, &lane, 1, "");
}

/* Every lane through the scalar function, in a loop: a, and the results in the same order. */
static hl_reduction reduce_lanes(emitter *e, value a)
{
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context), f = scalar_real(e), i = scalar_int(e);
  value high = lane_memory(e, real_type(e)), low = lane_memory(e, real_type(e));
  value quadrant = lane_memory(e, int_type(e));
  LLVMBuildStore(e->builder, a, high);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef body = hl_math_block(e, "reduce.lane"), after = hl_math_block(e, "reduced");
  LLVMBuildBr(e->builder, body);
  LLVMPositionBuilderAtEnd(e->builder, body);
  value lane = LLVMBuildPhi(e->builder, i32, ""), zero = LLVMConstInt(i32, 0, 0);
  value x = LLVMBuildLoad2(e->builder, f, lane_address(e, f, high, lane), "");
  hl_reduction r = call_reduce(e, x);
  LLVMBuildStore(e->builder, r.high, lane_address(e, f, high, lane));
  LLVMBuildStore(e->builder, r.low, lane_address(e, f, low, lane));
  LLVMBuildStore(e->builder, r.quadrant, lane_address(e, i, quadrant, lane));
  value next = LLVMBuildAdd(e->builder, lane, LLVMConstInt(i32, 1, 0), "");
  value more = LLVMBuildICmp(e->builder, LLVMIntULT, next, LLVMConstInt(i32, e->lanes, 0), "");
  LLVMBuildCondBr(e->builder, more, body, after);
  LLVMAddIncoming(lane, (value[]){zero, next}, (LLVMBasicBlockRef[]){before, body}, 2);
  LLVMPositionBuilderAtEnd(e->builder, after);
  return (hl_reduction){LLVMBuildLoad2(e->builder, real_type(e), high, ""),
                        LLVMBuildLoad2(e->builder, real_type(e), low, ""),
                        LLVMBuildLoad2(e->builder, int_type(e), quadrant, "")};
}

static value join(emitter *e, value a, LLVMBasicBlockRef from_a, value b, LLVMBasicBlockRef from_b)
{
  value phi = LLVMBuildPhi(e->builder, LLVMTypeOf(a), "");
  LLVMAddIncoming(phi, (value[]){a, b}, (LLVMBasicBlockRef[]){from_a, from_b}, 2);
  return phi;
}

hl_reduction hl_math_reduce_large(emitter *e, value a, hl_reduction near)
{
  value is_large = bit_and(e, at_least(e, a, K(TRIG_MAX)), less(e, a, infinity(e)));
  value any = hl_math_any(e, is_large);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef slow = hl_math_block(e, "reduce"), after = hl_math_block(e, "near");
  LLVMBuildCondBr(e->builder, any, slow, after);
  LLVMPositionBuilderAtEnd(e->builder, slow);
  /* The function must not see what is not large: its table ends where the exponents of finite numbers do. */
  value safe = choose(e, is_large, a, K(TRIG_MAX));
  hl_reduction far = e->lanes == 1 ? call_reduce(e, safe) : reduce_lanes(e, safe);
  far.high = choose(e, is_large, far.high, near.high);
  far.low = near.low ? choose(e, is_large, far.low, near.low) : NULL;
  far.quadrant = choose(e, is_large, far.quadrant, near.quadrant);
  LLVMBasicBlockRef end = LLVMGetInsertBlock(e->builder);
  LLVMBuildBr(e->builder, after);
  LLVMPositionBuilderAtEnd(e->builder, after);
  hl_reduction r = {0};
  r.high = join(e, near.high, before, far.high, end);
  r.low = near.low ? join(e, near.low, before, far.low, end) : NULL;
  r.quadrant = join(e, near.quadrant, before, far.quadrant, end);
  return r;
}
