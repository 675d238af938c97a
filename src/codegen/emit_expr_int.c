/* emit_expr_int.c - integer arithmetic: wraps, and total where LLVM's is not (division, shifts). */
#include "emit.h"

static LLVMValueRef all_ones(LLVMTypeRef type)
{
  return LLVMConstAllOnes(type);
}

static LLVMValueRef is_zero(hl_emitter *e, LLVMValueRef x)
{
  return LLVMBuildICmp(e->l.builder, LLVMIntEQ, x, LLVMConstNull(LLVMTypeOf(x)), "");
}

/* A divisor that never traps: 1 for 0 and for -1 under the least number, where quotient and
 * remainder by 1 are the answer. */
static LLVMValueRef safe_divisor(hl_emitter *e, bool is_signed, LLVMValueRef x, LLVMValueRef d)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef bad = is_zero(e, d);
  if (is_signed) {
    uint64_t least = UINT64_C(1) << (hl_llvm_scalar_bits(type) - 1);
    LLVMValueRef minus = LLVMBuildICmp(b, LLVMIntEQ, d, all_ones(type), "");
    LLVMValueRef lowest = LLVMBuildICmp(b, LLVMIntEQ, x, hl_llvm_int(type, least), "");
    bad = LLVMBuildOr(b, bad, LLVMBuildAnd(b, minus, lowest, ""), "");
  }
  return LLVMBuildSelect(b, bad, hl_llvm_int(type, 1), d, "");
}

static LLVMValueRef divide(hl_emitter *e, bool is_signed, LLVMValueRef x, LLVMValueRef d)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef by = safe_divisor(e, is_signed, x, d);
  LLVMValueRef quotient = is_signed ? LLVMBuildSDiv(b, x, by, "") : LLVMBuildUDiv(b, x, by, "");
  return LLVMBuildSelect(b, is_zero(e, d), all_ones(LLVMTypeOf(x)), quotient, "");
}

static LLVMValueRef rest_of(hl_emitter *e, bool is_signed, LLVMValueRef x, LLVMValueRef d)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef by = safe_divisor(e, is_signed, x, d);
  LLVMValueRef rest = is_signed ? LLVMBuildSRem(b, x, by, "") : LLVMBuildURem(b, x, by, "");
  return LLVMBuildSelect(b, is_zero(e, d), x, rest, "");
}

static LLVMValueRef shift(hl_emitter *e, hl_loop_op op, LLVMValueRef x, LLVMValueRef amount)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef last = hl_llvm_int(type, (uint64_t)hl_llvm_scalar_bits(type) - 1);
  LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntULE, amount, last, "");
  LLVMValueRef by = LLVMBuildSelect(b, fits, amount, last, "");
  if (op == HL_LOOP_SRA)
    return LLVMBuildAShr(b, x, by, "");
  LLVMValueRef shifted =
      op == HL_LOOP_SHL ? LLVMBuildShl(b, x, by, "") : LLVMBuildLShr(b, x, by, "");
  return LLVMBuildSelect(b, fits, shifted, LLVMConstNull(type), "");
}

static LLVMValueRef extremum(hl_emitter *e, bool is_max, bool is_signed, const LLVMValueRef *args)
{
  const char *name =
      is_max ? (is_signed ? "llvm.smax" : "llvm.umax") : (is_signed ? "llvm.smin" : "llvm.umin");
  return hl_llvm_call2(&e->l, name, args[0], args[1]);
}

static LLVMValueRef sign(hl_emitter *e, bool is_signed, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef zero = LLVMConstNull(type);
  LLVMValueRef above = LLVMBuildICmp(b, is_signed ? LLVMIntSGT : LLVMIntUGT, x, zero, "");
  LLVMValueRef positive = LLVMBuildZExt(b, above, type, "");
  if (!is_signed)
    return positive;
  LLVMValueRef below = LLVMBuildICmp(b, LLVMIntSLT, x, zero, "");
  return LLVMBuildOr(b, positive, LLVMBuildSExt(b, below, type, ""), "");
}

static LLVMValueRef magnitude(hl_emitter *e, bool is_signed, LLVMValueRef x)
{
  if (!is_signed)
    return x;
  LLVMValueRef below = LLVMBuildICmp(e->l.builder, LLVMIntSLT, x, LLVMConstNull(LLVMTypeOf(x)), "");
  return LLVMBuildSelect(e->l.builder, below, LLVMBuildNeg(e->l.builder, x, ""), x, "");
}

