/* cmd_opt - `hlo-lite opt`: run named passes and print the module, or the loops that it becomes. */
#include "command.h"

#include "dot.h"
#include "ir/print.h"

/* Lowering needs what the passes of -O0 do, whatever was named. */
static bool lower(hl_session *s, bool is_whole)
{
  int level = s->options.code.opt_level;
  s->options.code.opt_level = 0;
  bool ok = is_whole || hl_session_optimize(s, NULL, 0);
  s->options.code.opt_level = level;
  return ok && hl_session_lower(s);
}

static bool print(hl_session *s, const hl_options *options, hl_str *text)
{
  if (options->emit == HL_EMIT_LOOPS) {
    if (!lower(s, options->passes == NULL))
      return false;
    hl_program_print(text, s->program);
  } else if (options->emit == HL_EMIT_DOT) {
    hl_module_dot(text, s->module);
  } else {
    hl_module_print(text, s->module);
  }
  return true;
}

int hl_command_opt(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  const char *error;
  int count = 0;
  hl_pass_id *passes = NULL;
  hl_emit emit = options->emit;
  if (options->passes && !(passes = hl_command_passes(arena, options->passes, &count, &error)))
    return hl_complain(HL_EXIT_USAGE, "%s", error);
  hl_session s;
  bool written = true;
  hl_command_open(&s, options, guard);
  hl_str text = {.arena = s.arena};
  if (hl_command_load(&s, options, options->inputs[0]) &&
      (emit != HL_EMIT_LOOPS || hl_session_check_compilable(&s)) &&
      hl_session_optimize(&s, passes, count) && print(&s, options, &text))
    written = hl_command_write(options->output, hl_str_text(&text), text.length);
  int status = hl_command_close(&s, options);
  return written ? status : HL_EXIT_INPUT;
}
