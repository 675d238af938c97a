/* cmd_explain - `hlo-lite explain`: what becomes of a module, for people who want to understand. */
#include "command.h"

#include "explain.h"
#include "limits.h"
#include "page.h"
#include "progress.h"

#include "runtime/hlo_runtime.h"

/* False: the message was shown. */
static bool choose_step(hl_explanation *e, int64_t number)
{
  if (number == 0)
    return true;
  if (number > e->step_count || e->steps[number - 1].step->kind != HL_STEP_KERNEL) {
    hl_complain(HL_EXIT_USAGE, "step %lld is no kernel; the page without --kernel lists the steps",
                (long long)number);
    return false;
  }
  e->only = (int)number;
  return true;
}

static void print(hl_explanation *e, const hl_options *options, hl_str *out)
{
  hl_page page = hl_page_open(out, options);
  if (options->is_json)
    hl_explain_json(e, out);
  else
    hl_explain_text(e, &page);
}

/* What the command line leaves open. Code for another processor tells nothing about this one. */
static void measure(hl_explanation *e, const hl_options *options)
{
  enum { COPY_BYTES = 64 << 20 };
  const hl_session *s = e->session;
  hl_machine *machine = &e->machine;
  *machine = (hl_machine){1e9 * options->bandwidth, 1e9 * options->peak};
  if (!s->target.is_native_cpu || (machine->bandwidth != 0 && machine->peak != 0))
    return;
  int threads = hlo_num_threads();
  threads = threads < s->program->max_workers ? threads : s->program->max_workers;
  hl_progress_step(options->progress, "measuring the machine");
  hl_limits limits = hl_limits_measure(COPY_BYTES, threads);
  hl_progress_step(options->progress, NULL);
  machine->bandwidth = machine->bandwidth != 0 ? machine->bandwidth : limits.copy_bytes;
  machine->peak = machine->peak != 0 ? machine->peak : limits.fma_flops;
}

/* The exit status that is not the session's. */
static int explain(hl_session *s, const hl_options *options)
{
  hl_explanation e = {.session = s, .arena = s->arena};
  hl_str text = {.arena = s->arena};
  if (!hl_command_load(s, options, options->inputs[0]))
    return HL_EXIT_DONE;
  hl_explain_broadcasts(&e);
  if (!hl_session_build(s))
    return HL_EXIT_DONE;
  hl_explain_steps(&e);
  if (!choose_step(&e, options->kernel))
    return HL_EXIT_USAGE;
  measure(&e, options);
  print(&e, options, &text);
  return hl_command_write(options->output, hl_str_text(&text), text.length) ? HL_EXIT_DONE
                                                                            : HL_EXIT_INPUT;
}

int hl_command_explain(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)arena;
  hl_session s;
  hl_command_open(&s, options, guard);
  int own = explain(&s, options), status = hl_command_close(&s, options);
  return status == HL_EXIT_DONE ? own : status;
}
