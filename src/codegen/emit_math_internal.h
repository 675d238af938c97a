/* emit_math_internal - instructions with the type at hand, so that the steps of a function read
 * like the formulas, and the functions by family.
 *
 * Comparisons are ordered, as in C; the select after one is written so that NaN takes the side that
 * keeps it.
 */
#ifndef HL_EMIT_MATH_INTERNAL_H
#define HL_EMIT_MATH_INTERNAL_H

#include <math.h>
#include <stddef.h>

#include "emit_math.h"

typedef hl_math_emitter emitter;
typedef LLVMValueRef value;

/* emit_math.c */
value hl_math_splat(emitter *e, value scalar);
value hl_math_intrinsic(emitter *e, const char *name, LLVMTypeRef type, const value *args,
                        unsigned count);
/* Whether any lane of a comparison is true, as one i1. */
value hl_math_any(emitter *e, value condition);
LLVMBasicBlockRef hl_math_block(emitter *e, const char *name);

/* The functions: hl_math_<name>, in emit_math_<family>.c. */
#define HL_MATH_DECLARE_1(name) value hl_math_##name(emitter *e, value x);
#define HL_MATH_DECLARE_2(name) value hl_math_##name(emitter *e, value x, value y);
#define HL_MATH(id, name, arity) HL_MATH_DECLARE_##arity(name)
#include "ir/math.def"

/* emit_math_exp.c: q 2^n where shifted holds n + 2 bias in its low bits. */
value hl_math_scale_twice(emitter *e, value q, value shifted);

/* emit_math_log.c: x = m 2^(biased - bias) for positive normal x, sqrt(1/2) <= m < sqrt 2; the
 * integer is not negative for any x. */
value hl_math_split_exponent(emitter *e, value x, value *biased);
/* biased - bias - offset as a real. */
value hl_math_exponent(emitter *e, value biased, value offset);

/* r = high + low and the quadrant, as in ir/eval_math_trig.inc. */
typedef struct hl_reduction {
  value high, low, quadrant;
} hl_reduction;
/* emit_math_reduce.c: near where a is below TRIG_MAX or infinite or NaN, else the result of Payne
 * and Hanek's method. */
hl_reduction hl_math_reduce_large(emitter *e, value a, hl_reduction near);

static inline LLVMTypeRef vector_of(const emitter *e, LLVMTypeRef type)
{
  return e->lanes == 1 ? type : LLVMVectorType(type, e->lanes);
}

static inline LLVMTypeRef scalar_real(const emitter *e)
{
  return e->is_f64 ? LLVMDoubleTypeInContext(e->context) : LLVMFloatTypeInContext(e->context);
}

static inline LLVMTypeRef scalar_int(const emitter *e)
{
  return e->is_f64 ? LLVMInt64TypeInContext(e->context) : LLVMInt32TypeInContext(e->context);
}

static inline LLVMTypeRef real_type(const emitter *e)
{
  return vector_of(e, scalar_real(e));
}

static inline LLVMTypeRef int_type(const emitter *e)
{
  return vector_of(e, scalar_int(e));
}

static inline unsigned bit_count(const emitter *e)
{
  return e->is_f64 ? 64 : 32;
}

static inline unsigned fraction_bits(const emitter *e)
{
  return e->is_f64 ? 52 : 23;
}

static inline int bias(const emitter *e)
{
  return e->is_f64 ? 1023 : 127;
}

static inline value real(emitter *e, double c)
{
  return hl_math_splat(e, LLVMConstReal(scalar_real(e), c));
}

static inline value whole(emitter *e, uint64_t c)
{
  return hl_math_splat(e, LLVMConstInt(scalar_int(e), c, 0));
}

static inline double number(const emitter *e, hl_math_const id)
{
  return hl_math_number(id, e->is_f64);
}

/* The constant HL_MATH_CONST_<id> of the type: as a value, and as a number. */
#define K(id) real(e, NUMBER(id))
#define NUMBER(id) number(e, HL_MATH_CONST_##id)
#define POLY(id, x) horner(e, HL_MATH_POLY_##id, x)

static inline value add(emitter *e, value a, value b)
{
  return LLVMBuildFAdd(e->builder, a, b, "");
}

static inline value sub(emitter *e, value a, value b)
{
  return LLVMBuildFSub(e->builder, a, b, "");
}

static inline value mul(emitter *e, value a, value b)
{
  return LLVMBuildFMul(e->builder, a, b, "");
}

static inline value divide(emitter *e, value a, value b)
{
  return LLVMBuildFDiv(e->builder, a, b, "");
}

static inline value negate(emitter *e, value a)
{
  return LLVMBuildFNeg(e->builder, a, "");
}

static inline value fused(emitter *e, value a, value b, value c)
{
  return hl_math_intrinsic(e, "llvm.fma", real_type(e), (value[]){a, b, c}, 3);
}

