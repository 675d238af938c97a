/* cmd_common - what the subcommands share: sessions with the options of the command line, messages,
 * outputs. */
#include "command.h"

#include "ir/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
  const hl_options *options = user;
  if (!options->dump_after ||
      (strcmp(options->dump_after, "all") != 0 && !same_pass(options->dump_after, pass)))
    return;
  hl_str text = {.arena = hl_arena_new(NULL)};
  if (!text.arena)
    return;
  hl_module_print(&text, module);
  fprintf(stderr, "// after %s\n%s", pass, hl_str_text(&text));
  hl_arena_free(text.arena);
}

static void show_time(void *user, const char *step, double seconds)
{
  (void)user;
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
                          .dialect_xla = options->dialect_xla,
                          .verify_each = options->verify_each,
                          .name = options->name,
                          .after_pass = options->dump_after ? dump_after : NULL,
                          .timing = options->time_passes ? show_time : NULL,
                          .user = (void *)options};
  hl_session_open(s, guard, &o);
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

int hl_command_close(hl_session *s, const hl_options *options)
{
  if (s->diag.first) {
    hl_str text = {.arena = s->arena};
    hl_diag_render(&s->diag, (hl_render_options){use_color(options), options->json}, &text);
    fputs(hl_str_text(&text), stderr);
  }
  int status = fault_status(s);
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
