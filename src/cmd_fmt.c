/* cmd_fmt - `hlo-lite fmt`: the canonical text of a module. */
#include "command.h"

#include "ir/print.h"

#include <string.h>

static bool format(hl_session *s, const hl_options *options, const char *path)
{
  if (!hl_command_load(s, options, path))
    return false;
  if (options->is_explicit) {
    hl_pass_context cx = {.scratch = s->scratch, .diag = &s->diag};
    hl_pass_expand_broadcasts(s->module, &cx);
  }
  hl_str text = {.arena = s->arena};
  hl_module_print(&text, s->module);
  const char *output = options->in_place ? path : options->output;
  return hl_command_write(output, hl_str_text(&text), text.length);
}

int hl_command_fmt(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)arena;
  int status = HL_EXIT_DONE;
  if (options->input_count > 1 && !options->in_place)
    return hl_complain(HL_EXIT_USAGE, "several files can only be formatted in place (-i)");
  for (int i = 0; i < options->input_count; i++) {
    if (options->in_place && !strcmp(options->inputs[i], "-"))
      return hl_complain(HL_EXIT_USAGE, "standard input cannot be written in place");
    hl_session s;
    hl_command_open(&s, options, guard);
    bool ok = format(&s, options, options->inputs[i]);
    int one = hl_command_close(&s, options);
    one = !ok && one == HL_EXIT_DONE ? HL_EXIT_INPUT : one;
    status = one > status ? one : status;
  }
  return status;
}
