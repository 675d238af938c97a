/* cmd_check - `hlo-lite check`: read, verify, and warn of what is rarely meant. */
#include "command.h"
#include "sarif.h"

#include "ir/lint.h"

/* -Werror, for warnings of the parser and the verifier too. */
static void raise_warnings(hl_session *s)
{
  for (hl_diagnostic *d = s->diag.first; d; d = d->next)
    if (d->severity == HL_SEVERITY_WARNING) {
      d->severity = HL_SEVERITY_ERROR;
      s->diag.error_count++;
    }
}

static int check_one(const hl_options *options, const char *path, hl_str *sarif, hl_guard *guard)
{
  hl_session s;
  hl_command_open(&s, options, guard);
  if (hl_command_load(&s, options, path))
    hl_lint(s.module, options->warnings, options->warning_errors, &s.diag);
  if (options->all_errors)
    raise_warnings(&s);
  if (s.diag.error_count && s.fault == HL_FAULT_NONE)
    s.fault = HL_FAULT_INPUT;
  if (options->sarif) {
    hl_sarif_add(&s.diag, sarif);
    s.diag.first = NULL; /* they are told */
  }
  return hl_command_close(&s, options);
}

int hl_command_check(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  int status = HL_EXIT_DONE;
  hl_str results = {.arena = arena}, log = {.arena = arena};
  for (int i = 0; i < options->input_count; i++) {
    int one = check_one(options, options->inputs[i], &results, guard);
    status = one > status ? one : status;
  }
  if (!options->sarif)
    return status;
  hl_sarif_log(&results, &log);
  return hl_command_write(options->output, hl_str_text(&log), log.length) ? status : HL_EXIT_INPUT;
}
