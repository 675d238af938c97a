/* explain_text - the page of `hlo-lite explain`. */
#include "explain.h"

#include "page.h"

#include "ir/loop_pseudo.h"

#include <stdio.h>
#include <string.h>

enum { MARGIN = 6 };

/* 33,554,432 */
static const char *grouped(hl_arena *arena, double number)
{
  const char *digits = hl_arena_printf(arena, "%.0f", number);
  hl_str text = {.arena = arena};
  size_t length = strlen(digits);
  for (size_t i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0)
      hl_str_add_char(&text, ',');
    hl_str_add_char(&text, digits[i]);
  }
  return hl_str_text(&text);
}

static const char *duration(hl_arena *arena, double seconds)
{
  static const char *const units[] = {"s", "ms", "us", "ns"};
  int unit = 0;
  while (unit < 3 && seconds < 1) {
    seconds *= 1000;
    unit++;
  }
  return hl_arena_printf(arena, "%.3g %s", seconds, units[unit]);
}

/* --- broadcasts --- */

static void add_list(hl_str *out, const int64_t *numbers, int count)
{
  for (int i = 0; i < count; i++)
    hl_str_printf(out, "%s%lld", i ? "," : "{", (long long)numbers[i]);
  hl_str_add(out, count ? "}" : "{}");
}

/* Result dimensions that no dimension of the operand lies on. */
static void add_repeats(hl_str *out, const hl_stretch *s)
{
  const char *before = "; repeats along ";
  for (int d = 0; d < s->result_rank; d++) {
    bool is_covered = false;
    for (int i = 0; i < s->rank; i++)
      is_covered = is_covered || s->positions[i] == d;
    if (is_covered)
      continue;
    hl_str_printf(out, "%s%d", before, d);
    before = ", ";
  }
}

static const char *mapping(hl_arena *arena, const hl_told_broadcast *b)
{
  const hl_stretch *s = &b->stretch;
  hl_str text = {.arena = arena};
  if (s->rank == 0)
    hl_str_add(&text, "a scalar, the same everywhere");
  for (int i = 0; i < s->rank; i++) {
    hl_str_printf(&text, "%s%d on %lld", i ? ", " : "dimension ", i, (long long)s->positions[i]);
    if (s->is_stretched[i])
      hl_str_printf(&text, " (stretched to %lld)",
                    (long long)b->to->dimensions[s->positions[i]]);
  }
  if (s->rank)
    add_repeats(&text, s);
  hl_str_add(&text, "; strides ");
  add_list(&text, s->strides, s->result_rank);
  return hl_str_text(&text);
}

static const char *line_label(hl_arena *arena, uint32_t line)
{
  return line ? hl_arena_printf(arena, "%4u", line) : "";
}

static void print_broadcast(const hl_explanation *e, hl_page *page, const hl_told_broadcast *b,
                            bool is_new)
{
  hl_arena *arena = e->arena;
  if (is_new)
    hl_page_words(page, HL_INK_NAME, line_label(arena, b->line), MARGIN,
                  hl_arena_printf(arena, "%s = %s %s%s", b->user, hl_shape_text(arena, b->to),
                                  b->op, b->stretch.is_explicit ? "" : ", implicit"));
  hl_page_words(page, HL_INK_PLAIN, "", MARGIN + 2,
                hl_arena_printf(arena, "%s %s: %s", b->operand, hl_shape_text(arena, b->from),
                                mapping(arena, b)));
  if (b->warning)
    hl_page_words(page, HL_INK_WARNING, "", MARGIN + 2,
                  hl_arena_printf(arena, "warning: %s", b->warning));
}

static void print_broadcasts(const hl_explanation *e, hl_page *page)
{
  hl_page_heading(page, "BROADCASTS");
  if (!e->broadcast_count)
    hl_page_words(page, HL_INK_DIM, "", 2, "none");
  for (int i = 0; i < e->broadcast_count; i++)
    print_broadcast(e, page, &e->broadcasts[i],
                    !i || e->broadcasts[i].stretch.user != e->broadcasts[i - 1].stretch.user);
}

/* --- steps --- */

