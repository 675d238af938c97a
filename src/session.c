/* session - the one way through the compiler. */
#include "session.h"

#include "codegen/clock.h"
#include "codegen/elf.h"
#include "codegen/header.h"
#include "codegen/interface.h"
#include "grammar/parse.h"
#include "ir/limits.h"
#include "npz.h"

#include "runtime/values.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Kernels that touch more than the last cache stream their stores. One size for all: what a guest system says of its L3 is often
 * the host's, and the same input has to give the same object on every machine. */
enum { CACHE_BYTES = 32 << 20, DEFAULT_WORKERS = 16 };

void hl_session_open(hl_session *s, hl_guard *guard, const hl_session_options *options)
{
  *s = (hl_session){.options = *options};
  s->arena = hl_arena_new(guard);
  s->scratch = hl_arena_new(guard);
  if (!s->arena || !s->scratch)
    longjmp(guard->env, 1);
  s->diag.arena = s->arena;
}

void hl_session_close(hl_session *s)
{
  hl_arena_free(s->arena);
  hl_arena_free(s->scratch);
  free(s->owned);
  *s = (hl_session){.arena = NULL};
}

static bool fail(hl_session *s, hl_fault fault, const char *text)
{
  s->fault = fault;
  s->text = text;
  return false;
}

bool hl_session_input_fault(hl_session *s, const char *format, ...)
{
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  hl_error(&s->diag, HL_NO_RANGE, HL_RULE_INPUT, "%s", text);
  return fail(s, HL_FAULT_INPUT, NULL);
}

static void tell_step(hl_session *s, const char *step)
{
  if (s->options.step)
    s->options.step(s->options.step_user, step);
}

static void tell_time(hl_session *s, const char *step, double start)
{
  if (s->options.timing)
    s->options.timing(s->options.user, step, hl_seconds() - start);
  tell_step(s, NULL);
}

bool hl_session_set_text(hl_session *s, const char *name, const char *text, size_t size)
{
  if (size > HL_LIMIT_TEXT_BYTES)
    return hl_session_input_fault(s, "%s has %zu bytes; the limit is %u", name, size,
                                  HL_LIMIT_TEXT_BYTES);
  s->diag.source = hl_source_new(s->arena, name, text, size);
  return true;
}

bool hl_session_read(hl_session *s, const char *path)
{
  bool is_stdin = !strcmp(path, "-");
  hl_io_error error;
  size_t size;
  tell_step(s, "reading");
  bool is_read = hl_io_read(is_stdin ? "/dev/stdin" : path, &s->owned, &size, &error);
  tell_step(s, NULL);
  if (!is_read) {
    s->owned = NULL;
    return hl_session_input_fault(s, "%s", error.text);
  }
  bool ok = hl_session_set_text(s, is_stdin ? "<stdin>" : path, s->owned, size);
  free(s->owned);
  s->owned = NULL;
  return ok;
}

bool hl_session_parse(hl_session *s)
{
  double start = hl_seconds();
  tell_step(s, "reading");
  s->module = hl_parse(s->arena, s->diag.source, &s->diag);
  tell_time(s, "parse", start);
  if (!s->module)
    return fail(s, HL_FAULT_INPUT, NULL);
  return true;
}

bool hl_session_verify(hl_session *s)
{
  double start = hl_seconds();
  tell_step(s, "verifying");
  bool ok = hl_verify(s->module, (hl_verify_options){.dialect_xla = s->options.dialect_xla}, &s->diag);
  tell_time(s, "verify", start);
  if (!ok)
    return fail(s, HL_FAULT_INPUT, NULL);
  if (s->options.after_pass)
    s->options.after_pass(s->options.user, "verify", s->module);
  return true;
}

/* The array of the archive as a literal of the constant's shape; NULL after a fault was reported.
 */