/* Squares as often as the exponent has bits, multiplying where its bit is set. */
static LLVMValueRef power_by_squaring(hl_emitter *e, LLVMValueRef x, LLVMValueRef exponent)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef carried[3] = {hl_llvm_int(type, 1), x, exponent};
  LLVMValueRef one = hl_llvm_int(type, 1);
  hl_llvm_loop loop;
  hl_llvm_loop_begin(&e->l, e->arena, &loop, hl_llvm_i64(&e->l, 0),
                     hl_llvm_i64(&e->l, hl_llvm_scalar_bits(type)), 1, carried, 3);
  LLVMValueRef bit = LLVMBuildAnd(b, carried[2], one, "");
  LLVMValueRef more = LLVMBuildMul(b, carried[0], carried[1], "");
  carried[0] = LLVMBuildSelect(b, is_zero(e, bit), carried[0], more, "");
  carried[1] = LLVMBuildMul(b, carried[1], carried[1], "");
  carried[2] = LLVMBuildLShr(b, carried[2], one, "");
  hl_llvm_loop_end(&e->l, &loop);
  return carried[0];
}

/* A negative exponent: 1 for base 1, the sign by parity for base -1, else 0. */
static LLVMValueRef power(hl_emitter *e, bool is_signed, LLVMValueRef x, LLVMValueRef exponent)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef result = power_by_squaring(e, x, exponent);
  if (!is_signed)
    return result;
  LLVMValueRef one = hl_llvm_int(type, 1), zero = LLVMConstNull(type);
  LLVMValueRef odd = LLVMBuildAnd(b, exponent, one, "");
  LLVMValueRef parity = LLVMBuildSelect(b, is_zero(e, odd), one, all_ones(type), "");
  LLVMValueRef is_one = LLVMBuildICmp(b, LLVMIntEQ, x, one, "");
  LLVMValueRef is_minus = LLVMBuildICmp(b, LLVMIntEQ, x, all_ones(type), "");
  LLVMValueRef inverse = LLVMBuildSelect(b, is_minus, parity, zero, "");
  inverse = LLVMBuildSelect(b, is_one, one, inverse, "");
  LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, exponent, zero, "");
  return LLVMBuildSelect(b, negative, inverse, result, "");
}

static LLVMValueRef leading_zeros(hl_emitter *e, LLVMValueRef x)
{
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef args[2] = {x, hl_llvm_int(e->l.i1, 0)};
  return hl_llvm_intrinsic(&e->l, "llvm.ctlz", &type, 1, args, 2);
}

LLVMValueRef hl_emit_int_op(hl_emitter *e, hl_loop_op op, bool is_signed, const LLVMValueRef *args)
{
  LLVMBuilderRef b = e->l.builder;
  switch (op) {
  case HL_LOOP_ADD:
    return LLVMBuildAdd(b, args[0], args[1], "");
  case HL_LOOP_SUB:
    return LLVMBuildSub(b, args[0], args[1], "");
  case HL_LOOP_MUL:
    return LLVMBuildMul(b, args[0], args[1], "");
  case HL_LOOP_DIV:
    return divide(e, is_signed, args[0], args[1]);
  case HL_LOOP_REM:
    return rest_of(e, is_signed, args[0], args[1]);
  case HL_LOOP_POW:
    return power(e, is_signed, args[0], args[1]);
  case HL_LOOP_MAX:
  case HL_LOOP_MIN:
    return extremum(e, op == HL_LOOP_MAX, is_signed, args);
  case HL_LOOP_AND:
    return LLVMBuildAnd(b, args[0], args[1], "");
  case HL_LOOP_OR:
    return LLVMBuildOr(b, args[0], args[1], "");
  case HL_LOOP_XOR:
    return LLVMBuildXor(b, args[0], args[1], "");
  case HL_LOOP_SHL:
  case HL_LOOP_SRA:
  case HL_LOOP_SRL:
    return shift(e, op, args[0], args[1]);
  case HL_LOOP_DOT4:
    return hl_emit_dot4(e, LLVMConstNull(LLVMTypeOf(args[0])), args[0], args[1]);
  case HL_LOOP_FMA:
    return LLVMBuildAdd(b, LLVMBuildMul(b, args[0], args[1], ""), args[2], "");
  case HL_LOOP_NEG:
    return LLVMBuildNeg(b, args[0], "");
  case HL_LOOP_ABS:
    return magnitude(e, is_signed, args[0]);
  case HL_LOOP_SIGN:
    return sign(e, is_signed, args[0]);
  case HL_LOOP_NOT:
    return LLVMBuildNot(b, args[0], "");
  case HL_LOOP_POPCNT:
    return hl_llvm_call1(&e->l, "llvm.ctpop", args[0]);
  default: /* CLZ */
    return leading_zeros(e, args[0]);
  }
}
