/* emit_module.c - the module of a program: its three symbols, its steps in one function, constants,
 * the floating environment.
 *
 *   int NAME(args, results, workspace)     checks the workspace, sets the environment, calls
 *   int run(args, results, workspace)      the steps in order: calls, copies, loops and branches;
 * 0, or 2 where a call failed
 *
 * run is a function of its own and never inlined, so that no arithmetic moves out of the part where
 * the environment is set.
 */
#include "emit.h"

#include <string.h>

void hl_emit_function_attributes(hl_emitter *e, LLVMValueRef function)
{
  const hl_llvm *l = &e->l;
  hl_llvm_function_attr(l, function, "nounwind");
  hl_llvm_attr_text(l, function, "no-builtins", "");
  if (e->features->has_avx512)
    hl_llvm_attr_text(l, function, "prefer-vector-width", "512");
  if (e->options->ftz)
    hl_llvm_attr_text(l, function, "denormal-fp-math", "preserve-sign,preserve-sign");
  if (e->options->fast_math) {
    hl_llvm_attr_text(l, function, "no-nans-fp-math", "true");
    hl_llvm_attr_text(l, function, "no-infs-fp-math", "true");
  }
}

void hl_emit_is_glue(hl_emitter *e, LLVMValueRef function)
{
  hl_llvm_function_attr(&e->l, function, "optnone");
}

/* Floating environment. */

typedef struct environment {
  const char *read, *write; /* intrinsics; NULL: by memory, as x86 does */
  uint64_t mask, wanted;    /* the bits that matter */
  bool is_wide;
} environment;

static bool environment_of(const hl_emitter *e, environment *out)
{
  bool ftz = e->options->ftz;
  switch (e->target->family) {
  case HL_FAMILY_X86_64: /* rounding 13-14, FTZ 15, masks 7-12, DAZ 6 */
    *out = (environment){NULL, NULL, 0xffc0, ftz ? 0x9fc0 : 0x1f80, false};
    return true;
  case HL_FAMILY_AARCH64: /* AHP, DN, FZ, rounding, FZ16, traps */
    *out = (environment){"llvm.aarch64.get.fpcr", "llvm.aarch64.set.fpcr", 0x07c89f00,
                         ftz ? 0x01000000 : 0, true};
    return true;
  case HL_FAMILY_ARM: /* AHP, DN, FZ, rounding, FZ16 */
    *out = (environment){"llvm.arm.get.fpscr", "llvm.arm.set.fpscr", 0x07c80000,
                         ftz ? 0x01000000 : 0, false};
    return e->features->has_hard_f32;
  default:
    return false;
  }
}

static LLVMValueRef read_environment(hl_emitter *e, const environment *v)
{
  if (v->read)
    return hl_llvm_intrinsic(&e->l, v->read, NULL, 0, NULL, 0);
  LLVMValueRef slot = hl_llvm_alloca(&e->l, e->l.i32, 1, 4);
  hl_llvm_intrinsic(&e->l, "llvm.x86.sse.stmxcsr", NULL, 0, &slot, 1);
  return LLVMBuildLoad2(e->l.builder, e->l.i32, slot, "");
}

static void write_environment(hl_emitter *e, const environment *v, LLVMValueRef value)
{
  if (v->write) {
    hl_llvm_intrinsic(&e->l, v->write, NULL, 0, &value, 1);
    return;
  }
  LLVMValueRef slot = hl_llvm_alloca(&e->l, e->l.i32, 1, 4);
  LLVMBuildStore(e->l.builder, value, slot);
  hl_llvm_intrinsic(&e->l, "llvm.x86.sse.ldmxcsr", NULL, 0, &slot, 1);
}

/* Writing takes longer than looking whether it is needed. */
static LLVMValueRef differs(hl_emitter *e, const environment *v, LLVMValueRef saved)
{
  LLVMTypeRef type = LLVMTypeOf(saved);
  LLVMValueRef bits = LLVMBuildAnd(e->l.builder, saved, hl_llvm_int(type, v->mask), "");
  return LLVMBuildICmp(e->l.builder, LLVMIntNE, bits, hl_llvm_int(type, v->wanted), "");
}

