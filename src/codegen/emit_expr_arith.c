/* emit_expr_arith.c - arithmetic of floats and preds: one rounding an op, no assumption about NaN
 * or signed zeros.
 *
 * Where the hardware's maximum, rounding or fused multiply-add is not what numerics.md says, the
 * difference is made up here or, for whole functions, in emit_soft.c.
 */
#include "emit.h"

LLVMValueRef hl_emit_fast(hl_emitter *e, LLVMValueRef value)
{
  if (e->l.fast_math && LLVMCanValueUseFastMathFlags(value))
    LLVMSetFastMathFlags(value, e->l.fast_math);
  return value;
}

LLVMValueRef hl_emit_fma(hl_emitter *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
  return hl_llvm_call3(&e->l, "llvm.fma", a, b, c);
}

/* The value of a constant or of a splat of one that is not NaN. */
static bool constant_float(LLVMValueRef x, double *value)
{
  LLVMBool loses;
  if (!LLVMIsConstant(x))
    return false;
  LLVMValueRef scalar = hl_llvm_lanes(x) > 1 ? LLVMGetAggregateElement(x, 0) : x;
  if (!scalar || !LLVMIsAConstantFP(scalar))
    return false;
  *value = LLVMConstRealGetDouble(scalar, &loses);
  return *value == *value;
}

/* With a constant c, that is one instruction: x wins unless it lies strictly on the other side of
 * c, so NaN stays; when c is the zero that wins against the other zero, equality must choose c. */
static LLVMValueRef extremum_with_constant(hl_emitter *e, bool is_max, LLVMValueRef x,
                                           LLVMValueRef c, double value)
{
  bool wins_ties = value == 0 && (1 / value > 0) == is_max;
  LLVMRealPredicate loses =
      is_max ? (wins_ties ? LLVMRealOLE : LLVMRealOLT) : (wins_ties ? LLVMRealOGE : LLVMRealOGT);
  LLVMValueRef take = LLVMBuildFCmp(e->l.builder, loses, x, c, "");
  return LLVMBuildSelect(e->l.builder, take, c, x, "");
}

/* -0 < +0: of two equal numbers the bitwise and is the greater, the bitwise or the smaller. */
static LLVMValueRef join_equal(hl_emitter *e, bool is_max, LLVMValueRef a, LLVMValueRef b)
{
  LLVMTypeRef type = LLVMTypeOf(a), integer = hl_llvm_int_like(&e->l, type);
  LLVMValueRef x = LLVMBuildBitCast(e->l.builder, a, integer, "");
  LLVMValueRef y = LLVMBuildBitCast(e->l.builder, b, integer, "");
  LLVMValueRef joined =
      is_max ? LLVMBuildAnd(e->l.builder, x, y, "") : LLVMBuildOr(e->l.builder, x, y, "");
  return LLVMBuildBitCast(e->l.builder, joined, type, "");
}

/* b where either is NaN, so only a's NaN must be put back. */
static LLVMValueRef extremum(hl_emitter *e, bool is_max, LLVMValueRef a, LLVMValueRef b)
{
  LLVMBuilderRef at = e->l.builder;
  double value;
  if (constant_float(b, &value))
    return extremum_with_constant(e, is_max, a, b, value);
  if (constant_float(a, &value))
    return extremum_with_constant(e, is_max, b, a, value);
  if (e->features->has_neon)
    return hl_llvm_call2(&e->l, is_max ? "llvm.maximum" : "llvm.minimum", a, b);
  LLVMValueRef better = LLVMBuildFCmp(at, is_max ? LLVMRealOGT : LLVMRealOLT, a, b, "");
  LLVMValueRef best = LLVMBuildSelect(at, better, a, b, "");
  LLVMValueRef same = LLVMBuildFCmp(at, LLVMRealOEQ, a, b, "");
  best = LLVMBuildSelect(at, same, join_equal(e, is_max, a, b), best, "");
  return LLVMBuildSelect(at, LLVMBuildFCmp(at, LLVMRealUNO, a, a, ""), a, best, "");
}

/* ±0 and NaN are their own sign. */
static LLVMValueRef sign(hl_emitter *e, LLVMValueRef x)
{
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef one = hl_llvm_call2(&e->l, "llvm.copysign", hl_llvm_float(type, 1), x);
  LLVMValueRef has_sign = LLVMBuildFCmp(e->l.builder, LLVMRealONE, x, hl_llvm_float(type, 0), "");
  return LLVMBuildSelect(e->l.builder, has_sign, one, x, "");
}

/* Half away from zero: the fraction of |x| is exact. */
static LLVMValueRef round_away(hl_emitter *e, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef magnitude = hl_llvm_call1(&e->l, "llvm.fabs", x);
  LLVMValueRef whole = hl_llvm_call1(&e->l, "llvm.floor", magnitude);
  LLVMValueRef fraction = LLVMBuildFSub(b, magnitude, whole, "");
  LLVMValueRef up = LLVMBuildFCmp(b, LLVMRealOGE, fraction, hl_llvm_float(type, 0.5), "");
  LLVMValueRef add = LLVMBuildSelect(b, up, hl_llvm_float(type, 1), hl_llvm_float(type, 0), "");
  return hl_llvm_call2(&e->l, "llvm.copysign", LLVMBuildFAdd(b, whole, add, ""), x);
}

LLVMValueRef hl_emit_float_op(hl_emitter *e, hl_loop_op op, const LLVMValueRef *args)
{
  LLVMBuilderRef b = e->l.builder;
  switch (op) {
  case HL_LOOP_ADD:
    return hl_emit_fast(e, LLVMBuildFAdd(b, args[0], args[1], ""));
  case HL_LOOP_SUB:
    return hl_emit_fast(e, LLVMBuildFSub(b, args[0], args[1], ""));
  case HL_LOOP_MUL:
    return hl_emit_fast(e, LLVMBuildFMul(b, args[0], args[1], ""));
  case HL_LOOP_DIV:
    return hl_emit_fast(e, LLVMBuildFDiv(b, args[0], args[1], ""));
  case HL_LOOP_MAX:
  case HL_LOOP_MIN:
    return extremum(e, op == HL_LOOP_MAX, args[0], args[1]);
  case HL_LOOP_FMA:
    return hl_emit_fma(e, args[0], args[1], args[2]);
  case HL_LOOP_SIGN:
    return sign(e, args[0]);
  case HL_LOOP_SQRT:
    return hl_llvm_call1(&e->l, "llvm.sqrt", args[0]);
  case HL_LOOP_FLOOR:
    return hl_llvm_call1(&e->l, "llvm.floor", args[0]);
  case HL_LOOP_CEIL:
    return hl_llvm_call1(&e->l, "llvm.ceil", args[0]);
  case HL_LOOP_RNE:
    return hl_llvm_call1(&e->l, "llvm.roundeven", args[0]);
  default: /* RNA */
    return round_away(e, args[0]);
  }
}

LLVMValueRef hl_emit_pred_op(hl_emitter *e, hl_loop_op op, const LLVMValueRef *args)
{
  switch (op) {
  case HL_LOOP_ADD:
  case HL_LOOP_MAX:
  case HL_LOOP_OR:
    return LLVMBuildOr(e->l.builder, args[0], args[1], "");
  case HL_LOOP_MUL:
  case HL_LOOP_MIN:
  case HL_LOOP_AND:
    return LLVMBuildAnd(e->l.builder, args[0], args[1], "");
  case HL_LOOP_XOR:
    return LLVMBuildXor(e->l.builder, args[0], args[1], "");
  default: /* NOT */
    return LLVMBuildNot(e->l.builder, args[0], "");
  }
}
