/* cmd_check - `hlo-lite check`: read and verify, nothing else. */
#include "command.h"

static int check_one(const hl_options *options, const char *path, hl_guard *guard)
{
  hl_session s;
  hl_command_open(&s, options, guard);
  hl_command_load(&s, options, path);
  return hl_command_close(&s, options);
}

int hl_command_check(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)arena;
  int status = HL_EXIT_DONE;
  for (int i = 0; i < options->input_count; i++) {
    int one = check_one(options, options->inputs[i], guard);
    status = one > status ? one : status;
  }
  return status;
}