static void print_origins(const hl_explanation *e, hl_page *page, const hl_kernel *kernel)
{
  hl_str fused = {.arena = e->arena};
  for (int i = 0; i < kernel->origin_count; i++) {
    const hl_origin *origin = &kernel->origins[i];
    uint32_t line = hl_explain_line(e, origin->range);
    if (origin->is_minor)
      continue;
    hl_str_printf(&fused, fused.length ? ", %s" : "%s", origin->name);
    if (line)
      hl_str_printf(&fused, " (%u)", line);
  }
  hl_page_words(page, HL_INK_PLAIN, "  computes", 12, hl_str_text(&fused));
  for (int i = 0; i < kernel->origin_count; i++)
    if (kernel->origins[i].stored)
      hl_page_words(page, HL_INK_PLAIN, "  stores", 12,
                    hl_arena_printf(e->arena, "%s: %s", kernel->origins[i].name,
                                    kernel->origins[i].stored));
}

static void print_cost(const hl_explanation *e, hl_page *page, const hl_cost *cost)
{
  hl_arena *arena = e->arena;
  const char *most = cost->is_bound ? "at most " : "";
  double bytes = cost->read + cost->written;
  hl_page_words(page, HL_INK_PLAIN, "  bytes", 12,
                hl_arena_printf(arena, "%s%s read, %s written; all loads and stores: %s", most,
                                grouped(arena, cost->read), grouped(arena, cost->written),
                                grouped(arena, cost->accesses)));
  hl_str work = {.arena = arena};
  hl_str_printf(&work, "%s%s", most, grouped(arena, cost->flops));
  if (cost->functions > 0)
    hl_str_printf(&work, ", %s of them functions", grouped(arena, cost->functions));
  if (bytes > 0)
    hl_str_printf(&work, "; %.3g a byte", cost->flops / bytes);
  hl_page_words(page, HL_INK_PLAIN, "  flops", 12, hl_str_text(&work));
}

static void print_bound(const hl_explanation *e, hl_page *page, const hl_cost *cost)
{
  const char *what;
  double seconds = hl_explain_bound(&e->machine, cost, &what);
  if (seconds <= 0)
    return;
  hl_arena *arena = e->arena;
  bool is_memory = *what == 'm';
  hl_page_words(page, HL_INK_PLAIN, "  bound", 12,
                hl_arena_printf(arena, "%s: %s at %.4g %s", what, duration(arena, seconds),
                                (is_memory ? e->machine.bandwidth : e->machine.peak) / 1e9,
                                is_memory ? "GB/s" : "GFLOP/s"));
}

/* The lines of the source in the margin: "23", "23-26" where they are several. */
static const char *source_lines(const hl_explanation *e, const hl_pseudo_line *line)
{
  if (!line->range_count)
    return "";
  uint32_t first = hl_explain_line(e, line->ranges[0]);
  uint32_t last = hl_explain_line(e, line->ranges[line->range_count - 1]);
  return first == last ? hl_arena_printf(e->arena, "%u", first)
                       : hl_arena_printf(e->arena, "%u-%u", first, last);
}

static void print_code(const hl_explanation *e, hl_page *page, const hl_kernel *kernel)
{
  hl_pseudo code = {.arena = e->arena};
  hl_kernel_pseudo(&code, kernel);
  for (int i = 0; i < code.count; i++) {
    const hl_pseudo_line *line = &code.lines[i];
    int depth = line->depth < 12 ? line->depth : 12;
    const char *first = hl_arena_printf(e->arena, "%9s | %*s", source_lines(e, line), 2 * depth, "");
    const char *rest = hl_arena_printf(e->arena, "%9s | %*s", "", 2 * depth + 4, "");
    const char *text = line->text;
    if (line->note)
      text = hl_arena_printf(e->arena, "%s // %s", text, line->note);
    hl_page_wrap(page, HL_INK_PLAIN, first, rest, text);
  }
}

static void print_kernel(const hl_explanation *e, hl_page *page, const hl_told_step *told)
{
  print_origins(e, page, told->step->kernel);
  print_cost(e, page, &told->cost);
  print_bound(e, page, &told->cost);
  hl_page_blank(page);
  print_code(e, page, told->step->kernel);
}

static const char *step_title(const hl_explanation *e, const hl_told_step *told)
{
  const hl_step *step = told->step;
  hl_str text = {.arena = e->arena};
  uint32_t line = hl_explain_line(e, step->range);
  hl_str_printf(&text, "%s%s%s", told->part ? told->part : "", told->part ? ": " : "",
                hl_explain_kind(step));
  if (step->kind == HL_STEP_KERNEL)
    hl_str_printf(&text, " %s", step->kernel->name);
  else if (step->kind == HL_STEP_COPY)
    hl_str_printf(&text, " of %s to %s, %lld bytes", step->buffers[1]->name,
                  step->buffers[0]->name, (long long)step->buffers[0]->bytes);
  else if (step->kind == HL_STEP_CALL)
    hl_str_printf(&text, " of %s", step->call->symbol);
  if (line)
    hl_str_printf(&text, ", line %u", line);
  return hl_str_text(&text);
}

