/* explain_json - what `hlo-lite explain --json` writes: one object; sizes are bytes, times seconds, numbers of lines and steps from
 * 1, strides in elements. */
#include "explain.h"

#include "ir/loop_pseudo.h"

/* "name": with what parts it from the member before. */
static void add_name(hl_str *out, const char *name)
{
  char last = out->length ? out->text[out->length - 1] : '{';
  if (last != '{' && last != '[')
    hl_str_add(out, ", ");
  if (name) {
    hl_json_string(out, name);
    hl_str_add(out, ": ");
  }
}

static void add_text(hl_str *out, const char *name, const char *text)
{
  add_name(out, name);
  if (text)
    hl_json_string(out, text);
  else
    hl_str_add(out, "null");
}

static void add_number(hl_str *out, const char *name, double number)
{
  add_name(out, name);
  hl_str_printf(out, "%.17g", number);
}

static void add_bool(hl_str *out, const char *name, bool value)
{
  add_name(out, name);
  hl_str_add(out, value ? "true" : "false");
}

static void open(hl_str *out, const char *name, char bracket)
{
  add_name(out, name);
  hl_str_add_char(out, bracket);
}

static void add_numbers(hl_str *out, const char *name, const int64_t *numbers, int count)
{
  open(out, name, '[');
  for (int i = 0; i < count; i++)
    hl_str_printf(out, "%s%lld", i ? ", " : "", (long long)numbers[i]);
  hl_str_add_char(out, ']');
}

/* null where there is no place. */
static void add_line(hl_str *out, const char *name, uint32_t line)
{
  add_name(out, name);
  hl_str_printf(out, line ? "%u" : "null", line);
}

static void add_broadcast(hl_str *out, const hl_told_broadcast *b)
{
  const hl_stretch *s = &b->stretch;
  open(out, NULL, '{');
  add_line(out, "line", b->line);
  add_text(out, "instruction", b->user);
  add_text(out, "op", b->op);
  add_text(out, "operand", b->operand);
  add_number(out, "operand_number", s->operand);
  add_bool(out, "explicit", s->is_explicit);
  add_text(out, "from", hl_shape_text(out->arena, b->from));
  add_text(out, "to", hl_shape_text(out->arena, b->to));
  add_numbers(out, "dimensions", s->positions, s->rank);
  open(out, "stretched", '[');
  for (int i = 0; i < s->rank; i++)
    add_bool(out, NULL, s->is_stretched[i]);
  hl_str_add_char(out, ']');
  add_numbers(out, "strides", s->strides, s->result_rank);
  add_text(out, "warning", b->warning);
  hl_str_add_char(out, '}');
}

static void add_cost(hl_str *out, const hl_explanation *e, const hl_cost *cost)
{
  const char *what;
  double seconds = hl_explain_bound(&e->machine, cost, &what), bytes = cost->read + cost->written;
  add_number(out, "read", cost->read);
  add_number(out, "written", cost->written);
  add_number(out, "accesses", cost->accesses);
  add_number(out, "flops", cost->flops);
  add_number(out, "functions", cost->functions);
  add_bool(out, "at_most", cost->is_bound);
  add_number(out, "intensity", bytes > 0 ? cost->flops / bytes : 0);
  add_text(out, "bound_by", seconds > 0 ? what : NULL);
  add_number(out, "bound_seconds", seconds);
}

static void add_origins(hl_str *out, const hl_explanation *e, const hl_kernel *kernel)
{
  open(out, "computes", '[');
  for (int i = 0; i < kernel->origin_count; i++) {
    const hl_origin *origin = &kernel->origins[i];
    if (origin->is_minor)
      continue;
    open(out, NULL, '{');
    add_text(out, "instruction", origin->name);
    add_text(out, "op", origin->op);
    add_line(out, "line", hl_explain_line(e, origin->range));
    add_text(out, "stored", origin->stored);
    hl_str_add_char(out, '}');
  }
  hl_str_add_char(out, ']');
}

