/* emit_math - the mathematical functions as LLVM IR: straight-line code for a scalar or a vector,
 * no calls, no tables.
 *
 * Bit for bit what ir/eval_math.h computes, for any number of lanes, except that a NaN may have any
 * bits. Only llvm.fma and llvm.sqrt are used beyond instructions; no fast-math flags are set. Three
 * functions make basic blocks: fmod loops, and sin, cos and tan branch when a lane has a large
 * argument.
 */
#ifndef HL_EMIT_MATH_H
#define HL_EMIT_MATH_H

#include <stdbool.h>
#include <llvm-c/Core.h>

#include "ir/math.h"

typedef struct hl_math_emitter {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  unsigned lanes; /* 1: values are scalars, not vectors */
  bool is_f64;
} hl_math_emitter;

/* The value of fn for hl_math_arity(fn) arguments of the emitter's type. The builder stands at the
 * end of a block of a function; it may stand in another block afterwards. */
LLVMValueRef hl_emit_math(hl_math_emitter *e, hl_math_fn fn, const LLVMValueRef *args);

#endif
