/* cmd_inputs - arguments of `run`: each --input by its name, the rest as --fill or --random say; or files
 * alone. */
#include "inputs.h"

#include "codegen/interface.h"

#include "runtime/print.h"
#include "runtime/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPE_TEXT = 160 };

/* ---- text ---- */

static bool ends_with(const char *text, const char *end)
{
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

/* The parameter that NAME of "NAME=VALUE" means: by its C name, its HLO name or its number; -1: none. */
static int find_param(const hl_runner *r, const char *name, size_t length)
{
  char *text = hl_arena_strndup(r->session->arena, name, length), *end;
  for (int i = 0; i < r->param_count; i++) {
    const hlo_exe_array *p = &r->params[i];
    if (!strcmp(p->name, text) || (p->hlo_name && !strcmp(p->hlo_name, text)))
      return i;
  }
  long number = strtol(text, &end, 10);
  return *text && !*end && number >= 0 && number < r->param_count ? (int)number : -1;
}

/* A module of one constant: the text is read as literals of HLO are. Without a shape it is the
 * parameter's. */
static char *constant_module(hl_arena *arena, const hlo_exe_array *param, const char *value)
{
  char shape[SHAPE_TEXT];
  const char *bracket = strchr(value, ']');
  hl_array_shape_text(param, shape, sizeof shape);
  if (bracket)
    return hl_arena_printf(arena, "ENTRY e { ROOT c = %.*s constant(%s) }",
                           (int)(bracket + 1 - value), value, bracket + 1);
  return hl_arena_printf(arena, "ENTRY e { ROOT c = %s constant(%s) }", shape, value);
}

static bool fits(const hl_shape *shape, const hlo_exe_array *param)
{
  bool same = shape->rank == param->rank &&
              !strcmp(hl_type_name(shape->element_type), param->type);
  for (int i = 0; same && i < shape->rank; i++)
    same = shape->dimensions[i] == param->dims[i];
  return same;
}

static bool allocate(hl_runner *r, int index)
{
  hl_io_error e;
  hl_npy *a = &r->arguments.arrays[index];
  a->bytes = (size_t)r->params[index].bytes;
  a->data = a->owner = hl_io_alloc(a->bytes, &e);
  r->arguments.data[index] = a->data;
  return a->data || hl_session_input_fault(r->session, "%s", e.text);
}

static bool take_literal(hl_runner *r, int index, const hl_literal *literal)
{
  const hlo_exe_array *param = &r->params[index];
  char want[SHAPE_TEXT];
  if (!fits(literal->shape, param))
    return hl_session_input_fault(r->session, "--input %s is %s, but the parameter is %s", param->name,
                                  hl_shape_text(r->session->arena, literal->shape),
                                  hl_array_shape_text(param, want, sizeof want));
  if (!allocate(r, index))
    return false;
  if (param->bytes)
    memcpy(r->arguments.data[index], literal->data, param->bytes);
  return true;
}

/* What the text is at fault for is shown from a session of its own: its place is in the text. */
static bool read_text(hl_runner *r, int index, const char *value, hl_guard *guard)
{
  hl_session s;
  hl_arena *arena = r->session->arena;
  const char *name = hl_arena_printf(arena, "--input %s", r->params[index].name);
  const char *text = constant_module(arena, &r->params[index], value);
  hl_options options = *r->options;
  options.stats = options.time_passes = false;
  hl_command_open(&s, &options, guard);
  bool ok = hl_session_set_text(&s, name, text, strlen(text)) && hl_session_load(&s, NULL);
  if (ok && s.module->entry->root->opcode == HL_OP_CONSTANT && s.module->entry->root->literal)
    ok = take_literal(r, index, s.module->entry->root->literal);
  else
    ok = hl_session_input_fault(r->session, "%s: '%s' is no value", name, value);
  hl_command_close(&s, &options);
  return ok;
}

static bool read_file(hl_runner *r, int index, const char *path)
{
  hl_io_error e;
  hl_arguments one = {0};
  hl_argument_source source = {
      .params = &r->params[index], .param_count = 1, .paths = &path, .path_count = 1};
  if (!hl_arguments_load(&source, &one, &e)) {
    hl_arguments_free(&one);
    return hl_session_input_fault(r->session, "%s", e.text);
  }
  r->arguments.arrays[index] = one.arrays[0];
  r->arguments.data[index] = one.data[0];
  free(one.arrays);
  free(one.data);
  return true;
}

static bool unknown_param(hl_runner *r, const char *given, size_t length)
{
  const char *name = hl_arena_strndup(r->session->arena, given, length), *closest = NULL;
  size_t limit = length < 6 ? length / 3 : 2;
  for (int i = 0; i < r->param_count; i++)
    if (hl_edit_distance(name, r->params[i].name, limit) <= limit && !closest)
      closest = r->params[i].name;
  if (closest)
    return hl_session_input_fault(r->session, "--input %s: the module has no such parameter; did you mean '%s'?",
                                  name, closest);
  return hl_session_input_fault(r->session, "--input %s: the module has no such parameter", name);
}

static bool read_given(hl_runner *r, const char *given, hl_guard *guard)
{
  size_t length = strcspn(given, "=");
  int index = find_param(r, given, length);
  const char *value = given + length + 1;
  if (index < 0)
    return unknown_param(r, given, length);
  if (r->arguments.data[index])
    return hl_session_input_fault(r->session, "--input %.*s: given twice", (int)length, given);
  return ends_with(value, ".npy") ? read_file(r, index, value) : read_text(r, index, value, guard);
}

/* ---- fillings ---- */

/* Numbers from 0 that the type holds exactly; 0: so many that it does not matter. */
static uint64_t whole_numbers(const hl_value_type *t)
{
  switch (t->kind) {
  case 'p':
    return 2;
  case 's':
    return t->bits < 64 ? UINT64_C(1) << (t->bits - 1) : 0;
  case 'u':
    return t->bits < 64 ? UINT64_C(1) << t->bits : 0;
  default:
    return UINT64_C(1) << (t->mantissa_bits ? t->mantissa_bits + 1 : t->bits == 64 ? 53 : 24);
  }
}

static bool write_number(const hl_value_type *t, uint64_t number, void *item)
{
  char digits[64];
  const char *text = digits;
  snprintf(digits, sizeof digits, t->kind == 'c' ? "(%llu, 0)" : "%llu", (unsigned long long)number);
  return hl_value_parse(t, &text, item);
}

/* --random SEED fills, too. */
static hl_fill fill_of(const hl_options *o)
{
  return o->fill ? o->fill : o->is_random ? HL_FILL_RANDOM : HL_FILL_NONE;
}

static bool fill(hl_runner *r, int index)
{
  const hlo_exe_array *param = &r->params[index];
  const hl_value_type *t = hl_value_type_find(param->type);
  char *at = r->arguments.data[index];
  if (fill_of(r->options) == HL_FILL_RANDOM) {
    uint64_t seed = r->options->is_random ? r->options->seed : 1;
    hl_value_fill_random(t, seed + (uint64_t)index, at, param->bytes / (size_t)t->item_bytes);
    return true;
  }
  uint64_t count = param->bytes / (uint64_t)t->item_bytes, period = whole_numbers(t);
  for (uint64_t i = 0; i < count; i++, at += t->item_bytes) {
    uint64_t number = r->options->fill == HL_FILL_IOTA ? period ? i % period : i
                                                       : r->options->fill == HL_FILL_ONES;
    if (!write_number(t, number, at))
      return hl_session_input_fault(r->session, "--fill: parameter %s is %s, which has no %llu",
                                    param->name, param->type, (unsigned long long)number);
  }
  return true;
}

static bool fill_rest(hl_runner *r)
{
  for (int i = 0; i < r->param_count; i++) {
    if (r->arguments.data[i])
      continue;
    if (fill_of(r->options) == HL_FILL_NONE)
      return hl_session_input_fault(
          r->session, "parameter %s has no value: give --input %s=..., or --fill or --random for the rest",
          r->params[i].name, r->params[i].name);
    if (!allocate(r, i) || !fill(r, i))
      return false;
  }
  return true;
}

bool hl_inputs_load(hl_runner *r, hl_guard *guard)
{
  const hl_options *o = r->options;
  if (!o->given_count && (o->fill == HL_FILL_NONE || o->fill == HL_FILL_RANDOM)) {
    hl_argument_source source = hl_runner_source(r);
    source.is_random = source.is_random || o->fill == HL_FILL_RANDOM;
    source.seed = o->is_random ? o->seed : 1;
    return hl_runner_load_arguments(r, &source);
  }
  r->arguments = (hl_arguments){.count = r->param_count};
  r->arguments.arrays = calloc((size_t)r->param_count + 1, sizeof *r->arguments.arrays);
  r->arguments.data = calloc((size_t)r->param_count + 1, sizeof *r->arguments.data);
  if (!r->arguments.arrays || !r->arguments.data)
    return hl_session_input_fault(r->session, "out of memory");
  for (int i = 0; i < o->given_count; i++)
    if (!read_given(r, o->given[i], guard))
      return false;
  return fill_rest(r);
}