static void print_steps(const hl_explanation *e, hl_page *page)
{
  hl_page_heading(page, "STEPS");
  for (int i = 0; i < e->step_count; i++) {
    const hl_told_step *told = &e->steps[i];
    if (e->only && told->number != e->only)
      continue;
    bool is_kernel = told->step->kind == HL_STEP_KERNEL;
    int depth = told->depth < 8 ? told->depth : 8;
    bool is_behind = i && e->steps[i - 1].step->kind == HL_STEP_KERNEL;
    if ((is_kernel || is_behind) && i && !e->only)
      hl_page_blank(page);
    hl_page_words(page, HL_INK_NAME,
                  hl_arena_printf(e->arena, "%*s%d ", 2 * depth, "", told->number), 4 + 2 * depth,
                  step_title(e, told));
    if (is_kernel)
      print_kernel(e, page, told);
  }
}

/* --- workspace --- */

static void print_buffer(const hl_explanation *e, hl_page *page, const hl_buffer *buffer)
{
  int first, last;
  hl_explain_life(e, buffer, &first, &last);
  hl_str name = {.arena = e->arena};
  hl_str_printf(&name, "%s %s[", buffer->name, hl_type_name(buffer->type));
  for (int i = 0; i < buffer->rank; i++)
    hl_str_printf(&name, "%s%lld", i ? "," : "", (long long)buffer->dimensions[i]);
  hl_str_add_char(&name, ']');
  if (buffer->is_per_worker)
    hl_str_printf(&name, ", one for each of %d threads", e->session->program->max_workers);
  const char *label = hl_arena_printf(
      e->arena, "%14s %14s  %8s  ", grouped(e->arena, (double)buffer->offset),
      grouped(e->arena, (double)hl_explain_bytes(e, buffer)),
      hl_arena_printf(e->arena, first == last ? "%d" : "%d-%d", first, last));
  hl_page_words(page, HL_INK_PLAIN, label, 41, hl_str_text(&name));
}

static void print_workspace(const hl_explanation *e, hl_page *page)
{
  const hl_program *program = e->session->program;
  hl_page_heading(page, hl_arena_printf(e->arena, "WORKSPACE %s bytes",
                                        grouped(e->arena, (double)program->workspace_bytes)));
  if (program->workspace_bytes == 0)
    return;
  hl_page_words(page, HL_INK_DIM, "", 8, "offset          bytes     steps  buffer");
  for (int i = 0; i < program->buffer_count; i++)
    if (program->buffers[i]->kind == HL_BUFFER_TEMP)
      print_buffer(e, page, program->buffers[i]);
}

/* --- all --- */

static void print_total(const hl_explanation *e, hl_page *page)
{
  hl_arena *arena = e->arena;
  const hl_cost *total = &e->total;
  double bytes = total->read + total->written, least = e->least_read + e->least_written;
  hl_page_heading(page, e->has_loops ? "TOTAL, the steps of each loop once" : "TOTAL");
  print_cost(e, page, total);
  hl_page_words(page, HL_INK_PLAIN, "  least", 12,
                hl_arena_printf(arena, "%s read, %s written: arguments once, results once",
                                grouped(arena, e->least_read), grouped(arena, e->least_written)));
  if (least > 0)
    hl_page_words(page, HL_INK_PLAIN, "  moves", 12,
                  hl_arena_printf(arena, "%.3g times the least", bytes / least));
  print_bound(e, page, total);
}

void hl_explain_text(const hl_explanation *e, hl_page *page)
{
  const hl_session *s = e->session;
  hl_page_words(page, HL_INK_HEADING, "", 0,
                hl_arena_printf(e->arena, "%s: module %s, %d step%s, %d thread%s",
                                s->diag.source->name, s->module->name, e->step_count,
                                e->step_count == 1 ? "" : "s", s->program->max_workers,
                                s->program->max_workers == 1 ? "" : "s"));
  if (!e->only)
    print_broadcasts(e, page);
  print_steps(e, page);
  if (e->only)
    return;
  print_workspace(e, page);
  print_total(e, page);
}
