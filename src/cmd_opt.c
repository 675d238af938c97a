/* cmd_opt - `hlo-lite opt`: run named passes and print the module. */
#include "command.h"

#include "ir/print.h"

int hl_command_opt(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  const char *error;
  int count = 0;
  hl_pass_id *passes = NULL;
  if (options->passes && !(passes = hl_command_passes(arena, options->passes, &count, &error)))
    return hl_complain(HL_EXIT_USAGE, "%s", error);
  hl_session s;
  bool written = true;
  hl_command_open(&s, options, guard);
  if (hl_command_load(&s, options, options->inputs[0]) && hl_session_optimize(&s, passes, count)) {
    hl_str text = {.arena = s.arena};
    hl_module_print(&text, s.module);
    written = hl_command_write(options->output, hl_str_text(&text), text.length);
  }
  int status = hl_command_close(&s, options);
  return written ? status : HL_EXIT_INPUT;
}
