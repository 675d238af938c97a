/* cmd_run - `hlo-lite run`: compile for this machine, call, print or store the results, and compare
 * with the evaluator. */
#include "command.h"

#include "calls.h"
#include "check_call.h"

#include "codegen/interface.h"
#include "codegen/jit.h"
#include "ir/eval.h"
#include "npz.h"

#include "runtime/arguments.h"
#include "runtime/hlo_runtime.h"
#include "runtime/print.h"
#include "runtime/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What a run holds outside of arenas; freed in any case. */
typedef struct run {
  const hl_options *options;
  hl_session *session;
  hlo_exe_array *params, *results;
  int param_count, result_count;
  hl_arguments arguments;
  void **result_data;
  void *workspace;
  hl_calls calls;
  hl_jit *jit;
  hl_jit_module *code;
} run;

static hlo_exe_array *describe(hl_arena *arena, const hl_member *members, int count)
{
  hlo_exe_array *arrays = HL_ARRAY(arena, count + 1, hlo_exe_array);
  for (int i = 0; i < count; i++) {
    const hl_shape *shape = members[i].port->shape;
    arrays[i] = (hlo_exe_array){.name = members[i].name,
                                .hlo_name = members[i].hlo_name,
                                .type = hl_type_name(shape->element_type),
                                .rank = shape->rank,
                                .dims = shape->dimensions,
                                .bytes = (uint64_t)members[i].bytes};
  }
  return arrays;
}

static void describe_all(run *r)
{
  hl_arena *arena = r->session->arena;
  hl_interface members = hl_interface_of(arena, r->session->program);
  r->params = describe(arena, members.arguments, members.argument_count);
  r->results = describe(arena, members.results, members.result_count);
  r->param_count = members.argument_count;
  r->result_count = members.result_count;
}

static bool load_arguments(run *r)
{
  const hl_options *o = r->options;
  hl_argument_source source = {.params = r->params,
                               .param_count = r->param_count,
                               .paths = o->inputs + 1,
                               .path_count = o->input_count - 1,
                               .is_random = o->is_random,
                               .seed = o->seed,
                               .inflate = hl_npz_inflate};
  hl_io_error e;
  return hl_arguments_load(&source, &r->arguments, &e) ||
         hl_session_input_fault(r->session, "%s", e.text);
}

static bool allocate(run *r)
{
  hl_io_error e;
  r->result_data = calloc((size_t)r->result_count + 1, sizeof *r->result_data);
  bool ok = r->result_data || hl_io_fail(&e, "out of memory");
  for (int i = 0; ok && i < r->result_count; i++) {
    r->result_data[i] = hl_io_alloc(r->results[i].bytes, &e);
    ok = r->result_data[i] != NULL;
  }
  if (ok)
    r->workspace = hl_io_alloc((size_t)r->session->program->workspace_bytes, &e);
  return (ok && r->workspace) || hl_session_input_fault(r->session, "%s", e.text);
}

static bool internal_fault(run *r, const char *text)
{
  r->session->fault = HL_FAULT_INTERNAL;
  r->session->text = text;
  return false;
}

static bool link_code(run *r)
{
  hl_session *s = r->session;
  const char *error = NULL;
  hl_code code = {0};
  if (!hl_session_emit(s, HL_CODE_OBJECT, &code))
    return false;
  r->jit = hl_jit_new(s->arena, s->program->max_workers > 1 ? hlo_parallel_for : NULL, &error);
  if (r->jit)
    r->code = hl_jit_load_with(r->jit, s->arena, code.data, code.size, s->symbol,
                               r->calls.symbols, r->calls.symbol_count, &error);
  free(code.data);
  return r->code || internal_fault(r, error);
}

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Calls the function; more than once, it reports the fastest and the mean time. */
static bool call(run *r)
{
  hl_jit_entry *entry = hl_jit_module_entry(r->code);
  double least = 0, begin = seconds();
  int64_t repeat = r->options->repeat;
  for (int64_t i = 0; i < repeat; i++) {
    double start = seconds();
    int status = entry(r->arguments.data, r->result_data, r->workspace);
    double time = seconds() - start;
    least = i == 0 || time < least ? time : least;
    if (status == 2)
      return hl_session_input_fault(r->session, "a custom call failed");
    if (status != 0)
      return internal_fault(r, "the function refused its workspace");
  }
  if (repeat > 1)
    fprintf(stderr, "%" PRId64 " runs: fastest %.6g ms, mean %.6g ms\n", repeat, 1e3 * least,
            1e3 * (seconds() - begin) / (double)repeat);
  return true;
}

static bool deliver(run *r)
{
  hl_results results = {r->results, r->result_count, r->result_data};
  hl_io_error e;
  if (r->options->output)
    return hl_results_write(&results, r->options->output, &e) ||
           hl_session_input_fault(r->session, "%s", e.text);
  for (int i = 0; i < r->result_count; i++)
    hl_array_print(stdout, &r->results[i], r->result_data[i]);
  return fflush(stdout) == 0 || hl_session_input_fault(r->session, "cannot write standard output");
}

