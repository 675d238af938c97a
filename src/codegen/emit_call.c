/* emit_call - calls of functions outside: of the program, and of Fortran.
 *
 *   program: arrays of pointers on the stack, the configuration as a constant; a status
 *   Fortran: a pointer for every value, numbers as constants in memory; behind them the length of each character, as gfortran and
 *            flang have it; one call a round
 */
#include "emit.h"

#include <string.h>

static LLVMValueRef external_function(hl_emitter *e, const char *symbol, LLVMTypeRef type)
{
  LLVMValueRef function = LLVMGetNamedFunction(e->l.module, symbol);
  if (function)
    return function;
  function = LLVMAddFunction(e->l.module, symbol, type);
  hl_llvm_function_attr(&e->l, function, "nounwind");
  return function;
}

static LLVMValueRef constant_memory(hl_emitter *e, LLVMValueRef value, unsigned align)
{
  LLVMValueRef global = LLVMAddGlobal(e->l.module, LLVMTypeOf(value), "value");
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, 1);
  LLVMSetLinkage(global, LLVMInternalLinkage);
  LLVMSetAlignment(global, align);
  return global;
}

/* Values of one kind as an array of pointers. */
static LLVMValueRef pointer_list(hl_emitter *e, const hl_call *call, hl_call_value_kind kind, LLVMValueRef *pointers)
{
  int count = 0;
  LLVMValueRef list = hl_llvm_alloca(&e->l, e->l.ptr, call->value_count + 1, 8);
  for (int i = 0; i < call->value_count; i++)
    if (call->values[i].kind == kind) {
      LLVMValueRef at = hl_llvm_gep(&e->l, e->l.ptr, list, hl_llvm_i64(&e->l, count++));
      LLVMBuildStore(e->l.builder, pointers[i], at);
    }
  return list;
}

static LLVMTypeRef size_type(const hl_emitter *e)
{
  return e->target->pointer_bytes == 4 ? e->l.i32 : e->l.i64;
}

static LLVMValueRef call_program(hl_emitter *e, const hl_call *call, LLVMValueRef *pointers)
{
  LLVMTypeRef types[4] = {e->l.ptr, e->l.ptr, e->l.ptr, size_type(e)};
  LLVMTypeRef type = LLVMFunctionType(e->l.i32, types, 4, 0);
  LLVMValueRef config = LLVMConstStringInContext2(e->l.context, call->config, call->config_bytes, 0);
  LLVMValueRef arguments[4] = {pointer_list(e, call, HL_CALL_READ, pointers), pointer_list(e, call, HL_CALL_WRITE, pointers),
                               constant_memory(e, config, 1), hl_llvm_int(size_type(e), call->config_bytes)};
  return LLVMBuildCall2(e->l.builder, type, external_function(e, call->symbol, type), arguments, 4, "");
}

static LLVMValueRef fortran_argument(hl_emitter *e, const hl_call_value *value, LLVMValueRef pointer, LLVMValueRef round)
{
  if (value->kind == HL_CALL_INT)
    return constant_memory(e, hl_llvm_int(e->l.i32, (uint64_t)value->number), 4);
  if (value->kind == HL_CALL_CHAR)
    return constant_memory(e, hl_llvm_int(e->l.i8, (uint64_t)value->number), 1);
  if (value->step == 0)
    return pointer;
  LLVMValueRef offset = LLVMBuildMul(e->l.builder, round, hl_llvm_i64(&e->l, value->step), "");
  return hl_llvm_gep(&e->l, e->l.i8, pointer, offset);
}

static void call_fortran(hl_emitter *e, const hl_call *call, LLVMValueRef *pointers, LLVMValueRef round)
{
  LLVMTypeRef *types = HL_ARRAY(e->arena, 2 * call->value_count + 1, LLVMTypeRef);
  LLVMValueRef *arguments = HL_ARRAY(e->arena, 2 * call->value_count + 1, LLVMValueRef);
  int count = call->value_count;
  for (int i = 0; i < call->value_count; i++) {
    types[i] = e->l.ptr;
    arguments[i] = fortran_argument(e, &call->values[i], pointers[i], round);
  }
  for (int i = 0; i < call->value_count; i++)
    if (call->values[i].kind == HL_CALL_CHAR) {
      types[count] = size_type(e);
      arguments[count++] = hl_llvm_int(size_type(e), 1);
    }
  LLVMTypeRef type = LLVMFunctionType(e->l.nothing, types, (unsigned)count, 0);
  LLVMBuildCall2(e->l.builder, type, external_function(e, call->symbol, type), arguments, (unsigned)count, "");
}

LLVMValueRef hl_emit_call(hl_emitter *e, const hl_call *call, LLVMValueRef *pointers)
{
  if (!call->is_fortran)
    return call_program(e, call, pointers);
  hl_llvm_loop loop;
  LLVMValueRef zero = hl_llvm_i64(&e->l, 0);
  if (call->rounds == 1) {
    call_fortran(e, call, pointers, zero);
    return NULL;
  }
  hl_llvm_loop_begin(&e->l, e->arena, &loop, zero, hl_llvm_i64(&e->l, call->rounds), 1, NULL, 0);
  call_fortran(e, call, pointers, loop.index);
  hl_llvm_loop_end(&e->l, &loop);
  return NULL;
}
