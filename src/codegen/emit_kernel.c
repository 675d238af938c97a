/* emit_kernel.c - the function of a kernel, and the functions of its parallel loops.
 *
 *   void kernel(ptr p0, ..., ptr pN)                       one pointer a parameter; per-worker
 * scratch: the start of all parts void body(ptr p0, ..., ptr pN, values..., begin, end, worker) one
 * range of a parallel loop void chunk(ptr context, begin, end, worker)            body's arguments
 * out of memory: what hlo_parallel_for calls
 *
 * Pointers are noalias parameters, so that LLVM may keep and move what it loads.
 */
#include "emit.h"

#include <stdio.h>
#include <string.h>

LLVMTypeRef hl_emit_kernel_type(hl_emitter *e, const hl_kernel *kernel)
{
  LLVMTypeRef *types = HL_ARRAY(e->arena, kernel->param_count + 1, LLVMTypeRef);
  for (int i = 0; i < kernel->param_count; i++)
    types[i] = e->l.ptr;
  return LLVMFunctionType(e->l.nothing, types, (unsigned)kernel->param_count, 0);
}

static LLVMValueRef add_function(hl_emitter *e, const char *kind, LLVMTypeRef type)
{
  char name[64];
  snprintf(name, sizeof name, "%s.%d", kind, e->kernel_count++);
  LLVMValueRef function = LLVMAddFunction(e->l.module, name, type);
  LLVMSetLinkage(function, LLVMInternalLinkage);
  hl_emit_function_attributes(e, function);
  hl_llvm_function_attr(&e->l, function, "noinline");
  return function;
}

static void param_attributes(hl_emitter *e, LLVMValueRef function, bool is_disjoint)
{
  for (int i = 0; i < e->kernel->param_count; i++) {
    const hl_param *param = e->kernel->params[i];
    unsigned index = (unsigned)i + 1;
    if (is_disjoint || param->direction == HL_PARAM_SCRATCH)
      hl_llvm_attr(&e->l, function, index, "noalias", 0);
    if (param->count == 0)
      continue;
    hl_llvm_attr(&e->l, function, index, "align", (uint64_t)e->aligns[i]);
    hl_llvm_attr(&e->l, function, index, "dereferenceable",
                 (uint64_t)param->count * (uint64_t)hl_type_bytes(param->type));
    if (param->direction == HL_PARAM_IN)
      hl_llvm_attr(&e->l, function, index, "readonly", 0);
  }
}

