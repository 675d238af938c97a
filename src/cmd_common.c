/* cmd_common - what the subcommands share: sessions with the options of the command line, messages,
 * outputs. */
#include "command.h"

#include "progress.h"

#include "ir/print.h"
#include "times.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* What the hooks of a session know; lives in its arena. */
typedef struct hooks {
  const hl_options *options;
  hl_times times;
} hooks;

int hl_complain(int status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fputs("hlo-lite: error: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return status;
}

/* The name of a pass as the user may write it: '_' is '-'. */
static bool same_pass(const char *a, const char *b)
{
  for (; *a && *b; a++, b++)
    if (*a != *b && !((*a == '_' || *a == '-') && (*b == '_' || *b == '-')))
      return false;
  return *a == *b;
}

static void dump_after(void *user, const char *pass, const hl_module *module)
{
  const hl_options *options = ((const hooks *)user)->options;
  if (!options->dump_after ||
      (strcmp(options->dump_after, "all") != 0 && !same_pass(options->dump_after, pass)))
    return;
  hl_str text = {.arena = hl_arena_new(NULL)};
  if (!text.arena)
    return;
  hl_module_print(&text, module);
  hl_progress_clear(options->progress);
  fprintf(stderr, "// after %s\n%s", pass, hl_str_text(&text));
  hl_arena_free(text.arena);
}

static void tell_step(void *user, const char *step)
{
  hl_progress_step(user, step);
}

static void on_time(void *user, const char *step, double seconds)
{
  hooks *h = user;
  hl_times_add(&h->times, step, seconds);
  if (!h->options->time_passes)
    return;
  hl_progress_clear(h->options->progress);
  fprintf(stderr, "%10.3f ms  %s\n", 1e3 * seconds, step);
}

void hl_command_open(hl_session *s, const hl_options *options, hl_guard *guard)
{
  hl_session_options o = {.code = {.triple = options->target,
                                   .cpu = options->cpu,
                                   .features = options->features,
                                   .opt_level = options->opt_level,
                                   .fast_math = options->fast_math,
                                   .fp_contract = options->fp_contract,
                                   .ftz = options->ftz},
                          .max_workers = options->max_workers,
                          .max_memory = options->max_memory,
                          .dialect_xla = options->dialect_xla,
                          .verify_each = options->verify_each,
                          .line_tables = options->line_tables,
                          .name = options->name,
                          .after_pass = options->dump_after ? dump_after : NULL,
                          .step = tell_step,
                          .step_user = options->progress,
                          .timing = options->time_passes || options->stats ? on_time : NULL};
  hl_session_open(s, guard, &o);
  hooks *h = HL_NEW(s->arena, hooks);
  h->options = options;
  s->options.user = h;
  const char *error;
  if (options->disabled) /* main has read the list before */
    hl_command_disabled(s->arena, options->disabled, s->options.disabled_passes, &error);
}

static bool use_color(const hl_options *options)
{
  return options->color < 0 ? isatty(STDERR_FILENO) : options->color;
}

static int fault_status(const hl_session *s)
{
  switch (s->fault) {
  case HL_FAULT_OPTION:
    return hl_complain(HL_EXIT_USAGE, "%s", s->text);
  case HL_FAULT_INTERNAL:
    return hl_complain(HL_EXIT_INTERNAL, "internal error: %s", s->text);
  case HL_FAULT_INPUT:
    return HL_EXIT_INPUT;
  default:
    return HL_EXIT_DONE;
  }
}

/* ---- --stats ---- */

static void print_buffers(const hl_program *program)
{
  static const char *const kinds[] = {"arguments", "results", "constants", "temporaries"};
  for (int kind = HL_BUFFER_ARGUMENT; kind <= HL_BUFFER_TEMP; kind++) {
    long long count = 0, bytes = 0;
    for (int i = 0; i < program->buffer_count; i++)
      if ((int)program->buffers[i]->kind == kind) {
        count++;
        bytes += program->buffers[i]->bytes;
      }
    if (count)
      fprintf(stderr, "%10lld bytes  in %lld %s\n", bytes, count, kinds[kind]);
  }
}

/* The pool of threads asks for no memory of arenas: what the process had at most is what it took. */
static void print_stats(const hl_session *s)
{
  const hooks *h = s->options.user;
  struct rusage usage;
  for (hl_stage_id i = 0; i < HL_TIME_COUNT; i++)
    if (h->times.seconds[i] > 0)
      fprintf(stderr, "%10.3f ms  %s\n", 1e3 * h->times.seconds[i], hl_times_name(i));
  fprintf(stderr, "%10.3f ms  all stages\n", 1e3 * hl_times_total(&h->times));
  if (s->program) {
    print_buffers(s->program);
    fprintf(stderr, "%10lld bytes  workspace\n", (long long)s->program->workspace_bytes);
  }
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    fprintf(stderr, "%10ld KiB    peak memory of the process\n", usage.ru_maxrss);
}

int hl_command_close(hl_session *s, const hl_options *options)
{
  hl_progress_step(options->progress, NULL);
  if (s->diag.first) {
    hl_str text = {.arena = s->arena};
    hl_diag_render(&s->diag, (hl_render_options){use_color(options), options->json}, &text);
    fputs(hl_str_text(&text), stderr);
  }
  int status = fault_status(s);
  if (options->stats)
    print_stats(s);
  hl_session_close(s);
  return status;
}

bool hl_command_load(hl_session *s, const hl_options *options, const char *path)
{
  return hl_session_read(s, path) && hl_session_load(s, options->constants);
}

static bool write_stdout(const void *data, size_t size)
{
  if (fwrite(data, 1, size, stdout) == size && fflush(stdout) == 0)
    return true;
  hl_complain(HL_EXIT_INPUT, "cannot write standard output");
  return false;
}

bool hl_command_write(const char *path, const void *data, size_t size)
{
  if (!path || !strcmp(path, "-"))
    return write_stdout(data, size);
  hl_output output;
  hl_io_error error;
  bool ok = hl_output_open(&output, path, &error);
  if (ok) {
    hl_output_write(&output, data, size);
    ok = hl_output_close(&output, &error);
  }
  if (!ok)
    hl_complain(HL_EXIT_INPUT, "%s", error.text);
  return ok;
}

hl_pass_id *hl_command_passes(hl_arena *arena, const char *list, int *count, const char **error)
{
  hl_pass_id *passes = HL_ARRAY(arena, strlen(list) + 1, hl_pass_id);
  *count = 0;
  while (*list) {
    size_t length = strcspn(list, ",");
    hl_pass_id pass = hl_pass_by_name(list, length);
    if (pass == HL_PASS_COUNT) {
      const char *name = hl_arena_strndup(arena, list, length), *closest = hl_pass_suggest(name);
      *error =
          closest
              ? hl_arena_printf(arena, "unknown pass '%s'; did you mean '%s'?", name, closest)
              : hl_arena_printf(arena, "unknown pass '%s'; `hlo-lite opt --help` lists them", name);
      return NULL;
    }
    passes[(*count)++] = pass;
    list += length + (list[length] == ',');
  }
  return passes;
}

bool hl_command_disabled(hl_arena *arena, const char *list, bool *is_disabled, const char **error)
{
  int count;
  hl_pass_id *passes = hl_command_passes(arena, list, &count, error);
  for (int i = 0; passes && i < count; i++) {
    is_disabled[passes[i]] = true;
    if (hl_pass_level(passes[i]) > 0)
      continue;
    *error = hl_arena_printf(arena, "code cannot do without pass '%s'", hl_pass_name(passes[i]));
    return false;
  }
  return passes != NULL;
}
