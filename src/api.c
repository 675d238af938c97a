/* api - the public library on top of sessions: handles, messages as values, and the guard around
 * every entry that allocates.
 *
 * What an entry holds while it works hangs on the context, so that running out of memory, which
 * jumps back into the entry, can free it.
 */
#include "api_internal.h"

#include "calls.h"
#include "codegen/interface.h"
#include "codegen/jit.h"
#include "ir/print.h"
#include "runtime/hlo_runtime.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_THREADS = 16, MAX_THREADS = 256 };

struct hlo_executable {
  hl_jit_entry *entry;
  hl_arena *arena; /* of names and dimensions */
  hl_calls calls;
  hl_jit *jit;
  hl_jit_module *module;
  hlo_array *arguments, *results;
  size_t argument_count, result_count;
  const char *signature;
  size_t workspace_bytes;
  const char *target;
  const char **kernels;
  size_t kernel_count;
};

static const hlo_message out_of_memory = {.is_error = 1, .rule = "", .text = "out of memory"};

const char *hlo_version(void)
{
  return HL_VERSION;
}

hlo_context *hlo_context_new(void)
{
  hlo_context *context = calloc(1, sizeof *context);
  if (!context)
    return NULL;
  context->arena = hl_arena_new(&context->guard);
  if (!context->arena) {
    free(context);
    return NULL;
  }
  return context;
}

void hlo_context_free(hlo_context *context)
{
  if (!context)
    return;
  for (size_t i = 0; i < context->given_count; i++)
    free((char *)(uintptr_t)context->given[i].target);
  free(context->given);
  hl_arena_free(context->arena);
  free(context);
}

/* ---- messages ---- */

size_t hlo_message_count(const hlo_context *context)
{
  return context->message_count;
}

hlo_message hlo_message_at(const hlo_context *context, size_t index)
{
  if (index >= context->message_count)
    return (hlo_message){.rule = "", .text = ""};
  return context->messages[index];
}

const char *hlo_messages(const hlo_context *context)
{
  return context->rendered ? context->rendered : "";
}

static const char *keep(hlo_context *context, const char *text)
{
  return text ? hl_arena_strndup(context->arena, text, strlen(text)) : NULL;
}

static hlo_message make_message(hlo_context *context, const hl_diagnostic *d)
{
  hlo_message made = {.is_error = d->severity == HL_SEVERITY_ERROR,
                      .rule = hl_rule_label(d->rule),
                      .text = keep(context, d->text),
                      .help = keep(context, d->help)};
  if (d->source && d->range.begin != HL_NO_OFFSET) {
    hl_position begin = hl_source_position(d->source, d->range.begin);
    hl_position end = hl_source_position(d->source, d->range.end);
    made.line = begin.line;
    made.column = begin.column;
    made.end_line = end.line;
    made.end_column = end.column;
  }
  return made;
}

void hl_api_collect(hlo_context *context, const hl_session *session)
{
  size_t count = 0;
  for (const hl_diagnostic *d = session->diag.first; d; d = d->next)
    count++;
  context->messages = HL_ARRAY(context->arena, count + 1, hlo_message);
  for (const hl_diagnostic *d = session->diag.first; d; d = d->next)
    context->messages[context->message_count++] = make_message(context, d);
  hl_str text = {.arena = context->arena};
  hl_diag_render(&session->diag, (hl_render_options){0}, &text);
  if (session->text) {
    hlo_message fault = {.is_error = 1, .rule = "", .text = keep(context, session->text)};
    context->messages[context->message_count++] = fault;
    hl_str_printf(&text, "error: %s\n", session->text);
  }
  context->rendered = hl_str_text(&text);
}

/* ---- entries ---- */

void hl_api_begin(hlo_context *context)
{
  hl_arena_reset(context->arena);
  context->messages = NULL;
  context->message_count = 0;
  context->rendered = NULL;
}

