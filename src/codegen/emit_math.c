/* emit_math - which function is emitted by whom, and what all of them need of LLVM. */
#include "emit_math_internal.h"

#include <string.h>

/* Wider than any vector that is emitted. */
enum { MAX_LANES = 1024 };

value hl_math_splat(emitter *e, value scalar)
{
  if (e->lanes == 1)
    return scalar;
  value lanes[MAX_LANES];
  for (unsigned i = 0; i < e->lanes; i++)
    lanes[i] = scalar;
  return LLVMConstVector(lanes, e->lanes);
}

value hl_math_intrinsic(emitter *e, const char *name, LLVMTypeRef type, const value *args, unsigned count)
{
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, &type, 1);
  LLVMTypeRef function_type = LLVMIntrinsicGetType(e->context, id, &type, 1);
  value copy[3];
  memcpy(copy, args, count * sizeof *args);
  return LLVMBuildCall2(e->builder, function_type, function, copy, count, "");
}

value hl_math_any(emitter *e, value condition)
{
  if (e->lanes == 1)
    return condition;
  return hl_math_intrinsic(e, "llvm.vector.reduce.or", LLVMTypeOf(condition), &condition, 1);
}

LLVMBasicBlockRef hl_math_block(emitter *e, const char *name)
{
  LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(e->builder));
  return LLVMAppendBasicBlockInContext(e->context, function, name);
}

static value reciprocal(emitter *e, value x)
{
  return divide(e, real(e, 1), x);
}

LLVMValueRef hl_emit_math(hl_math_emitter *e, hl_math_fn fn, const LLVMValueRef *args)
{
  value x = args[0];
  switch (fn) {
  case HL_MATH_EXP: return hl_math_exp(e, x);
  case HL_MATH_EXPM1: return hl_math_expm1(e, x);
  case HL_MATH_LOG: return hl_math_log(e, x);
  case HL_MATH_LOG1P: return hl_math_log1p(e, x);
  case HL_MATH_SQRT: return square_root(e, x);
  case HL_MATH_RSQRT: return reciprocal(e, square_root(e, x));
  case HL_MATH_CBRT: return hl_math_cbrt(e, x);
  case HL_MATH_LOGISTIC: return hl_math_logistic(e, x);
  case HL_MATH_TANH: return hl_math_tanh(e, x);
  case HL_MATH_ERF: return hl_math_erf(e, x);
  case HL_MATH_SIN: return hl_math_sin(e, x);
  case HL_MATH_COS: return hl_math_cos(e, x);
  case HL_MATH_TAN: return hl_math_tan(e, x);
  case HL_MATH_ASIN: return hl_math_asin(e, x);
  case HL_MATH_ACOS: return hl_math_acos(e, x);
  case HL_MATH_ATAN: return hl_math_atan(e, x);
  case HL_MATH_SINH: return hl_math_sinh(e, x);
  case HL_MATH_COSH: return hl_math_cosh(e, x);
  case HL_MATH_ASINH: return hl_math_asinh(e, x);
  case HL_MATH_ACOSH: return hl_math_acosh(e, x);
  case HL_MATH_ATANH: return hl_math_atanh(e, x);
  case HL_MATH_POW_1: return x;
  case HL_MATH_POW_2: return mul(e, x, x);
  case HL_MATH_POW_3: return mul(e, mul(e, x, x), x);
  case HL_MATH_POW_M1: return reciprocal(e, x);
  case HL_MATH_POW_0_5:
  case HL_MATH_POW_1_5:
  case HL_MATH_POW_M0_5:
  case HL_MATH_POW_M1_5: return hl_math_pow_root(e, fn, x);
  case HL_MATH_POW: return hl_math_pow(e, x, args[1]);
  case HL_MATH_ATAN2: return hl_math_atan2(e, x, args[1]);
  case HL_MATH_FMOD: return hl_math_fmod(e, x, args[1]);
  case HL_MATH_COUNT: break;
  }
  return not_a_number(e);
}