static inline value square_root(emitter *e, value a)
{
  return hl_math_intrinsic(e, "llvm.sqrt", real_type(e), &a, 1);
}

static inline value horner(emitter *e, hl_math_poly id, value x)
{
  hl_math_coefficients c = hl_math_polynomial(id, e->is_f64);
  value p = real(e, c.values[c.n - 1]);
  for (int i = c.n - 2; i >= 0; i--)
    p = fused(e, p, x, real(e, c.values[i]));
  return p;
}

static inline value bits_of(emitter *e, value x)
{
  return LLVMBuildBitCast(e->builder, x, int_type(e), "");
}

static inline value real_of(emitter *e, value bits)
{
  return LLVMBuildBitCast(e->builder, bits, real_type(e), "");
}

static inline value iadd(emitter *e, value a, value b)
{
  return LLVMBuildAdd(e->builder, a, b, "");
}

static inline value isub(emitter *e, value a, value b)
{
  return LLVMBuildSub(e->builder, a, b, "");
}

static inline value bit_and(emitter *e, value a, value b)
{
  return LLVMBuildAnd(e->builder, a, b, "");
}

static inline value bit_or(emitter *e, value a, value b)
{
  return LLVMBuildOr(e->builder, a, b, "");
}

static inline value bit_xor(emitter *e, value a, value b)
{
  return LLVMBuildXor(e->builder, a, b, "");
}

static inline value shift_left(emitter *e, value a, unsigned by)
{
  return LLVMBuildShl(e->builder, a, whole(e, by), "");
}

static inline value shift_right(emitter *e, value a, unsigned by)
{
  return LLVMBuildLShr(e->builder, a, whole(e, by), "");
}

static inline value sign_mask(emitter *e)
{
  return whole(e, UINT64_C(1) << (bit_count(e) - 1));
}

static inline value sign_of(emitter *e, value x)
{
  return bit_and(e, bits_of(e, x), sign_mask(e));
}

static inline value magnitude(emitter *e, value x)
{
  return real_of(e, bit_and(e, bits_of(e, x), whole(e, ~(UINT64_C(1) << (bit_count(e) - 1)))));
}

/* x with its sign bit changed where sign has it. */
static inline value flip_sign(emitter *e, value x, value sign)
{
  return real_of(e, bit_xor(e, bits_of(e, x), sign));
}

/* x >= 0 with the sign bit of another. */
static inline value with_sign(emitter *e, value x, value other)
{
  return real_of(e, bit_or(e, bits_of(e, x), sign_of(e, other)));
}

static inline value less(emitter *e, value a, value b)
{
  return LLVMBuildFCmp(e->builder, LLVMRealOLT, a, b, "");
}

static inline value greater(emitter *e, value a, value b)
{
  return LLVMBuildFCmp(e->builder, LLVMRealOGT, a, b, "");
}

static inline value at_least(emitter *e, value a, value b)
{
  return LLVMBuildFCmp(e->builder, LLVMRealOGE, a, b, "");
}

static inline value equal(emitter *e, value a, value b)
{
  return LLVMBuildFCmp(e->builder, LLVMRealOEQ, a, b, "");
}

static inline value odd(emitter *e, value bits)
{
  return LLVMBuildICmp(e->builder, LLVMIntNE, bit_and(e, bits, whole(e, 1)), whole(e, 0), "");
}

static inline value is_negative(emitter *e, value x)
{
  return LLVMBuildICmp(e->builder, LLVMIntSLT, bits_of(e, x), whole(e, 0), "");
}

static inline value choose(emitter *e, value condition, value yes, value no)
{
  return LLVMBuildSelect(e->builder, condition, yes, no, "");
}

/* x but at least, or at most, the bound; NaN stays. */
static inline value clamp_below(emitter *e, value x, value bound)
{
  return choose(e, less(e, x, bound), bound, x);
}

static inline value clamp_above(emitter *e, value x, value bound)
{
  return choose(e, greater(e, x, bound), bound, x);
}

static inline value infinity(emitter *e)
{
  return real(e, INFINITY);
}

static inline value not_a_number(emitter *e)
{
  return real(e, NAN);
}

/* 2^(low bits of biased - bias) */
static inline value power_of_two(emitter *e, value biased)
{
  return real_of(e, shift_left(e, biased, fraction_bits(e)));
}

/* A small integer exactly as a real: f64 goes without the conversion, for which many targets have
 * no vector instruction. */
static inline value small_to_real(emitter *e, value k)
{
  if (!e->is_f64)
    return LLVMBuildSIToFP(e->builder, k, real_type(e), "");
  return sub(e, real_of(e, iadd(e, k, bits_of(e, K(MAGIC)))), K(MAGIC));
}

/* The exact error of sum = big + small, |big| >= |small| or big = 0. */
static inline value sum_error(emitter *e, value big, value small, value sum)
{
  return sub(e, small, sub(e, sum, big));
}

#endif