/* Frees what the call has made and not handed out. */
static void abandon(hlo_context *context)
{
  if (context->session.arena || context->session.scratch)
    hl_session_close(&context->session);
  hlo_executable_free(context->executable);
  free(context->code.data);
  context->executable = NULL;
  context->code = (hl_code){0};
}

void hl_api_run_out_of_memory(hlo_context *context)
{
  abandon(context);
  hl_api_begin(context);
  context->messages = (hlo_message *)&out_of_memory;
  context->message_count = 1;
  context->rendered = "error: out of memory\n";
}

static bool parse(hlo_context *context, const char *name, const char *text, size_t size)
{
  hl_session_options options = {.code.opt_level = 2};
  hl_session_open(&context->session, &context->guard, &options);
  bool ok = hl_session_set_text(&context->session, name, text, size) &&
            hl_session_load(&context->session, NULL);
  hl_api_collect(context, &context->session);
  return ok;
}

hlo_module *hlo_parse(hlo_context *context, const char *name, const char *text, size_t size)
{
  hl_api_begin(context);
  if (setjmp(context->guard.env)) {
    hl_api_run_out_of_memory(context);
    return NULL;
  }
  hlo_module *module = NULL;
  if (parse(context, name, text, size)) {
    module = calloc(1, sizeof *module);
    if (!module)
      longjmp(context->guard.env, 1);
    module->session = context->session;
    context->session = (hl_session){.arena = NULL};
  }
  abandon(context);
  return module;
}

void hlo_module_free(hlo_module *module)
{
  if (module)
    hl_session_close(&module->session);
  free(module);
}

const char *hlo_module_text(hlo_context *context, hlo_module *module)
{
  hl_api_begin(context);
  if (setjmp(context->guard.env)) {
    hl_api_run_out_of_memory(context);
    return NULL;
  }
  if (!module->text) {
    hl_str text = {.arena = module->session.arena};
    hl_module_print(&text, module->session.module);
    module->text = hl_str_text(&text);
  }
  return module->text;
}

/* ---- custom calls ---- */

/* The entry of a target, a new one without a function where there is none; NULL: out of memory. */
static hl_given_call *given_call(hlo_context *context, const char *target)
{
  for (size_t i = 0; i < context->given_count; i++)
    if (!strcmp(context->given[i].target, target))
      return &context->given[i];
  size_t count = context->given_count, bytes = strlen(target) + 1;
  hl_given_call *given = realloc(context->given, (count + 1) * sizeof *given);
  char *copy = malloc(bytes);
  if (given)
    context->given = given;
  if (!given || !copy) {
    free(copy);
    return NULL;
  }
  given[count] = (hl_given_call){memcpy(copy, target, bytes), NULL};
  return &given[context->given_count++];
}

int hlo_set_custom_call(hlo_context *context, const char *target,
                        int (*function)(void *const *arguments, void *const *results,
                                        const char *config, size_t config_bytes))
{
  hl_given_call *given = given_call(context, target);
  if (given)
    given->function = (void (*)(void))function;
  return given ? 0 : 1;
}

/* ---- compilation ---- */

hlo_options hlo_default_options(void)
{
  return (hlo_options){.opt_level = 2, .threads = DEFAULT_THREADS};
}

static int within(int value, int low, int high)
{
  return value < low ? low : value > high ? high : value;
}

static hl_session_options session_options(const hlo_options *o)
{
  return (hl_session_options){.code = {.cpu = o->cpu ? o->cpu : "native",
                                       .features = o->features,
                                       .opt_level = within(o->opt_level, 0, 3),
                                       .fast_math = o->fast_math,
                                       .fp_contract = o->fp_contract,
                                       .ftz = o->flush_denormals},
                              .max_workers = within(o->threads, 1, MAX_THREADS),
                              .max_memory = o->max_workspace_bytes > INT64_MAX ? INT64_MAX : (int64_t)o->max_workspace_bytes,
                              .name = "hlo_entry"};
}

