/* check_call - a module of one custom call, compiled and called with the values that the evaluator has. */
#include "check_call.h"

#include "runtime/io.h"

#include <stdlib.h>
#include <string.h>

/* What one call holds. */
typedef struct work {
  hl_check_call *check;
  hl_session session;
  hl_calls calls;
  hl_jit *jit;
  hl_jit_module *code;
  void *workspace;
} work;

/* The entry has a parameter for each operand. */
static hl_module *make_module(hl_arena *arena, const hl_instruction *ins)
{
  hl_module *module = hl_module_new(arena, "custom_call");
  hl_computation *entry = hl_module_add_computation(module, "entry");
  entry->parameters = HL_ARRAY(arena, ins->operand_count + 1, hl_instruction *);
  entry->parameter_count = ins->operand_count;
  for (int i = 0; i < ins->operand_count; i++) {
    entry->parameters[i] =
        hl_instruction_new(entry, NULL, HL_OP_PARAMETER, NULL, ins->operands[i]->shape, 0, NULL, NULL);
    entry->parameters[i]->parameter_number = i;
  }
  entry->root = hl_instruction_new(entry, NULL, HL_OP_CUSTOM_CALL, NULL, ins->shape, ins->operand_count,
                                   entry->parameters, ins);
  for (int i = 0; i < ins->attr_count; i++)
    if (ins->attrs[i].id != HL_ATTR_CALLED_COMPUTATIONS && ins->attrs[i].id != HL_ATTR_TO_APPLY)
      hl_instruction_add_attr(entry->root, &ins->attrs[i]);
  module->entry = entry;
  return module;
}

static bool compile(work *w, const hl_instruction *ins)
{
  hl_session *s = &w->session;
  const char *error = NULL;
  hl_code code = {0};
  s->diag.source = w->check->session->diag.source;
  s->module = make_module(s->arena, ins);
  if (!hl_session_build(s) || !hl_calls_find(s, w->check->sources, &w->calls) ||
      !hl_session_emit(s, HL_CODE_OBJECT, &code))
    return false;
  w->jit = hl_jit_new(s->arena, NULL, &error);
  if (w->jit)
    w->code = hl_jit_load(w->jit, s->arena, code.data, code.size, s->symbol, w->calls.symbols,
                               w->calls.symbol_count, &error);
  free(code.data);
  return w->code != NULL;
}

static void add_data(const hl_literal *value, void **data, int *count)
{
  for (int i = 0; i < value->shape->tuple_count; i++)
    add_data(value->elements[i], data, count);
  if (hl_shape_is_array(value->shape))
    data[(*count)++] = value->data;
}

static const hl_literal *new_value(hl_arena *arena, const hl_shape *shape)
{
  if (hl_shape_is_array(shape))
    return hl_literal_new(arena, shape);
  const hl_literal **elements = HL_ARRAY(arena, shape->tuple_count + 1, const hl_literal *);
  for (int i = 0; i < shape->tuple_count; i++)
    elements[i] = new_value(arena, shape->tuple_shapes[i]);
  hl_literal *tuple = HL_NEW(arena, hl_literal);
  *tuple = (hl_literal){.shape = shape, .elements = elements};
  return tuple;
}

static const hl_literal *call(work *w, const hl_instruction *ins, const hl_literal *const *operands)
{
  hl_arena *arena = w->check->arena;
  int argument_count = 0, result_count = 0;
  const hl_program *program = w->session.program;
  void **arguments = HL_ARRAY(arena, program->argument_count + 1, void *);
  void **results = HL_ARRAY(arena, program->result_count + 1, void *);
  const hl_literal *value = new_value(arena, ins->shape);
  hl_io_error error;
  for (int i = 0; i < ins->operand_count; i++)
    add_data(operands[i], arguments, &argument_count);
  add_data(value, results, &result_count);
  w->workspace = hl_io_alloc((size_t)program->workspace_bytes, &error);
  if (!w->workspace)
    return NULL;
  return hl_jit_module_entry(w->code)(arguments, results, w->workspace) == 0 ? value : NULL;
}

const hl_literal *hl_check_custom_call(void *user, const hl_instruction *ins, const hl_literal *const *operands)
{
  work w = {.check = user};
  hl_session_options options = w.check->session->options;
  options.code.opt_level = 0;
  options.name = "custom_call";
  options.after_pass = NULL;
  options.timing = NULL;
  hl_session_open(&w.session, w.check->guard, &options);
  const hl_literal *value = compile(&w, ins) ? call(&w, ins, operands) : NULL;
  hl_jit_unload(w.code);
  hl_jit_free(w.jit);
  hl_calls_close(&w.calls);
  free(w.workspace);
  hl_session_close(&w.session);
  return value;
}