LLVMValueRef hl_emit_fenv_enter(hl_emitter *e)
{
  environment v;
  if (!environment_of(e, &v))
    return NULL;
  LLVMValueRef saved = read_environment(e, &v);
  LLVMTypeRef type = LLVMTypeOf(saved);
  hl_llvm_if branch = hl_llvm_if_begin(&e->l, differs(e, &v, saved));
  LLVMValueRef other = LLVMBuildAnd(e->l.builder, saved, hl_llvm_int(type, ~v.mask), "");
  write_environment(e, &v, LLVMBuildOr(e->l.builder, other, hl_llvm_int(type, v.wanted), ""));
  hl_llvm_if_end(&e->l, &branch);
  return saved;
}

void hl_emit_fenv_leave(hl_emitter *e, LLVMValueRef saved)
{
  environment v;
  if (!saved || !environment_of(e, &v))
    return;
  hl_llvm_if branch = hl_llvm_if_begin(&e->l, differs(e, &v, saved));
  write_environment(e, &v, saved);
  hl_llvm_if_end(&e->l, &branch);
}

/* Buffers. */

typedef struct run_function {
  hl_emitter *e;
  LLVMValueRef function, copy;
  hl_map constants; /* by content */
  int depth;        /* whiles around, in this function */
} run_function;

static LLVMValueRef constant_global(run_function *r, const hl_buffer *buffer)
{
  hl_emitter *e = r->e;
  LLVMValueRef global = hl_map_get(&r->constants, buffer->data, (size_t)buffer->bytes);
  if (global)
    return global;
  LLVMValueRef data =
      LLVMConstStringInContext2(e->l.context, buffer->data, (size_t)buffer->bytes, 1);
  global = LLVMAddGlobal(e->l.module, LLVMTypeOf(data), "constant");
  LLVMSetInitializer(global, data);
  LLVMSetGlobalConstant(global, 1);
  LLVMSetLinkage(global, LLVMInternalLinkage);
  LLVMSetAlignment(global, 64);
  hl_map_set(&r->constants, buffer->data, (size_t)buffer->bytes, global);
  return global;
}

/* Pointer number `index` of the caller's array. */
static LLVMValueRef pointer_from(run_function *r, unsigned param, int64_t index)
{
  const hl_llvm *l = &r->e->l;
  LLVMValueRef at = hl_llvm_gep(l, l->ptr, LLVMGetParam(r->function, param), hl_llvm_i64(l, index));
  LLVMValueRef pointer = LLVMBuildLoad2(l->builder, l->ptr, at, "");
  hl_llvm_flag_metadata(l, pointer, "invariant.load");
  return pointer;
}

static LLVMValueRef buffer_pointer(run_function *r, const hl_buffer *buffer)
{
  const hl_llvm *l = &r->e->l;
  switch (buffer->kind) {
  case HL_BUFFER_ARGUMENT:
    return pointer_from(r, 0, buffer->index);
  case HL_BUFFER_RESULT:
    return pointer_from(r, 1, buffer->index);
  case HL_BUFFER_CONSTANT:
    return buffer->bytes ? constant_global(r, buffer) : LLVMConstNull(l->ptr);
  default:
    return hl_llvm_gep(l, l->i8, LLVMGetParam(r->function, 2), hl_llvm_i64(l, buffer->offset));
  }
}

/* Copies: our own loop, since there is no library to call. */

static void copy_bytes(hl_emitter *e, LLVMValueRef to, LLVMValueRef from, LLVMValueRef start,
                       LLVMValueRef end, int width)
{
  hl_llvm_loop loop;
  LLVMTypeRef type = hl_llvm_vector(e->l.i8, width);
  hl_llvm_loop_begin(&e->l, e->arena, &loop, start, end, width, NULL, 0);
  LLVMValueRef x =
      LLVMBuildLoad2(e->l.builder, type, hl_llvm_gep(&e->l, e->l.i8, from, loop.index), "");
  LLVMSetAlignment(x, 1);
  LLVMValueRef store = LLVMBuildStore(e->l.builder, x, hl_llvm_gep(&e->l, e->l.i8, to, loop.index));
  LLVMSetAlignment(store, 1);
  hl_llvm_loop_end(&e->l, &loop);
}