static hlo_array *describe(hl_arena *arena, const hl_member *members, int count)
{
  hlo_array *arrays = HL_ARRAY(arena, count + 1, hlo_array);
  for (int i = 0; i < count; i++) {
    const hl_shape *shape = members[i].port->shape;
    size_t bytes = (size_t)shape->rank * sizeof *shape->dimensions;
    arrays[i] =
        (hlo_array){.name = hl_arena_strndup(arena, members[i].name, strlen(members[i].name)),
                    .type = hl_type_name(shape->element_type),
                    .rank = shape->rank,
                    .dimensions = hl_arena_memdup(arena, shape->dimensions, bytes),
                    .bytes = (size_t)members[i].bytes};
  }
  return arrays;
}

/* Copies what outlives the session. */
static void describe_all(hlo_executable *e, hl_session *s)
{
  hl_interface members = hl_interface_of(s->arena, s->program);
  const char *signature = hl_signature(s->arena, s->program);
  e->arguments = describe(e->arena, members.arguments, members.argument_count);
  e->results = describe(e->arena, members.results, members.result_count);
  e->argument_count = (size_t)members.argument_count;
  e->result_count = (size_t)members.result_count;
  e->signature = hl_arena_strndup(e->arena, signature, strlen(signature));
  e->workspace_bytes = (size_t)s->program->workspace_bytes;
  e->target = hl_arena_printf(e->arena, "%s, %s", s->target.triple, s->target.cpu);
  int count;
  const hl_kernel **kernels = hl_program_kernels(s->arena, s->program, &count);
  e->kernels = HL_ARRAY(e->arena, count, const char *);
  e->kernel_count = (size_t)count;
  for (int i = 0; i < count; i++)
    e->kernels[i] = hl_arena_strndup(e->arena, kernels[i]->name, strlen(kernels[i]->name));
}

/* Links the object into the process. */
static bool load(hlo_executable *e, hl_session *s, const hl_code *code)
{
  const char *error = NULL;
  e->jit = hl_jit_new(s->arena, s->program->max_workers > 1 ? hlo_parallel_for : NULL, &error);
  if (e->jit)
    e->module = hl_jit_load(e->jit, s->arena, code->data, code->size, s->symbol,
                                 e->calls.symbols, e->calls.symbol_count, &error);
  if (e->module) {
    e->entry = hl_jit_module_entry(e->module);
    return true;
  }
  s->fault = HL_FAULT_INTERNAL;
  s->text = error;
  return false;
}

/* The passes change a module, so they get a copy; the text is at hand. */
static bool emit(hlo_context *context, const hlo_module *module)
{
  hl_session *s = &context->session;
  const hl_source *source = module->session.diag.source;
  return hl_session_set_text(s, source->name, source->text, source->size) &&
         hl_session_load(s, NULL) && hl_session_build(s) &&
         hl_session_emit(s, HL_CODE_OBJECT, &context->code);
}

static bool compile(hlo_context *context, const hlo_module *module, const hlo_options *options)
{
  hl_session *s = &context->session;
  hl_session_options o = session_options(options);
  hl_session_open(s, &context->guard, &o);
  context->executable = calloc(1, sizeof *context->executable);
  if (!context->executable)
    longjmp(context->guard.env, 1);
  context->executable->arena = hl_arena_new(&context->guard);
  if (!context->executable->arena)
    longjmp(context->guard.env, 1);
  bool ok = emit(context, module);
  if (ok) {
    hl_call_sources sources = {.given = context->given, .given_count = context->given_count};
    describe_all(context->executable, s);
    ok = hl_calls_find(s, &sources, &context->executable->calls) && load(context->executable, s, &context->code);
  }
  hl_api_collect(context, s);
  return ok;
}

