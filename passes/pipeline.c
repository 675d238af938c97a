/* pipeline - runs passes in order: the only place that verifies after a pass, hands modules out for
 * dumping, and takes the time. */
#include "pass.h"

#include "../ir/verify.h"

#include <string.h>
#include <time.h>

typedef enum pass_group { GROUP_once, GROUP_repeat } pass_group;

typedef struct pass_info {
  hl_pass_fn *run;
  const char *name, *sentence;
  int level;
  pass_group group;
} pass_info;

static const pass_info infos[HL_PASS_COUNT] = {
#define HL_PASS(id, name, level, group, sentence)                                                  \
  [HL_PASS_##id] = {hl_pass_##id, name, sentence, level, GROUP_##group},
#include "passes.def"
};

/* A module of n instructions reaches its fixed point in two or three rounds; more only help chains
 * that nobody writes. */
enum { MAX_ROUNDS = 6 };

const char *hl_pass_name(hl_pass_id pass)
{
  return infos[pass].name;
}

const char *hl_pass_sentence(hl_pass_id pass)
{
  return infos[pass].sentence;
}

int hl_pass_level(hl_pass_id pass)
{
  return infos[pass].level;
}

static char with_dash(char c)
{
  return c == '_' ? '-' : c;
}

static bool same_name(const char *name, const char *text, size_t length)
{
  if (strlen(name) != length)
    return false;
  for (size_t i = 0; i < length; i++)
    if (with_dash(name[i]) != with_dash(text[i]))
      return false;
  return true;
}

hl_pass_id hl_pass_by_name(const char *name, size_t length)
{
  hl_pass_id pass = 0;
  while (pass < HL_PASS_COUNT && !same_name(infos[pass].name, name, length))
    pass++;
  return pass;
}

const char *hl_pass_suggest(const char *name)
{
  const char *best = NULL;
  size_t best_distance = 4;
  for (hl_pass_id pass = 0; pass < HL_PASS_COUNT; pass++) {
    size_t distance = hl_edit_distance(name, infos[pass].name, 3);
    if (distance < best_distance) {
      best_distance = distance;
      best = infos[pass].name;
    }
  }
  return best;
}

typedef struct pass_run {
  hl_module *module;
  const hl_pipeline *pipeline;
  hl_pass_context cx;
  hl_pass_id broken;
} pass_run;

/* control-predecessors order what has side effects, and no pass reorders those: the edges would
 * only dangle. */
static void drop_control_edges(hl_module *module)
{
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->first; ins; ins = ins->next)
      hl_instruction_remove_attr(ins, HL_ATTR_CONTROL_PREDECESSORS);
}

static double seconds_now(void)
{
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* False when the pass reported an error or left an illegal module. */
static bool run_one(pass_run *run, hl_pass_id pass, bool *changed)
{
  const hl_pipeline *pipeline = run->pipeline;
  int errors = run->cx.diag->error_count;
  double start = pipeline->timing ? seconds_now() : 0;
  *changed = infos[pass].run(run->module, &run->cx);
  if (pipeline->timing)
    pipeline->timing(pipeline->user, pass, seconds_now() - start);
  hl_arena_reset(run->cx.scratch);
  if (run->cx.diag->error_count > errors)
    return false;
  if (pipeline->after)
    pipeline->after(pipeline->user, pass, run->module);
  if (pipeline->verify_each && !hl_verify(run->module, (hl_verify_options){0}, run->cx.diag)) {
    run->broken = pass;
    return false;
  }
  return true;
}

static bool run_list(pass_run *run)
{
  bool changed;
  for (int i = 0; i < run->pipeline->pass_count; i++)
    if (!run_one(run, run->pipeline->passes[i], &changed))
      return false;
  return true;
}

static bool is_wanted(const hl_pipeline *pipeline, hl_pass_id pass)
{
  return infos[pass].level <= pipeline->level &&
         !(pipeline->is_disabled && pipeline->is_disabled[pass]);
}

/* Runs the rows from `first` that have its group; *end is the row behind them. */
static bool run_round(pass_run *run, hl_pass_id first, hl_pass_id *end, bool *any)
{
  *any = false;
  hl_pass_id pass = first;
  for (; pass < HL_PASS_COUNT && infos[pass].group == infos[first].group; pass++) {
    bool changed = false;
    if (is_wanted(run->pipeline, pass) && !run_one(run, pass, &changed))
      return false;
    *any = *any || changed;
  }
  *end = pass;
  return true;
}

static bool run_default(pass_run *run)
{
  for (hl_pass_id pass = 0, end; pass < HL_PASS_COUNT; pass = end) {
    bool any = true;
    int rounds = infos[pass].group == GROUP_repeat ? MAX_ROUNDS : 1;
    for (int i = 0; i < rounds && any; i++)
      if (!run_round(run, pass, &end, &any))
        return false;
  }
  return true;
}

bool hl_run_passes(hl_module *module, const hl_pipeline *pipeline, hl_diag *diag,
                   hl_pass_id *broken)
{
  pass_run run = {.module = module, .pipeline = pipeline, .broken = HL_PASS_COUNT};
  run.cx = (hl_pass_context){.scratch = pipeline->scratch, .diag = diag};
  drop_control_edges(module);
  bool ok = pipeline->passes ? run_list(&run) : run_default(&run);
  if (broken)
    *broken = run.broken;
  return ok;
}
