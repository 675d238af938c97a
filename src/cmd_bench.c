/* cmd_bench - `hlo-lite bench`: what compiling and running a module takes, beside what the machine can do.
 *
 * The module is compiled several times; stages are medians. A run is timed in samples of at least SAMPLE
 * seconds, so that the clock costs nothing even where a call takes nanoseconds. Steps are timed in a second
 * program, with the same kernels and marks between them. */
#include "limits.h"
#include "profile.h"
#include "progress.h"
#include "times.h"

#include "runtime/hlo_runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPILES = 5, MOST_SAMPLES = 2000, LEAST_SAMPLES = 5, TINY_CALLS = 1000000, COPY_BYTES = 256 << 20 };
static const double COMPILE_SECONDS = 2, RUN_SECONDS = 0.5, SAMPLE = 2e-5;

static const char tiny_text[] = "ENTRY e {\n  x = f32[] parameter(0)\n  ROOT y = f32[] negate(x)\n}\n";

typedef struct spread {
  double median, low, high, least; /* low and high: a tenth of the samples lies beyond each */
  int samples;
} spread;

typedef struct bench {
  const hl_options *options;
  hl_guard *guard;
  hl_session session; /* of the runner */
  hl_runner runner;
  hl_times stages; /* medians */
  int compiles;
  spread run;
  double call_seconds; /* of the tiny kernel */
  double bytes;        /* of parameters and results */
  hl_limits limits;
  hl_times times; /* of the compilation under way */
} bench;

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts the samples. */
static spread spread_of(double *samples, int count)
{
  qsort(samples, (size_t)count, sizeof *samples, compare);
  return (spread){.median = (samples[(count - 1) / 2] + samples[count / 2]) / 2,
                  .low = samples[count / 10],
                  .high = samples[count - 1 - count / 10],
                  .least = samples[0],
                  .samples = count};
}

/* ---- compiling ---- */

static void on_time(void *user, const char *step, double seconds)
{
  hl_times_add(user, step, seconds);
}

static void open_session(bench *b, bool is_profile)
{
  hl_command_open(&b->session, b->options, b->guard);
  b->times = (hl_times){{0}};
  b->session.options.timing = on_time;
  b->session.options.user = &b->times;
  b->session.options.after_pass = NULL;
  b->session.options.code.profile = is_profile;
  b->runner = (hl_runner){.options = b->options, .session = &b->session};
}

static bool compile(bench *b)
{
  return hl_command_load(&b->session, b->options, b->options->inputs[0]) &&
         hl_runner_build(&b->runner) && hl_runner_link(&b->runner);
}

static void take_medians(bench *b, double samples[HL_TIME_COUNT][COMPILES])
{
  for (hl_stage_id i = 0; i < HL_TIME_COUNT; i++)
    b->stages.seconds[i] = spread_of(samples[i], b->compiles).median;
}

/* The last compilation stays, to be called. */
static bool time_compiles(bench *b)
{
  double samples[HL_TIME_COUNT][COMPILES], begin = hl_seconds();
  bool is_stdin = !strcmp(b->options->inputs[0], "-"), ok = true;
  int most = is_stdin ? 1 : COMPILES;
  for (b->compiles = 0; ok && b->compiles < most;) {
    if (b->compiles > 0) {
      hl_runner_free(&b->runner);
      hl_session_close(&b->session);
    }
    open_session(b, false);
    ok = compile(b);
    for (hl_stage_id i = 0; i < HL_TIME_COUNT; i++)
      samples[i][b->compiles] = b->times.seconds[i];
    b->compiles++;
    if (hl_seconds() - begin > COMPILE_SECONDS)
      break;
  }
  if (ok)
    take_medians(b, samples);
  return ok;
}

/* ---- running ---- */

/* Without files the arguments are those of --random 1. */
static bool load_arguments(bench *b)
{
  hl_argument_source source = hl_runner_source(&b->runner);
  if (!source.is_random && source.path_count == 0) {
    source.is_random = true;
    source.seed = 1;
  }
  return hl_runner_load_arguments(&b->runner, &source);
}

/* Calls that one sample takes. */
static bool choose_calls(bench *b, int64_t *calls)
{
  for (*calls = 1;; *calls *= 2) {
    double start = hl_seconds();
    for (int64_t i = 0; i < *calls; i++)
      if (!hl_runner_call(&b->runner))
        return false;
    if (hl_seconds() - start >= SAMPLE)
      return true;
  }
}

