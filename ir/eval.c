/* eval - the table of evaluators and the two entries: one instruction, and a whole module. */
#include "eval_internal.h"

#include <string.h>

#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...)                         \
  hl_eval_fn hl_eval_##family;
#include "ops.def"

/* One function does all that is elementwise. */
#define hl_eval_unary hl_eval_elementwise
#define hl_eval_binary hl_eval_elementwise
#define hl_eval_compare hl_eval_elementwise
#define hl_eval_select hl_eval_elementwise
#define hl_eval_clamp hl_eval_elementwise
#define hl_eval_convert hl_eval_elementwise
#define hl_eval_reduce_precision hl_eval_elementwise

/* Families without an evaluator. */
#define hl_eval_parameter NULL /* eval_run knows the arguments */
#define hl_eval_refused NULL

static hl_eval_fn *const functions[HL_OP_COUNT] = {
#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...)                         \
  [HL_OP_##id] = hl_eval_##family,
#include "ops.def"
};

hl_eval_fn *hl_eval_function(hl_opcode opcode)
{
  return functions[opcode];
}

bool hl_eval_has(hl_opcode opcode)
{
  return opcode == HL_OP_PARAMETER || functions[opcode];
}

/* ---- the guard ---- */

typedef struct job {
  const hl_instruction *ins; /* one instruction, or */
  const hl_module *module;   /* a module */
  const hl_literal *const *args;
  hl_literal *const *leaves; /* of the result, made beforehand in the caller's arena */
} job;

/* Copies the arrays of a value into the leaves; returns those that are left. */
static hl_literal *const *copy_leaves(hl_literal *const *leaves, const hl_literal *value)
{
  for (int i = 0; i < value->shape->tuple_count; i++)
    leaves = copy_leaves(leaves, value->elements[i]);
  if (!hl_shape_is_array(value->shape))
    return leaves;
  if (value->data)
    memcpy((*leaves)->data, value->data, (size_t)hl_shape_bytes(value->shape));
  return leaves + 1;
}

static void run_instruction(hl_eval *e, const job *j)
{
  const hl_instruction *ins = j->ins;
  const hl_literal **operands = hl_eval_scratch(e, ins->operand_count, sizeof *operands);
  for (int i = 0; i < ins->operand_count; i++)
    operands[i] = hl_eval_borrow(e, j->args[i]);
  hl_eval_charge(e, 1 + (hl_shape_is_array(ins->shape) ? hl_shape_elements(ins->shape) : 0));
  copy_leaves(j->leaves, functions[ins->opcode](e, ins, operands));
}

/* A parameter's value from the flat arguments; pred bytes become 0 or 1. */
static const hl_literal *take_argument(hl_eval *e, const hl_shape *shape,
                                       const hl_literal *const **args)
{
  if (shape->element_type == HL_TUPLE) {
    const hl_literal **elements = hl_eval_scratch(e, shape->tuple_count, sizeof *elements);
    for (int i = 0; i < shape->tuple_count; i++)
      elements[i] = take_argument(e, shape->tuple_shapes[i], args);
    const hl_literal *tuple = hl_eval_tuple_of(e, shape, elements);
    hl_eval_drop(e, elements);
    return tuple;
  }
  if (!hl_shape_is_array(shape))
    return hl_eval_new(e, shape);
  const hl_literal *arg = *(*args)++, from = {.shape = shape, .data = arg->data};
  if (shape->element_type != HL_PRED)
    return hl_eval_borrow(e, &from);
  hl_literal *copy = hl_eval_new(e, shape);
  int64_t total = hl_shape_elements(shape);
  for (int64_t i = 0; i < total; i++)
    hl_eval_move(copy, i, &from, i);
  return copy;
}

static void run_module(hl_eval *e, const job *j)
{
  const hl_computation *entry = j->module->entry;
  const hl_literal *const *args = j->args;
  const hl_literal **values = hl_eval_scratch(e, entry->parameter_count, sizeof *values);
  for (int i = 0; i < entry->parameter_count; i++)
    values[i] = take_argument(e, entry->parameters[i]->shape, &args);
  copy_leaves(j->leaves, hl_eval_computation(e, entry, values));
}

/* Runs with the guard set, so that whatever fails inside comes back here. */
static bool run_guarded(hl_eval *e, void (*run)(hl_eval *, const job *), const job *j)
{
  if (setjmp(e->guard.env))
    return false;
  run(e, j);
  return true;
}

/* ---- the entries ---- */

static int count_leaves(const hl_shape *shape)
{
  int count = hl_shape_is_array(shape);
  for (int i = 0; i < shape->tuple_count; i++)
    count += count_leaves(shape->tuple_shapes[i]);
  return count;
}

static hl_literal **make_leaves(hl_arena *arena, const hl_shape *shape, hl_literal **next)
{
  for (int i = 0; i < shape->tuple_count; i++)
    next = make_leaves(arena, shape->tuple_shapes[i], next);
  if (hl_shape_is_array(shape))
    *next++ = hl_literal_new(arena, shape);
  return next;
}

/* The literal of a shape over its leaves. */
static const hl_literal *assemble(hl_arena *arena, const hl_shape *shape,
                                  hl_literal *const **leaves)
{
  if (hl_shape_is_array(shape))
    return *(*leaves)++;
  hl_literal *literal = HL_NEW(arena, hl_literal);
  const hl_literal **elements = HL_ARRAY(arena, shape->tuple_count, const hl_literal *);
  for (int i = 0; i < shape->tuple_count; i++)
    elements[i] = assemble(arena, shape->tuple_shapes[i], leaves);
  *literal = (hl_literal){.shape = shape, .elements = elements};
  return literal;
}

static bool is_within(const hl_shape *shape, int64_t most)
{
  for (int i = 0; i < shape->tuple_count; i++)
    if (!is_within(shape->tuple_shapes[i], most))
      return false;
  return !most || !hl_shape_is_array(shape) || hl_shape_bytes(shape) <= most;
}

const hl_literal *hl_eval_instruction(hl_arena *arena, const hl_instruction *ins,
                                      const hl_literal *const *operands, hl_eval_limits limits)
{
  hl_eval e;
  if (!functions[ins->opcode] || !is_within(ins->shape, limits.max_result_bytes))
    return NULL;
  hl_literal **leaves = HL_ARRAY(arena, count_leaves(ins->shape), hl_literal *);
  make_leaves(arena, ins->shape, leaves);
  hl_literal *const *rest = leaves;
  const hl_literal *result = assemble(arena, ins->shape, &rest);
  job j = {.ins = ins, .args = operands, .leaves = leaves};
  bool is_done = hl_eval_begin(&e, limits) && run_guarded(&e, run_instruction, &j);
  hl_eval_end(&e);
  return is_done ? result : NULL;
}

static bool report(hl_diag *diag, const hl_module *module, const hl_eval *e)
{
  const hl_instruction *where = e->where ? e->where : module->entry->root;
  return hl_error(diag, hl_place_call(where), HL_RULE_EVALUATE, "cannot evaluate '%s': %s",
                  hl_op_info_of(where->opcode)->name, e->reason ? e->reason : "out of memory");
}

bool hl_eval_module(hl_arena *arena, const hl_module *module, const hl_literal *const *args,
                    const hl_literal ***results, int *result_count, hl_diag *diag)
{
  return hl_eval_module_with(arena, module, args, NULL, results, result_count, diag);
}

bool hl_eval_module_with(hl_arena *arena, const hl_module *module, const hl_literal *const *args,
                         const hl_eval_host *host, const hl_literal ***results, int *result_count,
                         hl_diag *diag)
{
  hl_eval e;
  const hl_shape *shape = module->entry->root->shape;
  *result_count = count_leaves(shape);
  hl_literal **leaves = HL_ARRAY(arena, *result_count, hl_literal *);
  make_leaves(arena, shape, leaves);
  *results = (const hl_literal **)leaves;
  job j = {.module = module, .args = args, .leaves = leaves};
  bool is_done = hl_eval_begin(&e, (hl_eval_limits){0, 0});
  e.host = host;
  is_done = is_done && run_guarded(&e, run_module, &j);
  hl_eval_end(&e);
  return is_done || report(diag, module, &e);
}