/* ---- --check ---- */

/* The argument as the evaluator wants it: every pred 0 or 1. */
static const hl_literal *argument_literal(hl_arena *arena, const hl_port *port, const void *data)
{
  hl_literal *literal = hl_literal_new(arena, port->shape);
  size_t bytes = (size_t)hl_shape_bytes(port->shape);
  if (bytes)
    memcpy(literal->data, data, bytes);
  for (size_t i = 0; port->shape->element_type == HL_PRED && i < bytes; i++)
    ((unsigned char *)literal->data)[i] = ((unsigned char *)literal->data)[i] != 0;
  return literal;
}

static bool differs(run *r, int result, const hl_literal *want)
{
  const hlo_exe_array *array = &r->results[result];
  const hl_value_type *type = hl_value_type_find(array->type);
  const char *have = r->result_data[result], *expected = want->data;
  if (array->bytes == 0 || !memcmp(have, expected, array->bytes))
    return false;
  size_t item = (size_t)type->item_bytes, at = 0;
  while (!memcmp(have + at, expected + at, item))
    at += item;
  char have_text[HL_VALUE_TEXT], want_text[HL_VALUE_TEXT];
  hl_value_format(type, have + at, have_text);
  hl_value_format(type, expected + at, want_text);
  return !internal_fault(
      r, hl_arena_printf(r->session->arena,
                         "--check: %s differs from the reference evaluator, first at "
                         "element %zu: %s, expected %s",
                         array->name, at / item, have_text, want_text));
}

/* A fresh copy of the module, because the passes have changed the other. */
static bool evaluate(run *r, hl_session *fresh, hl_guard *guard)
{
  hl_session *s = r->session;
  const hl_literal **args = HL_ARRAY(fresh->arena, r->param_count + 1, const hl_literal *);
  hl_interface members = hl_interface_of(fresh->arena, s->program);
  for (int i = 0; i < r->param_count; i++)
    args[i] = argument_literal(fresh->arena, members.arguments[i].port, r->arguments.data[i]);
  const hl_literal **results;
  int count;
  hl_call_sources sources = {.libraries = r->options->call_libraries};
  hl_check_call calls = {s, &sources, guard, fresh->arena};
  hl_eval_host host = {hl_check_custom_call, &calls};
  if (!hl_eval_module_with(fresh->arena, fresh->module, args, &host, &results, &count, &fresh->diag))
    return hl_session_input_fault(s, "--check: %s", fresh->diag.last->text);
  for (int i = 0; i < r->result_count; i++)
    if (differs(r, i, results[i]))
      return false;
  return true;
}

static bool check(run *r, hl_guard *guard)
{
  hl_session fresh;
  hl_session_options options = {.dialect_xla = false};
  const hl_source *source = r->session->diag.source;
  hl_session_open(&fresh, guard, &options);
  bool ok = hl_session_set_text(&fresh, source->name, source->text, source->size) &&
            hl_session_load(&fresh, r->options->constants) && evaluate(r, &fresh, guard);
  hl_session_close(&fresh);
  return ok;
}

/* ---- the command ---- */

/* A form of -o that cannot hold so many results. */
static bool fits_output(run *r)
{
  hl_io_error e;
  const char *output = r->options->output;
  if (!output || hl_result_form_of(output, r->result_count, &e) != HL_RESULTS_BAD)
    return true;
  r->session->fault = HL_FAULT_OPTION;
  r->session->text = hl_arena_printf(r->session->arena, "%s", e.text);
  return false;
}

static bool run_module(run *r, hl_guard *guard)
{
  hl_session *s = r->session;
  if (!hl_command_load(s, r->options, r->options->inputs[0]) || !hl_session_build(s))
    return false;
  hl_call_sources sources = {.libraries = r->options->call_libraries};
  if (!hl_calls_find(s, &sources, &r->calls))
    return false;
  describe_all(r);
  return fits_output(r) && load_arguments(r) && allocate(r) && link_code(r) && call(r) &&
         (!r->options->check || check(r, guard)) && deliver(r);
}

static void release(run *r)
{
  hl_jit_unload(r->code);
  hl_jit_free(r->jit);
  hl_calls_close(&r->calls);
  hl_arguments_free(&r->arguments);
  for (int i = 0; r->result_data && i < r->result_count; i++)
    free(r->result_data[i]);
  free(r->result_data);
  free(r->workspace);
}

int hl_command_run(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)arena;
  hl_io_error e;
  if (options->is_random && options->input_count > 1)
    return hl_complain(HL_EXIT_USAGE, "--random makes the arguments: what is '%s'?",
                       options->inputs[1]);
  if (options->output && hl_result_form_of(options->output, 1, &e) == HL_RESULTS_BAD)
    return hl_complain(HL_EXIT_USAGE, "%s", e.text);
  hl_session s;
  run r = {.options = options, .session = &s};
  hl_command_open(&s, options, guard);
  run_module(&r, guard);
  release(&r);
  return hl_command_close(&s, options);
}