static bool time_runs(bench *b)
{
  int most = b->options->repeat ? (int)b->options->repeat : MOST_SAMPLES, count = 0;
  double *samples = HL_ARRAY(b->session.arena, most + 1, double), begin;
  int64_t calls;
  if (!choose_calls(b, &calls)) /* the caches and the pool are warm then */
    return false;
  hl_progress_step(b->options->progress, "running");
  begin = hl_seconds();
  while (count < most) {
    double start = hl_seconds();
    for (int64_t i = 0; i < calls; i++)
      if (!hl_runner_call(&b->runner))
        return false;
    samples[count++] = (hl_seconds() - start) / (double)calls;
    if (!b->options->repeat && count >= LEAST_SAMPLES && hl_seconds() - begin > RUN_SECONDS)
      break;
  }
  hl_progress_step(b->options->progress, NULL);
  b->run = spread_of(samples, count);
  return true;
}

static void count_bytes(bench *b)
{
  b->bytes = 0;
  for (int i = 0; i < b->runner.param_count; i++)
    b->bytes += (double)b->runner.params[i].bytes;
  for (int i = 0; i < b->runner.result_count; i++)
    b->bytes += (double)b->runner.results[i].bytes;
}

/* What one call costs where there is next to nothing to compute. */
static bool time_tiny(bench *b)
{
  hl_session s;
  hl_command_open(&s, b->options, b->guard);
  s.options.timing = NULL;
  s.options.after_pass = NULL;
  hl_runner r = {.options = b->options, .session = &s};
  hl_argument_source source = {.is_random = true};
  bool ok = hl_session_set_text(&s, "tiny", tiny_text, sizeof tiny_text - 1) &&
            hl_session_load(&s, NULL) && hl_runner_build(&r);
  source.params = r.params;
  source.param_count = r.param_count;
  ok = ok && hl_runner_load_arguments(&r, &source) && hl_runner_link(&r) && hl_runner_call(&r);
  if (ok) {
    hl_jit_entry *entry = hl_jit_module_entry(r.code);
    double start = hl_seconds();
    for (int i = 0; i < TINY_CALLS; i++)
      entry(r.arguments.data, r.result_data, r.workspace);
    b->call_seconds = (hl_seconds() - start) / (double)TINY_CALLS;
  }
  hl_runner_free(&r);
  hl_session_close(&s);
  return ok;
}

/* The same module with marks between its steps, in the place of the other. */
static bool profile(bench *b, hl_profile_table *table)
{
  hl_runner_free(&b->runner);
  hl_session_close(&b->session);
  open_session(b, true);
  if (!compile(b) || !load_arguments(b) || !hl_runner_call(&b->runner))
    return false;
  hl_profile *p = &b->runner.profile;
  for (int i = 0; i < p->step_count; i++)
    p->seconds[i] = 0, p->calls[i] = 0;
  int64_t runs = 0;
  double begin = hl_seconds();
  do {
    if (!hl_runner_call(&b->runner))
      return false;
    runs++;
  } while (runs < MOST_SAMPLES && hl_seconds() - begin < RUN_SECONDS / 2);
  *table = hl_profile_collect(&b->runner, runs);
  return true;
}

/* ---- what is said ---- */

static double share(double part, double whole)
{
  return whole > 0 ? part / whole : 0;
}

static void print_compile(const bench *b, hl_str *out)
{
  hl_str_printf(out, "compile %14.4f ms  median of %d\n", 1e3 * hl_times_total(&b->stages),
                b->compiles);
  for (hl_stage_id i = 0; i < HL_TIME_COUNT; i++)
    hl_str_printf(out, "  %-12s %7.4f ms\n", hl_times_name(i), 1e3 * b->stages.seconds[i]);
}

static void print_run(const bench *b, double flops, hl_str *out)
{
  const spread *r = &b->run;
  double moved = share(b->bytes, r->median), computed = share(flops, r->median);
  hl_str_printf(out, "run     %14.6f ms  median of %d; 10 to 90 %%: %.6f to %.6f; least %.6f\n",
                1e3 * r->median, r->samples, 1e3 * r->low, 1e3 * r->high, 1e3 * r->least);
  hl_str_printf(out, "  memory     %9.2f GB/s  %.0f bytes of parameters and results; %.1f %% of a copy\n",
                1e-9 * moved, b->bytes, 100 * share(moved, b->limits.copy_bytes));
  hl_str_printf(out, "  arithmetic %9.2f GFLOP/s  %.0f operations; %.1f %% of the FMA peak\n",
                1e-9 * computed, flops, 100 * share(computed, b->limits.fma_flops));
}

