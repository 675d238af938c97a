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

value hl_math_intrinsic(emitter *e, const char *name, LLVMTypeRef type, const value *args,
                        unsigned count)
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

#define CALL_1(name) hl_math_##name(e, args[0])
#define CALL_2(name) hl_math_##name(e, args[0], args[1])

LLVMValueRef hl_emit_math(hl_math_emitter *e, hl_math_fn fn, const LLVMValueRef *args)
{
  switch (fn) {
#define HL_MATH(id, name, arity)                                                                   \
  case HL_MATH_##id:                                                                               \
    return CALL_##arity(name);
#include "ir/math.def"
  case HL_MATH_COUNT:
    break;
  }
  return not_a_number(e);
}
