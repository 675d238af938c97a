/* cmd_run - `hlo-lite run`: compile for this machine, call, print or store the results, and compare
 * with the evaluator. */
#include "command.h"

#include "check_call.h"
#include "inputs.h"
#include "progress.h"
#include "profile.h"

#include "codegen/interface.h"
#include "ir/eval.h"

#include "runtime/print.h"
#include "runtime/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls the function; more than once, it reports the fastest and the mean time. */
static bool call(hl_runner *r)
{
  double least = 0, begin = hl_seconds();
  int64_t repeat = r->options->repeat;
  hl_progress_step(r->options->progress, "running");
  for (int64_t i = 0; i < repeat; i++) {
    double start = hl_seconds();
    if (!hl_runner_call(r))
      return false;
    double time = hl_seconds() - start;
    least = i == 0 || time < least ? time : least;
  }
  hl_progress_step(r->options->progress, NULL);
  if (repeat > 1)
    fprintf(stderr, "%" PRId64 " runs: fastest %.6g ms, mean %.6g ms\n", repeat, 1e3 * least,
            1e3 * (hl_seconds() - begin) / (double)repeat);
  return true;
}

static bool deliver(hl_runner *r)
{
  hl_results results = {r->results, r->result_count, r->result_data};
  hl_io_error e;
  return hl_results_write(&results, r->options->output ? r->options->output : "-", &e) ||
         hl_session_input_fault(r->session, "%s", e.text);
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

static bool differs(hl_runner *r, int result, const hl_literal *want)
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
  return !hl_runner_internal_fault(
      r, hl_arena_printf(r->session->arena,
                         "--check: %s differs from the reference evaluator, first at "
                         "element %zu: %s, expected %s",
                         array->name, at / item, have_text, want_text));
}

/* A fresh copy of the module, because the passes have changed the other. */
static bool evaluate(hl_runner *r, hl_session *fresh, hl_guard *guard)
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

static bool check(hl_runner *r, hl_guard *guard)
{
  hl_session fresh;
  hl_session_options options = {.dialect_xla = false};
  const hl_source *source = r->session->diag.source;
  hl_progress_step(r->options->progress, "evaluating");
  hl_session_open(&fresh, guard, &options);
  bool ok = hl_session_set_text(&fresh, source->name, source->text, source->size) &&
            hl_session_load(&fresh, r->options->constants) && evaluate(r, &fresh, guard);
  hl_session_close(&fresh);
  hl_progress_step(r->options->progress, NULL);
  return ok;
}

/* ---- the command ---- */

/* A form of -o that cannot hold so many results. */
static bool fits_output(hl_runner *r)
{
  hl_io_error e;
  const char *output = r->options->output;
  if (!output || hl_result_form_of(output, r->result_count, &e) != HL_RESULTS_BAD)
    return true;
  r->session->fault = HL_FAULT_OPTION;
  r->session->text = hl_arena_printf(r->session->arena, "%s", e.text);
  return false;
}

static bool print_profile(hl_runner *r)
{
  hl_str text = {.arena = r->session->arena};
  hl_profile_table table = hl_profile_collect(r, r->options->repeat);
  hl_profile_print(r->session, &table, &text);
  fputs(hl_str_text(&text), stderr);
  return true;
}

static bool compare(hl_runner *r)
{
  hl_progress_step(r->options->progress, "comparing");
  bool ok = hl_expected_compare(r);
  hl_progress_step(r->options->progress, NULL);
  return ok;
}

static bool load_inputs(hl_runner *r, hl_guard *guard)
{
  hl_progress_step(r->options->progress, "arguments");
  bool ok = hl_inputs_load(r, guard);
  hl_progress_step(r->options->progress, NULL);
  return ok;
}

/* What is printed comes before what is compared: the report then stands at the end. */
static bool run_module(hl_runner *r, hl_guard *guard)
{
  const hl_options *o = r->options;
  r->session->options.code.profile = o->profile;
  if (!hl_command_load(r->session, o, o->inputs[0]) || !hl_runner_build(r) || !fits_output(r) ||
      !load_inputs(r, guard) || !hl_runner_link(r) || !call(r))
    return false;
  bool shows = !o->expected || o->output; /* who compares does not want pages of numbers */
  return (!o->check || check(r, guard)) && (!shows || deliver(r)) &&
         (!o->profile || print_profile(r)) && (!o->expected || compare(r));
}

/* NULL, or why the options for arguments do not go together (arena text). */
static const char *contradiction(hl_arena *arena, const hl_options *o)
{
  const char *makes = o->fill ? "--fill" : o->given_count ? "--input" : o->is_random ? "--random" : NULL;
  if (makes && o->input_count > 1)
    return hl_arena_printf(arena, "%s makes the arguments: what is '%s'?", makes, o->inputs[1]);
  if (o->is_random && o->fill && o->fill != HL_FILL_RANDOM)
    return "--random is --fill=random, with a seed: it does not go with another";
  if (!o->expected && (o->ulp > 0 || o->atol > 0 || o->rtol > 0))
    return "--ulp, --atol and --rtol are for --expected";
  return NULL;
}

int hl_command_run(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  hl_io_error e;
  const char *error = contradiction(arena, options);
  if (error)
    return hl_complain(HL_EXIT_USAGE, "%s", error);
  if (options->output && hl_result_form_of(options->output, 1, &e) == HL_RESULTS_BAD)
    return hl_complain(HL_EXIT_USAGE, "%s", e.text);
  hl_session s;
  hl_runner r = {.options = options, .session = &s};
  hl_command_open(&s, options, guard);
  run_module(&r, guard);
  hl_runner_free(&r);
  return hl_command_close(&s, options);
}