static const hl_literal *literal_from(hl_session *s, const hl_instruction *ins, const hl_npy *array)
{
  const hl_shape *shape = ins->shape;
  const hl_value_type *type = hl_value_type_find(hl_type_name(shape->element_type));
  bool fits = type && hl_value_accepts(type, array) && array->rank == shape->rank;
  for (int i = 0; fits && i < shape->rank; i++)
    fits = array->dims[i] == shape->dimensions[i];
  fits =
      fits && (array->bytes == 0 ||
               hl_value_find_unfit(type, array->data, array->bytes / (size_t)type->item_bytes) < 0);
  if (!fits) {
    hl_error(
        &s->diag, hl_place_shape(ins), HL_RULE_INPUT,
        "the array for constant '%s' has another type or shape than %s, or values that do not fit",
        ins->name, hl_shape_text(s->arena, shape));
    fail(s, HL_FAULT_INPUT, NULL);
    return NULL;
  }
  hl_literal *literal = hl_literal_new(s->arena, shape);
  const unsigned char *from = array->data;
  if (shape->element_type == HL_PRED)
    for (size_t i = 0; i < array->bytes; i++)
      ((unsigned char *)literal->data)[i] = from[i] != 0;
  else if (array->bytes)
    memcpy(literal->data, from, array->bytes);
  return literal;
}

static bool fill_constant(hl_session *s, hl_instruction *ins, const hl_zip *archive)
{
  const hl_zip_member *member = hl_zip_find(archive, ins->name);
  if (!member)
    return true; /* the check before compilation names it */
  hl_io_error error;
  hl_npy array = {0};
  if (!hl_zip_read(archive, member, &array, &error)) {
    hl_npy_free(&array);
    return hl_session_input_fault(s, "constant '%s': %s", ins->name, error.text);
  }
  const hl_literal *literal = literal_from(s, ins, &array);
  hl_npy_free(&array);
  if (literal)
    ins->literal = literal;
  return literal != NULL;
}

static bool is_elided(const hl_instruction *ins)
{
  return ins->opcode == HL_OP_CONSTANT && ins->literal && ins->literal->is_elided;
}

bool hl_session_fill_constants(hl_session *s, const char *path)
{
  hl_io_error error;
  hl_zip archive = {0};
  bool ok = hl_npz_open(&archive, path, &error);
  if (!ok)
    hl_session_input_fault(s, "%s", error.text);
  for (hl_computation *c = s->module->first; c && ok; c = c->next)
    for (hl_instruction *ins = c->first; ins && ok; ins = ins->next)
      if (is_elided(ins))
        ok = fill_constant(s, ins, &archive);
  hl_zip_close(&archive);
  return ok;
}

bool hl_session_load(hl_session *s, const char *constants)
{
  return hl_session_parse(s) && (!constants || hl_session_fill_constants(s, constants)) &&
         hl_session_verify(s);
}

bool hl_session_check_compilable(hl_session *s)
{
  return hl_check_compilable(s->module, &s->diag) || fail(s, HL_FAULT_INPUT, NULL);
}

static void after_pass(void *user, hl_pass_id pass, const hl_module *module)
{
  hl_session *s = user;
  if (s->options.after_pass)
    s->options.after_pass(s->options.user, hl_pass_name(pass), module);
}

static void time_pass(void *user, hl_pass_id pass, double seconds)
{
  hl_session *s = user;
  s->options.timing(s->options.user, hl_pass_name(pass), seconds);
}

bool hl_session_optimize(hl_session *s, const hl_pass_id *passes, int count)
{
  hl_pipeline pipeline = {.scratch = s->scratch,
                          .passes = passes,
                          .pass_count = count,
                          .level = s->options.code.opt_level,
                          .verify_each = s->options.verify_each,
                          .is_disabled = s->options.disabled_passes,
                          .after = after_pass,
                          .timing = s->options.timing ? time_pass : NULL,
                          .user = s};
  hl_pass_id broken;
  tell_step(s, "passes");
  bool ok = hl_run_passes(s->module, &pipeline, &s->diag, &broken);
  tell_step(s, NULL);
  if (ok)
    return true;
  if (broken == HL_PASS_COUNT)
    return fail(s, HL_FAULT_INPUT, NULL);
  return fail(s, HL_FAULT_INTERNAL,
              hl_arena_printf(s->arena, "pass %s left an illegal module: %s", hl_pass_name(broken),
                              s->diag.last->text));
}

/* -O0 is scalar code for reading and stepping through: no threads. */
static int max_workers(const hl_session *s)
{
  if (s->options.code.opt_level == 0)
    return 1;
  if (s->options.max_workers)
    return s->options.max_workers;
  return s->target.is_freestanding ? 1 : DEFAULT_WORKERS;
}

