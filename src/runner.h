/* runner - a module compiled for this machine with everything that a call of it needs: what `run` and
 * `bench` have in common. */
#ifndef HL_RUNNER_H
#define HL_RUNNER_H

#include "calls.h"
#include "command.h"
#include "guarded.h"

#include "codegen/clock.h"
#include "codegen/jit.h"

#include "runtime/arguments.h"

/* Times of steps, by their numbers. */
typedef struct hl_profile {
  int step_count;
  double *seconds;
  int64_t *calls;
  double start; /* of the step that runs */
} hl_profile;

/* What it holds outside of arenas is freed by hl_runner_free in any case. */
typedef struct hl_runner {
  const hl_options *options;
  hl_session *session;
  hlo_exe_array *params, *results;
  int param_count, result_count;
  hl_arguments arguments;
  void **result_data;
  void *workspace;
  hl_guarded *guarded; /* --guard-pages: copies of the arguments, results, workspace; guarded_count of them */
  int guarded_count;
  void **argument_copies;
  hl_calls calls;
  hl_jit *jit;
  hl_jit_module *code;
  hl_profile profile;
} hl_runner;

/* The session has its module; each step returns false after it has reported. */
bool hl_runner_build(hl_runner *r);
bool hl_runner_load_arguments(hl_runner *r, const hl_argument_source *source);
/* Memory of results and workspace, then code. With options.code.profile of the session it counts and
 * times each step from here on. */
bool hl_runner_link(hl_runner *r);
bool hl_runner_call(hl_runner *r);
void hl_runner_free(hl_runner *r);

/* Where arguments come from by the words behind the model: files, or random numbers. */
hl_argument_source hl_runner_source(const hl_runner *r);

bool hl_runner_internal_fault(hl_runner *r, const char *text);

#endif