static LLVMTypeRef copy_type(hl_emitter *e)
{
  return LLVMFunctionType(e->l.nothing, (LLVMTypeRef[]){e->l.ptr, e->l.ptr, e->l.i64}, 3, 0);
}

static LLVMValueRef copy_function(run_function *r)
{
  hl_emitter *e = r->e;
  if (r->copy)
    return r->copy;
  LLVMBasicBlockRef here = hl_llvm_here(&e->l);
  r->copy = LLVMAddFunction(e->l.module, "copy", copy_type(e));
  LLVMSetLinkage(r->copy, LLVMInternalLinkage);
  hl_emit_function_attributes(e, r->copy);
  hl_llvm_function_attr(&e->l, r->copy, "noinline");
  e->l.function = r->copy;
  hl_debug_at(e, HL_NO_RANGE);
  hl_llvm_at(&e->l, hl_llvm_block(&e->l, "entry"));
  LLVMValueRef to = LLVMGetParam(r->copy, 0), from = LLVMGetParam(r->copy, 1);
  LLVMValueRef bytes = LLVMGetParam(r->copy, 2), zero = hl_llvm_i64(&e->l, 0);
  int width = e->target->vector_bytes ? 4 * e->target->vector_bytes : 1;
  LLVMValueRef whole = LLVMBuildAnd(e->l.builder, bytes, hl_llvm_i64(&e->l, -width), "");
  copy_bytes(e, to, from, zero, whole, width);
  if (width > 1)
    copy_bytes(e, to, from, whole, bytes, 1);
  LLVMBuildRetVoid(e->l.builder);
  e->l.function = r->function;
  hl_llvm_at(&e->l, here);
  hl_debug_at(e, HL_NO_RANGE);
  return r->copy;
}

static void emit_copy(run_function *r, const hl_step *step)
{
  hl_emitter *e = r->e;
  if (step->buffers[0]->bytes == 0)
    return;
  LLVMValueRef args[3] = {buffer_pointer(r, step->buffers[0]), buffer_pointer(r, step->buffers[1]),
                          hl_llvm_i64(&e->l, step->buffers[0]->bytes)};
  LLVMBuildCall2(e->l.builder, copy_type(e), copy_function(r), args, 3, "");
}

/* Functions of steps. */

static LLVMTypeRef entry_type(hl_emitter *e, LLVMTypeRef result)
{
  return LLVMFunctionType(result, (LLVMTypeRef[]){e->l.ptr, e->l.ptr, e->l.ptr}, 3, 0);
}

static LLVMBasicBlockRef begin_run(run_function *r)
{
  hl_emitter *e = r->e;
  r->function = LLVMAddFunction(e->l.module, "run", entry_type(e, e->l.i32));
  LLVMSetLinkage(r->function, LLVMInternalLinkage);
  hl_emit_function_attributes(e, r->function);
  hl_llvm_function_attr(&e->l, r->function, "noinline");
  hl_emit_is_glue(e, r->function);
  for (unsigned i = 1; i <= 3; i++)
    hl_llvm_attr(&e->l, r->function, i, "noalias", 0);
  e->l.function = r->function;
  hl_debug_function(e, r->function, "run", HL_NO_RANGE);
  hl_debug_at(e, HL_NO_RANGE);
  hl_llvm_at(&e->l, hl_llvm_block(&e->l, "entry"));
  hl_llvm_at(&e->l, hl_llvm_block(&e->l, "start"));
  return hl_llvm_here(&e->l);
}

/* The entry block holds what alloca put there. */
static void end_run(run_function *r, LLVMBasicBlockRef start)
{
  const hl_llvm *l = &r->e->l;
  LLVMBuildRet(l->builder, hl_llvm_int(l->i32, 0));
  hl_llvm_at(l, LLVMGetEntryBasicBlock(r->function));
  LLVMBuildBr(l->builder, start);
}

