/* explain - gathers what `hlo-lite explain` tells: the broadcasts of the source, the steps of the
 * program with their costs, the lives of the workspace's buffers. */
#include "explain.h"

uint32_t hl_explain_line(const hl_explanation *e, hl_range range)
{
  return range.begin == HL_NO_OFFSET
             ? 0
             : hl_source_position(e->session->diag.source, range.begin).line;
}

/* --- broadcasts --- */

static const char *outer_warning(hl_arena *arena, const hl_instruction *ins)
{
  const hl_instruction *left = hl_stretch_source(ins->operands[0]);
  const hl_instruction *right = hl_stretch_source(ins->operands[1]);
  return hl_arena_printf(
      arena,
      "an outer product: each element of %s %s meets each of %s %s. Where they were to meet in "
      "pairs, reshape one to the dimensions of the other.",
      left->name, hl_shape_text(arena, left->shape), right->name,
      hl_shape_text(arena, right->shape));
}

static hl_told_broadcast *add_broadcast(hl_explanation *e, hl_stretch stretch)
{
  const hl_instruction *user = stretch.user, *operand = user->operands[stretch.operand];
  e->broadcasts = hl_arena_grow(e->arena, e->broadcasts, &e->broadcast_capacity,
                                (size_t)e->broadcast_count + 1, sizeof *e->broadcasts);
  hl_told_broadcast *b = &e->broadcasts[e->broadcast_count++];
  *b = (hl_told_broadcast){.stretch = stretch,
                           .line = hl_explain_line(e, user->range),
                           .user = user->name,
                           .op = hl_op_info_of(user->opcode)->name,
                           .operand = operand->name,
                           .from = operand->shape,
                           .to = user->shape};
  return b;
}

static void tell_instruction(hl_explanation *e, const hl_instruction *ins)
{
  hl_told_broadcast *last = NULL;
  hl_stretch stretch;
  for (int i = 0; i < ins->operand_count; i++)
    if (hl_stretch_of(e->arena, ins, i, &stretch))
      last = add_broadcast(e, stretch);
  if (!hl_is_accidental_outer(ins))
    return;
  if (!last) { /* its operands are broadcasts of their own; the second comes last in the text */
    for (int i = e->broadcast_count; i-- > 0 && !last;)
      if (e->broadcasts[i].stretch.user == ins->operands[0] ||
          e->broadcasts[i].stretch.user == ins->operands[1])
        last = &e->broadcasts[i];
  }
  if (last)
    last->warning = outer_warning(e->arena, ins);
}

void hl_explain_broadcasts(hl_explanation *e)
{
  for (const hl_computation *c = e->session->module->first; c; c = c->next)
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      tell_instruction(e, ins);
}

/* --- steps --- */

static void add_cost(hl_cost *sum, const hl_cost *cost)
{
  sum->flops += cost->flops;
  sum->functions += cost->functions;
  sum->accesses += cost->accesses;
  sum->read += cost->read;
  sum->written += cost->written;
  sum->is_bound = sum->is_bound || cost->is_bound;
}

static void tell_steps(hl_explanation *e, hl_traffic *traffic, const hl_steps *steps,
                       hl_told_step around)
{
  for (const hl_step *step = steps->first; step; step = step->next) {
    e->steps = hl_arena_grow(e->arena, e->steps, &e->step_capacity, (size_t)e->step_count + 1,
                             sizeof *e->steps);
    hl_told_step *told = &e->steps[e->step_count++];
    *told = (hl_told_step){.step = step,
                           .number = e->step_count,
                           .depth = around.depth,
                           .part = around.part,
                           .cost = hl_step_cost(traffic, step)};
    add_cost(&e->total, &told->cost);
    around.part = NULL;
    hl_told_step inside = {.depth = around.depth + 1, .part = "condition"};
    tell_steps(e, traffic, &step->condition, inside);
    inside.part = "body";
    tell_steps(e, traffic, &step->body, inside);
    e->has_loops = e->has_loops || step->kind == HL_STEP_WHILE;
    for (int i = 0; i < step->branch_count; i++) {
      inside.part = hl_arena_printf(e->arena, "branch %d", i);
      tell_steps(e, traffic, &step->branches[i], inside);
    }
  }
}

void hl_explain_steps(hl_explanation *e)
{
  hl_traffic *traffic = hl_traffic_new(e->arena);
  tell_steps(e, traffic, &e->session->program->steps, (hl_told_step){0});
  hl_traffic_least(traffic, &e->least_read, &e->least_written);
}

void hl_explain_life(const hl_explanation *e, const hl_buffer *buffer, int *first, int *last)
{
  *first = *last = 0;
  for (int i = 0; i < e->step_count; i++) {
    if (e->steps[i].step->number <= buffer->first_step)
      *first = e->steps[i].number;
    if (e->steps[i].step->number <= buffer->last_step)
      *last = e->steps[i].number;
  }
}

int64_t hl_explain_bytes(const hl_explanation *e, const hl_buffer *buffer)
{
  if (!buffer->is_per_worker)
    return buffer->bytes;
  return (buffer->bytes + 63) / 64 * 64 * e->session->program->max_workers;
}

const char *hl_explain_kind(const hl_step *step)
{
  static const char *const kinds[] = {"kernel", "copy", "while", "conditional", "call"};
  return kinds[step->kind];
}

double hl_explain_bound(const hl_machine *machine, const hl_cost *cost, const char **what)
{
  double memory = machine->bandwidth > 0 ? (cost->read + cost->written) / machine->bandwidth : 0;
  double arithmetic = machine->peak > 0 ? cost->flops / machine->peak : 0;
  *what = arithmetic > memory ? "arithmetic" : "memory";
  return arithmetic > memory ? arithmetic : memory;
}