/* Do two parameters of a step share memory, one of them written? Then nothing is noalias. */
static bool overlap(const hl_buffer *a, const hl_buffer *b)
{
  if (a == b || a->alias == b || b->alias == a)
    return true;
  return a->kind == HL_BUFFER_TEMP && b->kind == HL_BUFFER_TEMP && !a->is_per_worker &&
         !b->is_per_worker && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static bool is_disjoint(const hl_step *step)
{
  const hl_kernel *kernel = step->kernel;
  for (int i = 0; i < kernel->param_count; i++)
    for (int k = 0; k < kernel->param_count && kernel->params[i]->direction != HL_PARAM_IN; k++)
      if (i != k && overlap(step->buffers[i], step->buffers[k]))
        return false;
  return true;
}

static int align_of(const hl_buffer *buffer)
{
  bool is_ours = buffer->kind == HL_BUFFER_TEMP || buffer->kind == HL_BUFFER_CONSTANT;
  return is_ours ? 64 : hl_type_bytes(hl_component_type(buffer->type));
}

static void enter_kernel(hl_emitter *e, const hl_step *step)
{
  const hl_kernel *kernel = step->kernel;
  e->kernel = kernel;
  e->step = step;
  e->values = HL_ARRAY(e->arena, kernel->next_id, hl_value);
  e->variance = HL_ARRAY(e->arena, kernel->next_id, uint8_t);
  e->tiles = HL_ARRAY(e->arena, kernel->next_id, hl_tile *);
  e->prefetch = HL_ARRAY(e->arena, kernel->next_id, int64_t);
  e->pointers = HL_ARRAY(e->arena, kernel->param_count + 1, LLVMValueRef);
  e->aligns = HL_ARRAY(e->arena, kernel->param_count + 1, int);
  e->is_disjoint = is_disjoint(step);
  hl_emit_plan_ranges(e, kernel);
  for (int i = 0; i < kernel->param_count; i++)
    e->aligns[i] = align_of(step->buffers[i]);
}

static void start_function(hl_emitter *e, LLVMValueRef function)
{
  e->l.function = function;
  hl_debug_function(e, function, e->kernel->name, e->kernel->range);
  hl_debug_at(e, e->kernel->range);
  hl_llvm_at(&e->l, hl_llvm_block(&e->l, "entry"));
  hl_llvm_at(&e->l, hl_llvm_block(&e->l, "start"));
  for (int i = 0; i < e->kernel->param_count; i++)
    e->pointers[i] = LLVMGetParam(function, (unsigned)i);
}

/* Streaming stores are ordered before what the caller does next; only x86 needs to be told. */
static void fence(hl_emitter *e)
{
  if (e->has_streamed && e->target->family == HL_FAMILY_X86_64)
    hl_llvm_intrinsic(&e->l, "llvm.x86.sse.sfence", NULL, 0, NULL, 0);
  e->has_streamed = false;
}

/* The entry block holds stack memory alone and then goes to the start. */
static void finish_function(hl_emitter *e)
{
  hl_debug_at(e, e->kernel->range);
  fence(e);
  LLVMBuildRetVoid(e->l.builder);
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(e->l.function);
  hl_llvm_at(&e->l, entry);
  LLVMBuildBr(e->l.builder, LLVMGetNextBasicBlock(entry));
}

/* Parallel loops are functions of their own; what may stand around them here is a few scalars. */
static bool is_glue(const hl_kernel *kernel)
{
  bool has_parallel = false;
  for (const hl_node *node = kernel->body.first; node; node = node->next) {
    bool is_parallel = node->op == HL_LOOP_FOR && node->loop->mode == HL_MODE_PARALLEL;
    if (!is_parallel &&
        (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD ||
         node->op == HL_LOOP_IF || node->op == HL_LOOP_MATH))
      return false;
    has_parallel = has_parallel || is_parallel;
  }
  return has_parallel;
}

static LLVMValueRef new_kernel(hl_emitter *e, const hl_kernel *kernel)
{
  LLVMValueRef function = add_function(e, "kernel", hl_emit_kernel_type(e, kernel));
  param_attributes(e, function, e->is_disjoint);
  if (is_glue(kernel))
    hl_emit_is_glue(e, function);
  start_function(e, function);
  hl_emit_block(e, &kernel->body);
  finish_function(e);
  return function;
}

hl_str hl_emit_kernel_key(hl_emitter *e, const hl_step *step)
{
  enter_kernel(e, step);
  return hl_emit_key(e, step);
}

/* What the parts call of each other is local in the object that they become. */
static void share(LLVMValueRef function, const hl_part_kernel *kernel)
{
  LLVMSetValueName2(function, kernel->name, strlen(kernel->name));
  LLVMSetLinkage(function, LLVMExternalLinkage);
  LLVMSetVisibility(function, LLVMHiddenVisibility);
}

/* The kernel of a step: its function or, where it is at home in another part, its declaration. */
static LLVMValueRef get_kernel(hl_emitter *e, const hl_step *step, const hl_str *key)
{
  const hl_part_kernel *home =
      e->parts ? hl_map_get(&e->parts->by_key, key->text, key->length) : NULL;
  LLVMValueRef function = home && home->part != e->part
                              ? LLVMAddFunction(e->l.module, "", hl_emit_kernel_type(e, step->kernel))
                              : new_kernel(e, step->kernel);
  if (home && home->part != 0)
    share(function, home);
  return function;
}

LLVMValueRef hl_emit_kernel(hl_emitter *e, const hl_step *step)
{
  hl_str key = hl_emit_kernel_key(e, step);
  LLVMValueRef function = hl_map_get(&e->kernels, key.text, key.length);
  if (function)
    return function;
  function = get_kernel(e, step, &key);
  hl_map_set(&e->kernels, key.text, key.length, function);
  return function;
}

/* Parallel loops. */

/* What the body needs of the kernel around it: the pointers, then the values defined before the
 * loop. */
typedef struct captures {
  const hl_node **nodes;
  LLVMValueRef *values; /* pointers first; in the caller */
  int node_count, count;
} captures;

static captures find_captures(hl_emitter *e, const hl_node *loop)
{
  captures c = {.count = e->kernel->param_count};
  int nodes = 0;
  for (const hl_node *n = loop->block->first; n != loop; n = n->next)
    nodes++;
  c.nodes = HL_ARRAY(e->arena, nodes + 1, const hl_node *);
  c.values = HL_ARRAY(e->arena, c.count + nodes + 4, LLVMValueRef);
  memcpy(c.values, e->pointers, (size_t)c.count * sizeof *c.values);
  for (const hl_node *n = loop->block->first; n != loop; n = n->next) {
    if (e->values[n->id].part_count == 0 || LLVMIsConstant(e->values[n->id].parts[0]))
      continue;
    c.nodes[c.node_count++] = n;
    c.values[c.count++] = e->values[n->id].parts[0];
  }
  return c;
}

/* The types of captured values, then begin, end, worker. */
static LLVMTypeRef body_type(hl_emitter *e, const captures *c)
{
  LLVMTypeRef *types = HL_ARRAY(e->arena, c->count + 3, LLVMTypeRef);
  for (int i = 0; i < c->count; i++)
    types[i] = LLVMTypeOf(c->values[i]);
  types[c->count] = types[c->count + 1] = e->l.i64;
  types[c->count + 2] = e->l.i32;
  return LLVMFunctionType(e->l.nothing, types, (unsigned)c->count + 3, 0);
}

/* Each worker has its own part of the scratch buffers. */
static void take_scratch(hl_emitter *e, LLVMValueRef worker)
{
  for (int i = 0; i < e->kernel->param_count; i++) {
    const hl_buffer *buffer = e->step->buffers[i];
    if (!buffer->is_per_worker)
      continue;
    int64_t part = (buffer->bytes + 63) / 64 * 64;
    LLVMValueRef at = LLVMBuildMul(e->l.builder, LLVMBuildZExt(e->l.builder, worker, e->l.i64, ""),
                                   hl_llvm_i64(&e->l, part), "");
    e->pointers[i] = hl_llvm_gep(&e->l, e->l.i8, e->pointers[i], at);
  }
}

static LLVMValueRef emit_body(hl_emitter *e, const hl_loop *loop, const captures *c)
{
  LLVMValueRef function = add_function(e, "body", body_type(e, c));
  param_attributes(e, function, e->is_disjoint);
  start_function(e, function);
  unsigned at = (unsigned)c->count;
  for (int i = 0; i < c->node_count; i++) {
    LLVMValueRef value = LLVMGetParam(function, (unsigned)(e->kernel->param_count + i));
    hl_value_set_scalar(e, c->nodes[i], value, e->values[c->nodes[i]->id].nan);
  }
  take_scratch(e, LLVMGetParam(function, at + 2));
  hl_emit_plan_prefetch(e, loop);
  hl_emit_range(e, loop, LLVMGetParam(function, at), LLVMGetParam(function, at + 1));
  finish_function(e);
  return function;
}

static LLVMTypeRef context_type(hl_emitter *e, const captures *c)
{
  LLVMTypeRef *types = HL_ARRAY(e->arena, c->count + 1, LLVMTypeRef);
  for (int i = 0; i < c->count; i++)
    types[i] = LLVMTypeOf(c->values[i]);
  return LLVMStructTypeInContext(e->l.context, types, (unsigned)c->count, 0);
}

static LLVMTypeRef chunk_type(hl_emitter *e)
{
  LLVMTypeRef types[4] = {e->l.ptr, e->l.i64, e->l.i64, e->l.i32};
  return LLVMFunctionType(e->l.nothing, types, 4, 0);
}

/* A chunk may run on any thread: it sets the floating environment as the entry does. */
static LLVMValueRef emit_chunk(hl_emitter *e, LLVMValueRef body, const captures *c)
{
  LLVMValueRef function = add_function(e, "chunk", chunk_type(e));
  hl_emit_is_glue(e, function);
  LLVMTypeRef context = context_type(e, c);
  LLVMValueRef *args = HL_ARRAY(e->arena, c->count + 3, LLVMValueRef);
  e->l.function = function;
  hl_debug_function(e, function, e->kernel->name, e->kernel->range);
  hl_debug_at(e, e->kernel->range);
  hl_llvm_at(&e->l, hl_llvm_block(&e->l, "entry"));
  LLVMValueRef saved = hl_emit_fenv_enter(e);
  for (int i = 0; i < c->count; i++) {
    LLVMValueRef at =
        LLVMBuildStructGEP2(e->l.builder, context, LLVMGetParam(function, 0), (unsigned)i, "");
    args[i] = LLVMBuildLoad2(e->l.builder, LLVMStructGetTypeAtIndex(context, (unsigned)i), at, "");
  }
  for (unsigned i = 0; i < 3; i++)
    args[c->count + (int)i] = LLVMGetParam(function, i + 1);
  LLVMBuildCall2(e->l.builder, LLVMGlobalGetValueType(body), body, args, (unsigned)c->count + 3,
                 "");
  hl_emit_fenv_leave(e, saved);
  LLVMBuildRetVoid(e->l.builder);
  return function;
}

static LLVMTypeRef hook_type(hl_emitter *e)
{
  LLVMTypeRef types[5] = {e->l.ptr, e->l.ptr, e->l.i64, e->l.i64, e->l.i32};
  return LLVMFunctionType(e->l.nothing, types, 5, 0);
}

static LLVMValueRef hook_function(hl_emitter *e)
{
  LLVMValueRef hook = LLVMGetNamedFunction(e->l.module, "hlo_parallel_for");
  if (hook)
    return hook;
  hook = LLVMAddFunction(e->l.module, "hlo_parallel_for", hook_type(e));
  LLVMSetLinkage(hook, LLVMExternalWeakLinkage);
  hl_llvm_function_attr(&e->l, hook, "nounwind");
  return hook;
}

static void call_body(hl_emitter *e, LLVMValueRef body, captures *c, LLVMValueRef count)
{
  c->values[c->count] = hl_llvm_i64(&e->l, 0);
  c->values[c->count + 1] = count;
  c->values[c->count + 2] = hl_llvm_int(e->l.i32, 0);
  LLVMBuildCall2(e->l.builder, LLVMGlobalGetValueType(body), body, c->values,
                 (unsigned)c->count + 3, "");
}

static void call_hook(hl_emitter *e, const hl_loop *loop, LLVMValueRef chunk, const captures *c,
                      LLVMValueRef count)
{
  LLVMTypeRef type = context_type(e, c);
  LLVMValueRef context = hl_llvm_alloca(&e->l, type, 1, 16);
  for (int i = 0; i < c->count; i++) {
    LLVMValueRef at = LLVMBuildStructGEP2(e->l.builder, type, context, (unsigned)i, "");
    LLVMBuildStore(e->l.builder, c->values[i], at);
  }
  LLVMValueRef args[5] = {chunk, context, count, hl_llvm_i64(&e->l, hl_emit_grain(e, loop)),
                          hl_llvm_int(e->l.i32, (uint64_t)e->program->max_workers)};
  LLVMBuildCall2(e->l.builder, hook_type(e), hook_function(e), args, 5, "");
}

static bool goes_to_threads(const hl_emitter *e, const hl_loop *loop)
{
  return e->options->threads && e->program->max_workers > 1 && loop->extents[0] > 1;
}

/* The body is emitted in a function of its own: what surrounds it is put back afterwards. */
void hl_emit_parallel(hl_emitter *e, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  captures c = find_captures(e, node);
  LLVMValueRef count = hl_emit_extent(e, loop, 0);
  LLVMBasicBlockRef here = hl_llvm_here(&e->l);
  LLVMValueRef caller = e->l.function, *pointers = e->pointers;
  hl_value *values = e->values;
  e->values = hl_arena_memdup(e->arena, values, (size_t)e->kernel->next_id * sizeof *values);
  e->pointers = HL_ARRAY(e->arena, e->kernel->param_count + 1, LLVMValueRef);
  LLVMValueRef body = emit_body(e, loop, &c);
  LLVMValueRef chunk = goes_to_threads(e, loop) ? emit_chunk(e, body, &c) : NULL;
  e->l.function = caller;
  e->pointers = pointers;
  e->values = values;
  hl_llvm_at(&e->l, here);
  hl_debug_at(e, node->range);
  if (!chunk) {
    call_body(e, body, &c, count);
    return;
  }
  LLVMValueRef is_there = LLVMBuildIsNotNull(e->l.builder, hook_function(e), "");
  hl_llvm_if branch = hl_llvm_if_begin(&e->l, is_there);
  call_hook(e, loop, chunk, &c, count);
  hl_llvm_if_else(&e->l, &branch);
  hl_debug_at(e, node->range);
  call_body(e, body, &c, count);
  hl_llvm_if_end(&e->l, &branch);
}