/* Steps. */

static void emit_steps(run_function *r, const hl_steps *steps);

static void emit_kernel_call(run_function *r, const hl_step *step)
{
  hl_emitter *e = r->e;
  LLVMBasicBlockRef here = hl_llvm_here(&e->l);
  LLVMValueRef kernel = hl_emit_kernel(e, step);
  int count = step->kernel->param_count;
  LLVMValueRef *args = HL_ARRAY(e->arena, count + 1, LLVMValueRef);
  e->l.function = r->function;
  hl_llvm_at(&e->l, here);
  hl_debug_at(e, step->range);
  for (int i = 0; i < count; i++)
    args[i] = buffer_pointer(r, step->buffers[i]);
  LLVMBuildCall2(e->l.builder, hl_emit_kernel_type(e, step->kernel), kernel, args, (unsigned)count,
                 "");
}

static LLVMValueRef load_selector(run_function *r, const hl_buffer *selector)
{
  const hl_llvm *l = &r->e->l;
  LLVMTypeRef type = hl_llvm_memory_type(l, selector->type, 1);
  return LLVMBuildLoad2(l->builder, type, buffer_pointer(r, selector), "");
}

static void emit_while_here(run_function *r, const hl_step *step)
{
  const hl_llvm *l = &r->e->l;
  LLVMBasicBlockRef head = hl_llvm_block(l, "while"), body = hl_llvm_block(l, "do");
  LLVMBasicBlockRef after = hl_llvm_block(l, "done");
  r->depth++;
  LLVMBuildBr(l->builder, head);
  hl_llvm_at(l, head);
  emit_steps(r, &step->condition);
  LLVMValueRef selector = load_selector(r, step->selector);
  LLVMValueRef goes_on = LLVMBuildICmp(l->builder, LLVMIntNE, selector, LLVMConstNull(l->i8), "");
  LLVMBuildCondBr(l->builder, goes_on, body, after);
  hl_llvm_at(l, body);
  emit_steps(r, &step->body);
  LLVMBuildBr(l->builder, head);
  hl_llvm_at(l, after);
  r->depth--;
}

/* What fails ends the run. */
static void return_if_failed(run_function *r, LLVMValueRef status)
{
  const hl_llvm *l = &r->e->l;
  LLVMValueRef failed = LLVMBuildICmp(l->builder, LLVMIntNE, status, hl_llvm_int(l->i32, 0), "");
  hl_llvm_if branch = hl_llvm_if_begin(l, failed);
  LLVMBuildRet(l->builder, hl_llvm_int(l->i32, 2));
  hl_llvm_at(l, branch.otherwise);
}

/* The while in a function of its own. */
static LLVMValueRef emit_while_function(run_function *r, const hl_step *step)
{
  run_function outer = *r;
  LLVMBasicBlockRef here = hl_llvm_here(&r->e->l), start = begin_run(r);
  LLVMValueRef function = r->function;
  r->depth = 0;
  emit_while_here(r, step);
  end_run(r, start);
  r->function = r->e->l.function = outer.function;
  r->depth = outer.depth;
  hl_llvm_at(&r->e->l, here);
  hl_debug_at(r->e, step->range);
  return function;
}

/* LLVM lists all blocks of a loop in each loop around it: deep nests are cut into functions. */
static void emit_while(run_function *r, const hl_step *step)
{
  enum { MOST_DEPTH = 16 };
  hl_emitter *e = r->e;
  if (r->depth < MOST_DEPTH) {
    emit_while_here(r, step);
    return;
  }
  LLVMValueRef function = emit_while_function(r, step), args[3];
  for (unsigned i = 0; i < 3; i++)
    args[i] = LLVMGetParam(r->function, i);
  return_if_failed(r, LLVMBuildCall2(e->l.builder, entry_type(e, e->l.i32), function, args, 3, ""));
}