static void add_code(hl_str *out, const hl_explanation *e, const hl_kernel *kernel)
{
  hl_pseudo code = {.arena = e->arena};
  hl_kernel_pseudo(&code, kernel);
  open(out, "code", '[');
  for (int i = 0; i < code.count; i++) {
    const hl_pseudo_line *line = &code.lines[i];
    uint32_t before = 0;
    open(out, NULL, '{');
    add_text(out, "text", hl_arena_printf(e->arena, "%*s%s", 2 * line->depth, "", line->text));
    add_text(out, "note", line->note);
    open(out, "lines", '[');
    for (int k = 0; k < line->range_count; k++) {
      uint32_t number = hl_explain_line(e, line->ranges[k]);
      if (number != before)
        add_number(out, NULL, number);
      before = number;
    }
    hl_str_add(out, "]}");
  }
  hl_str_add_char(out, ']');
}

static void add_step(hl_str *out, const hl_explanation *e, const hl_told_step *told)
{
  const hl_step *step = told->step;
  open(out, NULL, '{');
  add_number(out, "number", told->number);
  add_text(out, "kind", hl_explain_kind(step));
  add_number(out, "depth", told->depth);
  add_text(out, "part", told->part);
  add_line(out, "line", hl_explain_line(e, step->range));
  if (step->kind == HL_STEP_KERNEL || step->kind == HL_STEP_COPY)
    add_cost(out, e, &told->cost);
  if (step->kind == HL_STEP_COPY) {
    add_text(out, "from", step->buffers[1]->name);
    add_text(out, "to", step->buffers[0]->name);
  } else if (step->kind == HL_STEP_CALL) {
    add_text(out, "symbol", step->call->symbol);
  } else if (step->kind == HL_STEP_KERNEL) {
    add_text(out, "name", step->kernel->name);
    add_origins(out, e, step->kernel);
    add_code(out, e, step->kernel);
  }
  hl_str_add_char(out, '}');
}

static void add_buffer(hl_str *out, const hl_explanation *e, const hl_buffer *buffer)
{
  int first, last;
  hl_explain_life(e, buffer, &first, &last);
  open(out, NULL, '{');
  add_text(out, "name", buffer->name);
  add_text(out, "type", hl_type_name(buffer->type));
  add_numbers(out, "dimensions", buffer->dimensions, buffer->rank);
  add_number(out, "offset", (double)buffer->offset);
  add_number(out, "bytes", (double)hl_explain_bytes(e, buffer));
  add_bool(out, "per_thread", buffer->is_per_worker);
  add_number(out, "first_step", first);
  add_number(out, "last_step", last);
  hl_str_add_char(out, '}');
}

static void add_workspace(hl_str *out, const hl_explanation *e)
{
  const hl_program *program = e->session->program;
  open(out, "workspace", '{');
  add_number(out, "bytes", (double)program->workspace_bytes);
  open(out, "buffers", '[');
  for (int i = 0; i < program->buffer_count; i++)
    if (program->buffers[i]->kind == HL_BUFFER_TEMP)
      add_buffer(out, e, program->buffers[i]);
  hl_str_add(out, "]}");
}

static void add_total(hl_str *out, const hl_explanation *e)
{
  open(out, "total", '{');
  add_cost(out, e, &e->total);
  add_number(out, "least_read", e->least_read);
  add_number(out, "least_written", e->least_written);
  add_bool(out, "loops_counted_once", e->has_loops);
  hl_str_add_char(out, '}');
}

void hl_explain_json(const hl_explanation *e, hl_str *out)
{
  const hl_session *s = e->session;
  open(out, NULL, '{');
  add_text(out, "file", s->diag.source->name);
  add_text(out, "module", s->module->name);
  add_text(out, "target", s->target.triple);
  add_text(out, "cpu", s->target.cpu);
  add_number(out, "threads", s->program->max_workers);
  add_number(out, "bandwidth", e->machine.bandwidth);
  add_number(out, "peak", e->machine.peak);
  open(out, "broadcasts", '[');
  for (int i = 0; i < e->broadcast_count && !e->only; i++)
    add_broadcast(out, &e->broadcasts[i]);
  hl_str_add_char(out, ']');
  open(out, "steps", '[');
  for (int i = 0; i < e->step_count; i++)
    if (!e->only || e->steps[i].number == e->only)
      add_step(out, e, &e->steps[i]);
  hl_str_add_char(out, ']');
  add_workspace(out, e);
  add_total(out, e);
  hl_str_add(out, "}\n");
}
