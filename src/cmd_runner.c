/* cmd_runner - a module compiled for this machine, its arguments, results and workspace, and calls of
 * it. */
#include "runner.h"

#include "codegen/interface.h"
#include "npz.h"

#include "runtime/hlo_runtime.h"
#include "runtime/values.h"

#include <stdlib.h>
#include <string.h>

bool hl_runner_internal_fault(hl_runner *r, const char *text)
{
  r->session->fault = HL_FAULT_INTERNAL;
  r->session->text = text;
  return false;
}

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

static void describe_all(hl_runner *r)
{
  hl_arena *arena = r->session->arena;
  hl_interface members = hl_interface_of(arena, r->session->program);
  r->params = describe(arena, members.arguments, members.argument_count);
  r->results = describe(arena, members.results, members.result_count);
  r->param_count = members.argument_count;
  r->result_count = members.result_count;
}

bool hl_runner_build(hl_runner *r)
{
  hl_call_sources sources = {.libraries = r->options->call_libraries};
  if (!hl_session_build(r->session) || !hl_calls_find(r->session, &sources, &r->calls))
    return false;
  describe_all(r);
  return true;
}

hl_argument_source hl_runner_source(const hl_runner *r)
{
  const hl_options *o = r->options;
  return (hl_argument_source){.params = r->params,
                              .param_count = r->param_count,
                              .paths = o->inputs + 1,
                              .path_count = o->input_count - 1,
                              .is_random = o->is_random,
                              .seed = o->seed,
                              .inflate = hl_npz_inflate};
}

bool hl_runner_load_arguments(hl_runner *r, const hl_argument_source *source)
{
  hl_io_error e;
  return hl_arguments_load(source, &r->arguments, &e) ||
         hl_session_input_fault(r->session, "%s", e.text);
}

/* ---- profiles ---- */

static void mark(void *context, int64_t step, int64_t is_end)
{
  hl_profile *p = context;
  double now = hl_seconds();
  if (is_end) {
    p->seconds[step] += now - p->start;
    p->calls[step]++;
  }
  p->start = now;
}

static int count_steps(const hl_steps *steps)
{
  int count = 0;
  for (const hl_step *step = steps->first; step; step = step->next) {
    count = step->number + 1;
    int inside = count_steps(&step->condition);
    count = inside > count ? inside : count;
    inside = count_steps(&step->body);
    count = inside > count ? inside : count;
    for (int i = 0; i < step->branch_count; i++) {
      inside = count_steps(&step->branches[i]);
      count = inside > count ? inside : count;
    }
  }
  return count;
}

static void open_profile(hl_runner *r)
{
  hl_session *s = r->session;
  int count = count_steps(&s->program->steps);
  r->profile = (hl_profile){.step_count = count,
                            .seconds = HL_ARRAY(s->arena, count + 1, double),
                            .calls = HL_ARRAY(s->arena, count + 1, int64_t)};
  hl_profile_hook hook = {mark, &r->profile};
  memcpy((char *)r->workspace + hl_profile_offset(s->program), &hook, sizeof hook);
}

/* ---- calls ---- */

static size_t workspace_bytes(const hl_session *s)
{
  bool has_hook = s->options.code.profile;
  return (size_t)(has_hook ? hl_profile_offset(s->program) + (int64_t)sizeof(hl_profile_hook)
                           : s->program->workspace_bytes);
}

static void *place(hl_runner *r, size_t bytes, size_t align)
{
  hl_guarded *g = &r->guarded[r->guarded_count];
  *g = hl_guarded_new(bytes, align, r->options->guard_pages == HL_GUARD_BEFORE);
  r->guarded_count += g->data != NULL;
  return g->data;
}

static size_t element_align(const hlo_exe_array *array)
{
  const hl_value_type *type = hl_value_type_find(array->type);
  return type->item_bytes > 8 ? 8 : (size_t)type->item_bytes; /* of complex numbers: of one half */
}