/* pred: true is branch 0. s32: what is out of range is the last branch. */
static void emit_conditional(run_function *r, const hl_step *step)
{
  const hl_llvm *l = &r->e->l;
  bool is_pred = step->selector->type == HL_PRED;
  LLVMValueRef selector = load_selector(r, step->selector);
  LLVMBasicBlockRef after = hl_llvm_block(l, "done"), last = hl_llvm_block(l, "branch");
  if (is_pred)
    selector = LLVMBuildICmp(l->builder, LLVMIntEQ, selector, LLVMConstNull(l->i8), "");
  LLVMValueRef jump = LLVMBuildSwitch(l->builder, selector, last, (unsigned)step->branch_count);
  for (int i = 0; i < step->branch_count; i++) {
    bool is_last = i == step->branch_count - 1;
    LLVMBasicBlockRef block = is_last ? last : hl_llvm_block(l, "branch");
    if (!is_last)
      LLVMAddCase(jump, LLVMConstInt(LLVMTypeOf(selector), (unsigned)i, 0), block);
    hl_llvm_at(l, block);
    emit_steps(r, &step->branches[i]);
    LLVMBuildBr(l->builder, after);
  }
  hl_llvm_at(l, after);
}

static void emit_call(run_function *r, const hl_step *step)
{
  hl_emitter *e = r->e;
  const hl_call *call = step->call;
  LLVMValueRef *pointers = HL_ARRAY(e->arena, call->value_count + 1, LLVMValueRef);
  for (int i = 0; i < call->value_count; i++)
    pointers[i] = call->values[i].buffer ? buffer_pointer(r, call->values[i].buffer) : NULL;
  LLVMValueRef status = hl_emit_call(e, call, pointers);
  if (status)
    return_if_failed(r, status);
}

/* Tells the hook that a step begins or ends. */
static void emit_mark(run_function *r, const hl_step *step, bool is_end)
{
  const hl_llvm *l = &r->e->l;
  bool is_timed =
      step->kind == HL_STEP_KERNEL || step->kind == HL_STEP_COPY || step->kind == HL_STEP_CALL;
  if (!r->e->options->profile || !is_timed)
    return;
  LLVMTypeRef type = LLVMFunctionType(l->nothing, (LLVMTypeRef[]){l->ptr, l->i64, l->i64}, 3, 0);
  LLVMValueRef hook = hl_llvm_gep(l, l->i8, LLVMGetParam(r->function, 2),
                                  hl_llvm_i64(l, hl_profile_offset(r->e->program)));
  LLVMValueRef mark = LLVMBuildLoad2(l->builder, l->ptr, hook, "");
  LLVMValueRef context =
      LLVMBuildLoad2(l->builder, l->ptr, hl_llvm_gep(l, l->ptr, hook, hl_llvm_i64(l, 1)), "");
  LLVMValueRef args[3] = {context, hl_llvm_i64(l, step->number), hl_llvm_i64(l, is_end)};
  LLVMBuildCall2(l->builder, type, mark, args, 3, "");
}

/* Nesting is that of the text's whiles and conditionals. */
static void emit_steps(run_function *r, const hl_steps *steps)
{
  for (const hl_step *step = steps->first; step; step = step->next) {
    hl_debug_at(r->e, step->range);
    emit_mark(r, step, false);
    switch (step->kind) {
    case HL_STEP_KERNEL:
      emit_kernel_call(r, step);
      break;
    case HL_STEP_COPY:
      emit_copy(r, step);
      break;
    case HL_STEP_WHILE:
      emit_while(r, step);
      break;
    case HL_STEP_CONDITIONAL:
      emit_conditional(r, step);
      break;
    case HL_STEP_CALL:
      emit_call(r, step);
      break;
    }
    emit_mark(r, step, true);
  }
}

/* The entry and the symbols. */

static LLVMValueRef emit_run(hl_emitter *e)
{
  run_function r = {.e = e, .constants = {.arena = e->arena}};
  LLVMBasicBlockRef start = begin_run(&r);
  emit_steps(&r, &e->program->steps);
  end_run(&r, start);
  return r.function;
}