hlo_executable *hlo_compile(hlo_context *context, const hlo_module *module,
                            const hlo_options *options)
{
  hl_api_begin(context);
  if (setjmp(context->guard.env)) {
    hl_api_run_out_of_memory(context);
    return NULL;
  }
  hlo_options defaults = hlo_default_options();
  hlo_executable *made = NULL;
  if (compile(context, module, options ? options : &defaults)) {
    made = context->executable;
    context->executable = NULL;
  }
  abandon(context);
  return made;
}

static bool compile_object(hlo_context *context, const hlo_module *module, const char *name,
                           const hlo_options *options, hlo_object *out)
{
  hl_session *s = &context->session;
  hl_session_options o = session_options(options);
  o.code.triple = options->target;
  o.code.cpu = options->cpu;
  o.max_workers = options->threads == DEFAULT_THREADS ? 0 : o.max_workers;
  o.name = NULL;
  hl_session_open(s, &context->guard, &o);
  s->options.name = hl_c_name(s->arena, name);
  bool ok = emit(context, module);
  if (ok) {
    hl_str header = {.arena = context->arena};
    const char *file = hl_arena_printf(s->arena, "%s.h", s->symbol);
    hl_session_header(s, file, module->session.diag.source->name, &context->code, &header);
    *out = (hlo_object){hl_arena_memdup(context->arena, context->code.data, context->code.size),
                        context->code.size, hl_str_text(&header)};
  }
  hl_api_collect(context, s);
  return ok;
}

int hlo_compile_object(hlo_context *context, const hlo_module *module, const char *name,
                       const hlo_options *options, hlo_object *out)
{
  hlo_options defaults = hlo_default_options();
  *out = (hlo_object){.header = ""};
  hl_api_begin(context);
  if (setjmp(context->guard.env)) {
    *out = (hlo_object){.header = ""};
    hl_api_run_out_of_memory(context);
    return 1;
  }
  bool ok = compile_object(context, module, name, options ? options : &defaults, out);
  abandon(context);
  return ok ? 0 : 1;
}

void hlo_executable_free(hlo_executable *executable)
{
  if (!executable)
    return;
  hl_jit_unload(executable->module);
  hl_jit_free(executable->jit);
  hl_calls_close(&executable->calls);
  hl_arena_free(executable->arena);
  free(executable);
}

/* ---- calls ---- */

size_t hlo_argument_count(const hlo_executable *executable)
{
  return executable->argument_count;
}

size_t hlo_result_count(const hlo_executable *executable)
{
  return executable->result_count;
}

hlo_array hlo_argument(const hlo_executable *executable, size_t index)
{
  return index < executable->argument_count ? executable->arguments[index] : (hlo_array){0};
}

hlo_array hlo_result(const hlo_executable *executable, size_t index)
{
  return index < executable->result_count ? executable->results[index] : (hlo_array){0};
}

const char *hlo_signature(const hlo_executable *executable)
{
  return executable->signature;
}

size_t hlo_workspace_bytes(const hlo_executable *executable)
{
  return executable->workspace_bytes;
}

const char *hlo_target(const hlo_executable *executable)
{
  return executable->target;
}

size_t hlo_kernel_count(const hlo_executable *executable)
{
  return executable->kernel_count;
}

const char *hlo_kernel_name(const hlo_executable *executable, size_t index)
{
  return index < executable->kernel_count ? executable->kernels[index] : NULL;
}

int hlo_execute(const hlo_executable *executable, const void *const *arguments,
                void *const *results, void *workspace)
{
  return executable->entry((void *const *)arguments, results, workspace);
}

int hlo_call(const hlo_executable *executable, const void *const *arguments, void *const *results)
{
  enum { ALIGNMENT = 64 };
  size_t bytes = executable->workspace_bytes;
  void *workspace = bytes ? aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT) : NULL;
  int status = hlo_execute(executable, arguments, results, workspace);
  free(workspace);
  return status;
}