static bool allocate_guarded(hl_runner *r)
{
  bool ok = true;
  int count = r->param_count + r->result_count + 1;
  r->guarded = HL_ARRAY(r->session->arena, count, hl_guarded);
  r->argument_copies = HL_ARRAY(r->session->arena, r->param_count + 1, void *);
  for (int i = 0; ok && i < r->param_count; i++) {
    void *data = r->argument_copies[i] = place(r, r->params[i].bytes, element_align(&r->params[i]));
    ok = data != NULL;
    if (ok && r->params[i].bytes)
      memcpy(data, r->arguments.data[i], r->params[i].bytes);
  }
  for (int i = 0; ok && i < r->result_count; i++) {
    r->result_data[i] = place(r, r->results[i].bytes, element_align(&r->results[i]));
    ok = r->result_data[i] != NULL;
  }
  r->workspace = ok ? place(r, workspace_bytes(r->session), 64) : NULL;
  return r->workspace || hl_session_input_fault(r->session, "out of memory");
}

static bool allocate(hl_runner *r)
{
  hl_io_error e;
  r->result_data = calloc((size_t)r->result_count + 1, sizeof *r->result_data);
  bool ok = r->result_data || hl_io_fail(&e, "out of memory");
  if (ok && r->options->guard_pages)
    return allocate_guarded(r);
  for (int i = 0; ok && i < r->result_count; i++) {
    r->result_data[i] = hl_io_alloc(r->results[i].bytes, &e);
    ok = r->result_data[i] != NULL;
  }
  if (ok)
    r->workspace = hl_io_alloc(workspace_bytes(r->session), &e);
  return (ok && r->workspace) || hl_session_input_fault(r->session, "%s", e.text);
}

static bool link_code(hl_runner *r)
{
  hl_session *s = r->session;
  const char *error = NULL;
  hl_code code = {0};
  if (!hl_session_emit(s, HL_CODE_OBJECT, &code))
    return false;
  double start = hl_seconds();
  r->jit = hl_jit_new(s->arena, s->program->max_workers > 1 ? hlo_parallel_for : NULL, &error);
  if (r->jit && (!s->options.line_tables || hl_jit_enable_debugging(r->jit, s->arena, &error)))
    r->code = hl_jit_load(r->jit, s->arena, code.data, code.size, s->symbol, r->calls.symbols,
                          r->calls.symbol_count, &error);
  free(code.data);
  if (s->options.timing)
    s->options.timing(s->options.user, "link", hl_seconds() - start);
  return r->code || hl_runner_internal_fault(r, error);
}

bool hl_runner_link(hl_runner *r)
{
  if (!allocate(r) || !link_code(r))
    return false;
  if (r->session->options.code.profile)
    open_profile(r);
  return true;
}

bool hl_runner_call(hl_runner *r)
{
  int status = hl_jit_module_entry(r->code)(r->guarded ? r->argument_copies : r->arguments.data, r->result_data,
                                               r->workspace);
  if (status == 2)
    return hl_session_input_fault(r->session, "a custom call failed");
  if (status != 0)
    return hl_runner_internal_fault(r, "the function refused its workspace");
  for (int i = 0; i < r->guarded_count; i++)
    if (!hl_guarded_is_whole(&r->guarded[i]))
      return hl_runner_internal_fault(r, "the function wrote beside its arrays");
  return true;
}

static void free_arrays(hl_runner *r)
{
  for (int i = 0; i < r->guarded_count; i++)
    hl_guarded_free(&r->guarded[i]);
  for (int i = 0; !r->guarded && r->result_data && i < r->result_count; i++)
    free(r->result_data[i]);
  if (!r->guarded)
    free(r->workspace);
  free(r->result_data);
}

void hl_runner_free(hl_runner *r)
{
  hl_jit_unload(r->code);
  hl_jit_free(r->jit);
  hl_calls_close(&r->calls);
  hl_arguments_free(&r->arguments);
  free_arrays(r);
  r->result_data = NULL;
  r->workspace = NULL;
  r->guarded_count = 0;
  r->jit = NULL;
  r->code = NULL;
}