static LLVMValueRef workspace_is_bad(hl_emitter *e, LLVMValueRef workspace)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef address = LLVMBuildPtrToInt(b, workspace, e->l.i64, "");
  LLVMValueRef low = LLVMBuildAnd(b, address, hl_llvm_i64(&e->l, 63), "");
  LLVMValueRef misaligned = LLVMBuildICmp(b, LLVMIntNE, low, hl_llvm_i64(&e->l, 0), "");
  return LLVMBuildOr(b, misaligned, LLVMBuildIsNull(b, workspace, ""), "");
}

static void emit_entry(hl_emitter *e, LLVMValueRef run)
{
  LLVMValueRef entry = LLVMAddFunction(e->l.module, e->options->symbol, entry_type(e, e->l.i32));
  LLVMValueRef args[3];
  hl_emit_function_attributes(e, entry);
  hl_llvm_function_attr(&e->l, entry, "noinline");
  hl_emit_is_glue(e, entry);
  e->l.function = entry;
  hl_debug_function(e, entry, e->options->symbol, HL_NO_RANGE);
  hl_debug_at(e, HL_NO_RANGE);
  hl_llvm_at(&e->l, hl_llvm_block(&e->l, "entry"));
  hl_llvm_at(&e->l, hl_llvm_block(&e->l, "start"));
  LLVMBasicBlockRef start = hl_llvm_here(&e->l);
  for (unsigned i = 0; i < 3; i++)
    args[i] = LLVMGetParam(entry, i);
  if (e->program->workspace_bytes > 0) {
    hl_llvm_if bad = hl_llvm_if_begin(&e->l, workspace_is_bad(e, args[2]));
    LLVMBuildRet(e->l.builder, hl_llvm_int(e->l.i32, 1));
    hl_llvm_at(&e->l, bad.otherwise);
  }
  LLVMValueRef saved = hl_emit_fenv_enter(e);
  LLVMValueRef status = LLVMBuildCall2(e->l.builder, entry_type(e, e->l.i32), run, args, 3, "");
  hl_emit_fenv_leave(e, saved);
  LLVMBuildRet(e->l.builder, status);
  hl_llvm_at(&e->l, LLVMGetEntryBasicBlock(entry));
  LLVMBuildBr(e->l.builder, start);
}

static void add_symbol(hl_emitter *e, const char *suffix, LLVMValueRef value, unsigned align)
{
  const char *name = hl_arena_printf(e->arena, "%s%s", e->options->symbol, suffix);
  LLVMValueRef global = LLVMAddGlobal(e->l.module, LLVMTypeOf(value), name);
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, 1);
  LLVMSetAlignment(global, align);
}

/* The reduction of large arguments, which sin, cos and tan wrote: such arguments are rare, and with
 * other attributes than the rest LLVM would set its target up once more. */
static void finish_math(hl_emitter *e)
{
  static const char *const names[] = {"hl_math.reduce.f32", "hl_math.reduce.f64"};
  for (int i = 0; i < 2; i++) {
    LLVMValueRef function = LLVMGetNamedFunction(e->l.module, names[i]);
    if (!function)
      continue;
    hl_emit_function_attributes(e, function);
    hl_llvm_function_attr(&e->l, function, "noinline");
    hl_emit_is_glue(e, function);
  }
}

static void emit_whole(hl_emitter *e)
{
  const char *signature = e->options->signature ? e->options->signature : "";
  emit_entry(e, emit_run(e));
  add_symbol(e, "_workspace_bytes", hl_llvm_i64(&e->l, e->program->workspace_bytes), 8);
  add_symbol(e, "_signature",
             LLVMConstStringInContext2(e->l.context, signature, strlen(signature), 0), 1);
}

/* Part 0 has the entry, which calls the kernels of all parts. */
void hl_emit_program(hl_emitter *e)
{
  if (e->part == 0)
    emit_whole(e);
  for (const hl_part_kernel *kernel = e->parts ? e->parts->first : NULL; kernel;
       kernel = kernel->next)
    if (kernel->part == e->part)
      hl_emit_kernel(e, kernel->step);
  finish_math(e);
}