static void print_text(const bench *b, const hl_profile_table *table, hl_str *out)
{
  print_compile(b, out);
  print_run(b, table->flops, out);
  hl_str_printf(out, "limits  copy %.2f GB/s (%d MiB), FMA %.1f GFLOP/s (f32), %d thread%s\n",
                1e-9 * b->limits.copy_bytes, COPY_BYTES >> 20, 1e-9 * b->limits.fma_flops,
                b->limits.threads, b->limits.threads == 1 ? "" : "s");
  hl_str_printf(out, "call    %14.2f ns  a call of f32[] negate, mean of %d\n", 1e9 * b->call_seconds,
                TINY_CALLS);
  if (b->options->per_kernel) {
    hl_str_add_char(out, '\n');
    hl_profile_print(&b->session, table, out);
  }
}

static void json_compile(const bench *b, hl_str *out)
{
  hl_str_printf(out, "  \"compile\": {\"runs\": %d, \"seconds\": %.6e, \"stages\": {", b->compiles,
                hl_times_total(&b->stages));
  for (hl_stage_id i = 0; i < HL_TIME_COUNT; i++)
    hl_str_printf(out, "%s\"%s\": %.6e", i ? ", " : "", hl_times_name(i), b->stages.seconds[i]);
  hl_str_add(out, "}},\n");
}

static void json_run(const bench *b, double flops, hl_str *out)
{
  const spread *r = &b->run;
  double moved = share(b->bytes, r->median), computed = share(flops, r->median);
  hl_str_printf(out,
                "  \"run\": {\"samples\": %d, \"median\": %.6e, \"p10\": %.6e, \"p90\": %.6e, "
                "\"least\": %.6e,\n    \"bytes\": %.17g, \"flops\": %.17g, \"bytes_per_second\": %.6e, "
                "\"flops_per_second\": %.6e, \"copy_share\": %.4f, \"fma_share\": %.4f},\n",
                r->samples, r->median, r->low, r->high, r->least, b->bytes, flops, moved, computed,
                share(moved, b->limits.copy_bytes), share(computed, b->limits.fma_flops));
}

static void print_json(const bench *b, const hl_profile_table *table, hl_str *out)
{
  hl_str_add(out, "{\n  \"model\": ");
  hl_json_string(out, b->options->inputs[0]);
  hl_str_add(out, ",\n");
  json_compile(b, out);
  json_run(b, table->flops, out);
  hl_str_printf(out,
                "  \"limits\": {\"threads\": %d, \"copy_bytes_per_second\": %.6e, "
                "\"fma_flops_per_second\": %.6e},\n  \"call_seconds\": %.6e",
                b->limits.threads, b->limits.copy_bytes, b->limits.fma_flops, b->call_seconds);
  if (b->options->per_kernel) {
    hl_str_add(out, ",\n  \"kernels\": ");
    hl_profile_json(&b->session, table, out);
  }
  hl_str_add(out, "\n}\n");
}

static bool measure(bench *b)
{
  hl_profile_table table;
  if (!time_compiles(b) || !load_arguments(b) || !time_runs(b) || !time_tiny(b))
    return false;
  count_bytes(b);
  if (!profile(b, &table))
    return false;
  hl_progress_step(b->options->progress, "measuring the machine");
  b->limits = hl_limits_measure(COPY_BYTES, hlo_num_threads());
  hl_progress_step(b->options->progress, NULL);
  hl_str text = {.arena = b->session.arena};
  if (b->options->is_json)
    print_json(b, &table, &text);
  else
    print_text(b, &table, &text);
  return hl_command_write(b->options->output, hl_str_text(&text), text.length);
}

int hl_command_bench(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)arena;
  bench b = {.options = options, .guard = guard};
  bool ok = measure(&b);
  hl_runner_free(&b.runner);
  int status = hl_command_close(&b.session, options);
  return status == HL_EXIT_DONE && !ok ? HL_EXIT_INPUT : status;
}