static const hl_buffer *largest_array(const hl_program *program)
{
  const hl_buffer *largest = NULL;
  for (int i = 0; i < program->buffer_count; i++) {
    const hl_buffer *buffer = program->buffers[i];
    if (buffer->kind == HL_BUFFER_TEMP && (!largest || buffer->bytes > largest->bytes))
      largest = buffer;
  }
  return largest;
}

static const hl_instruction *instruction_named(const hl_module *module, const char *name, size_t length)
{
  for (const hl_computation *c = module->first; c; c = c->next)
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      if (strlen(ins->name) == length && !memcmp(ins->name, name, length))
        return ins;
  return NULL;
}

/* An array has the name of its instruction; scratch, and what comes in parts, with a suffix. */
static hl_range place_of(const hl_module *module, const char *name)
{
  const hl_instruction *found = NULL;
  for (size_t length = strlen(name); length > 0 && !found; length--)
    if (!name[length] || name[length] == '.')
      found = instruction_named(module, name, length);
  return found ? hl_place_call(found) : HL_NO_RANGE;
}

static bool fits_memory(hl_session *s)
{
  int64_t most = s->options.max_memory, bytes = s->program->workspace_bytes;
  if (most == 0 || bytes <= most)
    return true;
  const hl_buffer *largest = largest_array(s->program);
  hl_range place = largest ? place_of(s->module, largest->name) : HL_NO_RANGE;
  hl_error(&s->diag, place, HL_RULE_LIMIT, "the workspace takes %lld bytes, more than the %lld allowed", (long long)bytes,
           (long long)most);
  if (largest)
    hl_help(&s->diag, "the largest array in it, of '%s', has %lld bytes; `hlo-lite explain` shows what lies there and when",
            largest->name, (long long)largest->bytes);
  return fail(s, HL_FAULT_INPUT, NULL);
}

bool hl_session_lower(hl_session *s)
{
  double start = hl_seconds();
  const char *error = NULL;
  if (!hl_target_resolve(s->arena, &s->options.code, &s->target, &error))
    return fail(s, HL_FAULT_OPTION, error);
  hl_lower_options options = {.opt_level = s->options.code.opt_level,
                              .max_workers = max_workers(s),
                              .cache_bytes = CACHE_BYTES};
  s->symbol = s->options.name ? s->options.name : hl_c_name(s->arena, s->diag.source->name);
  tell_step(s, "fusing");
  s->program = hl_lower(s->arena, s->module, &options);
  tell_time(s, "lower", start);
  error = s->options.verify_each ? hl_program_check(s->arena, s->program) : NULL;
  if (error)
    return fail(s, HL_FAULT_INTERNAL, hl_arena_printf(s->arena, "lowering left an illegal program: %s", error));
  return fits_memory(s);
}

bool hl_session_build(hl_session *s)
{
  return hl_session_check_compilable(s) && hl_session_optimize(s, NULL, 0) && hl_session_lower(s);
}

bool hl_session_emit(hl_session *s, hl_code_kind kind, hl_code *code)
{
  const char *error = NULL;
  hl_codegen_options options = s->options.code;
  options.symbol = s->symbol;
  options.signature = hl_signature(s->arena, s->program);
  options.threads = s->program->max_workers > 1;
  options.debug = s->options.line_tables ? s->diag.source : NULL;
  options.timing = s->options.timing;
  options.timing_user = s->options.user;
  tell_step(s, "machine code");
  bool ok = hl_codegen_program(s->arena, s->program, &options, kind, code, &error);
  tell_step(s, NULL);
  return ok || fail(s, HL_FAULT_INTERNAL, error);
}

/* The hook is the one symbol that an object refers to weakly. */
bool hl_session_uses_threads(hl_arena *arena, const hl_code *object)
{
  int count;
  hl_elf_undefined(arena, object->data, object->size, true, &count);
  return count > 0;
}

void hl_session_header(hl_session *s, const char *file, const char *source, const hl_code *object,
                       hl_str *out)
{
  int undefined_count;
  const char **undefined =
      hl_elf_undefined(s->arena, object->data, object->size, false, &undefined_count);
  hl_header_options o = {.file = file,
                         .source = source,
                         .version = HL_VERSION,
                         .symbol = s->symbol,
                         .target = &s->target,
                         .uses_threads = hl_session_uses_threads(s->arena, object),
                         .undefined = undefined,
                         .undefined_count = undefined_count};
  hl_header_print(out, s->program, &o);
}
