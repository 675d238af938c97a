/* cmd_profile - steps of a program with their times, as a table and as JSON. */
#include "profile.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, INDENT = 6 };

static void add_step(hl_arena *arena, hl_profile_table *t, hl_profiled_step step)
{
  t->steps = hl_arena_grow(arena, t->steps, &t->capacity, (size_t)t->count + 1, sizeof *t->steps);
  t->steps[t->count++] = step;
  t->seconds += step.seconds;
  t->flops += step.calls * step.cost.flops;
}

typedef struct collection {
  const hl_runner *runner;
  hl_traffic *traffic;
  hl_profile_table *table;
  double runs;
} collection;

/* Nesting is that of the text's whiles and conditionals. */
static void collect(collection *c, const hl_steps *steps)
{
  const hl_profile *p = &c->runner->profile;
  for (const hl_step *step = steps->first; step; step = step->next) {
    collect(c, &step->condition);
    collect(c, &step->body);
    for (int i = 0; i < step->branch_count; i++)
      collect(c, &step->branches[i]);
    if (step->kind == HL_STEP_WHILE || step->kind == HL_STEP_CONDITIONAL)
      continue;
    hl_profiled_step told = {.step = step,
                             .cost = hl_step_cost(c->traffic, step),
                             .seconds = p->seconds[step->number] / c->runs,
                             .calls = (double)p->calls[step->number] / c->runs};
    add_step(c->runner->session->arena, c->table, told);
  }
}

hl_profile_table hl_profile_collect(const hl_runner *r, int64_t runs)
{
  hl_profile_table table = {.count = 0};
  collection c = {r, hl_traffic_new(r->session->arena), &table, (double)runs};
  collect(&c, &r->session->program->steps);
  return table;
}

static const char *name_of(const hl_step *step)
{
  switch (step->kind) {
  case HL_STEP_KERNEL:
    return step->kernel->name;
  case HL_STEP_CALL:
    return step->call->target;
  default:
    return step->buffers[0]->name;
  }
}

static const char *kind_of(const hl_step *step)
{
  return step->kind == HL_STEP_KERNEL ? "kernel" : step->kind == HL_STEP_CALL ? "call" : "copy";
}

static uint32_t line_of(const hl_session *s, hl_range range)
{
  return range.begin == HL_NO_OFFSET ? 0 : hl_source_position(s->diag.source, range.begin).line;
}

static double rate(double amount, const hl_profiled_step *p)
{
  return p->seconds > 0 ? amount * p->calls / p->seconds : 0;
}

/* ---- text ---- */

/* The instructions of a kernel, each with its line, on as many lines as they need. */
static void print_origins(const hl_session *s, const hl_kernel *kernel, hl_str *out)
{
  int column = 0;
  for (int i = 0; i < kernel->origin_count; i++) {
    const hl_origin *origin = &kernel->origins[i];
    uint32_t line = line_of(s, origin->range);
    const char *text = line ? hl_arena_printf(out->arena, "%s:%u", origin->name, line) : origin->name;
    bool is_new = i == 0 || column + 1 + (int)strlen(text) > WIDTH;
    hl_str_printf(out, "%s%s%*s%s", i > 0 && is_new ? "\n" : "", is_new ? "" : " ",
                  is_new ? INDENT : 0, "", text);
    column = (int)strlen(text) + (is_new ? INDENT : column + 1);
  }
  if (kernel->origin_count)
    hl_str_add_char(out, '\n');
}

void hl_profile_print(const hl_session *s, const hl_profile_table *table, hl_str *out)
{
  hl_str_add(out, "   step     time ms    share    calls      GB/s   GFLOP/s  what\n");
  for (int i = 0; i < table->count; i++) {
    const hl_profiled_step *p = &table->steps[i];
    double share = table->seconds > 0 ? 100 * p->seconds / table->seconds : 0;
    hl_str_printf(out, "  %5d  %10.4f  %5.1f %%  %7.6g  %8.2f  %8.2f  %s %.40s\n", p->step->number,
                  1e3 * p->seconds, share, p->calls, 1e-9 * rate(p->cost.read + p->cost.written, p),
                  1e-9 * rate(p->cost.flops, p), kind_of(p->step), name_of(p->step));
    if (p->step->kind == HL_STEP_KERNEL)
      print_origins(s, p->step->kernel, out);
  }
  hl_str_printf(out, "    all  %10.4f\n", 1e3 * table->seconds);
}

/* ---- JSON ---- */

static void json_origins(const hl_session *s, const hl_kernel *kernel, hl_str *out)
{
  for (int i = 0; i < kernel->origin_count; i++) {
    const hl_origin *origin = &kernel->origins[i];
    hl_str_add(out, i ? ", {\"name\": " : "{\"name\": ");
    hl_json_string(out, origin->name);
    hl_str_add(out, ", \"op\": ");
    hl_json_string(out, origin->op);
    hl_str_printf(out, ", \"line\": %u}", line_of(s, origin->range));
  }
}

void hl_profile_json(const hl_session *s, const hl_profile_table *table, hl_str *out)
{
  hl_str_add_char(out, '[');
  for (int i = 0; i < table->count; i++) {
    const hl_profiled_step *p = &table->steps[i];
    hl_str_printf(out, "%s\n    {\"step\": %d, \"kind\": \"%s\", \"name\": ", i ? "," : "",
                  p->step->number, kind_of(p->step));
    hl_json_string(out, name_of(p->step));
    hl_str_printf(out,
                  ", \"line\": %u, \"calls\": %.17g, \"seconds\": %.6e, \"share\": %.4f, \"read_bytes\": %.17g, "
                  "\"written_bytes\": %.17g, \"flops\": %.17g, \"instructions\": [",
                  line_of(s, p->step->range), p->calls, p->seconds,
                  table->seconds > 0 ? p->seconds / table->seconds : 0, p->cost.read, p->cost.written,
                  p->cost.flops);
    if (p->step->kind == HL_STEP_KERNEL)
      json_origins(s, p->step->kernel, out);
    hl_str_add(out, "]}");
  }
  hl_str_add(out, table->count ? "\n  ]" : "]");
}
